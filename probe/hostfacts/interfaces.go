package hostfacts

import (
	"net"
	"net/netip"
	"slices"
)

// maxInterfaces bounds the interfaces that are kept: a host of many containers
// has thousands of virtual ones.
const maxInterfaces = 512

var linkLocal4 = netip.MustParsePrefix("169.254.0.0/16")

// interfaces turns the kernel's list into facts.
func interfaces(list []NetInterface) map[string]Interface {
	m := map[string]Interface{}
	for _, n := range list {
		name := clean(n.Name)
		if name == "" || len(m) == maxInterfaces {
			continue
		}
		i := newInterface(n.Prefixes)
		i.Up = n.Up
		m[name] = i
	}
	return m
}

// macUp is what flags tell of an interface of macOS: that it is down, or that it is
// the loopback and up. IFF_RUNNING stays set on a Thunderbolt port without cable, so
// that its media status decides, which ifconfig has.
func macUp(flags net.Flags) *bool {
	switch {
	case flags&net.FlagUp == 0:
		return ptr(false)
	case flags&net.FlagLoopback != 0:
		return ptr(true)
	}
	return nil
}

// newInterface makes the facts of an interface whose addresses were read. They
// are written without zone and without prefix length, in the order found.
// SelfAssigned is known once there is an IPv4 address.
func newInterface(prefixes []netip.Prefix) Interface {
	i := Interface{Addresses: []string{}, Prefixes: []string{}}
	for _, p := range prefixes {
		a := p.Addr().WithZone("")
		if text := a.String(); !slices.Contains(i.Addresses, text) {
			i.Addresses = append(i.Addresses, text)
		}
		if a.Is4() {
			i.SelfAssigned = ptr(linkLocal4.Contains(a) || i.SelfAssigned != nil && *i.SelfAssigned)
		}
		if link, err := a.Prefix(p.Bits()); err == nil && p.Bits() < a.BitLen() && !slices.Contains(i.Prefixes, link.String()) {
			i.Prefixes = append(i.Prefixes, link.String())
		}
	}
	return i
}

// Route returns the route that an address would take by longest prefix, as far
// as the routing table is known. Routes of one interface's own scope are not in
// it: fe80::/10 has one on every interface.
func (h *Host) Route(to netip.Addr) (prefix, iface string, ok bool) {
	to = to.Unmap().WithZone("")
	best := -1
	for text, name := range h.Routes {
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Bits() <= best || !p.Contains(to) {
			continue
		}
		best, prefix, iface, ok = p.Bits(), text, name, true
	}
	return prefix, iface, ok
}
