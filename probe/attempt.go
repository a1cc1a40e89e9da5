package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// attempt is one child: what it sent, and how it ended.
type attempt struct {
	rows    []Observation
	devices []Device
	listed  []listedDevice
	library *Library
	last    callMessage
	result  guard.Result
}

// try runs one child. Its error is our own failure: the child could not be
// started, or our code in it panicked.
func (r *run) try(ctx context.Context, q *request, leave bool, lock *guard.Lock) (*attempt, error) {
	a := &attempt{}
	spec, err := r.spec(q, leave, lock)
	if err != nil {
		return a, err
	}
	res, err := guard.Run(ctx, spec, a.take)
	a.result = res
	if err != nil {
		return a, fmt.Errorf("run a child for %s: %w", q.Task, err)
	}
	if res.Panic != "" {
		return a, fmt.Errorf("the child for %s failed in rdmaprobe's own code: %s", q.Task, res.Panic)
	}
	return a, nil
}

// take reads one message. What cannot be read is dropped: a row that is missing
// is filled in afterwards.
func (a *attempt) take(m guard.Message) {
	switch m.Type {
	case msgCall:
		var c callMessage
		if json.Unmarshal(m.Body, &c) == nil {
			a.last = c
		}
	case msgObservation:
		var o Observation
		if json.Unmarshal(m.Body, &o) == nil && sound(o) && len(a.rows) < maxRows {
			a.rows = append(a.rows, o)
		}
	case msgDevice:
		var d Device
		if json.Unmarshal(m.Body, &d) == nil {
			a.devices = append(a.devices, d)
		}
	case msgListed:
		_ = json.Unmarshal(m.Body, &a.listed)
	case msgLibrary:
		var l Library
		if json.Unmarshal(m.Body, &l) == nil {
			a.library = &l
		}
	}
}

// maxRows bounds what one child may send: a listing of many devices with many
// ports stays far below it.
const maxRows = 100000

// sound tells whether a row is of the vocabulary.
func sound(o Observation) bool {
	if idIndex(o.ID) == len(EvidenceIDs) {
		return false
	}
	switch o.Level {
	case rdma.CapabilityConfirmed, rdma.CapabilityRejected, rdma.CapabilityObservedZero:
		return o.Reason == ""
	case rdma.CapabilityUnknown:
		return slices.Contains(Reasons, o.Reason)
	}
	return false
}

// child is how the rows tell of their process.
func (a *attempt) child() *Child {
	return &Child{Outcome: a.result.Outcome, PID: a.result.PID, Exit: a.result.Exit, Stderr: a.result.Stderr}
}

// saw tells whether the child sent a row of an id, for a port where it has one.
func (a *attempt) saw(id string, device string) bool {
	return slices.ContainsFunc(a.rows, func(o Observation) bool { return o.ID == id && (device == "" || o.Device == device) })
}

// lost makes the rows of a child that did not complete: the one in flight with
// what happened, and the others of ids as not reached.
func (a *attempt) lost(device, word string, port int, ids []string) []Observation {
	if a.result.Outcome == guard.Completed {
		return nil
	}
	flying := a.last.ID
	if flying == "" || a.saw(flying, device) && flying != "teardown" {
		flying = ""
		for _, id := range ids {
			if !a.saw(id, device) {
				flying = id
				break
			}
		}
	}
	if flying == "" {
		flying = "teardown"
	}
	rows := []Observation{a.flight(flying, device, word, port)}
	for _, id := range ids {
		if id == flying || a.saw(id, device) {
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

// flight is the row in which the child ended.
func (a *attempt) flight(id, device, word string, port int) Observation {
	res := a.result
	o := Observation{ID: id, Probe: word, Device: device, Level: rdma.CapabilityUnknown, Child: a.child(), Params: a.last.Params, Call: a.last.Verb, Data: map[string]any{}}
	if evidence(id).Ports {
		o.Port = max(port, a.last.Port)
	}
	at := a.last.StartedAt
	if at.IsZero() || a.last.ID != id {
		at = time.Now().Add(-res.Duration).UTC()
		o.Params = nil
	}
	o.StartedAt = &at
	o.DurationNS = max(time.Since(at), 0).Nanoseconds()
	if res.InCall {
		o.Call = res.Verb
		o.Data["calls"] = res.Calls
	}
	if evidence(id).Class == ClassData {
		o.Data["phase"] = "data"
	}
	where := "outside a provider call"
	if o.Call != "" {
		where = "in " + o.Call
	}
	switch {
	case res.Interrupted && res.Outcome != guard.Stuck && res.Outcome != guard.Left:
		o.Reason, o.Detail = Interrupted, "the run was interrupted "+where
	case res.Outcome == guard.Crashed:
		o.Reason, o.Detail = Crash, "the child died "+where
		if res.Signal != "" {
			o.Detail += ": " + res.Signal
		}
	case res.Outcome == guard.TimedOut:
		o.Reason, o.Detail = Timeout, "the child was killed "+where+", which had not returned in time"
	case res.Outcome == guard.Left:
		o.Reason, o.Detail = Stuck, fmt.Sprintf("the child (pid %d) was left running %s: killing it there can wedge the port", res.PID, where)
	default:
		o.Reason, o.Detail = Stuck, fmt.Sprintf("the child (pid %d) did not die %s", res.PID, where)
	}
	return o
}
