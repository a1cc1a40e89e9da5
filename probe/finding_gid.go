package probe

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"rdmaprobe/rdma"
)

// gidRows are the rows of a GID id for one port.
func (v *findingView) gidRows(dev *Device, p *Port, id string) []*Observation {
	return slices.DeleteFunc(v.of(dev.Name, id), func(o *Observation) bool { return o.Port != 0 && o.Port != p.Num })
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

func gidNoIPv4Mapped(v *findingView) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		if !dev.thunderbolt(v.h.OS) || !v.active(dev, p) || !v.gidLevel(dev, p, "gid.ipv4_mapped", rdma.CapabilityObservedZero) {
			return
		}
		iface := v.iface(dev)
		h := findingHit{
			scope: dev.Name, ports: []int{p.Num},
			message: "the port is ACTIVE, but its GID table has no IPv4-mapped entry: Thunderbolt RDMA addresses its peer by one, " +
				"and it is there only while the interface " + printable(iface) + " has an IPv4 address",
			remedy: v.addressRemedy(iface),
			undo:   "`sudo ifconfig " + shellName(iface, "IFACE") + " inet ADDRESS -alias`",
			seen:   keysOf(v.gidRows(dev, p, "gid.ipv4_mapped")...),
		}
		switch {
		case v.oldThunderbolt():
			h.undo = ""
		case !v.mac():
			h.undo = "`sudo ip addr del ADDRESS/30 dev " + shellName(iface, "IFACE") + "`"
		}
		if _, known := v.addresses(iface); known {
			h.facts = append(h.facts, "host.interfaces."+iface+".addresses")
		}
		hits = append(hits, h)
	})
	return hits
}

// addressRemedy is how a Thunderbolt interface gets an IPv4 address.
func (v *findingView) addressRemedy(iface string) string {
	name := shellName(iface, "IFACE")
	switch {
	case v.oldThunderbolt():
		return "an address would make the entry, but not RDMA: the controller is the cause here"
	case v.mac():
		return "give " + name + " a fixed IPv4 address, each link in a network of its own: System Settings > Network, the service of that port, TCP/IP, Manually; " +
			"until the next restart also `sudo ifconfig " + name + " inet ADDRESS netmask 255.255.255.252 alias`. A self-assigned address takes minutes to come"
	}
	return "give " + name + " an IPv4 address: `sudo ip addr add ADDRESS/30 dev " + name + "`"
}

var selfAssigned = netip.MustParsePrefix("169.254.0.0/16")

func gidSelfAssignedVolatile(v *findingView) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		g, _, ok := chooseGID("thunderbolt", p.GIDs, addressesOf(v.h, dev.Name))
		if !ok || !dev.thunderbolt(v.h.OS) || !selfAssigned.Contains(gidAddr(g).Unmap()) {
			return
		}
		iface := v.iface(dev)
		h := findingHit{
			scope: dev.Name, ports: []int{p.Num},
			message: fmt.Sprintf("the IPv4-mapped GID (index %d, %s) comes from a self-assigned address: it appears minutes after the link and may be another one next time",
				g.Index, gidAddr(g).Unmap()),
			remedy: "set a fixed IPv4 address on " + printable(iface) + ", outside 169.254.0.0/16, so that the GID stays; never keep a GID or its index in a configuration",
			seen:   keysOf(v.gidRows(dev, p, "gid.ipv4_mapped")...),
			facts:  []string{"devices"},
		}
		if i := v.h.Interfaces[iface]; i.Manual != nil && *i.Manual {
			h.message = fmt.Sprintf("the IPv4-mapped GID (index %d, %s) comes from an address in 169.254.0.0/16 that was set by hand: "+
				"macOS routes that whole block by one interface", g.Index, gidAddr(g).Unmap())
		}
		if before := v.c.PreviousGIDs[dev.Name]; before != "" && before != g.GID {
			h.severity = SeverityWarning
			h.message += "; in the last recorded run it was " + printable(before)
		}
		hits = append(hits, h)
	})
	return hits
}

