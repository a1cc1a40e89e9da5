package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmaprobe/probe"
)

// devices compares the devices of one machine.
func (x *differ) devices(a, b *probe.Document, p hostPair) {
	rowsA, rowsB := rowsOfHost(a, p.inA), rowsOfHost(b, p.inB)
	left := map[string]*probe.Device{}
	for i := range b.Devices {
		if b.Devices[i].Host == p.inB {
			left[b.Devices[i].Name] = &b.Devices[i]
		}
	}
	for i := range a.Devices {
		da := &a.Devices[i]
		if da.Host != p.inA {
			continue
		}
		db := counterpart(da, left, a, p.inA)
		x.device = da.Name
		if db == nil {
			x.add(ChangeDevice, "device", "present", "absent", 0)
			continue
		}
		delete(left, db.Name)
		x.oneDevice(da, db, rowsA, rowsB)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		x.device = name
		x.add(ChangeDevice, "device", "absent", "present", 0)
	}
	x.device, x.port = "", 0
}

// counterpart is the same device in the other document.
func counterpart(dev *probe.Device, others map[string]*probe.Device, own *probe.Document, host string) *probe.Device {
	if d := others[dev.Name]; d != nil {
		return d
	}
	for _, d := range others {
		if d.NodeGUID == dev.NodeGUID && strings.Trim(d.NodeGUID, "0:") != "" &&
			!slices.ContainsFunc(own.Devices, func(e probe.Device) bool { return e.Host == host && e.Name == d.Name }) {
			return d
		}
	}
	return nil
}

func (x *differ) oneDevice(a, b *probe.Device, rowsA, rowsB []*probe.Observation) {
	for i, f := range [][3]string{
		{"name", a.Name, b.Name}, {"node_guid", a.NodeGUID, b.NodeGUID}, {"transport", a.Transport, b.Transport},
		{"node_type", a.NodeType, b.NodeType}, {"driver", a.Driver, b.Driver}, {"listed", fmt.Sprint(a.Listed), fmt.Sprint(b.Listed)},
	} {
		x.add(ChangeDevice, f[0], f[1], f[2], i)
	}
	if a.Attr != nil && b.Attr != nil {
		fa, fb := fieldsOf(a.Attr), fieldsOf(b.Attr)
		delete(fa, "node_guid")
		delete(fb, "node_guid")
		x.fields(ChangeLimit, fa, fb, nil)
	}
	x.ports(a.Ports, b.Ports)
	if a.Capabilities != nil && b.Capabilities != nil {
		for i, c := range columns {
			x.level(ChangeCapability, c.key, "", i, stateOf(c.of(a.Capabilities)), stateOf(c.of(b.Capabilities)))
		}
	}
	ofDevice := func(rows []*probe.Observation, name string) []*probe.Observation {
		return slices.DeleteFunc(slices.Clone(rows), func(o *probe.Observation) bool { return o.Device != name })
	}
	x.levelsOf(ofDevice(rowsA, a.Name), ofDevice(rowsB, b.Name))
}

// ports compares ports by number.
func (x *differ) ports(a, b []probe.Port) {
	byNum := func(ports []probe.Port) map[int]*probe.Port {
		m := map[int]*probe.Port{}
		for i := range ports {
			m[ports[i].Num] = &ports[i]
		}
		return m
	}
	pa, pb := byNum(a), byNum(b)
	all := maps.Clone(pa)
	maps.Copy(all, pb)
	for _, num := range slices.Sorted(maps.Keys(all)) {
		x.port = num
		if pa[num] == nil || pb[num] == nil {
			x.add(ChangePort, "port", presence(pa[num] != nil), presence(pb[num] != nil), 0)
			continue
		}
		x.fields(ChangePort, fieldsOf(pa[num]), fieldsOf(pb[num]), []string{
			"state", "phys_state", "link_layer", "addressing", "max_mtu", "active_mtu", "lid", "sm_lid", "max_msg_sz", "speed", "netdev",
		})
		x.gids(pa[num].GIDs, pb[num].GIDs)
	}
	x.port = 0
}

// gids compares the slots of a GID table.
func (x *differ) gids(a, b []probe.GID) {
	texts := func(gids []probe.GID) map[int]string {
		m := map[int]string{}
		for _, g := range gids {
			m[g.Index] = strings.Join(strings.Fields(g.GID+" "+g.Type+" "+g.Netdev), " ")
		}
		return m
	}
	ga, gb := texts(a), texts(b)
	all := maps.Clone(ga)
	maps.Copy(all, gb)
	for _, i := range slices.Sorted(maps.Keys(all)) {
		x.add(ChangeGID, fmt.Sprintf("gid %d", i), ga[i], gb[i], i)
	}
}
