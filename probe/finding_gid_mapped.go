package probe

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"rdmaprobe/rdma"
)

func gidNoIPv4Mapped(v *findingView) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		if !dev.thunderbolt(v.h.OS) || !v.isActive(dev, p) || !v.gidLevel(dev, p, "gid.ipv4_mapped", rdma.CapabilityObservedZero) {
			return
		}
		h := v.unmappedHit(v.iface(dev))
		h.scope, h.ports, h.seen = dev.Name, []int{p.Num}, keysOf(v.gidRows(dev, p, "gid.ipv4_mapped")...)
		hits = append(hits, h)
	})
	return hits
}

// gidOnlyAtIndex0: the entry that Thunderbolt needs is there, and at the one index that
// is taken only when it is named.
func gidOnlyAtIndex0(v *findingView) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		g := untaken(p.LinkLayer, p.GIDs)
		if !v.isActive(dev, p) || g == nil || g.Index != 0 || v.c.GIDIndex != nil || v.confirmedOn(dev.Name, "qp.uc.rtr") || v.confirmedOn(dev.Name, "qp.rc.rtr") {
			return
		}
		iface := "the interface"
		if n := v.iface(dev); n != "" {
			iface = printable(n)
		}
		hits = append(hits, findingHit{
			scope: dev.Name, ports: []int{p.Num},
			message: fmt.Sprintf("the only IPv4-mapped GID (%s) is at index 0: reports tell of transitions to RTR from there that time out, so that it is taken only when it is named",
				printable(g.GID)),
			remedy: "set the IPv4 address of " + iface + " anew, or unplug the cable and plug it in again, so that the table is filled anew: the entry usually is at index 1, after the link-local one. " +
				"To try index 0 as it is: `rdmaprobe probe -d " + shellName(dev.Name, "DEVICE") + " --pingpong --gid-index 0 --peer HOST`, once and not in a loop",
			seen: keysOf(v.gidRows(dev, p, "gid.ipv4_mapped")...), facts: []string{"devices"},
		})
	})
	return hits
}

// unmappedHit words that a port has no IPv4-mapped GID: its interface has no IPv4
// address, or has one that the provider did not take up.
func (v *findingView) unmappedHit(iface string) findingHit {
	name := "its interface"
	if iface != "" {
		name = "the interface " + printable(iface)
	}
	h := findingHit{message: "the port is ACTIVE, but its GID table has no IPv4-mapped entry: Thunderbolt RDMA addresses its peer by one, " +
		"and it is there only while " + name + " has an IPv4 address"}
	addresses, known := v.addresses(iface)
	if known {
		h.facts = []string{"host.interfaces." + iface + ".addresses"}
	}
	i := slices.IndexFunc(addresses, netip.Addr.Is4)
	if i < 0 || v.oldThunderbolt() || !v.mac() {
		h.remedy, h.undo = v.addressRemedy(iface)
		return h
	}
	h.message += fmt.Sprintf("; it has %s, which the table does not show", addresses[i])
	h.remedy = "an address that was set a moment ago takes a while to show; else unplug the Thunderbolt cable and plug it in again, or set the address anew. Restart the Mac if it stays"
	if slices.ContainsFunc(slices.Collect(maps.Values(v.h.Bridges)), func(m []string) bool { return slices.Contains(m, iface) }) {
		h.remedy = "take " + name + " out of the bridge that it is a member of, which keeps its address; else " + h.remedy
	}
	return h
}

// addressRemedy is how a Thunderbolt interface gets an IPv4 address, and how that is
// taken back.
func (v *findingView) addressRemedy(iface string) (remedy, undo string) {
	name := shellName(iface, "IFACE")
	switch {
	case v.oldThunderbolt():
		return "an address would make the entry, but not RDMA: the controller is the cause here", ""
	case v.mac():
		return "give " + name + " a fixed IPv4 address, each link in a network of its own: System Settings > Network, the service of that port, TCP/IP, Manually; " +
				"until the next restart also `sudo ifconfig " + name + " inet ADDRESS netmask 255.255.255.252 alias`. A self-assigned address takes minutes to come",
			"`sudo ifconfig " + name + " inet ADDRESS -alias`"
	}
	return "give " + name + " an IPv4 address: `sudo ip addr add ADDRESS/30 dev " + name + "`", "`sudo ip addr del ADDRESS/30 dev " + name + "`"
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
