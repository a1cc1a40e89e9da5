//go:build linux

package faulttest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// row finds a row.
func row(d *probe.Document, device, id, word string, port int) *probe.Observation {
	for i := range d.Observations {
		if r := &d.Observations[i]; r.Device == device && r.ID == id && (word == "" || r.Probe == word) && (port == 0 || r.Port == port) {
			return r
		}
	}
	return nil
}

// struck is the row of the fault.
func (c trial) struck(d *probe.Document) *probe.Observation {
	if c.p.host {
		return row(d, "", c.p.id, "", 0)
	}
	r := row(d, c.m.bad, c.p.id, c.p.word, 0)
	if c.p.id == "teardown" {
		for i := range d.Observations { // the same call may fail in later probes too
			if o := &d.Observations[i]; o.Device == c.m.bad && o.ID == "teardown" && o.Probe == c.p.word && o.Level != rdma.CapabilityConfirmed {
				return o
			}
		}
	}
	return r
}

// unlisted tells that the fault took the listing, and so every device.
func (c trial) unlisted(w want) bool {
	return c.p.host && !c.p.everywhere && w.level == rdma.CapabilityUnknown
}

// checkRow looks at the row in which the fault happened: its level, its reason,
// what became of the child, and that the call is named.
func (c trial) checkRow(t *testing.T, d, base *probe.Document, w want) {
	t.Helper()
	if w.gone || w.same {
		return
	}
	r := c.struck(d)
	if r == nil {
		t.Fatalf("there is no row %s of %s", c.p.id, c.p.word)
	}
	level, reason := w.level, w.reason
	if level == "" {
		b := c.struck(base)
		if b == nil {
			t.Fatalf("a healthy machine has no row %s of %s", c.p.id, c.p.word)
		}
		level, reason = b.Level, b.Reason
		if c.f.name == "rkey=max" || c.f.name == "gid_tbl_len=0" {
			level = r.Level // the value decides
		}
	}
	if r.Level != level || r.Reason != reason && !slices.Contains(w.also, r.Reason) {
		t.Errorf("%s is %s (%s), want %s (%s): %s", r.ID, r.Level, r.Reason, level, reason, r.Detail)
	}
	if r.Child == nil || r.Child.Outcome != cmp.Or(w.outcome, guard.Completed) {
		t.Errorf("%s: child %+v, want outcome %s", r.ID, r.Child, w.outcome)
	}
	if text := string(mustJSON(r)); !w.silent && !strings.Contains(text, c.p.call) {
		t.Errorf("%s does not name %s: %s", r.ID, c.p.call, text)
	}
}

// key is what tells rows of a device apart.
type key struct {
	id, word string
	port     int
}

func rowsOf(d *probe.Document, device string) map[key]*probe.Observation {
	rows := map[key]*probe.Observation{}
	for i := range d.Observations {
		if r := &d.Observations[i]; r.Device == device {
			rows[key{r.ID, r.Probe, r.Port}] = r
		}
	}
	return rows
}

// once checks that no row is told twice; a teardown may fail after it succeeded.
func (o *outcome) once(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range o.doc.Observations {
		k := fmt.Sprintln(r.Device, r.Probe, r.ID, r.Port, string(mustJSON(r.Params)))
		if r.ID == "teardown" {
			k += string(r.Level)
		}
		if seen[k] {
			t.Errorf("%s %s %s stands there twice: %s (%s)", r.Device, r.Probe, r.ID, r.Level, r.Reason)
		}
		seen[k] = true
	}
}

