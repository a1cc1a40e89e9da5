package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"rdmaprobe/probe"
)

// severityRank orders findings; a severity of a later version comes last.
var severityRank = map[string]int{probe.SeverityError: -3, probe.SeverityWarning: -2, probe.SeverityInfo: -1}

var severityTone = map[string]tone{probe.SeverityError: bad, probe.SeverityWarning: odd}

// worstFirst is the findings by severity, and of one severity the cause before
// its effects, as the catalogue has them.
func worstFirst(d *probe.Document) []probe.Finding {
	place := map[string]int{}
	for i, code := range probe.FindingCodes() {
		place[code] = i - len(probe.FindingCodes())
	}
	f := slices.Clone(d.Findings)
	sort.SliceStable(f, func(i, j int) bool {
		a, b := &f[i], &f[j]
		return cmp.Or(cmp.Compare(severityRank[a.Severity], severityRank[b.Severity]), cmp.Compare(place[a.Code], place[b.Code])) < 0
	})
	return f
}

// findings prints every finding: what, where, why, what to do. Those about
// several devices that want the same are one. doctor numbers them, as next
// actions. What is only worth knowing is a line each, but in wide, where every
// finding stands in full.
func (t *printer) findings() {
	if t.wide {
		for _, f := range worstFirst(t.d) {
			t.finding("", group{Finding: f, scopes: []string{cleanName(f.Scope)}, messages: []string{Clean(f.Message)}})
		}
		return
	}
	groups := t.grouped()
	n, last := 0, ""
	for _, g := range groups {
		brief := g.Severity == probe.SeverityInfo
		if brief && last != g.Severity {
			t.section()
		}
		last = g.Severity
		if brief {
			t.info(g)
			continue
		}
		number := ""
		if t.o.Command == "doctor" {
			n++
			number = fmt.Sprintf("%d. ", n)
		}
		t.finding(number, g)
	}
	if len(groups) > 0 && t.o.Command == "doctor" {
		t.section()
		t.line("more on a finding: rdmaprobe explain CODE; everything: -o wide")
	}
}

// spot is what a finding is of: its code and its scope.
type spot struct{ code, scope string }

// numbers are those that doctor gives the findings.
func (t *printer) numbers() map[spot]int {
	numbers := map[spot]int{}
	n := 0
	for _, g := range t.grouped() {
		if g.Severity == probe.SeverityInfo {
			continue
		}
		n++
		for _, f := range g.members {
			numbers[spot{f.Code, f.Scope}] = n
		}
	}
	return numbers
}

// finding prints one entry in full.
func (t *printer) finding(number string, g group) {
	t.section()
	indent := strings.Repeat(" ", max(len(number), 2))
	head := fmt.Sprintf("%s%s  %s  ", number, t.p.paint(severityTone[g.Severity], cleanName(g.Severity)), cleanName(g.Code))
	plainHead := fmt.Sprintf("%s%s  %s  ", number, cleanName(g.Severity), cleanName(g.Code))
	scopes := strings.Join(g.scopes, ", ")
	if width(plainHead)+width(scopes) <= t.measure() || len(g.scopes) == 1 {
		t.line("%s%s", head, scopes)
	} else {
		t.line("%s", strings.TrimRight(head, " "))
		t.prose(indent+"on ", scopes)
	}
	for _, m := range g.messages {
		t.prose(indent, m)
	}
	t.hint(indent+"fix:   ", g.Remedy)
	t.hint(indent+"undo:  ", g.Undo)
	t.hint(indent+"check: ", g.Check)
	if !t.wide {
		return
	}
	for _, o := range g.Observations {
		t.hint(indent+"saw:   ", o)
	}
	for _, fact := range g.Facts {
		t.hint(indent+"fact:  ", fact)
	}
}

// info prints an entry that is only worth knowing in a line or two.
func (t *printer) info(g group) {
	text := Clean(t.briefs(g.Finding))
	if text == "" {
		text = strings.Join(g.messages, "; ")
	}
	t.prose(cleanName(g.Severity)+" ", fmt.Sprintf("%s on %s: %s", cleanName(g.Code), strings.Join(g.scopes, ", "), text))
}

// hint prints one labelled text of a finding, if there is one.
func (t *printer) hint(label, s string) {
	if s = Clean(s); s != "" {
		t.prose(label, s)
	}
}
