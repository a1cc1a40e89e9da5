package probe

import (
	"context"
	"slices"
	"sync"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// lockShared takes the locks of the listed devices, all at once, and names those
// that can be read: with their locks, or where locks cannot be made at all. The
// rows of the others, which are still to be kept, say why not.
func (r *run) lockShared() (names []string, unread []Observation, unlock func()) {
	ctx, cancel := context.WithTimeout(r.ctx, r.opts.Timeout)
	defer cancel()
	locks, refused := make([]*guard.Lock, len(r.doc.Devices)), make([][]Observation, len(r.doc.Devices))
	var wg sync.WaitGroup
	for i, d := range r.doc.Devices {
		if d.Listed {
			wg.Go(func() { locks[i], refused[i] = r.newDeviceRun(d).lockToRead(ctx) })
		}
	}
	wg.Wait()
	for i, d := range r.doc.Devices {
		if d.Listed && refused[i] == nil {
			names = append(names, d.Name)
		}
	}
	return names, slices.Concat(refused...), func() {
		for _, l := range locks {
			l.Unlock()
		}
	}
}

// lockToRead takes the device's lock shared, or makes the rows that say why it may
// not be read.
func (dr *deviceRun) lockToRead(ctx context.Context) (*guard.Lock, []Observation) {
	row, _ := rowOf("port")
	if c := dr.closedFor(row); c != nil {
		return nil, dr.unread(Guarded, c.text(), c.data())
	}
	lock, err := guard.LockDevice(ctx, dr.locks, dr.lockKeyOf(dr.name), true)
	switch {
	case err == nil || dr.goesOnUnlocked(err):
		return lock, nil
	case dr.ctx.Err() != nil:
		return nil, dr.unread(Interrupted, "the run was interrupted", nil)
	}
	detail, data := dr.busy(err)
	return nil, dr.unread(Guarded, detail, data)
}

// tellUnread gives the devices that an interrupted run did not come to the rows that
// say so.
func (r *run) tellUnread() {
	if r.ctx.Err() == nil {
		return
	}
	for _, d := range r.doc.Devices {
		if dr := r.newDeviceRun(d); d.Listed && !dr.has("dev.open") {
			for _, o := range dr.unread(Interrupted, "the run was interrupted", nil) {
				r.observe(o)
			}
		}
	}
}

// unread makes the rows of a device that a listing does not read.
func (dr *deviceRun) unread(reason Reason, detail string, data map[string]any) (rows []Observation) {
	for _, id := range readIDs {
		o := Observation{ID: id, Probe: taskDevices, Device: dr.name, Level: rdma.CapabilityUnknown, Reason: reason, Detail: detail, Data: data}
		if evidence(id).Ports {
			o.Port = dr.port()
		}
		rows = append(rows, o)
	}
	return rows
}
