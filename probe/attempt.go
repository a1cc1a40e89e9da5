package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// attempt is one child: what it sent, and how it ended.
type attempt struct {
	rows    []Observation
	devices []Device
	laps    int // how often the child's deadline may still start anew
	read    int // how many devices the child is done with
	listed  []listedDevice
	library *Library
	changed []lostDevice // devices that were others at the end of the child
	last    callMessage
	open    bool           // the child began last's row, and has not finished it
	which   func(*attempt) // answers a child that asks what to read; nil once it has, or where none asks
	result  guard.Result
	starved bool     // broken for want of descriptors, threads or memory
	met     []string // limits that its messages met
	broken  string   // why it says nothing about the provider: it was not started, or our own code failed
}

// try runs one child. Its error is our own failure: the child could not be
// started, or our code in it panicked.
func (r *run) try(ctx context.Context, q *request, leave bool, lock *guard.Lock) (*attempt, error) {
	a := &attempt{which: q.which, laps: lapsOf(q.Devices)}
	spec, err := r.spec(q, leave, lock)
	if err != nil {
		a.broken = err.Error()
		return a, err
	}
	spec.Renews = a.renews
	a.result, err = guard.Run(ctx, spec, a.take)
	r.learn(a.devices)
	a.disown()
	for _, note := range a.tellMet() {
		r.note(note)
	}
	if a.result.Stopped {
		r.note(fmt.Sprintf("the child for %s (pid %d) was found stopped (SIGSTOP) when it had to end, and was continued", taskOf(q), a.result.PID))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		a.broken = "the run was interrupted"
		return a, nil
	case err != nil:
		a.broken, a.starved = "no child could be run: "+err.Error(), starvedOf(err) || starvedText(a.result.Panic)
		return a, fmt.Errorf("run a child for %s: %w", q.Task, err)
	case a.result.Panic != "":
		a.broken = "rdmaprobe's own code failed: " + a.result.Panic
		a.starved = starvedText(a.result.Panic)
		return a, fmt.Errorf("the child for %s failed in rdmaprobe's own code: %s", q.Task, a.result.Panic)
	}
	return a, nil
}

// lapsOf is how many deadlines a child has that reads devices: one for each, so that
// none is judged by what is left of another's, and one for what follows the last.
func lapsOf(devices []string) int {
	if len(devices) == 0 {
		return 0
	}
	return len(devices) + 1
}

// renews grants a child another deadline.
func (a *attempt) renews(m guard.Message) bool {
	if m.Type != msgLap || a.laps == 0 {
		return false
	}
	a.laps--
	return true
}

// take reads one message. What cannot be read is dropped: a row that is missing
// is filled in afterwards.
func (a *attempt) take(m guard.Message) {
	switch m.Type {
	case msgCall:
		var c callMessage
		if json.Unmarshal(m.Body, &c) == nil && (c.ID == "" || idIndex(c.ID) < len(EvidenceIDs)) {
			a.last, a.open = c, c.Verb == ""
		}
	case msgObservation:
		var o Observation
		switch {
		case json.Unmarshal(m.Body, &o) != nil || !Sound(o):
		case len(a.rows) >= maxRows:
			a.meets(limitRows)
		default:
			a.rows = append(a.rows, o)
			a.open = a.open && (o.ID != a.last.ID || o.Device != a.last.Device || o.Port != a.last.Port)
		}
	case msgRead:
		a.read++
	case msgWhich:
		if answer := a.which; answer != nil {
			a.which = nil
			answer(a)
		}
	case msgDevice:
		var d Device
		switch {
		case json.Unmarshal(m.Body, &d) != nil:
		case len(a.devices) >= maxRows:
			a.meets(limitRows)
		default:
			a.devices = append(a.devices, d)
		}
	case msgChanged:
		var e lostDevice
		if json.Unmarshal(m.Body, &e) == nil && len(a.changed) < maxRows {
			a.changed = append(a.changed, e)
		}
	case msgListed:
		var l listedDevice
		if json.Unmarshal(m.Body, &l) == nil && len(a.listed) < rdma.MaxDevices { // it lists no more
			a.listed = append(a.listed, l)
		}
	case msgCut:
		a.meets(limitMessage)
	case msgLibrary:
		var l Library
		if json.Unmarshal(m.Body, &l) == nil {
			a.library = &l
		}
	}
}

// maxRows bounds what one child may send. One that reads devices ends while it has room
// for rowsOfDevice more, and another goes on.
const (
	maxRows      = 100_000
	rowsOfDevice = 5*maxPorts + 100
)

// child is how the rows tell of their process, nil when there was none.
func (a *attempt) child() *Child {
	if a.result.PID == 0 {
		return nil
	}
	return &Child{Outcome: a.result.Outcome, PID: a.result.PID, Exit: a.result.Exit, Stderr: a.result.Stderr, Left: a.result.Left, Held: a.result.Held, interrupted: a.interrupted()}
}

// interrupted tells whether the child was ended because the run was, not because
// it did not end in time.
func (a *attempt) interrupted() bool {
	return a.result.Interrupted && a.result.Outcome == guard.TimedOut
}

// saw tells whether the child sent a row of an id for a device; port 0 is any.
func (a *attempt) saw(id, device string, port int) bool {
	return slices.ContainsFunc(a.rows, func(o Observation) bool {
		return o.ID == id && (device == "" || o.Device == device) && (port == 0 || o.Port == port)
	})
}

