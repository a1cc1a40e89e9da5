package probe

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"rdmaprobe/probe/guard"
)

// twin is another device of this machine as the other end of a connection.
type twin struct {
	port     int
	gidIndex int // -1: addressed by LID
	missing  string
	lost     *Observation // the row that says that it is not the device that was listed; nil: it is
}

// lockAll takes the locks that probing a device needs: its own and that of the
// other end on this machine, always in the order of their names, so that two
// runs never wait for each other.
func (dr *deviceRun) lockAll(ctx context.Context) error {
	names := []string{dr.name}
	if p := dr.opts.PeerDevice; p != "" && p != dr.name {
		names = append(names, p)
		slices.Sort(names)
	}
	for _, n := range names {
		lock, err := guard.LockDevice(ctx, dr.locks, dr.lockKeyOf(n), false)
		if err != nil {
			dr.unlockAll()
			return err
		}
		dr.held = append(dr.held, lock)
		if n == dr.name {
			dr.lock = lock
		}
	}
	return nil
}

func (dr *deviceRun) unlockAll() {
	for _, l := range dr.held {
		l.Unlock()
	}
	dr.held, dr.lock = nil, nil
}

// twinListed refuses an other end on this machine that the library does not list:
// whatever was meant, nothing would be connected to it. Where nothing is listed at
// all, that is what there is to say.
func (r *run) twinListed() error {
	listed := slices.DeleteFunc(slices.Clone(r.listed), func(d Device) bool { return !d.Listed })
	name := r.opts.PeerDevice
	if name == "" || len(listed) == 0 || slices.ContainsFunc(listed, func(d Device) bool { return d.Name == name }) {
		return nil
	}
	r.exit.usage = true
	return usagef("--peer-device %s: no such device; there are: %s", name, deviceNames(listed))
}

// meetTwin reads the other device, when one was named and the run connects
// something: its ports and GIDs as they are now, whether or not it is probed.
func (dr *deviceRun) meetTwin(words []string) error {
	name := dr.opts.PeerDevice
	if name == "" || !slices.ContainsFunc(words, func(w string) bool { row, _ := rowOf(w); return row.class >= ClassTransition }) {
		return nil
	}
	if name == dr.name {
		dr.twin = &twin{missing: "another device than this one: without --peer-device a port talks to itself"}
		return nil
	}
	d := dr.listed[slices.IndexFunc(dr.listed, func(d Device) bool { return d.Name == name && d.Listed })]
	if c := dr.twinClosed(d); c != nil {
		dr.twin = &twin{missing: name + " open to this: " + c.text()}
		return nil
	}
	var rows []Observation
	for _, task := range readWords() {
		q := dr.request(task)
		q.Device, q.Addresses, q.Port = name, addressesOf(dr.facts, name), activePort(d.Ports)
		a, err := dr.try(dr.ctx, q, false, nil)
		if err != nil {
			return err
		}
		for _, seen := range a.devices {
			d.merge(seen)
		}
		rows = append(rows, a.rows...)
	}
	if i := slices.IndexFunc(rows, func(o Observation) bool { return o.Data["identity"] != nil }); i >= 0 {
		dr.twin = &twin{lost: &rows[i]}
		return nil
	}
	dr.twin = dr.twinOf(d, rows)
	return nil
}

// twinClosed is the earlier event that closes the other device to what this run
// is about to do with it, nil when none does.
func (dr *deviceRun) twinClosed(d Device) *closure {
	if dr.opts.Force {
		return nil
	}
	other := &deviceRun{run: dr.run, name: d.Name, tb: dr.tb, identity: dr.identityOf(d)}
	for _, c := range other.pastClosures() {
		if c.From <= ClassTransition && c.Probe == "" {
			return &c
		}
	}
	return nil
}

// twinOf judges the other device by what it says of itself, and by the rows of the
// children that asked it.
func (dr *deviceRun) twinOf(d Device, rows []Observation) *twin {
	if d.thunderbolt(dr.platform.os) {
		return &twin{missing: "a peer at the other end of the cable: on Thunderbolt the path between two ports cannot be proven on one host"}
	}
	n := activePort(d.Ports)
	i := slices.IndexFunc(d.Ports, func(p Port) bool { return p.Num == n })
	if i < 0 {
		return &twin{missing: "the ports of " + d.Name + ": they could not be read"}
	}
	p := d.Ports[i]
	if p.State != "active" {
		return &twin{missing: fmt.Sprintf("port %d of %s active (it is %s)", n, d.Name, cmp.Or(p.State, "of unknown state"))}
	}
	t := &twin{port: n, gidIndex: -1}
	if p.Addressing == "lid" {
		return t
	}
	g, _, ok := chooseGID(p.LinkLayer, p.GIDs, addressesOf(dr.facts, d.Name))
	if !ok {
		return &twin{missing: "on " + d.Name + " " + missingGID(&p, unreadGIDs(rows, d.Name, n))}
	}
	t.gidIndex = g.Index
	return t
}
