package probe

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// one runs a row of the table, or says why it does not.
func (dr *deviceRun) one(row *tableRow) error {
	if dr.ctx.Err() != nil {
		dr.refuse(row, Interrupted, "the run was interrupted", nil)
		return nil
	}
	if dr.doctor {
		if skip, why := dr.doctorSkips(row); skip {
			dr.refuse(row, NotTried, why, nil)
			return nil
		}
	}
	if c := dr.closedFor(row); c != nil {
		dr.refuse(row, Guarded, c.text(), c.data())
		return nil
	}
	if row.class >= ClassTransition && !dr.wantsType(row.qp) {
		return nil
	}
	if why, data := dr.precondition(row); why != "" {
		dr.refuse(row, Precondition, why, data)
		return nil
	}
	if row.class >= ClassTransition && dr.channelFailed(row) {
		return nil
	}
	if row.class >= ClassTransition && dr.remote() && (!dr.reach(row) || !dr.openTask(row)) {
		return nil
	}
	if row.class >= ClassCreate && !dr.mayCreate(row) {
		dr.dropTask()
		return nil
	}
	err := dr.attempt(row)
	dr.finishTask(row)
	return err
}

// mayCreate records the intent of a probe that is more than a query. Without a
// record, and without the device's lock, it is not tried.
func (dr *deviceRun) mayCreate(row *tableRow) bool {
	why := cmp.Or(dr.readOnly, dr.unlocked)
	if why == "" {
		err := dr.intent(dr.intentFor(row))
		if err == nil {
			return true
		}
		why = "the intent could not be recorded: " + err.Error()
	}
	dr.ownFailure()
	dr.refuse(row, Guarded, why, nil)
	return false
}

// refuse keeps rows of a probe that was not tried.
func (dr *deviceRun) refuse(row *tableRow, reason Reason, detail string, data map[string]any) {
	for _, id := range row.ids(dr.requestFor(row)) {
		o := Observation{ID: id, Probe: row.word, Device: dr.name, Level: rdma.CapabilityUnknown, Reason: reason, Detail: detail, Data: maps.Clone(data)}
		if evidence(id).Ports {
			o.Port = dr.port()
		}
		dr.observe(o)
	}
}

// channelFailed keeps the rows of a data probe whose side channel does not come
// up, and tells whether it did not.
func (dr *deviceRun) channelFailed(row *tableRow) bool {
	dr.mu.Lock()
	if dr.channel == nil {
		dr.channel = dr.simulatedChannel()
	}
	c := dr.channel
	dr.mu.Unlock()
	if c == nil || c.facts.Errno == nil {
		return false
	}
	dr.unreachable(row, c)
	return true
}

