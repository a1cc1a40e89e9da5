package probe

import (
	"strings"
	"testing"
)

// unopened makes opening a device fail with an errno.
func (s scene) unopened(device string, reason Reason, errno int) *Observation {
	for _, id := range []string{"port.query", "port.state", "gid.usable", "gid.ipv4_mapped"} {
		s.fail(device, id, Precondition, 0)
	}
	s.dev(device).Ports = []Port{}
	o := s.null(device, "dev.open", "ibv_open_device", errno)
	o.Reason = reason
	return o
}

// unread makes reading a port fail with an errno.
func (s scene) unread(device, id, call string, reason Reason, errno int) *Observation {
	o := s.fail(device, id, reason, errno)
	o.Call, o.Return, o.Child = call, &Return{Number: int64(errno)}, &Child{Outcome: "completed", PID: 100}
	return o
}

var readCases = []findingCase{
	{"device_open_failed", "ENODEV", linuxScene, func(s scene) { s.unopened("mlx5_0", ProviderError, 19) }, is("device_open_failed", "error", "mlx5_0")},
	{"device_open_failed", "NULL without errno", macScene, func(s scene) { s.unopened("rdma_en3", ProviderError, 0) }, is("device_open_failed", "error", "rdma_en3")},
	{"device_open_failed", "one of two", linuxScene, func(s scene) { s.second(); s.unopened("mlx5_1", Exhausted, 12) }, is("device_open_failed", "error", "mlx5_1")},
	{"device_open_failed", "this user may not", linuxScene, func(s scene) { s.unopened("mlx5_0", Permission, 13) }, is("uverbs_permission_denied", "error", "mlx5_0")},
	{"device_open_failed", "its node is missing", linuxScene, func(s scene) {
		s.unopened("mlx5_0", ProviderError, 2)
		delete(s.host().DevInfiniband, "uverbs0")
	}, is("uverbs_node_missing", "error", "mlx5_0")},
	{"device_open_failed", "Thunderbolt 4", macScene, func(s scene) { s.thunderbolt4(); s.unopened("rdma_en3", ProviderError, 19) }, is("thunderbolt_generation_unsupported", "error", "host")},
	{"device_open_failed", "RDMA is off", macScene, func(s scene) { s.host().RDMACtl = "disabled"; s.unopened("rdma_en3", ProviderError, 19) }, is("rdma_disabled", "error", "host")},
	{"device_open_failed", "it crashed", linuxScene, func(s scene) { s.ended("mlx5_0", "dev.open", "ibv_open_device", "crashed") }, is("provider_crashed", "error", "mlx5_0")},
	{"device_open_failed", "it did not return", linuxScene, func(s scene) { s.ended("mlx5_0", "dev.open", "ibv_open_device", "timed_out") }, is("provider_wedged", "error", "mlx5_0")},
	{"device_open_failed", "the library has no such function", linuxScene, func(s scene) { s.unopened("mlx5_0", SymbolMissing, 0) }, nil},
	{"device_open_failed", "no longer listed", linuxScene, func(s scene) { s.fail("mlx5_0", "dev.open", Precondition, 0) }, nil},
	{"port_query_failed", "EIO", linuxScene, func(s scene) {
		s.unread("mlx5_0", "port.query", "ibv_query_port", ProviderError, 5)
		s.fail("mlx5_0", "port.state", Precondition, 0)
	}, is("port_query_failed", "error", "mlx5_0")},
	{"port_query_failed", "no ports", linuxScene, func(s scene) {
		s.dev("mlx5_0").Ports = []Port{}
		o := s.fail("mlx5_0", "port.query", Invalid, 0)
		o.Call, o.Detail = "ibv_query_device", noPorts
		s.fail("mlx5_0", "port.state", Invalid, 0)
	}, is("port_query_failed", "error", "mlx5_0")},
	{"port_query_failed", "between samples", linuxScene, func(s scene) { s.unread("mlx5_0", "port.state", "ibv_query_port", ProviderError, 19) }, is("port_query_failed", "error", "mlx5_0")},
	{"port_query_failed", "the GID table", linuxScene, func(s scene) { s.unread("mlx5_0", "gid.usable", "ibv_query_gid", ProviderError, 5) }, is("port_query_failed", "error", "mlx5_0")},
	{"port_query_failed", "the GID table of a port with LIDs", linuxScene, func(s scene) {
		s.infiniband("mlx5_0")
		s.unread("mlx5_0", "gid.usable", "ibv_query_gid", ProviderError, 5)
	}, nil},
	{"port_query_failed", "not in time", linuxScene, func(s scene) { s.fail("mlx5_0", "port.query", Timeout, 0) }, nil},
	{"port_query_failed", "the run ended first", linuxScene, func(s scene) { s.fail("mlx5_0", "port.query", Interrupted, 0) }, nil},
}

// The call and its errno are in the message and beside the verdict, and the remedy
// is one for that errno and kind of device.
func TestReadFailuresNameCallAndErrno(t *testing.T) {
	for _, c := range []struct {
		scene     func() scene
		fail      func(scene)
		says, not []string
	}{
		{linuxScene, func(s scene) { s.unopened("mlx5_0", ProviderError, 19) }, []string{"ibv_open_device failed with errno 19 (ENODEV)", "dmesg", "reload the driver"}, []string{"ulimit"}},
		{linuxScene, func(s scene) { s.unopened("mlx5_0", Exhausted, 24) }, []string{"EMFILE", "ulimit -n"}, []string{"dmesg"}},
		{linuxScene, func(s scene) { s.unopened("mlx5_0", ProviderError, 16) }, []string{"EBUSY", "end the program"}, []string{"dmesg"}},
		{macScene, func(s scene) { s.unopened("rdma_en3", ProviderError, 0) }, []string{"ibv_open_device failed without setting errno", "cable", "restart the Mac"}, []string{"dmesg"}},
		{linuxScene, func(s scene) { s.unread("mlx5_0", "port.query", "ibv_query_port", ProviderError, 5) }, []string{"ibv_query_port failed with errno 5 (EIO)"}, []string{"DOWN"}},
	} {
		s := c.scene()
		c.fail(s)
		findings := Findings(s.d, *s.c)
		if len(findings) != 1 {
			t.Fatalf("%+v", findings)
		}
		f := findings[0]
		text := f.Message + " | " + f.Remedy
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", text, want)
			}
		}
		for _, bad := range c.not {
			if strings.Contains(text, bad) {
				t.Errorf("%s says %q", text, bad)
			}
		}
		if brief := Briefs(s.d)(f); !strings.Contains(brief, "ibv_") || !strings.Contains(f.Message, strings.SplitN(brief, ", ", 2)[1]) {
			t.Errorf("in a few words: %q", brief)
		}
	}
}
