package probe

import (
	"rdmaprobe/probe/hostfacts"
	"slices"
)

// thunderbolt tells whether a device is one of Apple's. On macOS a device whose
// transport says nothing is taken for one: the careful rules then hold.
func (d *Device) thunderbolt(os string) bool {
	if d.Transport == "thunderbolt" {
		return true
	}
	for _, p := range d.Ports {
		if p.LinkLayer == "thunderbolt" {
			return true
		}
	}
	return os == "macos" && d.Transport != "infiniband" && d.Transport != "iwarp"
}

// merge takes over what a child has found out. A GID table that is nil was not
// read, an empty one was. The ports are those of this device from then on: copies
// of it that were handed out keep theirs.
func (d *Device) merge(seen Device) {
	d.Ports = slices.Clone(d.Ports)
	if seen.NodeGUID != "" {
		d.NodeGUID = seen.NodeGUID
	}
	if seen.Attr != nil {
		d.Attr = seen.Attr
	}
	for _, p := range seen.Ports {
		i := slices.IndexFunc(d.Ports, func(q Port) bool { return q.Num == p.Num })
		if i < 0 {
			if p.GIDs == nil {
				p.GIDs = []GID{}
			}
			d.Ports = append(d.Ports, p)
			continue
		}
		if p.GIDs == nil {
			p.GIDs = d.Ports[i].GIDs
		}
		p.Netdev = d.Ports[i].Netdev
		d.Ports[i] = p
	}
}

// fromFacts adds what the host knows of a device, to no copy of it.
func (d *Device) fromFacts(h *hostfacts.Host) {
	if h == nil {
		return
	}
	d.Driver = h.Driver[d.Name]
	if h.SysfsDevices != nil {
		there := slices.Contains(h.SysfsDevices, d.Name)
		d.Sysfs = &there
	}
	if n := netdevOf(h, d.Name); n != "" {
		d.Ports = slices.Clone(d.Ports)
		for i := range d.Ports {
			d.Ports[i].Netdev = portNetdev(h, d, i, n)
		}
	}
}

// portNetdev is the interface of a device's port: what the entries of its GID
// table name, else the device's own, which is that of its first port.
func portNetdev(h *hostfacts.Host, d *Device, i int, own string) string {
	for _, g := range d.Ports[i].GIDs {
		if g.Netdev != "" {
			return g.Netdev
		}
	}
	for _, p := range h.Sysfs[d.Name].Ports {
		for _, g := range p.GIDs {
			if p.Num == d.Ports[i].Num && g.Netdev != "" {
				return g.Netdev
			}
		}
	}
	if i > 0 {
		return ""
	}
	return own
}

// netdevOfPort is the interface of a port of a device whose own is known.
func netdevOfPort(h *hostfacts.Host, d *Device, p *Port) string {
	own := netdevOf(h, d.Name)
	i := slices.IndexFunc(d.Ports, func(q Port) bool { return q.Num == p.Num })
	if own == "" || i < 0 {
		return own
	}
	return portNetdev(h, d, i, own)
}

// netdevOfGID is the interface of an entry, "" when none is known: as the library tells
// it, else, since old ones do not, the kernel.
func netdevOfGID(h *hostfacts.Host, device string, p *Port, g *GID) string {
	if g.Netdev != "" {
		return g.Netdev
	}
	for _, q := range h.Sysfs[device].Ports {
		for _, s := range q.GIDs {
			if q.Num == p.Num && s.Index == g.Index && s.GID == g.GID {
				return s.Netdev
			}
		}
	}
	return ""
}

// backed tells whether an entry of a port's table has its address on an interface of its
// own: a VLAN or a bond over that of the port, which then needs none.
func backed(h *hostfacts.Host, device string, p *Port) bool {
	return slices.ContainsFunc(p.GIDs, func(g GID) bool { return heldByOwn(h, device, p, &g) })
}

// heldByOwn tells whether the interface of an entry has its address. Where neither the
// library nor the kernel told which it is, any that has it may be that one.
func heldByOwn(h *hostfacts.Host, device string, p *Port, g *GID) bool {
	own := netdevOfGID(h, device, p, g)
	_, told := h.Sysfs[device]
	for name, i := range h.Interfaces {
		if name != own && (own != "" || told) {
			continue
		}
		if slices.ContainsFunc(i.Addresses, func(text string) bool {
			a, ok := parseAddress(text)
			return ok && a == gidAddr(*g).Unmap()
		}) {
			return true
		}
	}
	return false
}

// netdevOf is the interface of a device, "" when none is known.
func netdevOf(h *hostfacts.Host, device string) string {
	if n := h.NetdevOfDevice[device]; n != nil {
		return *n
	}
	return appleInterface(device)
}

// appleInterface is the interface that an Apple device is paired with by name:
// rdma_en4 and en4.
func appleInterface(device string) string {
	const p = "rdma_en"
	if len(device) > len(p) && device[:len(p)] == p {
		return device[len("rdma_"):]
	}
	return ""
}

// addressesOf are the addresses of a device's interface.
func addressesOf(h *hostfacts.Host, device string) []string {
	if h == nil {
		return nil
	}
	return h.Interfaces[netdevOf(h, device)].Addresses
}
