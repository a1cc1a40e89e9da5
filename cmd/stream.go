package cmd

import (
	"io"

	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// teller prints observations as they come, as lines of JSON, and remembers which.
type teller struct {
	out  io.Writer
	seen map[probe.ObservationRef]bool
	err  error
}

// stream makes a run tell of its rows where the format is lines. With stand-ins
// nothing goes out before the whole document is known: a name may come later than
// the text that has it.
func (a *app) stream(o *probe.Options) {
	if a.format != "jsonl" || a.redacts() {
		return
	}
	a.told = &teller{out: a.out, seen: map[probe.ObservationRef]bool{}}
	o.OnObservation = a.told.tell
}

func (t *teller) tell(o probe.Observation) {
	if t.err == nil {
		t.err = report.WriteObservation(t.out, o)
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
	f, err := report.Lookup("jsonl")
	if err != nil {
		return err
	}
	return f.Render(w, &rest, report.Options{})
}
