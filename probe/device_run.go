package probe

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"rdmaprobe/probe/guard"
)

// deviceRun is one device going through the rows of the table.
type deviceRun struct {
	*run
	ctx      context.Context // the run's, or that of one session of it
	name     string
	identity string
	tb       bool
	lock     *guard.Lock       // of the device, for its children
	held     []*guard.Lock     // that one, and the other end's where it is on this machine
	unlocked string            // why nothing but class read is tried without the lock; "" when it is held
	twin     *twin             // that other end
	link     *link             // the session with another host; nil: none
	task     *openTask         // what the next child takes part in with another host's; nil: nothing
	failed   map[string]bool   // stages that were tried in this run and did not succeed
	lacks    map[string]string // by id, the function for want of which it did not
	closures []closure         // what earlier events, and this run's own, have closed

	newest    []Observation // the rows of the newest child
	outcome   guard.Outcome // how it ended
	endDetail string        // and where, when it did not complete
}

func (r *run) newDeviceRun(d Device) *deviceRun {
	dr := &deviceRun{run: r, ctx: r.ctx, name: d.Name, failed: map[string]bool{}, lacks: map[string]string{}}
	dr.identify()
	return dr
}

// maxParallel bounds how many devices are probed side by side.
const maxParallel = 16

// parallel is how many: where each has a session with another host no more than
// that one takes.
func (r *run) parallel(words []string) int {
	if r.opts.Peer != "" && r.profile == nil && slices.ContainsFunc(words, connects) {
		return defaultSessions
	}
	return maxParallel
}

// probeAll probes the document's listed devices: Thunderbolt ones one after the
// other in their order, since one wedge takes all of them down, all others side
// by side. The error is the first of rdmaprobe's own.
func (r *run) probeAll(words []string) error {
	var careful, rest []Device
	for _, d := range r.doc.Devices {
		switch {
		case !d.Listed:
		case r.alone(d):
			careful = append(careful, d)
		default:
			rest = append(rest, d)
		}
	}
	r.total = (len(careful) + len(rest)) * len(words)
	var wg sync.WaitGroup
	errs := make([]error, len(rest)+1)
	slots := make(chan struct{}, r.parallel(words))
	for i, d := range rest {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = r.probeDevice(d, words)
		})
	}
	for _, d := range careful {
		errs[len(rest)] = cmp.Or(errs[len(rest)], r.probeDevice(d, words))
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// alone tells whether a device is probed while no other of its kind is:
// Thunderbolt ones, and all that share the one other end on this machine.
func (r *run) alone(d Device) bool { return d.thunderbolt(r.platform.os) || r.opts.PeerDevice != "" }

// probeDevice takes the device's lock and runs the rows in the table's order.
// Where everything is closed the lock is not waited for: the child that lives on
// has it.
func (r *run) probeDevice(d Device, words []string) error {
	dr := r.newDeviceRun(d)
	ctx, cancel := context.WithTimeout(r.ctx, r.opts.Timeout)
	defer cancel()
	if row, _ := rowOf("port"); dr.closedFor(row) == nil {
		if err := dr.lockAll(ctx); err != nil && !dr.goesOnUnlocked(err) {
			dr.locked(err, words)
			return nil
		}
		defer dr.unlockAll()
	}
	first := dr.meetTwin(words)
	for _, w := range words {
		row, _ := rowOf(w)
		r.step(d.Name, w)
		first = cmp.Or(first, dr.one(row))
	}
	dr.closeLink()
	if !dr.doctor {
		dr.tellPreflight()
	}
	return first
}

// identify looks up what the device is and what earlier runs have closed on it.
// Both may be known only after its ports were read, so this is done again then.
func (dr *deviceRun) identify() {
	d := dr.device()
	id, tb := dr.identityOf(d), dr.tb || d.thunderbolt(dr.platform.os)
	if id == dr.identity && tb == dr.tb {
		return
	}
	dr.identity, dr.tb = id, tb
	if !dr.opts.Force {
		dr.closures = append(slices.DeleteFunc(dr.closures, func(c closure) bool { return !c.Now }), dr.pastClosures()...)
	}
	if c, ok := dr.holder(); ok && !dr.opts.Force {
		dr.closures = append(dr.closures, c)
	}
}

// pastClosures are those of earlier runs, force or not.
func (dr *deviceRun) pastClosures() []closure {
	return dr.past.closed(dr.identity, dr.name, dr.tb, now{boot: dr.doc.Run.BootID, build: dr.platform.build, alive: guard.ProcessAlive})
}

// step counts progress.
func (r *run) step(device, word string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress(device, word)
	r.done++
}

// identityOf is what the device is recognised by. A GUID that two devices share
// identifies neither.
func (r *run) identityOf(d Device) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	guid := d.NodeGUID
	if r.named == nil {
		r.named = byGUID{}
		for _, all := range [][]Device{r.listed, r.doc.Devices} {
			for _, o := range all {
				r.named.learn(o.NodeGUID, o.Name)
			}
		}
	}
	if n := r.named[guid]; n.many || n.first != "" && n.first != d.Name {
		guid = ""
	}
	return identity(guid, d.Name, r.doc.Run.BootID)
}

