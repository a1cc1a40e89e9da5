package report

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
)

// localBit marks a locally administered MAC address; an IPv6 interface id made
// of a MAC address has it inverted (RFC 4291, appendix A).
const localBit = 0x02

// mac stands in for a MAC address: one of IANA's own block, 00:00:5e or
// 02:00:5e. The same stand-in is in the GUIDs and link-local addresses that are
// made of the address. All zeros, all ones and multicast groups stay.
func (r *Redactor) mac(m [6]byte) [6]byte {
	if m == [6]byte{} || m[0]&1 != 0 {
		return m
	}
	local := m[0] & localBit
	m[0] &^= localBit
	h := r.hash("mac", string(m[:]))
	return [6]byte{local, 0x00, 0x5e, h[0] | 0x80, h[1], h[2]}
}

// guid stands in for a GUID or an interface id. One that is made of a MAC
// address (ff:fe in its middle) stays so.
func (r *Redactor) guid(g uint64) uint64 {
	b := binary.BigEndian.AppendUint64(nil, g)
	switch {
	case g == 0 || g == 1<<64-1 || g == 0xfe80<<48: // the default subnet prefix
		return g
	case b[3] == 0xff && b[4] == 0xfe:
		m := r.mac([6]byte{b[0], b[1], b[2], b[5], b[6], b[7]})
		return binary.BigEndian.Uint64([]byte{m[0], m[1], m[2], 0xff, 0xfe, m[3], m[4], m[5]})
	}
	h := r.hash("guid", string(b))
	return 0x02005e10<<32 | uint64(binary.BigEndian.Uint32(h))
}

// addr stands in for a network address or a GID of the same class.
func (r *Redactor) addr(a netip.Addr) netip.Addr {
	zone := a.Zone()
	a = a.WithZone("")
	switch {
	case a.Is4():
		return r.ipv4(a)
	case a.Is4In6():
		return netip.AddrFrom16(r.ipv4(a.Unmap()).As16())
	case a.IsUnspecified(), a.IsLoopback():
		return a
	}
	b := a.As16()
	high, low := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	switch {
	case a.IsMulticast():
		high, low = r.group(high, low)
	case a.IsLinkLocalUnicast():
		low = r.guid(low)
	default:
		prefix := uint64(0x20010db8) << 32
		if b[0]&0xfe == 0xfc { // unique local, RFC 4193
			prefix = 0xfd00 << 48
		}
		var net [8]byte
		binary.BigEndian.PutUint64(net[:], high)
		high, low = prefix|uint64(binary.BigEndian.Uint32(r.hash("net", string(net[:])))), r.guid(low)
	}
	binary.BigEndian.PutUint64(b[:8], high)
	binary.BigEndian.PutUint64(b[8:], low)
	if zone != "" {
		zone = r.Text(zone)
	}
	return netip.AddrFrom16(b).WithZone(zone)
}

// group stands in for a multicast group; well-known ones stay.
func (r *Redactor) group(high, low uint64) (uint64, uint64) {
	if low <= 0xffff && high&(1<<48-1) == 0 {
		return high, low
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], high)
	binary.BigEndian.PutUint64(b[8:], low)
	h := binary.BigEndian.Uint64(r.hash("group", string(b[:])))
	if low>>24 == 0x1ff { // a solicited node: the last 24 bits are an address's
		return high, low&^0xffffff | h&0xffffff
	}
	return high &^ (1<<48 - 1), h | 1<<32
}

// documentation are the IPv4 networks that belong to nobody (RFC 5737).
var documentation = [][3]byte{{192, 0, 2}, {198, 51, 100}, {203, 0, 113}}

// ipv4 stands in for an IPv4 address: a link-local one for one of 169.254/16,
// any other for one of the documentation networks. Those have no more than 762
// hosts: where two addresses of a document meet, the later one goes to the
// networks for benchmarks (198.18/15, RFC 2544), and it alone is then called
// differently in a document that does not have the other. Networks as a whole,
// masks, loopback and multicast stay.
func (r *Redactor) ipv4(a netip.Addr) netip.Addr {
	b := a.As4()
	if a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() || isMask(b) || wellKnownNet[b] {
		return a
	}
	if out, ok := r.v4[a]; ok {
		return out
	}
	h := r.hash("ipv4", string(b[:]))
	var out netip.Addr
	for i := 0; ; i++ {
		n := binary.BigEndian.Uint32(h[4:]) + uint32(i)
		switch {
		case a.IsLinkLocalUnicast():
			out = netip.AddrFrom4([4]byte{169, 254, 1 + byte(n>>8)%254, byte(n)})
		case i == 0:
			d := documentation[int(h[0])%len(documentation)]
			out = netip.AddrFrom4([4]byte{d[0], d[1], d[2], 1 + h[1]%254})
		default:
			out = netip.AddrFrom4([4]byte{198, 18 + byte(n>>16)&1, byte(n >> 8), byte(n)})
		}
		if !r.taken[out] || i > 1<<17 {
			break
		}
	}
	r.v4[a], r.taken[out] = out, true
	return out
}

// wellKnownNet are addresses that name a class, not a machine.
var wellKnownNet = map[[4]byte]bool{{10, 0, 0, 0}: true, {169, 254, 0, 0}: true, {172, 16, 0, 0}: true, {192, 168, 0, 0}: true}

// isMask tells a netmask: ones, then zeros.
func isMask(b [4]byte) bool {
	n := ^binary.BigEndian.Uint32(b[:])
	return b[0] == 255 && n&(n+1) == 0
}

// addrText stands in for the text of an address, in the same spelling.
func (r *Redactor) addrText(s string) (string, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return "", false
	}
	out := r.addr(a)
	if strings.Count(s, ":") == 7 && !strings.Contains(s, "::") && len(s) >= 39 {
		return out.StringExpanded(), true
	}
	return out.String(), true
}

// guidOf reads the text of a GUID: four groups of four digits.
func guidOf(s string) (uint64, bool) {
	if len(s) != 19 || strings.Count(s, ":") != 3 {
		return 0, false
	}
	b, err := hex.DecodeString(strings.ReplaceAll(s, ":", ""))
	if err != nil || len(b) != 8 || s[4] != ':' || s[9] != ':' || s[14] != ':' {
		return 0, false
	}
	return binary.BigEndian.Uint64(b), true
}

// guidText writes a GUID as guidOf reads it.
func guidText(g uint64) string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", g>>48, g>>32&0xffff, g>>16&0xffff, g&0xffff)
}

// octets stands in for bytes that an address is made of: 6 are a MAC address, 8
// a GUID, 16 a GID, 20 an IPoIB address, of which the last 16 are a GID.
func (r *Redactor) octets(b []byte) []byte {
	switch len(b) {
	case 6:
		m := r.mac([6]byte(b))
		return m[:]
	case 8:
		return binary.BigEndian.AppendUint64(nil, r.guid(binary.BigEndian.Uint64(b)))
	case 16:
		a := r.addr(netip.AddrFrom16([16]byte(b))).As16()
		return a[:]
	case 20:
		return append([]byte{0x80, 0, 0, 0}, r.octets(b[4:])...)
	}
	out := make([]byte, len(b))
	for i := range out {
		h := r.hash("octets", fmt.Sprintf("%d %x", i/32, b))
		out[i] = h[i%32]
	}
	return out
}
