package probe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// closure is an event after which a device takes no more probes of a class and
// above.
type closure struct {
	From  Class
	Event string // crashed, killed, stuck, left, timed_out, rtr_failed, interrupted, holder
	Probe string // only this probe is closed; "" means all
	Call  string
	At    time.Time
	Run   string
	PID   int
	Until string // in words: what ends it
	Now   bool   // happened in this run: not lifted by force
	Errno *Errno // rtr_failed: how

	device string // as the ledger's row names it
}

// closes tells whether the event keeps a row of the table from being tried.
func (c *closure) closes(row *tableRow) bool {
	return row.class >= c.From && (c.Probe == "" || c.Probe == row.word)
}

// data is how an observation tells of the event.
func (c *closure) data() map[string]any {
	by := map[string]any{"event": c.Event}
	if !c.At.IsZero() {
		by["at"] = c.At.UTC().Format(time.RFC3339)
	}
	if c.Run != "" {
		by["run"] = c.Run
	}
	if c.Call != "" {
		by["call"] = c.Call
	}
	if c.PID > 0 {
		by["pid"] = c.PID
	}
	if c.Errno != nil {
		by["errno"] = c.Errno
	}
	return map[string]any{"closed_by": by}
}

var eventWords = map[string]string{
	"crashed":     "the provider crashed",
	"killed":      "a child was killed from outside",
	"timed_out":   "a provider call did not return in time",
	"left":        "a child was left running in a provider call",
	"stuck":       "a child could not be killed",
	"rtr_failed":  "a transition to RTR failed",
	"interrupted": "a run ended in this probe without recording an outcome",
	"holder":      "another process holds the device",
}

// text is the refusal: event, time and ways out.
func (c *closure) text() string {
	s := eventWords[c.Event]
	if c.Call != "" {
		s += " in " + c.Call
	}
	if !c.At.IsZero() {
		s += " at " + c.At.UTC().Format(time.RFC3339)
	}
	if c.PID > 0 {
		s += fmt.Sprintf(" (pid %d)", c.PID)
	}
	s += "; not tried again " + c.Until
	if !c.Now {
		s += ", or with --force"
	}
	return s
}

// What ends a closure, in words.
const (
	untilReboot = "in this boot"
	untilUpdate = "until the OS build changes"
)

// hung tells of a child that lives on.
func (c *closure) hung() bool { return c.Event == string(guard.Stuck) || c.Event == string(guard.Left) }

// closureOf is what a row closes in its boot, on a Thunderbolt device or another.
// A soft deadline closes nothing: the child completed.
func closureOf(o *Observation, tb bool) (c closure, ok bool) {
	c = closure{From: ClassCreate, Call: o.Call, Run: o.Run, Until: untilReboot}
	if o.StartedAt != nil {
		c.At = *o.StartedAt
	}
	if o.Child != nil && slices.Contains([]Reason{Crash, Timeout, Stuck}, o.Reason) {
		c.Event = string(o.Child.Outcome)
		switch o.Child.Outcome {
		case guard.Crashed:
			return c, true
		case guard.TimedOut: // a query that hangs costs no more than its child
			return c, classOf(o) >= ClassCreate && o.Call != "" // else no call was in the way
		case guard.Stuck, guard.Left:
			c.PID = o.Child.PID
			return c, true
		}
	}
	// Who kills a child from outside says nothing about the provider; on Thunderbolt
	// that costs what it held, and can wedge the port.
	if killed, _ := o.Data["killed"].(bool); killed && tb && o.Call != "" && classOf(o) >= ClassCreate {
		c.Event = "killed"
		return c, true
	}
	return rtrClosure(o, tb)
}

// rtrClosure is what a transition to RTR that did not succeed closes on
// Thunderbolt: also one in which the child ended, since a port that it wedged
// takes the others down.
func rtrClosure(o *Observation, tb bool) (c closure, ok bool) {
	if !tb || !strings.HasSuffix(o.ID, ".rtr") || !o.tried() || o.Level == rdma.CapabilityConfirmed {
		return closure{}, false
	}
	c = closure{From: ClassTransition, Event: "rtr_failed", Call: o.Call, Run: o.Run, Until: untilReboot, Errno: o.Errno}
	if o.StartedAt != nil {
		c.At = *o.StartedAt
	}
	return c, true
}

// classOf is the class of the probe that a row is from, or of its id when that
// is higher.
func classOf(o *Observation) Class {
	class := evidence(o.ID).Class
	if row, ok := rowOf(o.Probe); ok {
		class = max(class, row.class)
	}
	return class
}

// forAll is what an event on one Thunderbolt device closes on all of them.
func (c *closure) forAll() (closure, bool) {
	if c.hung() {
		all := *c
		all.From = max(c.From, ClassCreate)
		return all, true
	}
	return closure{}, false
}

