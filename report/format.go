package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"rdmaprobe/probe"
)

// Options say for whom a document is rendered. The zero value is a plain file:
// no colour, no truncation.
type Options struct {
	Color   bool      // ANSI colours, in table and wide only
	Width   int       // columns of the terminal; 0: not a terminal, nothing is cut
	Now     time.Time // for the age of evidence, in the reader's time zone; zero: the run's start
	Command string    // devices, probe, report or doctor: what the reader asked for
}

// now is the moment that ages are counted from.
func (o Options) now(d *probe.Document) time.Time {
	if o.Now.IsZero() {
		return d.Run.StartedAt
	}
	return o.Now
}

// Format is one way to render a document.
type Format struct {
	Name   string
	About  string // one line for help
	Render func(w io.Writer, d *probe.Document, o Options) error
}

// Formats are all formats, in the order of the help text.
var Formats = []Format{
	{"table", "what a person wants to know, in 80 columns", renderTable},
	{"wide", "everything, one row per observation", renderWide},
	{"json", "the document", renderJSON},
	{"jsonl", "the document's parts, one line each", renderJSONL},
	{"markdown", "for an issue or a wiki", renderMarkdown},
	{"html", "one self-contained page", renderHTML},
	{"prometheus", "text exposition format, for the textfile collector", renderPrometheus},
	{"junit", "XML test results, for a build server", renderJUnit},
}

// Lookup finds a format by name. Its error lists the names that there are.
func Lookup(name string) (Format, error) {
	var names []string
	for _, f := range Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, fmt.Errorf("no output format %q: there are %s", Clean(name), strings.Join(names, ", "))
}
