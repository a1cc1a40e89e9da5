package report

import (
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// Why no device is shown: each case is another one for whoever has to go on.
func TestEmptyList(t *testing.T) {
	for _, tt := range []struct {
		row  probe.Observation
		want string
	}{
		{probe.Observation{Level: rdma.CapabilityObservedZero, Value: 0}, "no RDMA device listed"},
		{probe.Observation{Level: rdma.CapabilityUnknown, Reason: probe.ProviderError}, "no RDMA device listed"},
		{probe.Observation{Level: rdma.CapabilityConfirmed, Value: 3}, "none of the named devices is listed"},
		{probe.Observation{Level: rdma.CapabilityConfirmed, Value: 3, Data: map[string]any{"nameless": 1}}, "none of the named devices is listed"},
		{probe.Observation{Level: rdma.CapabilityConfirmed, Value: 3.0, Data: map[string]any{"nameless": 3}}, "no listed RDMA device has a name"},
		{
			probe.Observation{Level: rdma.CapabilityUnknown, Reason: probe.Crash, Child: &probe.Child{Outcome: "crashed"}},
			"it is not known which RDMA devices there are: the child that lists them ended first",
		},
	} {
		tt.row.ID = "dev.enumerate"
		d := &probe.Document{Observations: []probe.Observation{{ID: "lib.load"}, tt.row}}
		if got := emptyList(d); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.row, got, tt.want)
		}
	}
}
