package report

import (
	"cmp"
	"slices"

	"rdmaprobe/probe"
)

// severityRank orders findings; a severity of a later version comes last.
var severityRank = map[string]int{probe.SeverityError: -3, probe.SeverityWarning: -2, probe.SeverityInfo: -1}

var severityTone = map[string]tone{probe.SeverityError: bad, probe.SeverityWarning: odd}

// worstFirst is the findings by severity, otherwise in their own order.
func worstFirst(d *probe.Document) []probe.Finding {
	f := slices.Clone(d.Findings)
	slices.SortStableFunc(f, func(a, b probe.Finding) int {
		return cmp.Compare(severityRank[a.Severity], severityRank[b.Severity])
	})
	return f
}

// findings prints every finding: what, where, why, what to do. Those that are
// only worth knowing stand close together, but in doctor and wide.
func (t *printer) findings() {
	full := t.wide || t.o.Command == "doctor"
	last := ""
	for _, f := range worstFirst(t.d) {
		brief := !full && f.Severity == probe.SeverityInfo
		if !brief || last != f.Severity {
			t.section()
		}
		last = f.Severity
		word := cleanName(f.Severity)
		t.line("%s  %s  %s", t.p.paint(severityTone[f.Severity], word), cleanName(f.Code), cleanName(f.Scope))
		t.prose("  ", Clean(f.Message))
		t.hint("  fix:   ", f.Remedy)
		t.hint("  undo:  ", f.Undo)
		if !brief {
			t.hint("  check: ", f.Check)
		}
		if !t.wide {
			continue
		}
		for _, o := range f.Observations {
			t.hint("  saw:   ", o)
		}
		for _, fact := range f.Facts {
			t.hint("  fact:  ", fact)
		}
	}
}

// hint prints one labelled text of a finding, if there is one.
func (t *printer) hint(label, s string) {
	if s = Clean(s); s != "" {
		t.prose(label, s)
	}
}