// checkOthers looks at the faulty device's other rows: every id has one, and none
// says more than on a healthy machine.
func (c trial) checkOthers(t *testing.T, d, base *probe.Document, w want) {
	t.Helper()
	have := rowsOf(d, c.m.bad)
	if w.gone || c.unlisted(w) {
		for k, r := range have {
			if r.Level != rdma.CapabilityUnknown {
				t.Errorf("%v is %s, and the device was not listed", k, r.Level)
			}
		}
		return
	}
	ids := map[string]bool{}
	for k := range have {
		ids[k.id] = true
	}
	for k, b := range rowsOf(base, c.m.bad) {
		if !ids[k.id] && k.id != "teardown" {
			t.Errorf("%s has no row %s", c.m.bad, k.id)
		}
		r := have[k]
		switch {
		case r == nil || r.Level == b.Level && r.Reason == b.Reason:
		case w.same:
			t.Errorf("%v is %s (%s), want %s (%s): %s", k, r.Level, r.Reason, b.Level, b.Reason, r.Detail)
		case r.Level == rdma.CapabilityConfirmed && k.id != "mr.rkey":
			t.Errorf("%v is confirmed, and %s on a healthy machine", k, b.Level)
		}
	}
	for k, r := range have {
		if r.Level == rdma.CapabilityConfirmed && rowsOf(base, c.m.bad)[k] == nil {
			t.Errorf("%v is confirmed, and there is no such row on a healthy machine", k)
		}
	}
}

// checkNeighbour looks at the healthy device: all its rows are what they are
// without the other one, except what design says that an event on one Thunderbolt
// device closes on all.
func (c trial) checkNeighbour(t *testing.T, d, base *probe.Document, w want) {
	t.Helper()
	if c.unlisted(w) || c.p.everywhere && !c.p.surveyed() && w.level != "" {
		return // it is as badly off
	}
	have := rowsOf(d, c.m.good)
	if len(have) == 0 {
		t.Errorf("%s has no rows", c.m.good)
	}
	closed := probe.ClassData + 1
	if c.m.thunderbolt {
		switch r := c.struck(d); {
		case w.outcome == guard.Left || w.outcome == guard.Stuck:
			closed = probe.ClassCreate
		case r != nil && strings.HasSuffix(r.ID, ".rtr") && r.Level != rdma.CapabilityConfirmed && r.Reason != probe.Precondition:
			closed = probe.ClassTransition
		}
	}
	for k, b := range rowsOf(base, c.m.good) {
		r := have[k]
		level, reason := b.Level, b.Reason
		if closed <= probe.ClassData && (point{word: k.word}).class() >= closed && b.Reason != probe.NotTried {
			if r == nil && (k.id == "dev.open" || k.id == "teardown" || k.id == "pd.alloc" || k.id == "cq.create") {
				continue
			}
			if r == nil || r.Reason != probe.Guarded {
				if !ownIDs(k) {
					continue
				}
			}
			level, reason = rdma.CapabilityUnknown, probe.Guarded
		}
		switch {
		case r == nil && k.id == "dev.open":
		case r == nil:
			t.Errorf("%s has no row %v", c.m.good, k)
		case r.Level != level || r.Reason != reason:
			t.Errorf("%s %v is %s (%s), want %s (%s): %s", c.m.good, k, r.Level, r.Reason, level, reason, r.Detail)
		}
	}
}

// ownIDs tells the rows that a refused probe has: not those of stages that it
// would have passed.
func ownIDs(k key) bool {
	kind, _, connects := strings.Cut(k.word, ".")
	switch k.id {
	case "dev.open", "pd.alloc", "cq.create", "teardown":
		return false
	}
	return !connects || kind == "" || !strings.HasSuffix(k.id, ".create") && !strings.HasSuffix(k.id, ".init")
}

// checkExit holds the exit status against the contract.
func (c trial) checkExit(t *testing.T, o *outcome, w want) {
	t.Helper()
	want := probe.ExitOK
	listed := slices.ContainsFunc(o.doc.Devices, func(d probe.Device) bool { return d.Listed })
	failing := slices.ContainsFunc(o.doc.Findings, func(f probe.Finding) bool { return f.Severity == probe.SeverityError })
	switch {
	case w.outcome != "" && w.outcome != guard.Completed:
		want = probe.ExitContained
	case !listed:
		want = probe.ExitNothing
	case failing && !c.p.surveyed(): // a listing judges nothing
		want = probe.ExitFinding
	}
	if o.exit != want {
		t.Errorf("exit status %d, want %d (%s)", o.exit, want, o.doc.Error)
	}
}

