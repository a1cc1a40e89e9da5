package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// session is the child's side of one probe: the device it works on, the rows it
// sends, and what it has to release.
type session struct {
	child   *guard.Child
	req     *request
	lib     *rdma.Library
	probe   string // the word of the table that runs
	device  string
	sim     *sim.Provider // nil: the native library
	playing rdma.Platform // simulated: whose library
	dev     rdma.Device
	guid    string      // what the open device said first, "" when it was not asked
	lost    *lostDevice // why a device is not worked on: it is not the one that was listed
	noAttr  string      // why the device's attributes are not known
	ctx     rdma.RDMAContext
	now     *row   // the row that the next provider call is for
	undo    []undo // in the order of creation
	made    int32  // the verbs number of the type of queue pair that was made
	last    callMessage
	slowest time.Duration   // of the queries of a port
	sent    int             // rows
	failed  map[string]bool // stages that did not succeed in this run
	refused bool            // the last failure was about the arguments, not about a lack
	lacks   string          // the verb that something failed for, since the library does not have it
}

// undo releases one object.
type undo struct {
	verb string
	call func() (int, error)
}

// row is an observation in the making.
type row struct {
	s *session
	o Observation
	t time.Time
}

// begin starts the row of an id; the provider calls that follow are for it.
func (s *session) begin(id string, port int, params map[string]any) *row {
	t := time.Now()
	at := t.UTC()
	r := &row{s: s, t: t, o: Observation{ID: id, Probe: s.probe, Device: s.device, Port: port, Params: params, StartedAt: &at}}
	s.now = r
	return r
}

// announce tells the parent which call comes next. The binding calls it.
func (s *session) announce(verb string) {
	m := callMessage{Verb: verb}
	if s.now != nil {
		m.ID, m.Device, m.Port, m.Params = s.now.o.ID, s.now.o.Device, s.now.o.Port, s.now.o.Params
		if s.now.o.StartedAt != nil {
			m.StartedAt = *s.now.o.StartedAt
		}
	}
	if m.Verb == s.last.Verb && m.ID == s.last.ID && m.Device == s.last.Device && m.Port == s.last.Port {
		return
	}
	s.last = m
	s.say(msgCall, m)
}

// say sends a message. One that is too long is told of instead. The pipe's other end is the
// parent: where that is gone the lifeline tells.
func (s *session) say(typ string, body any) {
	if typ == msgObservation {
		s.sent++
	}
	if err := s.child.Send(typ, body); errors.Is(err, guard.ErrTooLong) {
		_ = s.child.Send(msgCut, typ)
	}
}

// send finishes a row.
func (r *row) send() {
	r.o.DurationNS = time.Since(r.t).Nanoseconds()
	if r.o.Level == "" {
		r.o.Level = rdma.CapabilityUnknown
	}
	if r.o.failed() {
		r.s.failed[r.o.ID] = true
	}
	r.s.say(msgObservation, r.o)
}

// confirmed finishes a row whose call succeeded.
func (r *row) confirmed(call string, ret Return, value any) {
	r.o.Level, r.o.Call, r.o.Return, r.o.Value = rdma.CapabilityConfirmed, call, &ret, value
	r.send()
}

// counted finishes a row whose value is a number: zero is observed_zero.
func (r *row) counted(call string, n uint64) {
	r.o.Level, r.o.Call, r.o.Value = rdma.CapabilityConfirmed, call, n
	if n == 0 {
		r.o.Level = rdma.CapabilityObservedZero
	}
	r.send()
}

// fail finishes a row whose call failed.
func (r *row) fail(call string, err error) {
	p := r.s.lib.Platform()
	r.o.Call, r.o.Return, r.o.Errno, r.o.FailureClass = call, returnOf(err), errnoOf(p, err), failureOf(err)
	r.o.Level, r.o.Reason = judge(evidence(r.o.ID).Class, p, err)
	r.o.Detail = err.Error()
	if r.o.Reason == SymbolMissing {
		r.s.lacks = call
	}
	r.s.refused = r.o.Level == rdma.CapabilityRejected || r.o.Reason == Invalid || r.o.Reason == Permission
	r.send()
}

