package peer

import (
	"encoding/json"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

// encodeForTest is a line without its end.
func encodeForTest(typ string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Message{typ, raw})
}

func TestSplitTarget(t *testing.T) {
	for in, want := range map[string]string{
		"mac-b":               "mac-b 18516",
		"mac-b.example.com:1": "mac-b.example.com 1",
		"192.0.2.1":           "192.0.2.1 18516",
		"192.0.2.1:65535":     "192.0.2.1 65535",
		"2001:db8::1":         "2001:db8::1 18516",
		"[2001:db8::1]":       "2001:db8::1 18516",
		"[2001:db8::1]:7":     "2001:db8::1 7",
		"fe80::1%en4":         "fe80::1%en4 18516",
		"[fe80::1%en4]:18517": "fe80::1%en4 18517",
		"::ffff:169.254.1.1":  "::ffff:169.254.1.1 18516", // an IPv4 address names no interface
		"[fe80::200:5eff:fe00:5301%enp1s0f0]:18516": "fe80::200:5eff:fe00:5301%enp1s0f0 18516",
	} {
		host, num, err := SplitTarget(in, DefaultPort)
		if got := host + " " + strconv.Itoa(num); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", ":1", "host:", "host:0", "host:65536", "host:x", "host:-1", "[fe80::1", "[host]:1", "[192.0.2.1]:1", "[2001:db8::1]x", "[2001:db8::1]:", "a:b:c",
		"ho st", "host\n", "h\x1bost", "ho/st", strings.Repeat("h", 256), "[]", "[]:1",
		"fe80::1", "[fe80::1]", "[fe80::1]:18516", "fe80::1%en4:18516", "[fe80::1%en4]:18516]", "2001:db8::1%en4:18516",
	} {
		if host, num, err := SplitTarget(in, DefaultPort); err == nil {
			t.Errorf("%q: taken as %q %d", in, host, num)
		} else if strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q: the error repeats it: %v", in, err)
		}
	}
}

func FuzzSplitTarget(f *testing.F) {
	for _, s := range []string{"host", "host:1", "[fe80::1%en4]:18516", "2001:db8::1", "[", ":::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		host, num, err := SplitTarget(s, DefaultPort)
		if err == nil && (host == "" || num < 1 || num > 65535 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' })) {
			t.Errorf("%q gave %q %d", s, host, num)
		}
	})
}

func TestAllow(t *testing.T) {
	narrow, err := NewAllow(nil)
	if err != nil || narrow.Wide() {
		t.Fatalf("%v, wide %v", err, narrow.Wide())
	}
	wide, err := NewAllow([]string{"192.0.2.0/24", "2001:db8::5", "198.51.100.7"})
	if err != nil || !wide.Wide() {
		t.Fatalf("%v, wide %v", err, wide.Wide())
	}
	for addr, want := range map[string][2]bool{
		"127.0.0.1": {true, true}, "::1": {true, true}, "169.254.1.1": {true, true}, "fe80::1%lo": {true, true}, "::ffff:127.0.0.1": {true, true},
		"192.0.2.77": {false, true}, "::ffff:192.0.2.77": {false, true}, "192.0.3.1": {false, false},
		"2001:db8::5": {false, true}, "2001:db8::6": {false, false}, "198.51.100.7": {false, true}, "198.51.100.8": {false, false}, "10.0.0.1": {false, false},
	} {
		a := netip.MustParseAddr(addr)
		if got := [2]bool{narrow.Has(a), wide.Has(a)}; got != want {
			t.Errorf("%s: %v, want %v", addr, got, want)
		}
	}
	if narrow.Has(netip.Addr{}) || wide.Has(netip.Addr{}) {
		t.Error("no address is allowed")
	}
	for _, bad := range []string{"", "host", "192.0.2.0/33", "192.0.2", "fe80::1%en0"} {
		if _, err := NewAllow([]string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestInterfaces(t *testing.T) {
	lo := ""
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 && i.Flags&net.FlagUp != 0 {
			lo = i.Name
		}
	}
	if lo == "" {
		t.Skip("NOT CHECKED: no loopback interface is up")
	}
	if got := InterfaceOf(netip.MustParseAddr("127.0.0.1")); got != lo {
		t.Errorf("127.0.0.1 is on %q, want %q", got, lo)
	}
	if got := InterfaceOf(netip.MustParseAddr("203.0.113.1")); got != "" {
		t.Errorf("an address that nobody has is on %q", got)
	}
	if got := InterfaceOf(netip.MustParseAddr("fe80::1%en4")); got != "en4" {
		t.Errorf("the zone is %q", got)
	}
	if Addresses("no such interface") != nil || len(Addresses(lo)) == 0 {
		t.Error("addresses of an interface")
	}
	for _, a := range LinkLocal(lo) {
		if !a.IsLinkLocalUnicast() {
			t.Errorf("%v is not link-local", a)
		}
	}
	for host, want := range map[string]string{"fe80::1%" + lo: "", "fe80::1%1": "", "fe80::1%nowhere0": "nowhere0", "fe80::1%1000000": "1000000", "2001:db8::1": "", "mac-b": ""} {
		if got := NoInterface(host); got != want {
			t.Errorf("%s: no interface %q, want %q", host, got, want)
		}
	}
	if AddrOf(&net.UDPAddr{}).IsValid() {
		t.Error("an address that is not TCP's")
	}
}
