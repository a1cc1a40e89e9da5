package probe

import (
	"fmt"
	"time"
)

// closure is an event after which a device takes no more probes of a class and
// above.
type closure struct {
	From  Class
	Event string // crashed, stuck, left, timed_out, rtr_failed, interrupted
	Probe string // only this probe is closed; "" means all
	Call  string
	At    time.Time
	Run   string
	PID   int
	Until string // in words: what ends it
	Now   bool   // happened in this run: not lifted by force
	Errno *Errno // rtr_failed: how
}

// closes tells whether the event keeps a row of the table from being tried.
func (c closure) closes(row tableRow) bool {
	return row.class >= c.From && (c.Probe == "" || c.Probe == row.word)
}

// data is how an observation tells of the event.
func (c closure) data() map[string]any {
	by := map[string]any{"event": c.Event, "at": c.At.UTC().Format(time.RFC3339), "run": c.Run}
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
	"timed_out":   "a provider call did not return in time",
	"left":        "a child was left running in a provider call",
	"stuck":       "a child could not be killed",
	"rtr_failed":  "a transition to RTR failed",
	"interrupted": "a run ended in this probe without recording an outcome",
	"holder":      "another process holds the device",
}

// text is the refusal: event, time and ways out.
func (c closure) text() string {
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