func gidTableEmpty(v *findingView) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		if p.LinkLayer == "infiniband" || !v.active(dev, p) || !v.gidLevel(dev, p, "gid.usable", rdma.CapabilityObservedZero) {
			return
		}
		h := findingHit{
			scope: dev.Name, ports: []int{p.Num}, message: fmt.Sprintf("port %d is ACTIVE and needs a GID to address a peer, but its GID table is empty", p.Num),
			remedy: "bring up the device's network interface and give it an address; every address makes an entry",
			seen:   keysOf(v.gidRows(dev, p, "gid.usable")...),
		}
		netdev, known := v.h.NetdevOfDevice[dev.Name]
		if v.container() || known && netdev == nil || v.h.Netns != "" {
			h.message += " as seen from this network namespace"
			h.remedy = "use the host's network (`--network host`), or a network plugin that moves the RDMA device's own interface, or one made for RDMA, into the namespace"
		}
		if known {
			h.facts = append(h.facts, "host.netdev_of_device."+dev.Name)
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
		if !roce(dev, p) || !known || len(addresses) > 0 || v.idle(dev) {
			return
		}
		h := findingHit{
			scope: dev.Name, ports: []int{p.Num},
			message: "the network interface " + printable(iface) + " of this RoCE device has no address: its packets have no source, and data-path probes are not tried",
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
		if !roce(dev, p) || !v.active(dev, p) {
			return
		}
		stale, facts := []string{}, []string{}
		good, ok := v.goodIndex(dev, p)
		for i := range p.GIDs {
			g := &p.GIDs[i]
			iface, gone := v.staleOf(dev, p, g)
			if !gone {
				continue
			}
			ok = ok && int64(g.Index) != good
			stale = append(stale, fmt.Sprintf("index %d (%s)", g.Index, printable(g.GID)))
			facts = union(facts, []string{"host.interfaces." + iface + ".addresses"})
		}
		if len(stale) == 0 {
			return
		}
		h := findingHit{
			scope: dev.Name, ports: []int{p.Num}, message: "the GID table has entries for addresses that the interface does not have: " + sentence(stale),
			remedy: "none of the entries is backed by an address: give the interface one and look again",
			seen:   keysOf(v.gidRows(dev, p, "gid.usable")...), facts: facts,
		}
		if ok {
			h.remedy = fmt.Sprintf("use index %d; a restart of the interface refills the table", good)
		}
		hits = append(hits, h)
	})
	return hits
}

// staleOf tells whether the interface of an entry is known not to have its
// address.
func (v *findingView) staleOf(dev *Device, p *Port, g *GID) (iface string, gone bool) {
	iface = g.Netdev
	if _, known := v.addresses(iface); !known {
		iface = v.ifaceOf(dev, p)
	}
	addresses, known := v.addresses(iface)
	return iface, known && leftOver(*g, addresses)
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

func configuredGIDIndexEmpty(v *findingView) []findingHit {
	names := []string{}
	for name := range v.h.Env {
		if strings.HasSuffix(name, "GID_INDEX") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		if p.LinkLayer == "infiniband" || !v.active(dev, p) || !v.gidLevel(dev, p, "gid.usable", rdma.CapabilityConfirmed) {
			return
		}
		for _, name := range names {
			n, err := strconv.ParseInt(strings.TrimSpace(v.h.Env[name]), 10, 32)
			if err != nil || n < 0 || gidAt(p, n) != nil || v.excludedByNCCL(name, dev.Name) {
				continue
			}
			h := findingHit{
				scope: dev.Name, ports: []int{p.Num}, message: fmt.Sprintf("%s=%d points at an empty slot of the GID table of port %d", printable(name), n, p.Num),
				remedy: "unset " + printable(name) + " and let the program choose: the table is filled anew on link events, so no index is fixed",
				seen:   keysOf(v.gidRows(dev, p, "gid.usable")...), facts: []string{"host.env." + name, "devices"},
			}
			if good, ok := v.liveIndex(dev, p); ok {
				h.message += fmt.Sprintf("; the usable entry is now %d", good)
				h.remedy += fmt.Sprintf("; until the table changes again %s=%d works", printable(name), good)
			}
			hits = append(hits, h)
		}
	})
	return hits
}

// excludedByNCCL tells whether NCCL_IB_HCA keeps NCCL off a device: a list of
// name prefixes, exact names after "=", or what to leave out after "^".
func (v *findingView) excludedByNCCL(name, device string) bool {
	hca := v.h.Env["NCCL_IB_HCA"]
	if hca == "" || !strings.HasPrefix(name, "NCCL_") {
		return false
	}
	hca, not := strings.CutPrefix(hca, "^")
	hca, exact := strings.CutPrefix(hca, "=")
	matched := slices.ContainsFunc(strings.Split(hca, ","), func(e string) bool {
		e, _, _ = strings.Cut(strings.TrimSpace(e), ":")
		return e != "" && (e == device || !exact && strings.HasPrefix(device, e))
	})
	return matched == not
}
