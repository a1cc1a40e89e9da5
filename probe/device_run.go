package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// deviceRun is one device going through the rows of the table.
type deviceRun struct {
	*run
	name     string
	identity string
	tb       bool
	lock     *guard.Lock   // of the device, for its children
	held     []*guard.Lock // that one, and the other end's where it is on this machine
	twin     *twin         // that other end
	failed   []string  // stages that did not succeed in this run
	closures []closure // what earlier events, and this run's own, have closed
}

// maxParallel bounds how many devices are probed side by side.
const maxParallel = 16

// probeAll probes the document's listed devices: Thunderbolt ones one after the
// other, since one wedge takes all of them down, all others side by side.
func (r *run) probeAll(words []string) error {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
		slots = make(chan struct{}, maxParallel)
	)
	one := func(d Device) {
		defer wg.Done()
		if r.alone(d) {
			r.tb.Lock()
			defer r.tb.Unlock()
		} else {
			slots <- struct{}{}
			defer func() { <-slots }()
		}
		if err := r.probeDevice(d, words); err != nil {
			mu.Lock()
			first = cmpErr(first, err)
			mu.Unlock()
		}
	}
	listed := slices.DeleteFunc(slices.Clone(r.doc.Devices), func(d Device) bool { return !d.Listed })
	r.total = len(listed) * len(words)
	// Thunderbolt devices keep their order; the lock alone would not promise it.
	careful, rest := split(listed, r.alone)
	wg.Add(len(rest))
	for _, d := range rest {
		go one(d)
	}
	for _, d := range careful {
		wg.Add(1)
		one(d)
	}
	wg.Wait()
	return first
}

// alone tells whether a device is probed while no other is: Thunderbolt ones, and
// all that share the one other end on this machine.
func (r *run) alone(d Device) bool { return d.thunderbolt(r.platform.os) || r.opts.PeerDevice != "" }

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func split[T any](all []T, yes func(T) bool) (in, out []T) {
	for _, v := range all {
		if yes(v) {
			in = append(in, v)
		} else {
			out = append(out, v)
		}
	}
	return in, out
}

// probeDevice takes the device's lock and runs the rows in the table's order.
func (r *run) probeDevice(d Device, words []string) error {
	dr := &deviceRun{run: r, name: d.Name, tb: d.thunderbolt(r.platform.os)}
	dr.identify()
	ctx, cancel := context.WithTimeout(r.ctx, r.opts.Timeout)
	defer cancel()
	if err := dr.lockAll(ctx); err != nil {
		return dr.locked(err, words)
	}
	defer dr.unlockAll()
	first := dr.meetTwin(words)
	for _, w := range words {
		row, _ := rowOf(w)
		r.step(d.Name, w)
		if err := dr.one(row); err != nil {
			first = cmpErr(first, err)
		}
	}
	if !dr.doctor {
		dr.tellPreflight()
	}
	return first
}

// identify looks up what earlier runs have closed. A device's GUID may be known
// only after its port was read, so this is done again then.
func (dr *deviceRun) identify() {
	d := dr.device()
	id := dr.identityOf(d)
	if id == dr.identity {
		return
	}
	dr.identity = id
	if !dr.opts.Force {
		past := dr.past.closed(id, dr.doc.Run.BootID, dr.platform.build, dr.tb, guard.ProcessAlive)
		dr.closures = append(dr.closures, past...)
	}
}

// step counts progress.
func (r *run) step(device, word string) {
	r.mu.Lock()
	r.progress(device, word)
	r.done++
	r.mu.Unlock()
}

// identityOf is what the device is recognised by. A GUID that two devices share
// identifies neither.
func (r *run) identityOf(d Device) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	guid := d.NodeGUID
	for _, o := range r.doc.Devices {
		if o.Name != d.Name && o.NodeGUID == guid {
			guid = ""
		}
	}
	return identity(guid, d.Name, r.doc.Run.BootID)
}

// lockKeyOf names a device's lock; simulated machines share none.
func (dr *deviceRun) lockKeyOf(device string) string {
	if dr.profile != nil {
		return dr.opts.Provider.Name + " " + device
	}
	return device
}

