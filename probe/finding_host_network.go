package probe

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// portAddresses are the addresses of a Thunderbolt port that somebody gave it or
// that it took for itself. A link-local IPv6 address does not count: every port
// has one, and it makes no IPv4-mapped GID.
func (v *findingView) portAddresses(iface string) (list []netip.Addr, known bool) {
	list, known = v.addresses(iface)
	return slices.DeleteFunc(list, func(a netip.Addr) bool { return a.Is6() && a.IsLinkLocalUnicast() }), known
}

// bareMember is a Thunderbolt port in a bridge that has no address of its own.
type bareMember struct {
	bridge, port string
}

// bareMembers lists the ports that are known to be in a bridge and known to have
// no address, except those that nothing is connected to.
func (v *findingView) bareMembers() []bareMember {
	if !v.mac() {
		return nil
	}
	var out []bareMember
	for _, port := range v.thunderboltInterfaces() {
		addresses, known := v.portAddresses(port)
		if !known || len(addresses) > 0 || v.unusedPort(port) {
			continue
		}
		for bridge, members := range v.h.Bridges {
			if slices.Contains(members, port) {
				out = append(out, bareMember{bridge, port})
			}
		}
	}
	return out
}

// unusedPort tells whether a port is known to have nothing connected to it, or,
// where its link is not known, to be down while another port is up.
func (v *findingView) unusedPort(port string) bool {
	connected, known := v.connected(port)
	i := slices.IndexFunc(v.d.Devices, func(d Device) bool { return v.iface(&d) == port })
	switch {
	case connected, i >= 0 && v.activeOf(&v.d.Devices[i]):
		return false
	case known || v.links() != nil:
		return true
	}
	return i >= 0 && v.anyActive()
}

func portInThunderboltBridge(v *findingView) []findingHit {
	var hits []findingHit
	for _, m := range v.bareMembers() {
		port, bridge := printable(m.port), printable(m.bridge)
		hits = append(hits, findingHit{
			scope: m.port,
			message: port + " is a member of the Thunderbolt bridge " + bridge + " and has no address of its own, " +
				"so its RDMA device gets no IPv4-mapped GID",
			remedy: "take " + port + " out of the bridge and give it its own network service with a fixed IPv4 address: " +
				"System Settings > Network > ... > Manage Virtual Interfaces, then add a service for the port; " +
				"until the next restart `sudo ifconfig " + shellName(m.bridge, "BRIDGE") + " deletem " + shellName(m.port, "IFACE") + "` does the first half",
			undo:  "`sudo ifconfig " + shellName(m.bridge, "BRIDGE") + " addm " + shellName(m.port, "IFACE") + "`",
			facts: []string{"host.bridges." + m.bridge, "host.interfaces." + m.port + ".addresses"},
		})
	}
	return hits
}

func addressOnBridgeNotPort(v *findingView) []findingHit {
	var hits []findingHit
	for _, m := range v.bareMembers() {
		addresses, _ := v.portAddresses(m.bridge)
		if len(addresses) == 0 {
			continue
		}
		port, bridge := printable(m.port), printable(m.bridge)
		hits = append(hits, findingHit{
			scope: m.port,
			message: fmt.Sprintf("the address %s is on the bridge %s, and its member %s has none: RDMA needs the address on the port, "+
				"and a ping that works over the bridge proves nothing", addresses[0], bridge, port),
			remedy: "take " + port + " out of " + bridge + " and give the port itself a fixed IPv4 address, each link in a network of its own: " +
				"System Settings > Network > ... > Manage Virtual Interfaces, then add a service for the port",
			undo:  "`sudo ifconfig " + shellName(m.bridge, "BRIDGE") + " addm " + shellName(m.port, "IFACE") + "`",
			facts: []string{"host.bridges." + m.bridge, "host.interfaces." + m.bridge + ".addresses", "host.interfaces." + m.port + ".addresses"},
		})
	}
	return hits
}

// onLink tells whether an address is in one of an interface's networks. Where
// the length of a prefix is not known it is 16 bits for 169.254, by definition,
// and otherwise the usual 24 for IPv4 and 64 for IPv6.
func (v *findingView) onLink(iface string, to netip.Addr) bool {
	for _, text := range v.h.Interfaces[iface].Prefixes {
		if p, err := netip.ParsePrefix(text); err == nil && p.Contains(to) {
			return true
		}
	}
	if v.h.Interfaces[iface].Prefixes != nil {
		return false
	}
	addresses, _ := v.addresses(iface)
	return slices.ContainsFunc(addresses, func(a netip.Addr) bool {
		bits := 24
		switch {
		case a.Is6():
			bits = 64
		case a.IsLinkLocalUnicast():
			bits = 16
		}
		p, err := a.Prefix(bits)
		return err == nil && p.Contains(to)
	})
}

// peerPort is the Thunderbolt interface whose network has the peer, else the one
// whose link has a peer of that name while the interface of the route does not
// have its address.
func (v *findingView) peerPort(to netip.Addr, routed string) string {
	var candidates []string
	for _, name := range v.thunderboltInterfaces() {
		if v.onLink(name, to) {
			candidates = append(candidates, name)
		}
	}
	if slices.Contains(candidates, routed) {
		return ""
	}
	if i := slices.IndexFunc(candidates, func(n string) bool { yes, _ := v.connected(n); return yes }); i >= 0 {
		return candidates[i]
	}
	if len(candidates) > 0 {
		return candidates[0]
	}
	if _, known := v.addresses(routed); !known || v.onLink(routed, to) || v.c.Control.PeerName == "" {
		return ""
	}
	for _, l := range v.links() {
		if l.Peer == v.c.Control.PeerName && l.Interface != routed {
			return l.Interface
		}
	}
	return ""
}

