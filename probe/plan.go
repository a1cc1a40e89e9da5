package probe

import (
	"context"
	"time"
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
		s := Step{Probe: w, Class: row.class.String(), About: row.about, Calls: row.callsOf(dr.tb), IDs: row.ids(dr.requestFor(row)), Bound: r.bound()}
		if c := dr.closedFor(row); c != nil {
			s.Refused = c.text()
		}
		pd.Steps = append(pd.Steps, s)
	}
	return pd
}

// streamBound is how long a listing can take at most: a child to name the
// devices, the wait for their locks, and a child for each.
func (r *run) streamBound() time.Duration {
	return r.opts.Timeout + time.Duration(1+len(r.doc.Devices))*r.bound()
}

// planBound is how long a run can take at most: the listing, then Thunderbolt
// devices one after the other and all others side by side, each waiting for its
// lock and then for every one of its children.
func (r *run) planBound(words []string) time.Duration {
	children := len(words)
	if r.opts.PeerDevice != "" {
		children += 2 // which read the other end
	}
	one := r.opts.Timeout + time.Duration(children)*r.bound()
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
	waves := (rest + maxParallel - 1) / maxParallel
	bound := r.bound() + time.Duration(max(careful, waves))*one
	if r.lookFirst(words) {
		bound += factsLimit
	}
	return bound
}
