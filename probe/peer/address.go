package peer

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// SplitTarget reads HOST, HOST:PORT, an address, [address] or [address]:PORT,
// each with a zone where it has one, and gives host and port for net.Dial.
func SplitTarget(s string, port int) (host string, num int, err error) {
	host, num = s, port
	switch {
	case strings.HasPrefix(s, "["):
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return "", 0, fmt.Errorf("%.80q: a bracket is not closed", s)
		}
		host = s[1:end]
		if rest := s[end+1:]; rest != "" {
			num, err = portNumber(s, strings.TrimPrefix(rest, ":"))
			if !strings.HasPrefix(rest, ":") {
				err = fmt.Errorf("%.80q: want [ADDRESS]:PORT", s)
			}
		}
		if a, perr := netip.ParseAddr(host); err == nil && (perr != nil || !a.Is6()) {
			err = fmt.Errorf("%.80q: %.60q is no IPv6 address", s, host)
		}
	case strings.Count(s, ":") > 1: // an address without brackets has no port
		if a, perr := netip.ParseAddr(s); perr != nil || !a.Is6() {
			err = fmt.Errorf("%.80q is neither an address nor HOST:PORT", s)
		}
	case strings.Contains(s, ":"):
		var p string
		host, p, _ = strings.Cut(s, ":")
		num, err = portNumber(s, p)
	}
	if err != nil {
		return "", 0, err
	}
	if a, perr := netip.ParseAddr(host); perr == nil {
		if err := zoned(s, a); err != nil {
			return "", 0, err
		}
	}
	if host == "" || len(host) > 255 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '/' }) {
		return "", 0, fmt.Errorf("%.80q names no host", s)
	}
	return host, num, nil
}

// zoned refuses an address whose interface is not said, or is more than one.
func zoned(s string, a netip.Addr) error {
	switch {
	case a.Is6() && !a.Is4In6() && a.IsLinkLocalUnicast() && a.Zone() == "":
		return fmt.Errorf("%.80q: every link has such addresses: say by which interface, as in [%v%%en4]:%d", s, a, DefaultPort)
	case strings.ContainsAny(a.Zone(), ":[]"):
		return fmt.Errorf("%.80q: an address with a port is written [ADDRESS]:PORT", s)
	}
	return nil
}

// NoInterface is the interface that an address names and that is not here, ""
// when there is no such.
func NoInterface(host string) string {
	a, err := netip.ParseAddr(host)
	if err != nil || a.Zone() == "" {
		return ""
	}
	n, err := strconv.Atoi(a.Zone())
	if err == nil {
		_, err = net.InterfaceByIndex(n)
	} else {
		_, err = net.InterfaceByName(a.Zone())
	}
	if err == nil {
		return ""
	}
	return a.Zone()
}

func portNumber(s, p string) (int, error) {
	n, err := strconv.ParseUint(p, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%.80q: a port is a number from 1 to 65535", s)
	}
	return int(n), nil
}

// Allow says from where connections are taken.
type Allow struct {
	nets []netip.Prefix
}

// NewAllow reads networks in CIDR notation, or addresses. Loopback and link-local
// addresses are always allowed: nobody has them from further than a cable away.
func NewAllow(networks []string) (*Allow, error) {
	a := &Allow{}
	for _, s := range networks {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			addr, aerr := netip.ParseAddr(s)
			if aerr != nil || addr.Zone() != "" {
				return nil, fmt.Errorf("%.60q: want a network such as 192.0.2.0/24", s)
			}
			p = netip.PrefixFrom(addr, addr.BitLen())
		}
		a.nets = append(a.nets, p.Masked())
	}
	return a, nil
}

// Wide tells whether anything beyond loopback and link-local is allowed.
func (a *Allow) Wide() bool { return len(a.nets) > 0 }

// Has tells whether an address is allowed.
func (a *Allow) Has(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if addr.IsLoopback() || addr.IsLinkLocalUnicast() {
		return true
	}
	for _, p := range a.nets {
		if p.Contains(addr) || p.Addr().Is4In6() && p.Contains(netip.AddrFrom16(addr.As16())) {
			return true
		}
	}
	return false
}

// AddrOf is the address of one end of a connection, with its zone.
func AddrOf(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort().Addr()
	}
	return netip.Addr{}
}

// InterfaceOf is the interface that has an address, "" when none has: the zone
// where there is one.
func InterfaceOf(a netip.Addr) string {
	if a.Zone() != "" {
		if n, err := strconv.Atoi(a.Zone()); err == nil {
			if i, err := net.InterfaceByIndex(n); err == nil {
				return i.Name
			}
		}
		return a.Zone()
	}
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range all {
		for _, own := range Addresses(i.Name) {
			if own.WithZone("") == a.Unmap() {
				return i.Name
			}
		}
	}
	return ""
}

// Addresses are those of an interface, link-local IPv6 ones with their zone.
func Addresses(iface string) []netip.Addr {
	i, err := net.InterfaceByName(iface)
	if err != nil {
		return nil
	}
	list, err := i.Addrs()
	if err != nil {
		return nil
	}
	var out []netip.Addr
	for _, a := range list {
		n, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		addr, ok := netip.AddrFromSlice(n.IP)
		if !ok {
			continue
		}
		if addr = addr.Unmap(); addr.Is6() && addr.IsLinkLocalUnicast() {
			addr = addr.WithZone(iface)
		}
		out = append(out, addr)
	}
	return out
}

// LinkLocal are the addresses of an interface that nothing beyond its link has.
func LinkLocal(iface string) []netip.Addr {
	var out []netip.Addr
	for _, a := range Addresses(iface) {
		if a.IsLinkLocalUnicast() {
			out = append(out, a)
		}
	}
	return out
}
