package probe

import (
	"slices"
	"testing"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// A listing goes on after the device in which its child ended, or after which the
// child's own deadline came, and always makes progress.
func TestTakeStream(t *testing.T) {
	all := []string{"a", "b", "c"}
	for _, tt := range []struct {
		name    string
		asked   []string
		outcome Outcome
		began   int // devices of which the child sent a row
		read    int // devices that it was done with
		want    int
		lost    []string // the device whose rows tell how the child ended; "": the host
		kept    []string
	}{
		{"all", all, guard.Completed, 3, 3, 3, nil, all},
		{"deadline after the first", all, guard.Completed, 1, 1, 1, nil, []string{"a"}},
		{"deadline within the second, which is read again", all, guard.Completed, 2, 1, 1, nil, []string{"a"}},
		{"nothing was read", all, guard.Completed, 0, 0, 1, []string{"a"}, []string{"a"}},
		{"crash in the first", all, guard.Crashed, 0, 0, 1, []string{"a"}, []string{"a"}},
		{"crash in the second", all, guard.Crashed, 2, 1, 2, []string{"b"}, []string{"a", "b"}},
		{"crash after the first, whose deadline had passed", all, guard.Crashed, 1, 1, 1, []string{""}, []string{"", "a"}},
		{"hang in the last", all[2:], guard.TimedOut, 1, 0, 1, []string{"c"}, []string{"c"}},
		{"crash after the last", all, guard.Crashed, 3, 3, 3, []string{""}, []string{"", "a", "b", "c"}},
		{"more than was asked for", all, guard.Completed, 3, 9, 3, nil, all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &run{ctx: t.Context()}
			r.doc = NewDocument(Tool{}, nil)
			a := &attempt{read: tt.read, result: guard.Result{Outcome: tt.outcome, PID: 1}}
			if tt.outcome == guard.Completed && tt.read == 0 {
				a.broken = "the run was interrupted"
			}
			for _, name := range tt.asked[:tt.began] {
				a.last.Device = name
				r.doc.Devices = append(r.doc.Devices, Device{Name: name, Listed: true})
				a.devices = append(a.devices, Device{Name: name, Listed: true, Transport: "infiniband"})
				a.rows = append(a.rows, Observation{ID: "dev.open", Device: name, Level: rdma.CapabilityConfirmed})
			}
			if tt.read == tt.began {
				a.last.Device = "" // it frees its list
			}
			if got := r.takeStream(a, tt.asked); got != tt.want {
				t.Errorf("%d devices are done, want %d", got, tt.want)
			}
			var kept, lost []string
			for _, o := range r.doc.Observations {
				kept = append(kept, o.Device)
				if o.Level == rdma.CapabilityUnknown {
					lost = append(lost, o.Device)
				}
			}
			slices.Sort(kept)
			if kept = slices.Compact(kept); !slices.Equal(kept, tt.kept) {
				t.Errorf("rows of %v, want %v", kept, tt.kept)
			}
			if lost = slices.Compact(lost); !slices.Equal(lost, tt.lost) {
				t.Errorf("%v ended a child, want %q", lost, tt.lost)
			}
		})
	}
}