// alive are the processes that the run said it left, and the device whose lock
// they hold.
func (c trial) alive(t *testing.T, o *outcome, w want) ([]int, string) {
	t.Helper()
	if w.outcome != guard.Left && w.outcome != guard.Stuck {
		return nil, ""
	}
	var pids []int
	for _, r := range o.doc.Observations {
		if r.Child != nil && (r.Child.Outcome == guard.Left || r.Child.Outcome == guard.Stuck) && !slices.Contains(pids, r.Child.PID) {
			pids = append(pids, r.Child.PID)
		}
	}
	slices.Sort(pids)
	switch {
	case c.p.everywhere && c.p.surveyed(): // a listing that came late has its devices read by a second child
		if len(pids) != 1 && len(pids) != 2 {
			t.Errorf("processes %v were left, want one or two", pids)
		}
		return pids, ""
	case c.p.everywhere: // the listing's, and one of each device
		if len(pids) != 3 {
			t.Errorf("processes %v were left, want three", pids)
		}
		return pids, "*"
	case len(pids) != 1:
		t.Errorf("processes %v were left, want one", pids)
	case c.p.host || c.p.surveyed():
		return pids, "" // a listing's child holds no lock
	}
	return pids, c.m.bad
}

// checkNext runs the program again on the machine, which is healthy now: what the
// event closes is refused with its event, and all else is as ever. After a reboot
// everything is. What a listing has closed, a probe is asked.
func (c trial) checkNext(t *testing.T, o *outcome, w want, alive []int, healthy *baselines) {
	t.Helper()
	args := c.p.args
	next := func(name string, edits ...edit) *outcome {
		return o.run(t, slices.Concat(args, []string{"--store", o.store(), "--timeout", slow, "--provider", "sim:" + c.m.write(t, o.dir, name, edits...)})...)
	}
	base := healthy.of(t, c.m, args)
	from := probe.ClassData + 1
	lists := c.unlisted(w) || c.p.host && c.p.surveyed() // which is about no device
	if !lists && (w.outcome != guard.TimedOut || max(c.p.class(), classOf(c.p.id)) >= probe.ClassCreate) {
		from = probe.ClassCreate
	}
	if len(alive) > 0 && !lists {
		c.refuses(t, next("same boot"), base, probe.ClassRead, string(w.outcome))
	}
	for _, pid := range alive {
		end(t, o.session, pid)
	}
	if c.p.surveyed() {
		args = runs[0].command()
		base = healthy.of(t, c.m, args)
	}
	c.refuses(t, next("after"), base, from, string(w.outcome))
	c.refuses(t, next("rebooted", rebooted), base, probe.ClassData+1, "")
}

// refuses looks at a later run on the device that had the fault.
func (c trial) refuses(t *testing.T, o *outcome, base *probe.Document, from probe.Class, event string) {
	t.Helper()
	have := rowsOf(o.doc, c.m.bad)
	for k, b := range rowsOf(base, c.m.bad) {
		if b.Reason == probe.NotTried {
			continue
		}
		closed := (point{word: k.word}).class() >= from
		r := have[k]
		switch {
		case closed && !ownIDs(k):
		case r == nil:
			t.Errorf("the next run has no row %v", k)
		case closed && (r.Reason != probe.Guarded || !strings.Contains(string(mustJSON(r.Data)), `"event":"`+event+`"`)):
			t.Errorf("the next run has %v %s (%s), want it guarded for %q: %s", k, r.Level, r.Reason, event, r.Detail)
		case !closed && (r.Level != b.Level || r.Reason != b.Reason):
			t.Errorf("the next run has %v %s (%s), want %s (%s): %s", k, r.Level, r.Reason, b.Level, b.Reason, r.Detail)
		}
	}
}

// end kills one process that a run of this test has left, and waits for its end.
func end(t *testing.T, session, pid int) {
	t.Helper()
	if !slices.Contains(living(t, session), pid) {
		return
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
	if have := settle(t, session, nil, settleLimit); len(have) > 0 {
		t.Errorf("processes %v do not end", have)
	}
}