// locked keeps rows for a device that could not be locked.
func (dr *deviceRun) locked(err error, words []string) error {
	var busy *guard.BusyError
	reason, detail, data := Guarded, "another rdmaprobe holds the device", map[string]any(nil)
	switch {
	case dr.ctx.Err() != nil:
		reason, detail = Interrupted, "the run was interrupted"
	case errors.As(err, &busy):
		by := map[string]any{"event": "busy"}
		if busy.PID > 0 {
			by["pid"] = busy.PID
			detail += fmt.Sprintf(" (pid %d)", busy.PID)
		}
		data = map[string]any{"closed_by": by}
	default:
		detail = "the device's lock cannot be taken: " + err.Error()
	}
	for _, w := range words {
		row, _ := rowOf(w)
		dr.refuse(row, reason, detail, data)
	}
	if reason == Guarded && data == nil {
		return fmt.Errorf("lock %s: %w", dr.name, err)
	}
	return nil
}

// refuse keeps rows of a probe that was not tried.
func (dr *deviceRun) refuse(row tableRow, reason Reason, detail string, data map[string]any) {
	for _, id := range row.ids(dr.requestFor(row)) {
		o := Observation{ID: id, Probe: row.word, Device: dr.name, Level: rdma.CapabilityUnknown, Reason: reason, Detail: detail, Data: data}
		if evidence(id).Ports {
			o.Port = dr.port()
		}
		dr.observe(o)
	}
}

// one runs a row of the table, or says why it does not.
func (dr *deviceRun) one(row tableRow) error {
	if dr.ctx.Err() != nil {
		dr.refuse(row, Interrupted, "the run was interrupted", nil)
		return nil
	}
	if c := dr.closedFor(row); c != nil {
		dr.refuse(row, Guarded, c.text(), c.data())
		return nil
	}
	if dr.doctor {
		if skip, why := dr.doctorSkips(row); skip {
			dr.refuse(row, NotTried, why, nil)
			return nil
		}
	}
	if row.qp != "" && row.class >= ClassTransition && !dr.wantsType(row.qp) {
		return nil
	}
	if why, data := dr.precondition(row); why != "" {
		dr.refuse(row, Precondition, why, data)
		return nil
	}
	if row.class >= ClassTransition && dr.channelFailed(row) {
		return nil
	}
	if row.class >= ClassCreate {
		if dr.readOnly != "" {
			dr.exit.own = true
			dr.refuse(row, Guarded, dr.readOnly, nil)
			return nil
		}
		if err := dr.intent(dr.intentFor(row)); err != nil {
			dr.refuse(row, Guarded, "the intent could not be recorded: "+err.Error(), nil)
			return nil
		}
	}
	return dr.attempt(row)
}

// channelFailed keeps the rows of a data probe whose side channel does not come
// up, and tells whether it did not.
func (dr *deviceRun) channelFailed(row tableRow) bool {
	dr.mu.Lock()
	if dr.channel == nil {
		dr.channel = dr.simulatedChannel()
	}
	c := dr.channel
	dr.mu.Unlock()
	if c == nil || c.facts.Errno == nil {
		return false
	}
	for _, id := range row.ids(nil) {
		o := Observation{ID: id, Probe: row.word, Device: dr.name, Port: dr.port()}
		if evidence(id).Class == ClassData {
			dr.observe(c.failedRow(o))
			continue
		}
		o.Level, o.Reason, o.Detail = rdma.CapabilityUnknown, Precondition, "the peer could not be asked for its address"
		dr.observe(o)
	}
	return true
}

// closedFor is the event that closes a row, nil when none does.
func (dr *deviceRun) closedFor(row tableRow) *closure {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if dr.tb && dr.tbClosed != nil && dr.tbClosed.closes(row) {
		return dr.tbClosed
	}
	for i := range dr.closures {
		if dr.closures[i].closes(row) {
			return &dr.closures[i]
		}
	}
	return nil
}

// stages that other probes stand on.
var stages = []string{"dev.open", "pd.alloc", "cq.create"}

