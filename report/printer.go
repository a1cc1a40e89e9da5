package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rdmaprobe/probe"
)

// printer is one rendering for a terminal or a plain file.
type printer struct {
	s       *sink
	p       palette
	o       Options
	d       *probe.Document
	r       rows
	ifaces  map[string]string // see ifacesOf
	briefs  func(probe.Finding) string
	wide    bool
	started bool // something was printed
}

func newPrinter(w io.Writer, d *probe.Document, o Options, wide bool) *printer {
	o.Now = o.now(d)
	return &printer{s: &sink{w: w}, p: newPalette(o.Color), o: o, d: d, r: newRows(d), ifaces: ifacesOf(d), briefs: probe.Briefs(d), wide: wide}
}

// line prints one line of clean text.
func (t *printer) line(format string, args ...any) {
	t.started = true
	t.s.printf(format+"\n", args...)
}

// section puts an empty line before what follows, except at the top.
func (t *printer) section() {
	if t.started {
		t.s.printf("\n")
	}
}

// grid prints a table with an empty line before it. wide is never cut.
func (t *printer) grid(g *grid) error {
	if len(g.rows) == 0 {
		return nil
	}
	t.section()
	t.started = true
	limit := t.o.Width
	if t.wide {
		limit = 0
	}
	if err := g.render(t.s, t.p, limit); err != nil {
		return fmt.Errorf("render table: %w", err)
	}
	return nil
}

// measure is how wide prose is set.
func (t *printer) measure() int {
	if t.o.Width > 0 {
		return min(max(t.o.Width, 40), 100)
	}
	return 80
}

// prose prints a clean text in lines that fit, the first behind first, the
// others behind as many spaces.
func (t *printer) prose(first, s string) {
	indent := strings.Repeat(" ", width(first))
	for i, l := range wrap(s, t.measure()-len(indent)) {
		if i == 0 {
			t.line("%s%s", first, l)
		} else {
			t.line("%s%s", indent, l)
		}
	}
}

// header says whose machine and which library the document is about.
func (t *printer) header() {
	t.recorded()
	for _, l := range aboutHosts(t.d) {
		t.prose("", l)
	}
	if l := libraryLine(t.d); l != "" {
		t.prose("", l)
	}
	t.simulated()
}

// recorded says when and by which command a report's newest run was recorded.
func (t *printer) recorded() {
	run := t.d.Run
	if t.o.Command != "report" || run.StartedAt.IsZero() || len(t.d.Devices)+len(t.d.Observations) == 0 {
		return
	}
	old := age(t.o.Now, run.StartedAt)
	if old != "now" && old != "future" {
		old += " ago"
	}
	line := fmt.Sprintf("recorded %s (%s)", run.StartedAt.In(t.o.Now.Location()).Format("2006-01-02 15:04"), old)
	asks := func(s string) bool { return slices.Contains([]string{"devices", "probe", "doctor", "serve"}, s) }
	if i := slices.IndexFunc(run.Command, asks); i >= 0 {
		line += " by rdmaprobe " + run.Command[i]
	}
	t.line("%s", line)
}

// simulated marks a document that no machine stands behind.
func (t *printer) simulated() {
	if t.d.Provider.Kind == probe.Simulated {
		t.prose("", simulatedLine(t.d))
	}
	if t.d.Redacted {
		t.prose("", redactedText)
	}
}

// empty says in one line each why there is nothing to show.
func (t *printer) empty() {
	for _, l := range emptyLines(t.d) {
		t.prose("", l)
	}
}

// notes prints what else the run had to say.
func (t *printer) notes() {
	if len(t.d.Notes) == 0 {
		return
	}
	t.section()
	for _, n := range t.d.Notes {
		t.prose("note: ", Clean(n))
	}
}
