package cmd

import (
	"io"

	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// teller prints observations as they come, and remembers which.
type teller struct {
	out  io.Writer
	form report.Format
	seen map[probe.ObservationRef]bool
	err  error
}

// stream makes a run tell of its rows where the format has a form for one alone. With stand-ins
// nothing goes out before the whole document is known: a name may come later than
// the text that has it.
func (a *app) stream(o *probe.Options) {
	if a.rendering().Row == nil || a.redacts() {
		return
	}
	a.told = &teller{out: a.out, form: a.rendering(), seen: map[probe.ObservationRef]bool{}}
	o.OnObservation = a.told.tell
}

func (t *teller) tell(o probe.Observation) {
	if t.err == nil {
		t.err = t.form.Row(t.out, o)
	}
	t.seen[refOf(o)] = true
}

func refOf(o probe.Observation) probe.ObservationRef {
	return probe.ObservationRef{Run: o.Run, Seq: o.Seq, ID: o.ID}
}

// finish writes the rest of the document.
func (t *teller) finish(w io.Writer, d *probe.Document) error {
	if t.err != nil {
		return t.err
	}
	rest := *d
	rest.Observations = nil
	for _, o := range d.Observations {
		if !t.seen[refOf(o)] {
			rest.Observations = append(rest.Observations, o)
		}
	}
	return t.form.Render(w, &rest, report.Options{})
}