// unknown finishes a row without a provider's answer.
func (r *row) unknown(reason Reason, detail string) {
	r.o.Level, r.o.Reason, r.o.Detail = rdma.CapabilityUnknown, reason, detail
	r.send()
}

// skip sends rows of what cannot be tried because of detail. What is missing for
// want of a function names the function.
func (s *session) skip(reason Reason, detail string, port int, ids ...string) {
	if reason == Precondition && !strings.Contains(detail, s.lacks) {
		detail += lackText(s.lacks)
	}
	for _, id := range ids {
		p := 0
		if evidence(id).Ports {
			p = port
		}
		o := Observation{ID: id, Probe: s.probe, Device: s.device, Port: p, Level: rdma.CapabilityUnknown, Reason: reason, Detail: detail}
		if reason == Precondition && s.lost != nil {
			o.Data = s.lost.data()
		}
		s.say(msgObservation, o)
	}
}

// lackText is how the detail of a row names the function for want of which it was not
// tried; "" for none.
func lackText(verb string) string {
	if verb == "" {
		return ""
	}
	return ": the library has no " + verb
}

// freeable says why nothing is made that verb gives back: the library does not have
// it. What is left behind may be missed until the next restart.
func freeable(verb string) error {
	if l, err := rdma.Current(); err == nil && l.Has(verb) {
		return nil
	}
	return fmt.Errorf("nothing is made that could not be given back: %w",
		&rdma.ProviderError{Operation: verb, Failure: rdma.FailureSymbolUnavailable, Cause: rdma.ErrSymbolUnavailable})
}

// usable tells whether a stage may be called; a stage that failed in this run is
// not called again, and what needs it says so.
func (s *session) usable(stage string) bool { return !s.failed[stage] }

// ended gives the reason why the session has to stop, "" while it may go on.
func (s *session) ended() (Reason, string) {
	err := context.Cause(s.child.Context())
	switch {
	case err == nil:
		return "", ""
	case errors.Is(err, guard.ErrDeadline):
		return Timeout, "the probe's own deadline came first"
	default:
		return Interrupted, err.Error()
	}
}

// noTimeFor is ended that knows how long the next step may take: one that runs into
// the deadline is not begun.
func (s *session) noTimeFor(step time.Duration) (Reason, string) {
	if due, ok := s.child.Context().Deadline(); ok && time.Until(due) < step {
		if why, detail := s.ended(); why != "" {
			return why, detail
		}
		return Timeout, "the probe's own deadline would come first"
	}
	return s.ended()
}

// push remembers how to release an object.
func (s *session) push(verb string, call func() (int, error)) {
	s.undo = append(s.undo, undo{verb, call})
}

// pop releases the newest object.
func (s *session) pop() error {
	u := s.undo[len(s.undo)-1]
	s.undo = s.undo[:len(s.undo)-1]
	if _, err := u.call(); err != nil {
		return fmt.Errorf("%s: %w", u.verb, err)
	}
	return nil
}

// releaseOrder is the order of a teardown: nothing is released while something
// that is released before it could still refer to it.
var releaseOrder = []string{
	"ibv_destroy_qp", "ibv_dereg_mr", "ibv_destroy_cq", "ibv_destroy_comp_channel", "ibv_dealloc_pd", "ibv_close_device",
}

// teardown releases everything, by kind and then newest first, and stops at the
// first failure: what comes after would only work on objects that are still in
// use.
func (s *session) teardown() {
	if len(s.undo) == 0 {
		return
	}
	sort.SliceStable(s.undo, func(i, j int) bool {
		return slices.Index(releaseOrder, s.undo[i].verb) > slices.Index(releaseOrder, s.undo[j].verb)
	})
	r := s.begin(teardownID, 0, nil)
	last := ""
	for len(s.undo) > 0 {
		last = s.undo[len(s.undo)-1].verb
		if err := s.pop(); err != nil {
			s.broken(r, last, err)
			return
		}
	}
	r.confirmed(last, Return{}, nil)
}

// broken finishes the row of a teardown that failed. What is left stays.
func (s *session) broken(r *row, verb string, err error) {
	r.set("left", len(s.undo)+1)
	s.undo = nil
	r.fail(verb, err)
}
