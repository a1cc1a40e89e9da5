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
// document's devices, those that were named or all, and those that only the
// kernel has. Then the run begins in the ledger; bound says how long it can take.
func (r *run) list(bound func() time.Duration) error {
	return r.takeList(r.start(r.request(taskList)), bound)
}

// takeList is list with a child that was started before.
func (r *run) takeList(l *started, bound func() time.Duration) error {
	a, err := l.wait()
	r.know(a)
	r.beginBound(bound)
	r.keepHostRows(append(a.rows, a.lost("", "", 0, hostIDs)...), a)
	return err
}

// know takes over what a child has listed.
func (r *run) know(a *attempt) {
	r.takeListing(a)
	r.choose()
}

// beginBound begins the run, once its devices are known.
func (r *run) beginBound(bound func() time.Duration) {
	r.doc.Run.BoundNS = bound().Nanoseconds()
	r.begin()
}

// keepHostRows keeps the rows of a listing.
func (r *run) keepHostRows(rows []Observation, a *attempt) {
	for _, o := range rows {
		o.Child = a.child()
		r.observe(o)
		for _, n := range listingNotes(o.Data) {
			r.note(n)
		}
	}
}

// takeListing puts what a listing found into the document.
func (r *run) takeListing(a *attempt) {
	if a.library != nil {
		r.doc.Provider.Library = *a.library
	}
	if r.doc.Provider.Library.Symbols == nil {
		r.doc.Provider.Library.Symbols = map[string]bool{}
	}
	r.sight(a.listed)
	for _, l := range a.listed {
		r.doc.Devices = append(r.doc.Devices, Device{
			Name: l.Name, NodeGUID: l.NodeGUID, Transport: l.Transport, NodeType: l.NodeType, Listed: true, Ports: []Port{},
		})
	}
	if r.facts != nil {
		listed := newIndex(r.doc, everyRow)
		for _, name := range r.facts.SysfsDevices {
			if listed.device(name) == nil {
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
	r.listed, r.named = slices.Clone(r.doc.Devices), nil
	if names := r.opts.Devices; len(names) > 0 {
		var missing []string
		for _, n := range names {
			if r.at(n) < 0 {
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

// stream reads devices, whose locks are held, in one child. When it ends in a
// device, or a device's deadline has passed in it, another child goes on from there:
// one bad device never hides the others, and none uses up the time of another.
// libibverbs alone waits five seconds for udev in the open of a device whose node it
// may not use.
func (r *run) stream(names []string) error {
	for len(names) > 0 {
		q := r.request(taskDevices)
		q.Devices, q.DeviceAddresses = names, r.addressesOf(names)
		a, err := r.try(r.ctx, q, false, nil)
		next := r.takeStream(a, names)
		if err != nil || r.ctx.Err() != nil {
			return err
		}
		names = names[next:]
	}
	return nil
}

// addressesOf are the addresses of the devices' own interfaces, by device.
func (r *run) addressesOf(names []string) map[string][]string {
	by := map[string][]string{}
	for _, n := range names {
		by[n] = addressesOf(r.facts, n)
	}
	return by
}

// takeStream keeps what a streaming child saw and returns how many devices are
// done, at least one, counting the one in which it ended.
func (r *run) takeStream(a *attempt, names []string) int {
	for _, d := range a.devices {
		r.mergeDevice(d)
	}
	next := min(a.read, len(names))
	var lost []Observation
	if next == len(names) || next > 0 && a.last.Device == "" { // it may have ended in what comes after a device
		r.keepHostRows(a.lost("", "", 0, nil), a)
	} else if next == 0 || a.result.Outcome != guard.Completed || a.broken != "" {
		lost = a.lost(names[next], taskDevices, 1, readIDs)
		next++
	}
	done := names[:next]
	if r.ctx.Err() != nil {
		done = names // nothing is read after it
	}
	seen := map[string]bool{}
	for _, n := range done {
		seen[n] = true
	}
	for _, o := range append(a.rows, lost...) {
		if seen[o.Device] {
			o.Child = a.child()
			r.observe(o)
		}
	}
	return next
}

// mergeDevice adds what a child found out about a device.
func (r *run) mergeDevice(seen Device) {
	r.mu.Lock()
	i := r.at(seen.Name)
	if i < 0 {
		r.mu.Unlock()
		return
	}
	r.doc.Devices[i].merge(seen)
	r.doc.Devices[i].fromFacts(r.facts)
	d := r.doc.Devices[i]
	if r.named != nil {
		r.named.learn(d.NodeGUID, d.Name)
	}
	r.mu.Unlock()
	r.keepDevice(d)
}

// fill adds a row for every id that a device has none of.
func (r *run) fill() {
	type at struct{ host, device, id string }
	have, unlisted := map[at]bool{}, map[string]bool{} // unlisted: the hosts whose library gave no list
	for i := range r.doc.Observations {
		o := &r.doc.Observations[i]
		if o.ID == "dev.enumerate" && o.Run == r.doc.Run.ID {
			unlisted[o.Host] = o.Level == rdma.CapabilityUnknown
		}
		have[at{o.Host, o.Device, o.ID}] = true
	}
	for _, d := range r.doc.Devices {
		r.fillDevice(d, !unlisted[d.Host], func(id string) bool { return have[at{d.Host, d.Name, id}] })
	}
}

// fillDevice is fill for one device; enumerated tells whether there was a list that it
// could have been on.
func (r *run) fillDevice(d Device, enumerated bool, has func(id string) bool) {
	for _, e := range EvidenceIDs {
		if e.Host || has(e.ID) || e.Extra && !d.thunderbolt(r.platform.os) {
			continue
		}
		o := Observation{Host: d.Host, ID: e.ID, Device: d.Name, Level: rdma.CapabilityUnknown, Reason: NotTried, Detail: notTried[e.ID]}
		if !d.Listed {
			o.Reason, o.Detail = Precondition, unlistedWhy[enumerated]
		}
		if e.Ports && len(d.Ports) == 1 {
			o.Port = d.Ports[0].Num
		}
		r.observe(o)
	}
}

// unlistedWhy says why nothing was tried on a device that only the kernel has: the
// library gave a list without it, or none.
var unlistedWhy = map[bool]string{
	true: "the library does not list the device", false: "the library gave no list of devices: see dev.enumerate",
}

// notTried says why nobody tried an id, where that is always the same.
var notTried = map[string]string{
	"op.rdma_read": "this binding does not expose RDMA READ",
}

// childSpec is what of a child's spec is about time.
func (r *run) childSpec() guard.Spec { return guard.Spec{Soft: r.opts.Timeout, Ladder: ladder} }

// bound is how long a child of one deadline can take at most.
func (r *run) bound() time.Duration { return r.childSpec().Bound() }