// byGUID are the names of the devices that have a GUID, as far as they matter.
type byGUID map[string]names

// names are the first of several, and whether there is another.
type names struct {
	first string
	many  bool
}

func (b byGUID) learn(guid, name string) {
	n := b[guid]
	b[guid] = names{cmp.Or(n.first, name), n.many || n.first != "" && n.first != name}
}

// device is the document's entry as it is now.
func (dr *deviceRun) device() Device {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	if i := dr.at(dr.name); i >= 0 {
		return dr.doc.Devices[i]
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

// netdev is the interface of that port, "" when none is known.
func (dr *deviceRun) netdev() string {
	d := dr.device()
	return netdevOfPort(dr.facts, &d, &Port{Num: dr.port()})
}

// portState is the state of that port, "" when it is not known.
func (dr *deviceRun) portState() string {
	if p := dr.portEntry(dr.device()); p != nil {
		return p.State
	}
	return ""
}

// requestFor is the request of a row's child.
func (dr *deviceRun) requestFor(row *tableRow) *request {
	q := dr.request(row.word)
	q.Device, q.Thunderbolt, q.Failed = dr.name, dr.tb, sortedKeys(dr.failed)
	q.Port = dr.port()
	q.Addresses = addressesOf(dr.facts, dr.name)
	if row.class >= ClassTransition {
		q.Data = dr.dataFor(row)
	}
	if dr.text != nil {
		q.Profile = dr.text.Only(dr.ends()...)
	}
	if dr.doctor {
		q.Samples, q.SampleGap = doctorSamples, sampleGap.Nanoseconds()
	}
	return q
}

// ends are the devices that a child of this one works on.
func (dr *deviceRun) ends() []string {
	if p := dr.opts.PeerDevice; p != "" && p != dr.name {
		return []string{dr.name, p}
	}
	return []string{dr.name}
}

func (dr *deviceRun) intentFor(row *tableRow) intentBody {
	return intentBody{
		Device: dr.name, NodeGUID: dr.device().NodeGUID, Port: dr.port(), Probe: row.word, Class: row.class.String(),
		IDs: row.ids(dr.requestFor(row)), BootID: dr.doc.Run.BootID, OSBuild: dr.platform.build,
	}
}

// attempt runs the row's child and keeps what came of it.
func (dr *deviceRun) attempt(row *tableRow) error {
	q := dr.requestFor(row)
	if t := dr.task; t != nil {
		q.conn, q.soft = t.file, t.soft(dr.opts.Timeout)
	}
	leave := dr.tb && row.class >= ClassCreate && !dr.opts.Kill
	a, err := dr.try(dr.ctx, q, leave, dr.lock)
	for _, d := range a.devices {
		dr.mergeDevice(d)
	}
	dr.identify()
	lost := a.lost(dr.name, row.word, q.Port, row.ids(q))
	dr.ended(a, lost)
	for _, o := range append(a.rows, lost...) {
		o.Device, o.Probe, o.Child = dr.name, row.word, a.child()
		dr.observe(o)
		if o.failed() {
			dr.failed[o.ID] = true
		}
		if o.Reason == SymbolMissing {
			dr.lacks[o.ID] = o.Call
		}
		dr.contain(&o)
	}
	dr.containHang(a)
	return err
}

// ended remembers how the newest child ended, apart from the rows: a server
// forgets old ones.
func (dr *deviceRun) ended(a *attempt, lost []Observation) {
	dr.newest, dr.outcome, dr.endDetail = slices.Concat(a.rows, lost), guard.Completed, ""
	if len(lost) == 0 || a.broken != "" {
		return
	}
	dr.outcome, dr.endDetail = a.result.Outcome, lost[0].Detail
	if !a.child().contained() {
		return
	}
	dr.mu.Lock()
	defer dr.mu.Unlock()
	dr.exit.contained = true
}
