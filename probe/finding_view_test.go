package probe

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"rdmaprobe/probe/hostfacts"
)

func TestDataIntReadsWhatAnyDecoderMakes(t *testing.T) {
	for _, c := range []struct {
		in   any
		want int64
		ok   bool
	}{
		{41, 41, true},
		{int64(-3), -3, true},
		{uint64(1 << 63), 1<<63 - 1, true},
		{uint32(7), 7, true},
		{4096.0, 4096, true},
		{json.Number("12"), 12, true},
		{0.5, 0, false},
		{1e300, 0, false},
		{json.Number("1.5"), 0, false},
		{"41", 0, false},
		{nil, 0, false},
	} {
		if n, ok := dataInt(map[string]any{"n": c.in}, "n"); ok != c.ok || ok && n != c.want {
			t.Errorf("%T %v is %d, %v; want %d, %v", c.in, c.in, n, ok, c.want, c.ok)
		}
	}
}

func TestPrintableIsOneBoundedLine(t *testing.T) {
	for in, want := range map[string]string{
		"mac-b":               "mac-b",
		"a\nb\t c":            "a b c",
		"\x1b[31mred\x1b[0m":  "[31mred[0m",
		"bad \xff byte":       "bad ? byte",
		"\u202eright-to-left": "right-to-left",
		"":                    "",
	} {
		if got := printable(in); got != want {
			t.Errorf("%q is printed %q, want %q", in, got, want)
		}
	}
	if n := len(printable(strings.Repeat("x", 1<<20))); n > maxQuoted+3 {
		t.Errorf("a text of 1 MiB is printed in %d bytes", n)
	}
}

func TestShellName(t *testing.T) {
	for in, want := range map[string]string{
		"en3": "en3", "ens1f0.7": "ens1f0.7", "mlx5_0": "mlx5_0", "": "IFACE", "-rf": "IFACE", "a b": "IFACE", "$(id)": "IFACE", "a;b": "IFACE",
	} {
		if got := shellName(in, "IFACE"); got != want {
			t.Errorf("%q goes into a command as %q, want %q", in, got, want)
		}
	}
}

func TestSentence(t *testing.T) {
	for want, in := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := sentence(in); got != want {
			t.Errorf("%v reads %q, want %q", in, got, want)
		}
	}
}

func TestOnLink(t *testing.T) {
	s := macScene()
	s.host().Interfaces["en5"] = hostfacts.Interface{Addresses: []string{"192.0.2.9/30", "2001:db8::9"}}
	s.host().Interfaces["en6"] = hostfacts.Interface{Addresses: []string{"192.0.2.9"}, Prefixes: []string{"192.0.2.8/30"}}
	v := newFindingView(s.d, *s.c)
	for _, c := range []struct {
		iface, to string
		want      bool
	}{
		{"en5", "192.0.2.77", true},      // no prefix length known: 24
		{"en6", "192.0.2.77", false},     // known: 30
		{"en6", "192.0.2.10", true},      //
		{"en5", "2001:db8::1:2:3", true}, // 64
		{"en5", "2001:db8:0:1::1", false},
		{"en0", "169.254.1.1", false},
		{"en99", "192.0.2.9", false},
	} {
		if got := v.onLink(c.iface, netip.MustParseAddr(c.to)); got != c.want {
			t.Errorf("%s is on the link of %s: %v, want %v", c.to, c.iface, got, c.want)
		}
	}
}

func TestFailedRTRInTheKernelLog(t *testing.T) {
	for line, want := range map[string]bool{
		"AppleThunderboltRDMA: Failed INIT->RTR": true, "failed transition INIT → RTR (60)": true, "INIT->RTR done": false, "Failed to start": false,
	} {
		if got := failedRTR().MatchString(line); got != want {
			t.Errorf("%q tells of a failed transition: %v, want %v", line, got, want)
		}
	}
}
