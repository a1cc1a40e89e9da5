package probe

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// gidRows are the rows of a GID id for one port.
func (v *findingView) gidRows(dev *Device, p *Port, id string) []*Observation {
	return v.ofPort(dev.Name, id, p.Num)
}

// gidLevel tells whether a GID id of a port has one of the levels.
func (v *findingView) gidLevel(dev *Device, p *Port, id string, levels ...rdma.Capability) bool {
	return slices.ContainsFunc(v.gidRows(dev, p, id), func(o *Observation) bool { return slices.Contains(levels, o.Level) })
}

// goodIndex is the GID index that rdmaprobe would choose on a port.
func (v *findingView) goodIndex(dev *Device, p *Port) (int64, bool) {
	for _, o := range v.gidRows(dev, p, "gid.usable") {
		if n, ok := dataInt(o.Data, "index"); ok {
			return n, true
		}
	}
	return 0, false
}

// gidAt is the entry of a port's table with that index, nil when the slot is
// empty.
func gidAt(p *Port, index int64) *GID {
	for i := range p.GIDs {
		if int64(p.GIDs[i].Index) == index {
			return &p.GIDs[i]
		}
	}
	return nil
}

// needsGID tells whether a port's peers are addressed by a GID: InfiniBand has LIDs, and
// iWARP the addresses of its connection manager.
func needsGID(dev *Device, p *Port) bool {
	return p.LinkLayer != "infiniband" && dev.Transport != "iwarp"
}

func gidTableEmpty(v *findingView) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		if !needsGID(dev, p) || !v.isActive(dev, p) || !v.gidLevel(dev, p, "gid.usable", rdma.CapabilityObservedZero) {
			return
		}
		h := findingHit{
			scope: dev.Name, ports: []int{p.Num}, message: fmt.Sprintf("port %d is ACTIVE and needs a GID to address a peer, but its GID table is empty", p.Num),
			seen: keysOf(v.gidRows(dev, p, "gid.usable")...),
		}
		netdev, known := v.h.NetdevOfDevice[dev.Name]
		elsewhere := known && netdev == nil
		iface := v.ifaceOf(dev, p)
		addresses, read := v.addresses(iface)
		name := shellName(iface, "NETDEV")
		switch {
		case elsewhere || v.container() && v.h.Netns != "host" || v.h.Netns != "" && v.h.Netns != "host":
			h.message += " as seen from this network namespace"
			h.remedy = "use the host's network (`--network host`), or a network plugin that moves the RDMA device's own interface, or one made for RDMA, into the namespace"
		case len(addresses) > 0:
			h.message += fmt.Sprintf(", although the interface %s has %s", printable(iface), addresses[0])
			h.remedy = "take the interface down and up, which fills the table anew and interrupts its connections: `sudo ip link set " + name + " down; sudo ip link set " + name + " up`; " +
				"reload the device's driver if it stays empty"
		case iface != "":
			h.remedy = "bring up the interface and give it an address; every address makes an entry: `sudo ip link set " + name + " up`, `sudo ip addr add ADDRESS/PREFIX dev " + name + "`"
			h.undo = "`sudo ip addr del ADDRESS/PREFIX dev " + name + "`"
		default:
			h.remedy = "bring up the device's network interface and give it an address; every address makes an entry"
		}
		if known {
			h.facts = append(h.facts, "host.netdev_of_device."+dev.Name)
		}
		if read {
			h.facts = append(h.facts, "host.interfaces."+iface+".addresses")
		}
		if v.h.Netns != "" {
			h.facts = append(h.facts, "host.netns")
		}
		hits = append(hits, h)
	})
	return hits
}

// roce tells whether a port speaks RDMA over Ethernet.
func roce(dev *Device, p *Port) bool {
	return p.LinkLayer == "ethernet" && dev.Transport != "iwarp" && dev.Transport != "thunderbolt"
}

func netdevWithoutAddress(v *findingView) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		iface := v.ifaceOf(dev, p)
		addresses, known := v.addresses(iface)
		kind, why := "RoCE", "its packets have no source, and data-path probes are not tried"
		if dev.Transport == "iwarp" {
			kind, why = "iWARP", "the connection manager has no address to connect from"
		}
		if !roce(dev, p) && dev.Transport != "iwarp" || !known || len(addresses) > 0 || v.idlePort(dev, p) || backed(v.h, dev.Name, p) {
			return
		}
		h := findingHit{
			scope: dev.Name, ports: []int{p.Num},
			message: "the network interface " + printable(iface) + " of this " + kind + " device has no address: " + why,
			remedy: "give it an address before anything is sent: `sudo ip addr add ADDRESS/PREFIX dev " + shellName(iface, "NETDEV") + "`, " +
				"and `sudo ip link set " + shellName(iface, "NETDEV") + " up`",
			undo:  "`sudo ip addr del ADDRESS/PREFIX dev " + shellName(iface, "NETDEV") + "`",
			facts: []string{"host.interfaces." + iface + ".addresses"},
		}
		if _, known := v.h.NetdevOfDevice[dev.Name]; known {
			h.facts = append(h.facts, "host.netdev_of_device."+dev.Name)
		}
		hits = append(hits, h)
	})
	return hits
}