// lost makes the rows of a child that did not complete: the one in flight with
// what happened, and the others of ids as not reached.
func (a *attempt) lost(device, word string, port int, ids []string) []Observation {
	if a.result.Outcome == guard.Completed && a.broken == "" {
		return nil
	}
	flying, at := a.flying(device, port, ids)
	rows := []Observation{a.flight(flying, device, word, at)}
	for _, id := range ids {
		if id == flying || a.saw(id, device, 0) {
			continue
		}
		o := Observation{ID: id, Probe: word, Device: device, Level: rdma.CapabilityUnknown, Reason: Precondition, Detail: "the child ended before: " + rows[0].Detail}
		if evidence(id).Ports {
			o.Port = port
		}
		rows = append(rows, o)
	}
	return rows
}

// call is the provider call in which the child ended, "" for none. The page that it
// shares knows: the calls of messages are not announced. Where the library has
// destroyed that, the last announced call is as near as can be known. The page is of
// a library that is loaded: that it is being loaded is known by the announcement.
func (a *attempt) call() string {
	switch {
	case a.result.InCall:
		return cmp.Or(a.result.Verb, a.last.Verb)
	case a.last.Verb == loading && !a.saw(a.last.ID, a.last.Device, 0):
		return loading
	}
	return ""
}

// flying is the id, and its port, of the row in which the child ended: that of
// the last announced call, unless its row was finished. A row of messages can be one
// of several, each for a size of its own.
func (a *attempt) flying(device string, port int, ids []string) (string, int) {
	if l := a.last; a.broken == "" && l.ID != "" && l.Device == device && (l.ID == teardownID || a.open || !a.saw(l.ID, device, l.Port)) {
		return l.ID, l.Port
	}
	for _, id := range ids {
		if !a.saw(id, device, 0) {
			return id, port
		}
	}
	return teardownID, 0
}

// teardownID is the id of what comes after all others.
const teardownID = "teardown"

// flight is the row in which the child ended.
func (a *attempt) flight(id, device, word string, port int) Observation {
	res := a.result
	o := Observation{ID: id, Probe: word, Device: device, Level: rdma.CapabilityUnknown, Child: a.child(), Params: a.last.Params, Call: a.call(), Data: map[string]any{}}
	if evidence(id).Ports {
		o.Port = port
	}
	at := a.last.StartedAt
	if at.IsZero() || a.last.ID != id || a.last.Device != device {
		at = time.Now().Add(-res.Duration).UTC()
		o.Params = nil
	}
	o.StartedAt = &at
	o.DurationNS = max(time.Since(at), 0).Nanoseconds()
	if res.InCall {
		o.Data["calls"] = res.Calls
	}
	if evidence(id).Class == ClassData {
		o.Data["phase"] = "data"
	}
	if res.Killed {
		o.Data["killed"] = true
	}
	o.Reason, o.Detail = a.end(o.Call)
	return o
}

// end says how the child ended, in a call or outside of any.
func (a *attempt) end(call string) (Reason, string) {
	res, where := a.result, "outside a provider call"
	if call != "" {
		where = "in " + call
	}
	switch {
	case a.broken != "":
		if a.starved {
			return Exhausted, a.broken
		}
		return Interrupted, a.broken
	case res.Outcome == guard.Left:
		return Stuck, fmt.Sprintf("the child (pid %d) was left running %s: killing it there can wedge the port", res.PID, where)
	case res.Outcome == guard.Stuck:
		return Stuck, fmt.Sprintf("the child (pid %d) did not die %s", res.PID, where)
	case a.interrupted():
		return Interrupted, "the run was interrupted " + where
	case res.Killed && res.OutOfMemory:
		return Exhausted, "the system ended the child " + where + ": memory ran out (SIGKILL)"
	case res.Killed:
		return Interrupted, "the child was killed from outside (SIGKILL) " + where + ": by another program, or by the system for want of memory"
	case res.Outcome == guard.TimedOut && res.Stopped: // the library may have done it
		return Timeout, "the child was found stopped (SIGSTOP) when its time was over, was continued, and was then killed " + where
	case res.Outcome == guard.TimedOut && call == "" && res.Late >= ladder.Term: // it may have waited for this process
		return Timeout, fmt.Sprintf("the child was killed outside a provider call: rdmaprobe itself came back to it %v late (it was stopped, or had no processor)",
			res.Late.Round(100*time.Millisecond))
	case res.Outcome == guard.TimedOut && call == "":
		return Timeout, "the child was killed outside a provider call: it did not end in time"
	case res.Outcome == guard.TimedOut:
		return Timeout, "the child was killed " + where + ", which had not returned in time"
	}
	text := "the child died " + where
	if res.Signal != "" {
		text += ": " + res.Signal
	}
	return Crash, text
}

// taskOf names a child for people.
func taskOf(q *request) string {
	if q.Device == "" {
		return q.Task
	}
	return q.Task + " on " + q.Device
}

// starvedOf tells whether an error is about a limit of this user or machine.
func starvedOf(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// starvedText tells the same of a text with which the runtime of a child ended.
func starvedText(text string) bool {
	return strings.Contains(text, "pthread_create failed") || strings.HasPrefix(text, "runtime: ") || strings.HasPrefix(text, "fatal error: out of memory") ||
		strings.HasPrefix(text, "fatal error: failed to reserve")
}