// close notes what a row of the ledger closes.
func (h *history) close(r *pastRun, identity, device string, rec *ledger.Record) {
	var o Observation
	if json.Unmarshal(rec.Body, &o) != nil || idIndex(o.ID) == len(EvidenceIDs) {
		return
	}
	o.Run = r.id
	tb := r.devices[device].tb
	c, ok := closureOf(&o, tb)
	if !ok {
		return
	}
	c.device = device
	h.closures[identity] = append(h.closures[identity], c)
	if all, ok := c.forAll(); tb && ok {
		h.tbClosed = append(h.tbClosed, all)
	}
	if rtr, ok := rtrClosure(&o, tb); ok {
		h.tbClosed = append(h.tbClosed, rtr)
	}
}

// openIntents turns the intents of a run that is over and recorded no outcome
// into rows that say so, and closes their probes.
func (h *history) openIntents(r *pastRun, live func(string) bool) {
	if r.ended || len(r.intents) == 0 || live(r.id) {
		return
	}
	for key, in := range r.intents {
		if r.outcomes[key] {
			continue
		}
		id := r.identity(in.Device)
		if _, known := r.devices[in.Device]; !known {
			id = identity(in.NodeGUID, in.Device, in.BootID)
		}
		for i := range in.IDs {
			o := in.interrupted(r, i)
			h.keep(rowKey{id, o.ID, o.Probe, o.Port, r.build, r.lib}, pastRow{run: r.id, n: r.n, seq: in.seq, level: o.Level, row: &o})
		}
		c := closure{From: ClassCreate, Event: "interrupted", Probe: in.Probe, At: in.at, Run: r.id, Until: untilUpdate, device: in.Device}
		h.closures[acrossBoots(id, in.Device)] = append(h.closures[acrossBoots(id, in.Device)], c)
	}
}

// interrupted is the row of an announced id whose outcome nobody recorded.
func (in pastIntent) interrupted(r *pastRun, i int) Observation {
	at := in.at
	o := Observation{
		Run: r.id, Seq: in.seq, ID: in.IDs[i], Probe: in.Probe, Device: in.Device, Level: rdma.CapabilityUnknown, Reason: Interrupted, StartedAt: &at,
		Detail: "the run ended without recording an outcome; why is not known",
		Data:   map[string]any{"intent": map[string]any{"probe": in.Probe, "at": at.UTC().Format(time.RFC3339), "run": r.id}},
	}
	if e := idIndex(o.ID); e < len(EvidenceIDs) && EvidenceIDs[e].Ports {
		o.Port = in.Port
	}
	return o
}

// acrossBoots is an identity that outlives a boot: of a device without a GUID
// that is its name.
func acrossBoots(identity, name string) string {
	if byName(identity, name) {
		return name + "@"
	}
	return identity
}

// byName tells whether an identity is that of a device of which no GUID is known.
func byName(identity, name string) bool { return strings.HasPrefix(identity, name+"@") }

// now is what a run knows of the present.
type now struct {
	boot, build string
	alive       func(pid int) bool
}

// closed lists what keeps a device closed, what closes most first, then the
// newest event.
func (h *history) closed(id, name string, tb bool, n now) []closure {
	own := h.filedOn(id, name)
	for i := range own {
		if own[i].hung() && n.alive(own[i].PID) {
			own[i].From, own[i].Until = ClassRead, fmt.Sprintf("while process %d lives", own[i].PID)
		}
	}
	if tb {
		own = append(own, h.tbClosed...)
	}
	own = slices.DeleteFunc(own, func(c closure) bool { return !h.holds(c, n) })
	slices.SortStableFunc(own, func(a, b closure) int {
		return cmp.Or(cmp.Compare(a.From, b.From), b.At.Compare(a.At), cmp.Compare(b.Run, a.Run))
	})
	return own
}

// filedOn are the closures of a device. What an earlier run knew by its name alone,
// since it could not even ask for its GUID, is the device that has the name now; and
// where this run knows no GUID of its own, what is filed under any is found by name.
func (h *history) filedOn(id, name string) []closure {
	own := slices.Clone(h.closures[id])
	for other, list := range h.closures {
		for _, c := range list {
			if other != id && (byName(other, name) || byName(id, name) && c.device == name) {
				own = append(own, c)
			}
		}
	}
	return own
}

// holds tells whether an event of the past still counts: within its boot, or
// until the OS build changes.
func (h *history) holds(c closure, n now) bool {
	r := h.runs[c.Run]
	if r == nil {
		return false
	}
	if c.Event == "interrupted" {
		return r.build == n.build
	}
	return n.boot != "" && r.boot == n.boot
}