func routeNotViaThunderbolt(v *findingView) []findingHit {
	if v.c.Control == nil {
		return nil
	}
	to, ok := parseAddress(v.c.Control.Peer)
	if !ok {
		return nil
	}
	prefix, routed, ok := v.h.Route(to)
	if !ok {
		return nil
	}
	port := v.peerPort(to, routed)
	if port == "" || slices.Contains(v.h.Bridges[routed], port) {
		return nil // a bridge that took the port's address is a finding of its own
	}
	h := findingHit{
		scope: port,
		message: fmt.Sprintf("the peer %s is at the other end of %s, but the route to it (%s) leaves by %s",
			to, printable(port), printable(prefix), printable(routed)),
		check: "route -n get " + to.String(),
		facts: []string{"host.routes", "host.interfaces." + port + ".addresses", "control_channel.peer"},
	}
	if v.linux() {
		h.check = "ip route get " + to.String()
	}
	v.routeRemedy(&h, to, routed)
	return []findingHit{h}
}

// routeRemedy is how packets for an address are brought to the port that leads there.
func (v *findingView) routeRemedy(h *findingHit, to netip.Addr, routed string) {
	name, family := shellName(h.scope, "IFACE"), ""
	if to.Is6() {
		family = "-inet6 "
	}
	add, del := "sudo route -n add "+family+"-host "+to.String()+" -interface "+name, "sudo route -n delete "+family+"-host "+to.String()
	if v.linux() {
		add, del = "sudo ip route add "+to.String()+" dev "+name, "sudo ip route del "+to.String()+" dev "+name
	}
	switch {
	case to.IsLinkLocalUnicast():
		h.remedy = "give both ends fixed addresses in a network of their own instead of self-assigned ones, or bind the connection to " + printable(h.scope) +
			": choosing its source address alone does not choose the way out"
		return
	case tunnelInterface(routed):
		h.remedy = "disconnect the VPN that " + printable(routed) + " belongs to, or let it leave this network alone; until then `" + add + "`"
	default:
		h.remedy = "see that both ends have the same network on this link and that no other interface has it; until then `" + add + "`"
	}
	h.undo = "`" + del + "`"
}

// withPeer puts the address of the peer that was named into a command.
func (v *findingView) withPeer(command string) string {
	if v.c.Control == nil || v.c.Control.Peer == "" {
		return command
	}
	return strings.ReplaceAll(command, "--peer HOST", "--peer "+shellName(v.c.Control.Peer, "HOST"))
}

// tunnelInterface tells interfaces of VPNs by name.
func tunnelInterface(name string) bool {
	return slices.ContainsFunc([]string{"utun", "ipsec", "ppp", "tun", "tap", "wg", "tailscale", "zt"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func pathFiltered(v *findingView) []findingHit {
	c := v.c.Control
	if c == nil || c.BoundInterface == "" || c.Ping == nil || !*c.Ping || c.BoundConnects == nil || *c.BoundConnects {
		return nil
	}
	return []findingHit{{
		scope: c.BoundInterface,
		message: fmt.Sprintf("the peer %s answers ping, but a TCP connection bound to the address of %s does not get through: something filters it",
			printable(c.Peer), printable(c.BoundInterface)),
		remedy: "switch off VPN clients and content filters, and look at the firewall, on both machines; then try again",
		facts:  []string{"control_channel.ping", "control_channel.bound_interface"},
	}}
}

func controlChannelOnRDMAPort(v *findingView) []findingHit {
	c := v.c.Control
	if c == nil {
		return nil
	}
	local, _ := parseAddress(c.Local)
	for _, name := range v.thunderboltInterfaces() {
		addresses, _ := v.addresses(name)
		if name != c.Interface && !slices.Contains(addresses, local) {
			continue
		}
		return []findingHit{{
			scope: name,
			message: "the side channel runs over " + printable(name) + ", the interface of the RDMA port itself: " +
				"its traffic shares the link, and reports tell of set-ups that fail with it",
			remedy: "give --peer an address of the other machine on Ethernet or Wi-Fi",
			check:  "rdmaprobe doctor --peer HOST",
			facts:  []string{"control_channel.interface"},
		}}
	}
	return nil
}

// atOnce is how fast a connection fails that the system refuses to make; a
// network that does not answer takes seconds.
const atOnce = time.Second

func controlChannelBlockedLocalNetwork(v *findingView) []findingHit {
	c := v.c.Control
	if c == nil || !v.mac() || c.Errno == nil || c.Errno.Name != "EHOSTUNREACH" || c.Elapsed >= atOnce ||
		c.OtherProgramConnects == nil || !*c.OtherProgramConnects {
		return nil
	}
	return []findingHit{{
		message: fmt.Sprintf("the connection to %s failed at once with EHOSTUNREACH while another program reaches it: "+
			"macOS does not let this program into the local network; RDMA was not reached", printable(c.Peer)),
		remedy: "allow it under System Settings > Privacy & Security > Local Network, for the terminal or program that started rdmaprobe, then start that anew",
		undo:   "switch it off in the same place",
		check:  "rdmaprobe doctor --peer HOST",
		facts:  []string{"control_channel.errno", "control_channel.other_program_connects"},
	}}
}
