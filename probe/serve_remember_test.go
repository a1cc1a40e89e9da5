package probe

import (
	"fmt"
	"testing"

	"rdmaprobe/rdma"
)

// What stays in a server's memory is bounded, in order, and enough to say of each
// device what is known of it.
func TestServerRemembersTheNewestOfEachKind(t *testing.T) {
	row := func(device, id string, seq int64, l rdma.Capability) Observation {
		return Observation{Device: device, ID: id, Probe: id, Port: 1, Seq: seq, Level: l}
	}
	rows := []Observation{
		row("idle", "port.query", 1, rdma.CapabilityConfirmed),
		row("busy", "pingpong.rc", 2, rdma.CapabilityConfirmed), // replaced by one that is kept
		row("idle", "gid.usable", 3, rdma.CapabilityConfirmed),  // replaced by the next
		row("idle", "gid.usable", 4, rdma.CapabilityConfirmed),
		row("idle", "gid.usable", 5, rdma.CapabilityUnknown),
	}
	for seq := int64(6); seq < 1000; seq++ {
		rows = append(rows, row("busy", "pingpong.rc", seq, rdma.CapabilityConfirmed))
	}
	for range 3 { // the second time as the first: nothing of it grows
		rows = remember(rows, 10)
	}
	var got []int64
	for _, o := range rows {
		got = append(got, o.Seq)
	}
	if want := "[1 4 5 990 991 992 993 994 995 996 997 998 999]"; fmt.Sprint(got) != want {
		t.Errorf("remembered %v, want %s", got, want)
	}
	if few := remember(rows, 100); len(few) != len(rows) {
		t.Errorf("of %d rows, fewer than the bound, %d are left", len(rows), len(few))
	}
}
