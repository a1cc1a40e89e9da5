package probe

import (
	"context"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/peer"
)

// Plan is what a probe would do. Making one lists the devices and opens none.
type Plan struct {
	Devices []PlannedDevice `json:"devices"`
	Notes   []string        `json:"notes,omitempty"`
	Bound   time.Duration   `json:"bound_ns"` // the run would end within this
	Exit    int             `json:"exit"`
}

// PlannedDevice is one device and its probes in order.
type PlannedDevice struct {
	Name        string `json:"name"`
	Thunderbolt bool   `json:"thunderbolt"`
	Steps       []Step `json:"steps"`
}

// Step is one child.
type Step struct {
	Probe   string        `json:"probe"`
	Class   string        `json:"class"`
	About   string        `json:"about"`
	Calls   []string      `json:"calls"`
	IDs     []string      `json:"ids"`
	Bound   time.Duration `json:"bound_ns"`
	If      string        `json:"if,omitempty"`      // what the run has to find first
	Refused string        `json:"refused,omitempty"` // what keeps it from being tried, as far as is known now
}

// MakePlan lists the devices and says what Run would do with them.
func MakePlan(ctx context.Context, o Options) (*Plan, error) {
	r, err := newDraft(ctx, &o)
	if err != nil {
		return &Plan{Exit: r.doc.Exit}, err
	}
	words := o.words()
	if err := r.list(func() time.Duration { return r.planBound(words) }); err != nil {
		r.fail(err)
		return &Plan{Exit: r.doc.Exit}, err
	}
	if err := r.twinListed(); err != nil {
		r.fail(err)
		return &Plan{Exit: r.doc.Exit}, err
	}
	p := &Plan{Devices: []PlannedDevice{}, Bound: r.planBound(words), Notes: r.doc.Notes, Exit: r.exit.code()}
	for _, d := range r.doc.Devices {
		if d.Listed {
			p.Devices = append(p.Devices, r.planDevice(d, words))
		}
	}
	return p, nil
}

func (r *run) planDevice(d Device, words []string) PlannedDevice {
	dr := r.newDeviceRun(d)
	pd := PlannedDevice{Name: d.Name, Thunderbolt: dr.tb}
	for _, w := range words {
		row, _ := rowOf(w)
		s := Step{Probe: w, Class: row.class.String(), About: row.about, Calls: row.callsOf(dr.tb), IDs: row.ids(dr.requestFor(row)), Bound: r.bound(), If: dr.condition(row)}
		if c := dr.closedFor(row); c != nil {
			s.Refused = c.text()
		} else if row.class >= ClassCreate {
			s.Refused = r.readOnly
		}
		pd.Steps = append(pd.Steps, s)
	}
	return pd
}

// condition is what a row needs the run to find first, "" for nothing: what
// precondition and connectable then check.
func (dr *deviceRun) condition(row *tableRow) string {
	switch {
	case row.class >= ClassTransition:
		s := "only if the port is ACTIVE and has an address, and this run confirms " + row.qp.id("create")
		if dr.remote() && dr.tb {
			s += ", and the path to the other host's port is proven"
		}
		return s
	case row.class >= ClassCreate && dr.tb:
		return "only if the port is ACTIVE"
	}
	return ""
}

// streamBound is how long a listing can take at most: a child to name the
// devices, the wait for their locks, a child for each, which names them again and
// then has a deadline for the device, and one for what comes after the last; then
// the system's own tool, when it was asked for.
func (r *run) streamBound() time.Duration {
	n := time.Duration(1 + len(r.doc.Devices))
	bound := r.opts.Timeout + n*(r.bound()+r.childSpec().Lap()) + r.storeBound(0)
	if r.opts.Verify {
		bound += hostfacts.RunLimit + time.Second // it may have to be killed
	}
	return bound
}

// What talking to another host can take at most.
const (
	dialBound = 2 * dialLimit // the second where another program is asked whether it gets through
	// helloBound is a dial, both greetings and the list of ports.
	helloBound = dialBound + 2*peer.HelloLimit + peer.StepLimit
	// pairBound is one pairing: six steps of two seconds.
	pairBound = 12 * time.Second
	// sessionBound is all that comes before the first task, and the goodbye: the
	// pairing of the cables and of the GIDs, and the choice of a port.
	sessionBound = helloBound + 2*pairBound + peer.StepLimit + selectLimit + byeLimit
	// taskBound is the way to a task, without its child.
	taskBound = peer.StepLimit + taskLimit + dialBound + 2*peer.HelloLimit
)

// peerBound is what another host adds to a row that connects something: a session,
// since one that broke off is opened again for the next row, the task, and the wait
// for the end of the other child.
func (r *run) peerBound(words []string) time.Duration {
	if r.opts.Peer == "" || r.profile != nil {
		return 0
	}
	rows := 0
	for _, w := range words {
		if connects(w) {
			rows++
		}
	}
	return time.Duration(rows) * (sessionBound + taskBound + r.bound())
}

// planBound is how long a run can take at most: the listing, then Thunderbolt
// devices one after the other and all others side by side, each waiting for its
// lock, for every one of its children, and for the other host where there is one;
// and the ledger.
func (r *run) planBound(words []string) time.Duration {
	children := len(words)
	if r.opts.PeerDevice != "" {
		children += 2 // which read the other end
	}
	one := r.opts.Timeout + time.Duration(children)*r.bound() + r.peerBound(words)
	careful, rest := 0, 0
	for _, d := range r.doc.Devices {
		switch {
		case !d.Listed:
		case r.alone(d):
			careful++
		default:
			rest++
		}
	}
	intents := 0
	for _, w := range words {
		if row, _ := rowOf(w); row.class >= ClassCreate {
			intents += careful + rest
		}
	}
	waves := (rest + r.parallel(words) - 1) / r.parallel(words)
	bound := r.bound() + time.Duration(max(careful, waves))*one + r.storeBound(intents)
	if r.lookFirst(words) {
		bound += factsLimit
	}
	return bound
}
