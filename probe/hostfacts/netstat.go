package hostfacts

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// maxRoutes bounds the routes that are kept.
const maxRoutes = 4096

// parseNetstat reads `netstat -rn` of macOS (netstat(1)). Only routes that any
// socket would take are kept: those of an interface's own scope (flag I, and
// destinations with a zone) hold for bound sockets alone. The first of two routes
// to one prefix wins, as in the kernel. Multicast and broadcast are left out.
func parseNetstat(out []byte) (map[string]string, error) {
	routes := map[string]string{}
	six, flags, netif := false, -1, -1
	lines(out, 1024, func(line string) bool {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "Internet:":
			six, flags, netif = false, -1, -1
		case f[0] == "Internet6:":
			six, flags, netif = true, -1, -1
		case f[0] == "Destination":
			flags, netif = slices.Index(f, "Flags"), slices.Index(f, "Netif")
		case flags < 0 || netif < 0 || len(f) <= max(flags, netif) || strings.Contains(f[flags], "I"):
		default:
			if p, ok := netstatPrefix(f[0], six); ok {
				if _, taken := routes[p.String()]; !taken {
					routes[p.String()] = clean(f[netif])
				}
			}
		}
		return len(routes) < maxRoutes
	})
	if len(routes) == 0 {
		return nil, errors.New("parse netstat: no route")
	}
	return routes, nil
}

// netstatPrefix reads a destination: "default", "169.254", "192.0.2/24",
// "192.0.2.1", "2001:db8::/32". A shortened IPv4 network without length has that
// of its written bytes.
func netstatPrefix(dest string, six bool) (netip.Prefix, bool) {
	if dest == "default" {
		if six {
			return netip.PrefixFrom(netip.IPv6Unspecified(), 0), true
		}
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0), true
	}
	host, length, hasLength := strings.Cut(dest, "/")
	if strings.Contains(host, "%") {
		return netip.Prefix{}, false
	}
	n := 128
	if !six {
		octets := strings.Split(host, ".")
		if len(octets) > 4 {
			return netip.Prefix{}, false
		}
		n = 8 * len(octets)
		host += strings.Repeat(".0", 4-len(octets))
	}
	if hasLength {
		v, err := strconv.Atoi(length)
		if err != nil {
			return netip.Prefix{}, false
		}
		n = v
	}
	a, err := netip.ParseAddr(host)
	if err != nil || a.Is6() != six {
		return netip.Prefix{}, false
	}
	return routable(a, n)
}

// routable makes the prefix of a route and refuses those that lead to no peer.
func routable(a netip.Addr, length int) (netip.Prefix, bool) {
	p, err := a.Prefix(length)
	broadcast := netip.AddrFrom4([4]byte{255, 255, 255, 255})
	if err != nil || a.IsMulticast() || a == broadcast || a.Is6() && a.IsLinkLocalUnicast() {
		return netip.Prefix{}, false
	}
	return p, true
}
