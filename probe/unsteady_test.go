//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"slices"
	"testing"
)

// A Thunderbolt port whose state changes between samples is not allocated on, whatever
// the last of them was; one of another kind is.
func TestNothingIsAllocatedOnAnUnsteadyThunderboltPort(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m      *machine
		device string
		want   Reason
	}{{newMac(t), "rdma_en3", Precondition}, {newLinux(t), "mlx5_0", ""}} {
		port := c.m.dev(0)["ports"].([]object)[0]
		delete(port, "state")
		port["states"] = []string{"active", "down", "active"}
		d := c.m.checked(Doctor(t.Context(), DoctorOptions{Options: c.m.options(nil)}))
		for _, id := range []string{"mr.register", "qp.uc.create"} {
			i := slices.IndexFunc(d.Observations, func(o Observation) bool { return o.Device == c.device && o.ID == id })
			if i < 0 || d.Observations[i].Reason != c.want {
				t.Errorf("%s/%s: %+v, want reason %q", c.device, id, d.Observations, c.want)
			}
		}
	}
}
