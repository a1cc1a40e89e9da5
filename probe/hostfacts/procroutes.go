package hostfacts

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// Route flags of include/uapi/linux/route.h and ipv6_route.h.
const (
	rtfUp     = 0x0001
	rtfReject = 0x0200
	rtfLocal  = 0x80000000
)

// routesLinux reads the main table. Policy routing may send a packet elsewhere:
// other tables are not in these files.
func routesLinux(s *System, h *Host, p *part) {
	routes := map[string]string{}
	read := false
	for _, f := range []struct {
		file  string
		parse func([]byte, map[string]string) error
	}{{"proc/net/route", parseRoute4}, {"proc/net/ipv6_route", parseRoute6}} {
		b, err := s.read(maxBigFile, f.file)
		if err == nil {
			err = f.parse(b, routes)
		}
		if err != nil {
			p.missFile("routes", f.file, err)
			continue
		}
		read = true
	}
	if read {
		h.Routes = routes
	}
}

// bestRoutes keeps the route of the lowest metric to each prefix.
type bestRoutes struct {
	routes map[string]string
	metric map[string]uint64
}

func (b bestRoutes) add(p netip.Prefix, iface string, metric uint64) {
	key := p.String()
	if old, taken := b.metric[key]; taken && old <= metric || len(b.routes) >= maxRoutes {
		return
	}
	b.routes[key], b.metric[key] = clean(iface), metric
}

// parseRoute4 reads /proc/net/route (proc(5)): addresses are the bytes of a
// network-order word printed as a number of this machine, which is little-endian.
func parseRoute4(b []byte, routes map[string]string) error {
	best := bestRoutes{routes, map[string]uint64{}}
	head := false
	lines(b, 1024, func(line string) bool {
		f := strings.Fields(line)
		if len(f) < 8 {
			return true
		}
		if f[0] == "Iface" {
			head = true
			return true
		}
		dest, ok1 := hexAddr4(f[1])
		mask, ok2 := hexAddr4(f[7])
		flags, err1 := strconv.ParseUint(f[3], 16, 32)
		metric, err2 := strconv.ParseUint(f[6], 10, 64)
		if !ok1 || !ok2 || err1 != nil || err2 != nil || flags&rtfUp == 0 || flags&rtfReject != 0 {
			return true
		}
		if p, ok := routable(dest, maskBits(mask)); ok {
			best.add(p, f[0], metric)
		}
		return true
	})
	if !head {
		return errors.New("no header line")
	}
	return nil
}

func hexAddr4(s string) (netip.Addr, bool) {
	v, err := strconv.ParseUint(s, 16, 32)
	if err != nil || len(s) != 8 {
		return netip.Addr{}, false
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(v))
	return netip.AddrFrom4(b), true
}

// maskBits counts the ones of a netmask, -1 when they are not in one piece.
func maskBits(mask netip.Addr) int {
	v := binary.BigEndian.Uint32(mask.AsSlice())
	n := 0
	for n < 32 && v&(1<<(31-n)) != 0 {
		n++
	}
	if n < 32 && v<<n != 0 {
		return -1
	}
	return n
}

// parseRoute6 reads /proc/net/ipv6_route: destination, length, source, length,
// next hop, metric, references, use, flags, interface; every number is
// hexadecimal. An empty file is a machine without IPv6.
func parseRoute6(b []byte, routes map[string]string) error {
	best := bestRoutes{routes, map[string]uint64{}}
	odd := 0
	lines(b, 1024, func(line string) bool {
		f := strings.Fields(line)
		if len(f) < 10 {
			odd++
			return true
		}
		raw, err := hex.DecodeString(f[0])
		dest, ok := netip.AddrFromSlice(raw)
		length, err1 := strconv.ParseUint(f[1], 16, 8)
		metric, err2 := strconv.ParseUint(f[5], 16, 64)
		flags, err3 := strconv.ParseUint(f[8], 16, 32)
		if err != nil || !ok || !dest.Is6() || err1 != nil || err2 != nil || err3 != nil {
			odd++
			return true
		}
		if flags&rtfUp == 0 || flags&(rtfReject|rtfLocal) != 0 || f[9] == "lo" {
			return true
		}
		if p, ok := routable(dest, int(length)); ok {
			best.add(p, f[9], metric)
		}
		return true
	})
	if odd > 0 && len(best.metric) == 0 {
		return errors.New("not a routing table")
	}
	return nil
}
