package report

import (
	"io"
	"time"

	"rdmaprobe/probe"
)

// clockLayout is the time of day with its offset, as wide tables have it.
const clockLayout = "15:04:05 -0700"

// Changes writes what a round of a watch found different, one line each and a
// finding's cause and cure below it, under the reader's own time.
func Changes(w io.Writer, d *probe.Document, at time.Time, changes []probe.Change, o Options) error {
	t := newPrinter(w, d, o, false)
	t.line("%s", at.Format(clockLayout))
	for _, c := range changes {
		switch c.Kind {
		case probe.ChangeVerdict:
			t.prose("  ", Clean(c.After))
		case probe.ChangePort:
			t.prose("  ", cleanName(c.Subject)+": "+orGone(c.Before)+" -> "+orGone(c.After))
		case probe.ChangeFindingRemoved:
			t.prose("  - ", "gone: "+cleanName(c.Finding.Severity)+" "+cleanName(c.Finding.Code)+" on "+cleanName(c.Finding.Scope))
		case probe.ChangeFindingAdded:
			t.addedFinding(*c.Finding)
		}
	}
	t.s.printf("\n")
	return t.s.close()
}

// addedFinding tells of a finding that was not there before.
func (t *printer) addedFinding(f probe.Finding) {
	if f.Severity == probe.SeverityInfo {
		t.prose("  + ", cleanName(f.Severity)+" "+cleanName(f.Code)+" on "+cleanName(f.Scope)+": "+t.brief(f))
		return
	}
	t.line("  + %s %s on %s", t.p.paint(severityTone[f.Severity], cleanName(f.Severity)), cleanName(f.Code), cleanName(f.Scope))
	t.prose("    ", Clean(f.Message))
	t.hint("    fix: ", f.Remedy)
}

// orGone is what is said of a port that is no longer, or was not, there.
func orGone(s string) string {
	if s == "" {
		return "not there"
	}
	return Clean(s)
}
