package report

import (
	"fmt"
	"strings"

	"rdmaprobe/probe"
)

// verdictTone is the colour of a verdict's word.
var verdictTone = map[string]tone{
	probe.VerdictReady: good, probe.VerdictNotReady: odd, probe.VerdictImpossible: bad, probe.VerdictNotKnown: faint,
}

// doctorTable writes a diagnosis: the verdict first, then whose machine it is
// about, a line for each port, sources that contradict each other, what to do,
// the worst first, and in one line each what is fine and what could not be read.
func (t *printer) doctorTable() error {
	t.verdictLine()
	t.header()
	t.empty()
	if err := t.grid(t.shortVerdicts()); err != nil {
		return err
	}
	t.disagree()
	t.findings()
	t.fine()
	t.notRead()
	t.notes()
	return nil
}

// verdictLine is the whole diagnosis in one line.
func (t *printer) verdictLine() {
	v := t.d.Verdict
	if v == nil {
		return
	}
	for _, l := range wrap(Clean(v.Text), t.measure()) {
		t.line("%s", t.p.paint(verdictTone[v.Word], l))
	}
	t.s.printf("\n")
}

// verdictGrid has a line for each port.
func (t *printer) verdictGrid() *grid { return t.verdictGridWith(nil) }

// verdictGridWith is verdictGrid; where a finding that has a number stands behind
// a verdict, that number stands for the reason.
func (t *printer) verdictGridWith(numbers map[spot]int) *grid {
	g := &grid{head: []string{"DEVICE", "PORT", "VIA", "CABLE TO", "GB/S", "STATE", "VERDICT"}}
	if t.d.Verdict == nil {
		return g
	}
	for _, p := range t.d.Verdict.Ports {
		word := Clean(probe.VerdictWords(p.Word))
		n := 0
		for _, scope := range []string{p.Device, p.Interface, "host"} {
			n = max(n, numbers[spot{p.Finding, scope}])
		}
		switch {
		case n > 0:
			word += fmt.Sprintf(": see %d", n)
		case p.Why != "":
			word += ": " + Clean(p.Why)
		}
		to := name(p.Peer)
		if p.ViaHub && to.text != "" {
			to.text += " (hub)"
		}
		g.add(name(p.Device), number(p.Port), name(p.Interface), to, text(speed(p.SpeedGbps)), stateCell(p.State),
			cell{word, verdictTone[p.Word]})
	}
	return g
}

// shortVerdicts is the grid without its empty columns; where its lines would be
// too long, the reasons that the findings below give are left to them.
func (t *printer) shortVerdicts() *grid {
	g := dropEmpty(t.verdictGrid())
	total := gap * (len(g.head) - 1)
	for _, w := range g.widths() {
		total += w
	}
	if total > t.measure() {
		g = dropEmpty(t.verdictGridWith(t.numbers()))
	}
	return g
}

// disagree sets sources that contradict each other side by side.
func (t *printer) disagree() {
	if t.d.Verdict == nil {
		return
	}
	for _, d := range t.d.Verdict.Disagree {
		t.section()
		t.prose("", "sources differ on "+Clean(d.About)+":")
		wide := 0
		for _, s := range d.Says {
			wide = max(wide, width(cleanName(s.Source)))
		}
		for _, s := range d.Says {
			source := cleanName(s.Source)
			t.prose("  "+source+strings.Repeat(" ", wide-width(source)+2), Clean(s.Says))
		}
	}
}

// fine is what was checked and is as it should be.
func (t *printer) fine() {
	v := t.d.Verdict
	if v == nil || len(v.Fine) == 0 {
		return
	}
	t.section()
	if !t.wide {
		t.prose("fine: ", joined(v.Fine))
		return
	}
	for _, f := range v.Fine {
		t.prose("fine: ", Clean(f))
	}
}

// joined puts clean texts into one, each of them whole.
func joined(texts []string) string {
	clean := make([]string, len(texts))
	for i, s := range texts {
		clean[i] = Clean(s)
	}
	return strings.Join(clean, "; ")
}

// notRead names the host facts that could not be read; wide says why.
func (t *printer) notRead() {
	if len(t.d.NotRead) == 0 {
		return
	}
	t.section()
	if !t.wide {
		facts := make([]string, len(t.d.NotRead))
		for i, n := range t.d.NotRead {
			facts[i] = n.Fact
		}
		t.prose("not read: ", joined(facts)+" (-o wide says why)")
		return
	}
	for _, n := range t.d.NotRead {
		t.prose("not read: ", fmt.Sprintf("%s from %s: %s", Clean(n.Fact), Clean(n.Source), Clean(n.Why)))
	}
}
