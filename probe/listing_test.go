package probe

import (
	"testing"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// A listing goes on after the device in which its child ended, or after which the
// child's own deadline came, and ends when it makes no progress.
func TestTakeStream(t *testing.T) {
	listed := []listedDevice{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for _, tt := range []struct {
		name    string
		listed  []listedDevice
		outcome Outcome
		skip    int
		done    []string // devices that the child completed
		want    int
		lost    string // the device whose rows tell how the child ended
	}{
		{"all", listed, guard.Completed, 0, []string{"a", "b", "c"}, 3, ""},
		{"deadline after the first", listed, guard.Completed, 0, []string{"a"}, 1, ""},
		{"deadline after the second, in a second child", listed, guard.Completed, 1, []string{"b"}, 2, ""},
		{"deadline before any", listed, guard.Completed, 1, nil, 1, ""},
		{"crash in the first", listed, guard.Crashed, 0, nil, 1, "a"},
		{"crash in the second", listed, guard.Crashed, 0, []string{"a"}, 2, "b"},
		{"crash in the last", listed, guard.TimedOut, 2, nil, 3, "c"},
		{"crash after the last", listed, guard.Crashed, 0, []string{"a", "b", "c"}, 4, ""},
		{"nothing listed", nil, guard.Crashed, 0, nil, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &run{}
			r.doc = NewDocument(Tool{}, nil)
			a := &attempt{listed: tt.listed, result: guard.Result{Outcome: tt.outcome}}
			for _, l := range tt.listed {
				r.doc.Devices = append(r.doc.Devices, Device{Name: l.Name, Listed: true})
			}
			for _, name := range tt.done {
				a.devices = append(a.devices, Device{Name: name, Listed: true, Transport: "infiniband"})
				a.rows = append(a.rows, Observation{ID: "dev.open", Device: name, Level: rdma.CapabilityConfirmed})
			}
			if got := r.takeStream(a, tt.skip); got != tt.want {
				t.Errorf("%d devices are done, want %d", got, tt.want)
			}
			seen := map[string]int{}
			for _, o := range r.doc.Observations {
				if o.Level == rdma.CapabilityUnknown {
					seen[o.Device]++
				}
			}
			if tt.lost == "" && len(seen) > 0 || tt.lost != "" && (len(seen) != 1 || seen[tt.lost] != len(readIDs)) {
				t.Errorf("unknown rows by device: %v, want %d of %q", seen, len(readIDs), tt.lost)
			}
		})
	}
}