func gidStale(v *findingView) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		if !roce(dev, p) || !v.isActive(dev, p) {
			return
		}
		stale, facts, own := []string{}, []string{}, ""
		good, ok := v.goodIndex(dev, p)
		for i := range p.GIDs {
			g := &p.GIDs[i]
			iface, gone := v.staleOf(dev, p, g)
			if !gone {
				continue
			}
			ok, own = ok && int64(g.Index) != good, iface
			stale = append(stale, fmt.Sprintf("index %d (%s)", g.Index, printable(g.GID)))
			facts = union(facts, []string{"host.interfaces." + iface + ".addresses"})
		}
		if len(stale) == 0 {
			return
		}
		h := findingHit{
			scope: dev.Name, ports: []int{p.Num}, message: "the GID table has entries for addresses that the interface does not have: " + sentence(stale),
			remedy: v.refillRemedy(own), seen: keysOf(v.gidRows(dev, p, "gid.usable")...), facts: facts,
		}
		if ok {
			h.remedy = fmt.Sprintf("use index %d; a restart of the interface refills the table", good)
		}
		hits = append(hits, h)
	})
	return hits
}

// refillRemedy is what to do about a table of which the entry that programs choose
// is left over.
func (v *findingView) refillRemedy(iface string) string {
	addresses, _ := v.addresses(iface)
	own := slices.DeleteFunc(addresses, func(a netip.Addr) bool { return a.IsLinkLocalUnicast() })
	switch {
	case len(addresses) == 0:
		return "none of the entries is backed by an address: give the interface one and look again"
	case len(own) == 0:
		return "none of the entries but the link-local one is backed by an address: give the interface one and look again"
	}
	name := shellName(iface, "NETDEV")
	return fmt.Sprintf("take %s down and up, so that the table is filled with the address that it has (%s); that interrupts its connections: ", printable(iface), own[0]) +
		"`sudo ip link set " + name + " down; sudo ip link set " + name + " up`"
}

// staleOf tells whether the interface of an entry is known not to have its
// address.
func (v *findingView) staleOf(dev *Device, p *Port, g *GID) (iface string, gone bool) {
	iface = netdevOfGID(v.h, dev.Name, p, g)
	if _, known := v.addresses(iface); !known {
		iface = v.ifaceOf(dev, p)
	}
	addresses, known := v.addresses(iface)
	return iface, known && leftOver(*g, addresses) && !heldByOwn(v.h, dev.Name, p, g)
}

// liveIndex is the GID index to recommend on a port: the one that rdmaprobe
// would choose, unless its address is gone.
func (v *findingView) liveIndex(dev *Device, p *Port) (int64, bool) {
	good, ok := v.goodIndex(dev, p)
	if g := gidAt(p, good); ok && g != nil && roce(dev, p) {
		_, gone := v.staleOf(dev, p, g)
		ok = !gone
	}
	return good, ok
}

// leftOver tells whether a GID stands for an address that its interface, with
// these addresses, does not have. The EUI-64 link-local entry is made from the
// hardware address and is there whatever the interface's own link-local address
// is: it is left over only when there is no address at all.
func leftOver(g GID, addresses []netip.Addr) bool {
	a := gidAddr(g)
	if !a.IsValid() || slices.Contains(addresses, a.Unmap()) {
		return false
	}
	b := a.As16()
	eui64 := a.IsLinkLocalUnicast() && !a.Is4In6() && b[11] == 0xff && b[12] == 0xfe
	return !eui64 || len(addresses) == 0
}

func gidTypeMismatch(v *findingView) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		p := v.portUsed(dev)
		if p == nil || !roce(dev, p) || v.confirmedOn(dev.Name, "pingpong.rc") || v.confirmedOn(dev.Name, "pingpong.uc") {
			continue
		}
		here := v.gidTypeUsed(dev, p)
		for _, peer := range v.peersOf(dev.Name) {
			there := peerGIDType(peer, here)
			if !roceTypes(here, there) || here == there {
				continue
			}
			hits = append(hits, findingHit{
				scope: dev.Name, ports: []int{p.Num},
				message: fmt.Sprintf("this end speaks RoCE %s and the peer %s: they cannot reach each other",
					strings.TrimPrefix(here, "roce_"), strings.TrimPrefix(there, "roce_")),
				remedy: "set both ends to v2: choose a v2 entry of the peer's GID table, or its default mode " +
					"(`cma_roce_mode -d DEV -p PORT -m 2`); soft-RoCE speaks v2 only",
				seen:  keysOf(append(v.of(dev.Name, "pingpong.rc"), v.of(dev.Name, "pingpong.uc")...)...),
				facts: []string{"devices", "peer.gids"},
			})
		}
	}
	return hits
}

func roceTypes(types ...string) bool {
	return !slices.ContainsFunc(types, func(t string) bool { return t != "roce_v1" && t != "roce_v2" })
}

// gidTypeUsed is the type of the GID that this end uses.
func (v *findingView) gidTypeUsed(dev *Device, p *Port) string {
	n, ok := v.goodIndex(dev, p)
	for _, id := range []string{"pingpong.rc", "pingpong.uc", "qp.rc.rtr", "qp.uc.rtr"} {
		for _, o := range v.of(dev.Name, id) {
			if used, has := dataInt(o.Params, "gid_index"); has {
				n, ok = used, true
			}
		}
	}
	if g := gidAt(p, n); ok && g != nil {
		return g.Type
	}
	return ""
}

// peerGIDType is the type that the peer uses: of the entry it named, else the one
// type that its whole table has when it has none of the wanted.
func peerGIDType(peer PeerFacts, wanted string) string {
	other := ""
	for _, g := range peer.GIDs {
		switch {
		case peer.GIDIndex != nil && g.Index == *peer.GIDIndex:
			return g.Type
		case peer.GIDIndex == nil && g.Type == wanted:
			return wanted
		case peer.GIDIndex == nil:
			other = g.Type
		}
	}
	return other
}