// precondition says what keeps a row from being tried, "" when nothing does.
func (dr *deviceRun) precondition(row tableRow) (why string, data map[string]any) {
	for _, s := range stages {
		if slices.Contains(dr.failed, s) && row.needs(s) {
			return s + " failed earlier in this run and is not tried again", nil
		}
	}
	if row.class >= ClassCreate && dr.tb {
		if st := dr.portState(); st != "active" {
			return fmt.Sprintf("port %d is %s: on Thunderbolt nothing is allocated on a port that is not active", dr.port(), cmpText(st, "of unknown state")), nil
		}
	}
	if row.class >= ClassTransition {
		return dr.connectable(row)
	}
	return "", nil
}

func cmpText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// needs tells whether a row passes a stage, by its calls.
func (t tableRow) needs(stage string) bool {
	call := map[string]string{"dev.open": "ibv_open_device", "pd.alloc": "ibv_alloc_pd", "cq.create": "ibv_create_cq"}[stage]
	return slices.Contains(t.calls, call)
}

// device is the document's entry as it is now.
func (dr *deviceRun) device() Device {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	for _, d := range dr.doc.Devices {
		if d.Name == dr.name {
			return d
		}
	}
	return Device{Name: dr.name}
}

// port is the one that INIT and everything after it uses.
func (dr *deviceRun) port() int {
	if dr.opts.Port > 0 {
		return dr.opts.Port
	}
	return activePort(dr.device().Ports)
}

// portState is the state of that port, "" when it is not known.
func (dr *deviceRun) portState() string {
	n := dr.port()
	for _, p := range dr.device().Ports {
		if p.Num == n {
			return p.State
		}
	}
	return ""
}

func (dr *deviceRun) requestFor(row tableRow) *request {
	q := dr.request(row.word)
	q.Device, q.Thunderbolt, q.Failed = dr.name, dr.tb, dr.failed
	q.Port = dr.port()
	q.Addresses = addressesOf(dr.facts, dr.name)
	if row.class >= ClassTransition {
		q.Data = dr.dataFor(row)
	}
	if dr.doctor {
		q.Samples, q.SampleGap = doctorSamples, sampleGap.Nanoseconds()
	}
	return q
}

func (dr *deviceRun) intentFor(row tableRow) intentBody {
	return intentBody{
		Device: dr.name, NodeGUID: dr.device().NodeGUID, Probe: row.word, Class: row.class.String(),
		IDs: row.ids(dr.requestFor(row)), BootID: dr.doc.Run.BootID, OSBuild: dr.platform.build,
	}
}

// attempt runs the row's child and keeps what came of it.
func (dr *deviceRun) attempt(row tableRow) error {
	q := dr.requestFor(row)
	leave := dr.tb && row.class >= ClassCreate && !dr.opts.Kill
	a, err := dr.try(dr.ctx, q, leave, dr.lock)
	for _, d := range a.devices {
		dr.mergeDevice(d)
		dr.identify()
	}
	rows := append(a.rows, a.lost(dr.name, row.word, q.Port, row.ids(q))...)
	for _, o := range rows {
		o.Device, o.Probe = dr.name, row.word
		if o.Child == nil {
			o.Child = a.child()
		}
		dr.observe(o)
		if o.Level == rdma.CapabilityUnknown || o.Level == rdma.CapabilityRejected {
			dr.failed = append(dr.failed, o.ID)
		}
	}
	dr.contain(row, a)
	return err
}

// contain draws the consequences of how a child ended, within this run: a crash
// stops nothing, a hang ends class create and up on the device, a stuck or left
// child ends everything there and create on all Thunderbolt devices.
func (dr *deviceRun) contain(row tableRow, a *attempt) {
	c := closure{Event: string(a.result.Outcome), Call: a.last.Verb, At: a.last.StartedAt, Run: dr.doc.Run.ID, PID: a.result.PID, Now: true, Until: "in this run"}
	if a.result.InCall {
		c.Call = a.result.Verb
	}
	switch a.result.Outcome {
	case guard.TimedOut:
		c.From, c.PID = ClassCreate, 0
	case guard.Stuck, guard.Left:
		c.From = ClassRead
	default:
		return
	}
	dr.mu.Lock()
	defer dr.mu.Unlock()
	dr.closures = append([]closure{c}, dr.closures...)
	if dr.tb && c.From == ClassRead && dr.tbClosed == nil {
		all := c
		all.From = ClassCreate
		dr.tbClosed = &all
	}
}