// closedFor is the event that closes a row, nil when none does.
func (dr *deviceRun) closedFor(row *tableRow) *closure {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	all := dr.closures
	if dr.tb {
		all = slices.Concat(all, dr.tbClosed)
	}
	if i := slices.IndexFunc(all, func(c closure) bool { return c.closes(row) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// contain draws the consequences of a row within this run: a crash stops
// nothing, one failed transition to RTR ends transitions on Thunderbolt. What a
// hang ends is told from its child.
func (dr *deviceRun) contain(o *Observation) {
	c, ok := rtrClosure(o, dr.tb)
	if !ok {
		return
	}
	c.Now, c.Run = true, dr.doc.Run.ID
	dr.mu.Lock()
	defer dr.mu.Unlock()
	dr.tbClosed = append(dr.tbClosed, c)
}

// containHang draws the consequences of a child that did not end by itself: one
// that was killed in a call ends class create and up on the device, a stuck or left
// child everything there and class create and up on all Thunderbolt devices. Outside
// of any call it was the machine that was slow, or the run that ended.
func (dr *deviceRun) containHang(a *attempt) {
	c := closure{
		From: ClassCreate, Event: string(a.result.Outcome), Call: a.call(), At: a.last.StartedAt, Run: dr.doc.Run.ID, Now: true, Until: "in this run",
	}
	switch a.result.Outcome {
	case guard.TimedOut:
		if c.Call == "" && !a.result.InCall {
			return
		}
	case guard.Stuck, guard.Left:
		c.From, c.PID = ClassRead, a.result.PID
	default:
		return
	}
	dr.mu.Lock()
	defer dr.mu.Unlock()
	dr.closures = append([]closure{c}, dr.closures...)
	if all, ok := c.forAll(); dr.tb && ok {
		dr.tbClosed = append(dr.tbClosed, all)
	}
}

// holder is what keeps a Thunderbolt device from transitions while another
// process holds objects on it. One that does not say where they are holds them
// on each device.
func (dr *deviceRun) holder() (closure, bool) {
	i := slices.IndexFunc(dr.facts.RDMAProcesses, func(p hostfacts.Process) bool {
		return !p.Leaked && p.PID != os.Getpid() && (p.Devices == nil || slices.Contains(p.Devices, dr.name))
	})
	if !dr.tb || i < 0 {
		return closure{}, false
	}
	return closure{From: ClassTransition, Event: "holder", PID: dr.facts.RDMAProcesses[i].PID, Until: "while it lives"}, true
}

// stages are what other probes stand on, with the call that each one makes.
var stages = []struct{ id, call string }{
	{"dev.open", "ibv_open_device"}, {"pd.alloc", "ibv_alloc_pd"}, {"cq.create", "ibv_create_cq"},
}

// precondition says what keeps a row from being tried, "" when nothing does.
func (dr *deviceRun) precondition(row *tableRow) (why string, data map[string]any) {
	for _, s := range stages {
		if dr.failed[s.id] && slices.Contains(row.callsOf(dr.tb), s.call) {
			return s.id + " failed earlier in this run and is not tried again" + dr.lack(s.id), nil
		}
	}
	if row.class >= ClassCreate && dr.tb {
		if st := dr.portState(); st != stateActive {
			return fmt.Sprintf("port %d is %s: on Thunderbolt nothing is allocated on a port that is not active", dr.port(), cmp.Or(st, "of unknown state")) + dr.lack("dev.open", "port.query"), nil
		}
		if dr.failed["port.state"] {
			return fmt.Sprintf("the state of port %d is not known for certain: on Thunderbolt nothing is allocated on a port that is not steadily active", dr.port()), nil
		}
	}
	if row.class >= ClassTransition {
		return dr.connectable(row)
	}
	return "", nil
}

// lack names the function for want of which one of the ids failed.
func (dr *deviceRun) lack(ids ...string) string {
	for _, id := range ids {
		if verb := dr.lacks[id]; verb != "" {
			return lackText(verb)
		}
	}
	return ""
}

// lockKeyOf names a device's lock; simulated machines share none.
func (dr *deviceRun) lockKeyOf(device string) string {
	if dr.profile != nil {
		return dr.profile.ID + " " + device
	}
	return device
}

// locked keeps rows for a device that another process has kept locked.
func (dr *deviceRun) locked(err error, words []string) {
	reason, detail, data := Guarded, busyText, map[string]any(nil)
	if dr.ctx.Err() != nil {
		reason, detail = Interrupted, "the run was interrupted"
	} else {
		detail, data = dr.busy(err)
	}
	for _, w := range words {
		row, _ := rowOf(w)
		dr.refuse(row, reason, detail, data)
	}
}

const busyText = "another rdmaprobe holds the device"

// busy says whose lock was not free in time. A child that an earlier run had to
// leave behind keeps the lock that it inherited: that is its event, and no run
// that could be waited for.
func (dr *deviceRun) busy(err error) (detail string, data map[string]any) {
	var busy *guard.BusyError
	if errors.As(err, &busy) && busy.PID > 0 {
		n := now{boot: dr.doc.Run.BootID, build: dr.platform.build, alive: guard.ProcessAlive}
		if c, ok := dr.past.leftBehind(busy.PID, n); ok {
			return c.text(), c.data()
		}
	}
	return busyText, busyData(err)
}

// leftBehind is the event of a child with that pid that lives on since an
// earlier run of this boot, on whatever device.
func (h *history) leftBehind(pid int, n now) (closure, bool) {
	for _, all := range h.closures {
		for _, c := range all {
			if c.hung() && c.PID == pid && h.holds(c, n) {
				c.From, c.Until = ClassRead, fmt.Sprintf("while process %d lives", pid)
				return c, true
			}
		}
	}
	return closure{}, false
}

// busyData is how an observation tells of a lock that was not free in time.
func busyData(err error) map[string]any {
	by := map[string]any{"event": "busy"}
	var busy *guard.BusyError
	if errors.As(err, &busy) && busy.PID > 0 {
		by["pid"] = busy.PID
	}
	return map[string]any{"closed_by": by}
}

// goesOnUnlocked tells whether a device whose lock was not taken is probed all
// the same: by class read where locks cannot be made at all, and by force where
// only a child of ours that lives on has it.
func (dr *deviceRun) goesOnUnlocked(err error) bool {
	var busy *guard.BusyError
	switch {
	case dr.ctx.Err() != nil:
		return false
	case !errors.As(err, &busy):
		dr.unlocked = "the device cannot be locked, so nothing that could hurt is tried: " + err.Error()
		dr.note(dr.unlocked)
		return true
	case dr.opts.Force:
		return slices.ContainsFunc(dr.pastClosures(), func(c closure) bool { return c.From == ClassRead })
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
