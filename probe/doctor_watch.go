package probe

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// MinWatchInterval keeps a watch from being nothing but work.
const MinWatchInterval = 500 * time.Millisecond

// Change is one difference between two rounds of a watch.
type Change struct {
	Kind    string // one of the kinds below
	Subject string // a device and its port, or a finding's code and scope
	Before  string
	After   string
	Finding *Finding // what was added or removed
}

// Kinds of change.
const (
	ChangeVerdict        = "verdict"
	ChangePort           = "port"
	ChangeFindingAdded   = "finding_added"
	ChangeFindingRemoved = "finding_removed"
)

// earlierRounds is what a later round of a watch knows of those before it.
type earlierRounds struct {
	doc   *Document       // of the last round
	tried map[string]bool // devices on which this watch has tried to create
	quiet bool            // class read only, and nothing goes into the ledger
}

// Watch diagnoses again and again, interval apart, and tells the first document
// as a whole and then what changes, until ctx ends or tell fails. Class create is
// tried once on each device in the whole watch: in the first round, or, recorded
// like that one, when a port of it becomes ACTIVE later. All other rounds only
// read and leave nothing in the ledger; what was created before stands in their
// documents under its own run. It returns the last document, which is never nil,
// and fails as Doctor does when the first round cannot be made.
func Watch(ctx context.Context, o DoctorOptions, interval time.Duration, tell func(d *Document, at time.Time, changes []Change) error) (*Document, error) {
	if interval < MinWatchInterval {
		d := NewDocument(o.Tool, o.Command)
		d.Exit = ExitUsage
		return d, usagef("--interval %v: want at least %v", interval, MinWatchInterval)
	}
	d, err := Doctor(ctx, o)
	if err != nil && d.Exit == ExitUsage {
		return d, err
	}
	w := &earlierRounds{doc: d, tried: map[string]bool{}}
	w.remember(d)
	if err := tell(d, time.Now(), nil); err != nil {
		return d, err
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return w.doc, nil
		case <-tick.C:
		}
		next := w.round(ctx, o)
		if ctx.Err() != nil {
			return w.doc, nil // half a round would show changes that are none
		}
		changes := Changes(w.doc, next)
		w.doc = next
		if len(changes) == 0 {
			continue
		}
		if err := tell(next, time.Now(), changes); err != nil {
			return next, err
		}
	}
}

// round reads everything again, and creates where that was not tried yet.
func (w *earlierRounds) round(ctx context.Context, o DoctorOptions) *Document {
	o.earlier = &earlierRounds{doc: w.doc, tried: w.tried, quiet: true}
	d, _ := Doctor(ctx, o) // what went wrong is in the document
	if o.ReadOnly || !slices.ContainsFunc(d.Devices, func(dev Device) bool { return !w.tried[dev.Name] && dev.anyActive() }) {
		return d
	}
	o.earlier = &earlierRounds{doc: w.doc, tried: w.tried}
	d, _ = Doctor(ctx, o)
	w.remember(d)
	return d
}

// remember notes the devices on which a recorded round was free to create.
func (w *earlierRounds) remember(d *Document) {
	for _, dev := range d.Devices {
		if dev.anyActive() {
			w.tried[dev.Name] = true
		}
	}
}

func (d *Device) anyActive() bool {
	return slices.ContainsFunc(d.Ports, func(p Port) bool { return p.State == stateActive })
}

// keepEarlier shows what an earlier round of a watch has created where this one
// did not try again, under the run that did.
func (r *run) keepEarlier() {
	if r.earlier == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := func(device, word string) bool {
		row, known := rowOf(word)
		return known && row.class >= ClassCreate && !tried(r.doc, device, word) && tried(r.earlier.doc, device, word) &&
			slices.ContainsFunc(r.doc.Devices, func(d Device) bool { return d.Name == device })
	}
	var rows []Observation
	for _, o := range r.earlier.doc.Observations {
		if kept(o.Device, o.Probe) {
			rows = append(rows, o)
		}
	}
	r.doc.Observations = append(slices.DeleteFunc(r.doc.Observations, func(o Observation) bool {
		return o.Reason == NotTried && slices.ContainsFunc(rows, func(e Observation) bool { return e.Device == o.Device && e.Probe == o.Probe })
	}), rows...)
}

// tried tells whether a document has what came of a probe on a device.
func tried(d *Document, device, word string) bool {
	return slices.ContainsFunc(d.Observations, func(o Observation) bool {
		return o.Device == device && o.Probe == word && !slices.Contains([]Reason{NotTried, Precondition, Guarded, Interrupted}, o.Reason)
	})
}

// Changes lists what is different in a later diagnosis: the verdict, ports,
// findings that came and went. Both documents are of doctor.
func Changes(before, after *Document) []Change {
	var all []Change
	if a, b := verdictText(before), verdictText(after); a != b {
		all = append(all, Change{Kind: ChangeVerdict, Before: a, After: b})
	}
	was, is := portTexts(before), portTexts(after)
	for _, subject := range union(slices.Clone(is.order), was.order) {
		if a, b := was.text[subject], is.text[subject]; a != b {
			all = append(all, Change{Kind: ChangePort, Subject: subject, Before: a, After: b})
		}
	}
	for _, side := range []struct {
		kind      string
		here, not *Document
	}{{ChangeFindingAdded, after, before}, {ChangeFindingRemoved, before, after}} {
		for _, f := range side.here.Findings {
			same := func(g Finding) bool { return g.Code == f.Code && g.Scope == f.Scope && g.Severity == f.Severity }
			if !slices.ContainsFunc(side.not.Findings, same) {
				all = append(all, Change{Kind: side.kind, Subject: f.Code + " on " + f.Scope, Finding: &f})
			}
		}
	}
	return all
}

// verdictText is a document's verdict, else why it has none.
func verdictText(d *Document) string {
	switch {
	case d.Error != "":
		return "failed: " + printable(d.Error)
	case d.Verdict != nil:
		return d.Verdict.Text
	}
	return "no verdict"
}

// portLines are the ports of a verdict in words, in order.
type portLines struct {
	order []string
	text  map[string]string
}

func portTexts(d *Document) portLines {
	lines := portLines{text: map[string]string{}}
	if d.Verdict == nil {
		return lines
	}
	for _, p := range d.Verdict.Ports {
		subject := printable(p.Device)
		if p.Port > 0 {
			subject += fmt.Sprintf(" port %d", p.Port)
		}
		text := VerdictWords(p.Word)
		if p.State != "" {
			text = printable(p.State) + ", " + text
		}
		if p.Why != "" {
			text += " (" + p.Why + ")"
		}
		if lines.text[subject] == "" {
			lines.order = append(lines.order, subject)
		}
		lines.text[subject] = text
	}
	return lines
}
