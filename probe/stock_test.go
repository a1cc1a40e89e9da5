package probe

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// A connection of a stock tool proves a path when it took the port's own interface.
func TestStockPath(t *testing.T) {
	local := netip.MustParseAddr("127.0.0.1")
	lo := peer.InterfaceOf(local)
	if lo == "" {
		t.Fatal("no interface has 127.0.0.1")
	}
	if p := stockPath(lo, local, local); p["proven"] != true || p["link_local"] != false || p["from"] != "127.0.0.1" {
		t.Errorf("over its own interface: %v", p)
	}
	if p := stockPath("en4", netip.MustParseAddr("fe80::2%en4"), netip.MustParseAddr("fe80::1%en4")); p["proven"] != true || p["link_local"] != true {
		t.Errorf("by the link: %v", p)
	}
	for iface, from := range map[string]string{"en4": "127.0.0.1", "": "127.0.0.1", "en5": "fe80::2%en4"} {
		if p := stockPath(iface, netip.MustParseAddr(from), netip.MustParseAddr("fe80::1%en4")); p != nil {
			t.Errorf("from %s, where %q leads to the peer: %v", from, iface, p)
		}
	}
}

// A dial by one interface takes that one.
func TestDialOver(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, side, err := dialOver(t.Context(), peer.InterfaceOf(netip.MustParseAddr("127.0.0.1")), l.Addr().String(), 1)
	if c == nil {
		t.Fatalf("%v, %+v", err, side)
	}
	c.Close()
	l.Close()
	if c, side, err = dialOver(t.Context(), "lo9", l.Addr().String(), 1); c != nil || err != nil || !strings.HasPrefix(side.why, "by lo9: ") {
		t.Errorf("%v, %+v", err, side)
	}
}

// A stock tool's session is over when messages were exchanged, whatever came of them:
// whoever only connects ends no server that is to end after one.
func TestStockOutcome(t *testing.T) {
	row := func(id string, data map[string]any) Observation {
		return Observation{ID: id, Level: rdma.CapabilityUnknown, Reason: Unreachable, Detail: "the other end: it closed", Data: data}
	}
	for _, tt := range []struct {
		name    string
		rows    []Observation
		outcome guard.Outcome
		want    string // "": no session
	}{
		{"a port scan", []Observation{row("qp.uc.rtr", nil), row("pingpong.uc", nil)}, guard.Completed, ""},
		{"lost messages", []Observation{row("pingpong.uc", map[string]any{"count": 5})}, guard.Completed, "unknown"},
		{"a crash", []Observation{row("pingpong.uc", nil)}, guard.Crashed, "crashed"},
		{"nothing", nil, guard.Completed, ""},
	} {
		dr := &deviceRun{newest: tt.rows, outcome: tt.outcome}
		if got, err := dr.stockOutcome(); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}
