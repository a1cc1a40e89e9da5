package probe

import (
	"fmt"
	"slices"

	"rdmaprobe/rdma"
)

// expected is how a child recognises the device of a name: the name can have come
// to another device since the listing.
type expected struct {
	Listed string `json:"listed,omitempty"` // the GUID that the listing told; "" is none
	Opened string `json:"opened,omitempty"` // the GUID that the open device told first in this run
	Node   string `json:"node,omitempty"`   // the kernel's node, where the GUID does not tell the device apart
}

// What became of a device since the listing: another one has its name, or nothing has.
const (
	identityChanged  = "changed"
	identityVanished = "vanished"
)

// lostDevice says that a device is not the one that the run has listed.
type lostDevice struct {
	Event  string `json:"event"`
	Device string `json:"device"`
	What   string `json:"what,omitempty"` // differs: "node GUID" or "node"
	Was    string `json:"was,omitempty"`
	Is     string `json:"is,omitempty"`
	Now    string `json:"now,omitempty"` // the name that the device has now, where another has its GUID
}

func (e *lostDevice) Error() string {
	switch {
	case e.Event == identityVanished && e.Now != "":
		return fmt.Sprintf("%s is no longer listed: the device with its GUID is now %s", e.Device, e.Now)
	case e.Event == identityVanished:
		return e.Device + " is no longer listed"
	}
	return fmt.Sprintf("%s is another device than the one that was listed: its %s was %s, and is %s", e.Device, e.What, orNone(e.Was), orNone(e.Is))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// data is how a row tells of it.
func (e *lostDevice) data() map[string]any {
	d := map[string]any{"event": e.Event, "device": e.Device}
	for k, v := range map[string]string{"what": e.What, "was": e.Was, "is": e.Is, "now": e.Now} {
		if v != "" {
			d[k] = v
		}
	}
	return map[string]any{"identity": d}
}

// differs tells how a listed device is not the expected one, nil when it is.
func (w expected) differs(now listedDevice) *lostDevice {
	e := &lostDevice{Event: identityChanged, Device: now.Name}
	switch {
	case now.NodeGUID != w.Listed:
		e.What, e.Was, e.Is = "node GUID", w.Listed, now.NodeGUID
	case w.Node != "" && now.Node != w.Node:
		e.What, e.Was, e.Is = "node", w.Node, now.Node
	default:
		return nil
	}
	return e
}

// find is the device of a name in a list, before it is opened. The error tells that
// there is none, or another one.
func (s *session) find(devices []rdma.Device, name string) (rdma.Device, *lostDevice) {
	want, known := s.req.Expect[name]
	for _, d := range devices {
		if d.Name == name && !known {
			return d, nil
		} else if d.Name == name {
			return d, want.differs(describeListed(d))
		}
	}
	e := &lostDevice{Event: identityVanished, Device: name}
	if want.Listed != "" && want.Node == "" {
		at := slices.IndexFunc(devices, func(d rdma.Device) bool { return describeListed(d).NodeGUID == want.Listed })
		if at >= 0 {
			e.Now = devices[at].Name
		}
	}
	return rdma.Device{}, e
}

// opened asks an open device for its GUID, where this run has seen one of it. One
// that cannot be asked any more is recognised by the list alone, if that told a GUID.
func (s *session) opened(ctx rdma.RDMAContext, name string) error {
	want := s.req.Expect[name]
	if want.Opened == "" {
		return nil
	}
	var a rdma.IbvDeviceAttr
	if _, err := rdma.IbvQueryDeviceAttr(ctx, &a); err != nil {
		if want.Listed != "" {
			return nil
		}
		return fmt.Errorf("whether it is still the device that was listed is not known: %w", err)
	}
	s.guid = guidText(hostGUID(a.NodeGUID))
	if s.guid != want.Opened {
		return &lostDevice{Event: identityChanged, Device: name, What: "node GUID", Was: want.Opened, Is: s.guid}
	}
	return nil
}

// stillSame asks the open device once more for its GUID, at the end. A device that
// tells another one has answered for two: the parent believes nothing of it.
func (s *session) stillSame() {
	if why, _ := s.noTimeFor(s.slowest); s.guid == "" || why != "" {
		return
	}
	var a rdma.IbvDeviceAttr
	if _, err := rdma.IbvQueryDeviceAttr(s.ctx, &a); err != nil {
		return // it has gone: it is not another one
	}
	if now := guidText(hostGUID(a.NodeGUID)); now != s.guid {
		s.say(msgChanged, &lostDevice{Event: identityChanged, Device: s.device, What: "node GUID", Was: s.guid, Is: now})
	}
}

// sight remembers what a listing told of the devices. A GUID that two of them share
// identifies neither.
func (r *run) sight(listed []listedDevice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sights = map[string]expected{}
	have := map[string]int{}
	for _, l := range listed {
		have[l.NodeGUID]++
	}
	for _, l := range listed {
		w := expected{Listed: l.NodeGUID}
		if r.profile == nil && (l.NodeGUID == "" || have[l.NodeGUID] > 1) { // a simulated child has fewer devices, numbered anew
			w.Node = l.Node
		}
		r.sights[l.Name] = w
	}
}

// learn remembers the GUIDs that open devices told first.
func (r *run) learn(devices []Device) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range devices {
		if w, ok := r.sights[d.Name]; ok && w.Opened == "" {
			w.Opened = d.NodeGUID
			r.sights[d.Name] = w
		}
	}
}

// expect is what a child is told of the devices that it works on.
func (r *run) expect(q *request) map[string]expected {
	names := slices.Concat([]string{q.Device}, q.Devices)
	if q.Data != nil {
		names = append(names, q.Data.PeerDevice)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]expected{}
	for _, name := range names {
		if w, ok := r.sights[name]; ok {
			all[name] = w
		}
	}
	return all
}

// disown takes back what a child has said of devices that turned out to be others:
// no answer of them stands.
func (a *attempt) disown() {
	for _, e := range a.changed {
		a.devices = slices.DeleteFunc(a.devices, func(d Device) bool { return d.Name == e.Device })
		for i := range a.rows {
			o := &a.rows[i]
			if o.Device != e.Device || !conclusive(o.Level) {
				continue
			}
			o.Level, o.Reason, o.Detail, o.Data = rdma.CapabilityUnknown, Precondition, e.Error(), e.data()
			o.Value, o.Return, o.Errno, o.FailureClass = nil, nil, nil, ""
		}
	}
}
