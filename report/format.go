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

// Format is one way to render a document, with what commands have to know of it.
type Format struct {
	Name   string
	About  string // one line for help
	Render func(w io.Writer, d *probe.Document, o Options) error
	Diff   func(w io.Writer, d *Diff, o Options) error  // nil: a diff has no such format
	Row    func(w io.Writer, o probe.Observation) error // writes one row as it is seen; a report then has every one. nil: all at the end
	People bool                                         // text that goes on, as with --watch
}

// Formats are all formats, in the order of the help text.
var Formats = []Format{
	{Name: "table", About: "what a person wants to know, in 80 columns", Render: renderTable, Diff: tableDiff, People: true},
	{Name: "wide", About: "everything, one row per observation", Render: renderWide, Diff: wideDiff, People: true},
	{Name: "json", About: "the document", Render: renderJSON, Diff: jsonDiff},
	{Name: "jsonl", About: "the document's parts, one line each", Render: renderJSONL, Diff: linesDiff, Row: writeRow},
	{Name: "markdown", About: "for an issue or a wiki", Render: renderMarkdown, Diff: markdownDiff},
	{Name: "html", About: "one self-contained page", Render: renderHTML},
	{Name: "prometheus", About: "text exposition format, for the textfile collector", Render: renderPrometheus},
	{Name: "junit", About: "XML test results, for a build server", Render: renderJUnit},
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
