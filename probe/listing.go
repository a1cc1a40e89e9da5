package probe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// hostIDs are the rows of a listing.
var hostIDs = []string{"lib.load", "lib.symbols", "dev.enumerate"}

// readIDs are the rows of a device in the streaming child.
var readIDs = []string{"dev.open", "port.query", "port.state", "gid.usable", "gid.ipv4_mapped"}

// list runs the listing child: library, symbols and names. It fills in the
// document's devices, and those that only the kernel has.
func (r *run) list() error {
	a, err := r.try(r.ctx, r.request(taskList), false, nil)
	r.takeListing(a)
	r.begin()
	for _, o := range append(a.rows, a.lost("", "", 0, hostIDs)...) {
		o.Child = a.child()
		r.observe(o)
	}
	return err
}

// takeListing puts what a listing found into the document.
func (r *run) takeListing(a *attempt) {
	if a.library != nil {
		r.doc.Provider.Library = *a.library
	}
	if r.doc.Provider.Library.Symbols == nil {
		r.doc.Provider.Library.Symbols = map[string]bool{}
	}
	for _, l := range a.listed {
		r.doc.Devices = append(r.doc.Devices, Device{
			Name: l.Name, NodeGUID: l.NodeGUID, Transport: l.Transport, NodeType: l.NodeType, Listed: true, Ports: []Port{},
		})
	}
	if r.facts != nil {
		for _, name := range r.facts.SysfsDevices {
			if !slices.ContainsFunc(r.doc.Devices, func(d Device) bool { return d.Name == name }) {
				r.doc.Devices = append(r.doc.Devices, Device{Name: name, Ports: []Port{}})
			}
		}
	}
	for i := range r.doc.Devices {
		r.doc.Devices[i].fromFacts(r.facts)
	}
}

// choose narrows the document to the named devices. A name that is not there is
// a note while another one is.
func (r *run) choose() {
	r.listed = slices.Clone(r.doc.Devices)
	if names := r.opts.Devices; len(names) > 0 {
		var missing []string
		for _, n := range names {
			if !slices.ContainsFunc(r.doc.Devices, func(d Device) bool { return d.Name == n }) {
				missing = append(missing, n)
			}
		}
		listed := deviceNames(r.doc.Devices)
		r.doc.Devices = slices.DeleteFunc(r.doc.Devices, func(d Device) bool { return !slices.Contains(names, d.Name) })
		for _, n := range missing {
			r.note(fmt.Sprintf("no device %s; there are: %s", n, listed))
		}
	}
	r.exit.nothing = !slices.ContainsFunc(r.doc.Devices, func(d Device) bool { return d.Listed })
}

func deviceNames(devices []Device) string {
	if len(devices) == 0 {
		return "none"
	}
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.Name
	}
	return strings.Join(names, ", ")
}

// stream reads all devices in one child. When it ends in device k, or its own
// deadline comes after device k, another one goes on from there: one bad device
// never hides the others. libibverbs alone waits five seconds for udev in the
// open of a device whose node it may not use.
func (r *run) stream() error {
	skip, first := 0, true
	for {
		q := r.request(taskDevices)
		q.Skip = skip
		q.DeviceAddresses = map[string][]string{}
		for _, d := range r.doc.Devices {
			q.DeviceAddresses[d.Name] = addressesOf(r.facts, d.Name)
		}
		a, err := r.try(r.ctx, q, false, nil)
		if first {
			r.takeListing(a)
			r.begin()
			r.keepHostRows(a)
			first = false
		}
		next := r.takeStream(a, skip)
		if err != nil || next >= len(a.listed) || next == skip || r.ctx.Err() != nil {
			return err
		}
		skip = next
	}
}

// keepHostRows keeps the rows of the listing part of the first streaming child.
func (r *run) keepHostRows(a *attempt) {
	for _, o := range a.rows {
		if o.Device == "" {
			o.Child = a.child()
			r.observe(o)
		}
	}
	if !a.saw("dev.enumerate", "") {
		for _, o := range a.lost("", "", 0, hostIDs) {
			r.observe(o)
		}
	}
}

// takeStream keeps what a streaming child saw of the devices after skip and
// returns how many are done now, counting the one in which it ended.
func (r *run) takeStream(a *attempt, skip int) int {
	for _, d := range a.devices {
		r.mergeDevice(d)
	}
	for _, o := range a.rows {
		if o.Device != "" {
			o.Child = a.child()
			r.observe(o)
		}
	}
	// Devices come in the order of the listing: the one after the last complete
	// one is where the child ended.
	next := skip + len(a.devices)
	if a.result.Outcome == guard.Completed || len(a.listed) == 0 {
		return next
	}
	if next < len(a.listed) {
		name := a.listed[next].Name
		for _, o := range a.lost(name, taskDevices, max(a.last.Port, 1), readIDs) {
			r.observe(o)
		}
	}
	return next + 1
}

// mergeDevice adds what a child found out about a device.
func (r *run) mergeDevice(seen Device) {
	r.mu.Lock()
	i := slices.IndexFunc(r.doc.Devices, func(d Device) bool { return d.Name == seen.Name })
	if i < 0 {
		r.mu.Unlock()
		return
	}
	r.doc.Devices[i].merge(seen)
	r.doc.Devices[i].fromFacts(r.facts)
	d := r.doc.Devices[i]
	r.mu.Unlock()
	r.keepDevice(d)
}

// fill adds a row for every id that a device has none of.
func (r *run) fill(d Device) {
	have := map[string]bool{}
	for _, o := range r.doc.Observations {
		if o.Device == d.Name {
			have[o.ID] = true
		}
	}
	for _, e := range EvidenceIDs {
		if e.Host || have[e.ID] || e.Extra && !d.thunderbolt(r.platform.os) {
			continue
		}
		o := Observation{ID: e.ID, Device: d.Name, Level: rdma.CapabilityUnknown, Reason: NotTried, Detail: notTried[e.ID]}
		if !d.Listed {
			o.Reason, o.Detail = Precondition, "the library does not list the device"
		}
		if e.Ports && len(d.Ports) == 1 {
			o.Port = d.Ports[0].Num
		}
		r.observe(o)
	}
}

// notTried says why nobody tried an id, where that is always the same.
var notTried = map[string]string{
	"op.rdma_read": "this binding does not expose RDMA READ",
}

// bound is how long a child can take at most.
func (r *run) bound() time.Duration {
	s := guard.Spec{Soft: r.opts.Timeout, Ladder: ladder}
	return s.Bound()
}
