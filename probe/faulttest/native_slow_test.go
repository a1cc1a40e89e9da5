//go:build linux

package faulttest

import (
	"fmt"
	"os"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// A provider that is slow, but answers each device within the deadline, is not
// taken for one that hangs because its devices, or the samples of one, together
// take longer. No device is opened twice.
func TestNativeLibraryIsSlow(t *testing.T) {
	t.Parallel()
	library := needLibrary(t)
	for _, tt := range []struct {
		name, call string
		args       []string
		children   int
	}{
		{"listing", "ibv_open_device", []string{"devices"}, 1},
		{"samples", "ibv_query_port", []string{"doctor", "--read-only"}, 5}, // a listing, port and GIDs of each
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, names := newPlace(t), fmt.Sprint(tt.name, os.Getpid()) // their locks are the machine's
			cmd := p.command(t.Context(), append(tt.args, "--json", "--library", library, "--store", "none", "--timeout", "6s")...)
			cmd.Env = append(cmd.Env, "SLOW="+tt.call, "SLOW_MS=4000", "FAULT_DEVICE="+names)
			o := p.finish(t, cmd)
			pids := map[int]bool{}
			for _, r := range o.doc.Observations {
				if r.Child == nil {
					continue
				}
				if pids[r.Child.PID] = true; r.Child.Outcome != guard.Completed {
					t.Errorf("%s of %s: %+v: %s", r.ID, r.Device, r.Child, r.Detail)
				}
			}
			if len(pids) != tt.children || o.exit == probe.ExitContained {
				t.Errorf("%d children, exit %d", len(pids), o.exit)
			}
			for _, device := range []string{"bad", "good"} {
				for _, id := range []string{"dev.open", "port.query", "port.state", "gid.usable"} {
					if r := row(o.doc, device+names, id, "", 0); r == nil || r.Level != rdma.CapabilityConfirmed {
						t.Errorf("%s %s: %+v", device, id, r)
					}
				}
			}
		})
	}
}
