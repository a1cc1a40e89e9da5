package hostfacts

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRDMACtl(t *testing.T) {
	for in, want := range map[string]string{
		"enabled\n": "enabled", "disabled": "disabled", "RDMA is Enabled.": "enabled",
		"enabled (disabled after reboot)": "", "": "", "not-enabledx": "", "rdma_ctl: unknown\x00": "",
	} {
		if got := parseRDMACtl([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestParseSpeed(t *testing.T) {
	for in, want := range map[string][2]float64{
		"80 Gb/s": {80, 0}, "Up to 120 Gb/s": {0, 120}, "Up to 40 Gb/s x1": {0, 40}, "20 Gb/s x2": {20, 0},
		"": {}, "fast": {}, "-1 Gb/s": {}, "NaN Gb/s": {}, "1e9 Gb/s": {}, "80 Gbit": {}, "Up to": {},
	} {
		if trained, ceiling := parseSpeed(in); trained != want[0] || ceiling != want[1] {
			t.Errorf("%q: %v %v, want %v", in, trained, ceiling, want)
		}
	}
}

func TestGenerations(t *testing.T) {
	for gbps, want := range map[float64]int{120: 5, 80: 5, 40: 4, 20: 2, 10: 1, 0: 0} {
		if got := speedGeneration(gbps); got != want {
			t.Errorf("%v Gb/s: %d, want %d", gbps, got, want)
		}
	}
	for model, want := range map[string]int{
		"Mac16,11": 5, "Mac15,14": 5, "Mac16,10": 4, "Mac15,13": 4, "Mac13,1": 4, "Mac14,8": 4,
		"Mac16,99": 0, "Mac99,1": 0, "Mac14": 0, "Mac14,x": 0, "": 0, "VirtualMac2,1": 0,
	} {
		if got := modelGeneration(model); got != want {
			t.Errorf("%s: %d, want %d", model, got, want)
		}
	}
}

// The situations in which the profiler's text does or does not tell.
func TestParseProfilerLinks(t *testing.T) {
	bus := func(speed, items string) string {
		return `{"SPThunderboltDataType":[{"receptacle_1_tag":{"current_speed_key":"` + speed + `","receptacle_id_key":"2"}` + items + `}]}`
	}
	yes, no, gen5, eighty, forty := true, false, 5, 80.0, 40.0
	for _, c := range []struct {
		name, in string
		want     Thunderbolt
	}{
		{"free port of an old controller", bus("Up to 40 Gb/s", ""), Thunderbolt{4, []Link{{Port: "2"}}}},
		{"40 Gb/s alone says nothing of the generation", bus("40 Gb/s", `,"_items":[{"_name":"b","domain_uuid_key":"d"}]`),
			Thunderbolt{0, []Link{{Port: "2", Peer: "b", ViaHub: &no, SpeedGbps: &forty}}}},
		{"service id as text", bus("80 Gb/s", `,"_items":[{"_name":"b","domain_uuid_key":"d","services_title":[{"protocol_id_key":"64087"}]}]`),
			Thunderbolt{5, []Link{{Port: "2", Peer: "b", ViaHub: &no, SpeedGbps: &eighty, PeerRDMA: &yes, PeerGeneration: &gen5}}}},
		{"another service only", bus("80 Gb/s", `,"_items":[{"_name":"b","domain_uuid_key":"d","services_title":[{"protocol_id_key":1},{}]}]`),
			Thunderbolt{5, []Link{{Port: "2", Peer: "b", ViaHub: &no, SpeedGbps: &eighty, PeerRDMA: &no, PeerGeneration: &gen5}}}},
		{"damaged services, numbers for names", bus("80 Gb/s", `,"_items":[{"_name":7,"domain_uuid_key":"d","services_title":"x"}]`),
			Thunderbolt{5, []Link{{Port: "2", Peer: "unnamed", ViaHub: &no, SpeedGbps: &eighty, PeerGeneration: &gen5}}}},
		{"two peers behind a hub", bus("80 Gb/s", `,"_items":[{"_name":"hub","switch_uid_key":"1","_items":[{"_name":"b","domain_uuid_key":"d"},{"_name":"c","domain_uuid_key":"e"}]}]`),
			Thunderbolt{5, []Link{{Port: "2", Peer: "b", ViaHub: &yes}, {Port: "2", Peer: "c", ViaHub: &yes}}}},
		{"items of another type", bus("80 Gb/s", `,"_items":{"_name":"b"}`), Thunderbolt{5, []Link{{Port: "2"}}}},
		{"no bus", `{"SPThunderboltDataType":[]}`, Thunderbolt{0, []Link{}}},
	} {
		got, err := parseProfiler([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.want, *got); d != "" {
			t.Errorf("%s: -want +got\n%s", c.name, d)
		}
	}
	for _, in := range []string{"", "{}", "[]", "null", `{"SPThunderboltDataType":7}`, `{"SPThunderboltDataType":[7]}`} {
		if tb, err := parseProfiler([]byte(in)); err == nil || tb != nil {
			t.Errorf("%q: %v, %v", in, tb, err)
		}
	}
}

func TestParseProfilerBounds(t *testing.T) {
	deep := strings.Repeat(`{"_items":[`, 200) + `{"_name":"b","domain_uuid_key":"d"}` + strings.Repeat(`]}`, 200)
	in := `{"SPThunderboltDataType":[{"receptacle_1_tag":{"receptacle_id_key":"1"},"_items":[` + deep + `]}]}`
	if tb, err := parseProfiler([]byte(in)); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Errorf("a peer 200 levels down: %+v, %v", tb, err)
	}
	wide := strings.Repeat(`{"_name":"b","domain_uuid_key":"d"},`, 1000)
	in = `{"SPThunderboltDataType":[{"receptacle_1_tag":{},"_items":[` + wide[:len(wide)-1] + `]}]}`
	if tb, err := parseProfiler([]byte(in)); err != nil || len(tb.Links) != maxLinks {
		t.Errorf("1000 peers: %v", err)
	}
}

func TestReceptacle(t *testing.T) {
	for in, want := range map[string]string{
		"Thunderbolt 1": "1", "Thunderbolt 12": "12", "Thunderbolt Bridge": "", "Thunderbolt Ethernet Slot 1": "",
		"Thunderbolt ": "", "Thunderbolt": "", "Wi-Fi": "", "Thunderbolt 1 ": "",
	} {
		if got := receptacle(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestNetstatPrefix(t *testing.T) {
	for in, want := range map[string]string{
		"default": "0.0.0.0/0", "127": "127.0.0.0/8", "169.254": "169.254.0.0/16", "192.0.2": "192.0.2.0/24",
		"192.0.2.1": "192.0.2.1/32", "192.0.2/30": "192.0.2.0/30", "192.0.2.129/25": "192.0.2.128/25",
		"224.0.0/4": "", "255.255.255.255": "", "1.2.3.4.5": "", "192.0.2/33": "", "192.0.2/x": "", "host": "", "": "", "300": "",
	} {
		checkPrefix(t, in, false, want)
	}
	for in, want := range map[string]string{
		"default": "::/0", "2001:db8::/32": "2001:db8::/32", "::1": "::1/128", "fe80::%en3/64": "", "fe80::/10": "",
		"ff00::/8": "", "2001:db8::/129": "", "192.0.2.1": "", "x": "",
	} {
		checkPrefix(t, in, true, want)
	}
}

func checkPrefix(t *testing.T, in string, six bool, want string) {
	t.Helper()
	p, ok := netstatPrefix(in, six)
	if got := p.String(); ok != (want != "") || ok && got != want {
		t.Errorf("%q: %q %v, want %q", in, got, ok, want)
	}
}

func TestIfconfigPrefix(t *testing.T) {
	for in, want := range map[string]string{
		"inet 192.0.2.1 netmask 0xffffff00 broadcast 192.0.2.255": "192.0.2.1/24",
		"inet 192.0.2.1 netmask 0xffffffff":                       "192.0.2.1/32",
		"inet 192.0.2.1 netmask 0x0":                              "192.0.2.1/0",
		"inet 192.0.2.1 netmask 0xff00ff00":                       "192.0.2.1/32", // not in one piece
		"inet 192.0.2.1 --> 192.0.2.2 netmask 0xffffff00":         "192.0.2.1/24",
		"inet 192.0.2.1 netmask":                                  "192.0.2.1/32",
		"inet6 fe80::1%en3 prefixlen 64 scopeid 0xb":              "fe80::1/64",
		"inet6 2001:db8::1 prefixlen 999":                         "2001:db8::1/128",
		"inet6 192.0.2.1":                                         "",
		"inet fe80::1":                                            "",
		"inet x":                                                  "",
	} {
		p, ok := ifconfigPrefix(strings.Fields(in))
		if ok != (want != "") || ok && p != netip.MustParsePrefix(want) {
			t.Errorf("%q: %v %v, want %q", in, p, ok, want)
		}
	}
}

func TestParseManual(t *testing.T) {
	dict := func(method string) string {
		return "<dictionary> {\n  IPv4 : <array> {\n    0 : <dictionary> {\n" + method + "    }\n  }\n  IPv6 : <array> {\n    0 : <dictionary> {\n      ConfigMethod : Manual\n    }\n  }\n}\n"
	}
	for name, c := range map[string]struct {
		in         string
		manual, ok bool
	}{
		"manual":           {dict("      ConfigMethod : Manual\n"), true, true},
		"dhcp":             {dict("      ConfigMethod : DHCP\n      ConfigMethod : Manual\n"), false, true},
		"only IPv6 has it": {dict(""), false, false},
		"empty":            {"<dictionary> {\n}\n", false, false},
		"nothing":          {"", false, false},
	} {
		if manual, ok := parseManual([]byte(c.in)); manual != c.manual || ok != c.ok {
			t.Errorf("%s: %v %v", name, manual, ok)
		}
	}
}

func TestParseClassCount(t *testing.T) {
	in := "AppleThunderboltRDMAProtectionDomain = 11, AppleThunderboltRDMAQueuePair = 0\nIORDMAFamilyUC = -1\nOther = 7\nIOThunderboltXDomainService = many\n"
	want := map[string]int{"AppleThunderboltRDMAProtectionDomain": 11, "AppleThunderboltRDMAQueuePair": 0}
	if d := cmp.Diff(want, parseClassCount([]byte(in))); d != "" {
		t.Error(d)
	}
}

func TestParseLogShowKeepsTheNewest(t *testing.T) {
	in := "Timestamp  Ty Process[PID:TID]\n"
	for i := range maxLogLines + 3 {
		in += strconv.Itoa(i) + " AppleThunderboltRDMA: Failed INIT->RTR\n"
	}
	got, err := parseLogShow([]byte(in))
	if err != nil || len(got) != maxLogLines || !strings.HasPrefix(got[0], "3 ") {
		t.Errorf("%d lines from %q, %v", len(got), got[0], err)
	}
	if got, err := parseLogShow([]byte("Timestamp\n")); err != nil || got == nil || len(got) != 0 {
		t.Errorf("a log without failures is an empty list: %v, %v", got, err)
	}
	if got, err := parseLogShow(nil); err == nil || got != nil {
		t.Errorf("no output at all is not an empty log: %v", got)
	}
}

// holdersIn are the processes in what several questions found.
func holdersIn(outputs ...string) ([]Process, error) {
	r := newHolders()
	for _, out := range outputs {
		if err := r.parse([]byte(out)); err != nil {
			return nil, err
		}
	}
	return r.list(), nil
}

func TestParseIORegTree(t *testing.T) {
	in := `+-o Root  <class IORegistryEntry, id 0x1, retain 5>
  +-o IORDMAFamilyUC  <class IORDMAFamilyUC, id 0x2, !registered, !matched, active, busy 0, retain 7>
  | {
  |   "IOUserClientCreator" = "pid 1, outside any device"
  | }
  +-o rdma_en2  <class AppleThunderboltRDMAInterface, id 0x3, registered, matched, active, busy 0, retain 7>
  | +-o Other  <class OtherUserClient, id 0x4, active>
  | | {
  | |   "IOUserClientCreator" = "pid 2, not of RDMA"
  | | }
  | +-o IORDMAFamilyUC  <class IORDMAFamilyUC, id 0x5, active>
  |   {
  |     "IOUserClientCreator" = "pid 0, no process"
  |     "IOUserClientCreator" = "pid 3, second property of one client"
  |   }
  +-o Sibling  <class Something, id 0x6, active>
    +-o IORDMAFamilyUC  <class IORDMAFamilyUC, id 0x7, inactive>
      {
        "IOUserClientCreator" = "pid 4, after the device"
      }
`
	want := []Process{
		{PID: 1, Command: "outside any device"},
		{PID: 4, Command: "after the device", Leaked: true},
	}
	got, err := holdersIn(in)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if got, err := holdersIn(""); err != nil || got == nil || len(got) != 0 {
		t.Errorf("no interface: %v, %v; want an empty list", got, err)
	}
}

func TestSysctlDecoding(t *testing.T) {
	if n, ok := sysctlInt([]byte{1, 0, 0, 0}); n != 1 || !ok {
		t.Error("int")
	}
	if n, ok := sysctlInt([]byte{255, 255, 255, 255}); n != -1 || !ok {
		t.Error("negative int")
	}
	if n, ok := sysctlInt([]byte{0, 0, 0, 0, 1, 0, 0, 0}); n != 1<<32 || !ok {
		t.Error("quad")
	}
	if _, ok := sysctlInt(nil); ok {
		t.Error("empty int")
	}
	if at, ok := sysctlTime([]byte{2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 9, 9, 9}); !ok || at.Unix() != 2 || at.Nanosecond() != 1000 {
		t.Errorf("time %v", at)
	}
	for _, b := range [][]byte{nil, make([]byte, 16), {1, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255}} {
		if at, ok := sysctlTime(b); ok {
			t.Errorf("time out of %v: %v", b, at)
		}
	}
}
