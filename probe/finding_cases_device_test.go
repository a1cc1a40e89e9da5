package probe

import (
	"slices"
	"testing"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/hostfacts"
)

var deviceCases = []findingCase{
	{"port_down", "the only one", linuxScene, func(s scene) { s.state("mlx5_0", "down") }, is("port_down", "error", "mlx5_0")},
	{"port_down", "armed is not ACTIVE", linuxScene, func(s scene) { s.state("mlx5_0", "armed") }, is("port_down", "error", "mlx5_0")},
	{"port_down", "a state without a name", linuxScene, func(s scene) { s.state("mlx5_0", "unknown(77)") }, is("port_down", "error", "mlx5_0")},
	{"port_down", "another port is ACTIVE", macScene, func(s scene) { s.addIdle() }, is("port_down", "info", "rdma_en4")},
	{"port_down", "another port is ACTIVE, and this one is named", macScene, func(s scene) {
		s.addIdle()
		s.c.NamedDevices = []string{"rdma_en4"}
	}, is("port_down", "error", "rdma_en4")},
	{"port_down", "the second port of a device that works", linuxScene, func(s scene) {
		s.dualPort("down")
		s.c.NamedDevices = []string{"mlx5_0"}
	}, is("port_down", "info", "mlx5_0")},
	{"port_down", "the very port that is named", linuxScene, func(s scene) {
		s.dualPort("down")
		s.c.NamedDevices, s.c.Port = []string{"mlx5_0"}, 2
	}, is("port_down", "error", "mlx5_0")},
	{"port_down", "two of them", linuxScene, func(s scene) {
		s.second()
		s.state("mlx5_0", "down")
		s.state("mlx5_1", "down")
	}, []string{"port_down error mlx5_0", "port_down error mlx5_1"}},
	{"port_down", "ACTIVE", linuxScene, func(s scene) {}, nil},
	{"port_down", "state not read", linuxScene, func(s scene) { s.fail("mlx5_0", "port.state", Precondition, 0) }, nil},
	{"port_unstable", "flapping", linuxScene, func(s scene) { s.flap("mlx5_0") }, is("port_unstable", "error", "mlx5_0")},
	{"port_unstable", "on one of two", linuxScene, func(s scene) { s.second(); s.flap("mlx5_1") }, is("port_unstable", "error", "mlx5_1")},
	{"port_unstable", "the same each time", linuxScene, func(s scene) {
		s.row("mlx5_0", "port.state").Data = map[string]any{"samples": []string{"active/link_up", "active/link_up", "active/link_up"}}
	}, nil},
	{"gid_table_empty", "container", linuxScene, func(s scene) {
		s.host().Container, s.host().NetdevOfDevice["mlx5_0"] = ptrTo(true), nil
		s.gids("mlx5_0")
	}, is("gid_table_empty", "error", "mlx5_0")},
	{"gid_table_empty", "InfiniBand needs none", linuxScene, func(s scene) { s.infiniband("mlx5_0"); s.gids("mlx5_0") }, nil},
	{"gid_table_empty", "iWARP needs none", linuxScene, func(s scene) { s.dev("mlx5_0").Transport = "iwarp"; s.gids("mlx5_0") }, nil},
	{"gid_table_empty", "port down", linuxScene, func(s scene) { s.gids("mlx5_0"); s.state("mlx5_0", "down") }, is("port_down", "error", "mlx5_0")},
	{"gid_table_empty", "table not read", linuxScene, func(s scene) {
		s.dev("mlx5_0").Ports[0].GIDs = []GID{}
		s.fail("mlx5_0", "gid.usable", Timeout, 0)
	}, nil},
	{"gid_stale", "an address that is gone", linuxScene, func(s scene) {
		s.gids("mlx5_0", GID{Index: 2, GID: "::ffff:192.0.2.77", Type: "roce_v2"}, GID{Index: 3, GID: "::ffff:192.0.2.1", Type: "roce_v2"})
	}, is("gid_stale", "warning", "mlx5_0")},
	{"gid_stale", "an IPv6 address that is gone", linuxScene, func(s scene) {
		s.gids("mlx5_0", GID{Index: 2, GID: "2001:db8::77", Type: "roce_v2"}, GID{Index: 3, GID: "::ffff:192.0.2.1", Type: "roce_v2"})
	}, is("gid_stale", "warning", "mlx5_0")},
	{"gid_stale", "the hardware address's own entry", linuxScene, func(s scene) {}, nil},
	{"gid_stale", "addresses not read", linuxScene, func(s scene) {
		s.gids("mlx5_0", GID{Index: 2, GID: "::ffff:192.0.2.77", Type: "roce_v2"})
		s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = nil })
	}, nil},
	{"gid_stale", "an address of the entry's own interface", linuxScene, func(s scene) {
		s.host().Interfaces["ens1f0.7"] = hostfacts.Interface{Addresses: []string{"203.0.113.7/24"}}
		s.gids("mlx5_0", GID{Index: 3, GID: "::ffff:192.0.2.1", Type: "roce_v2"}, GID{Index: 5, GID: "::ffff:203.0.113.7", Type: "roce_v2", Netdev: "ens1f0.7"})
	}, nil},
	{"gid_type_mismatch", "v2 here, v1 there", linuxScene, func(s scene) {
		s.peer(PeerFacts{GIDs: []GID{{Index: 0, GID: "::ffff:192.0.2.11", Type: "roce_v1"}}})
		s.exchange("mlx5_0", "pingpong.rc", 100, 0, 3).Data["wc_status"] = "RETRY_EXC_ERR"
	}, is("gid_type_mismatch", "error", "mlx5_0")},
	{"gid_type_mismatch", "v1 here, v2 there", linuxScene, func(s scene) {
		s.peer(PeerFacts{GIDIndex: ptrTo(3), GIDs: []GID{{Index: 2, Type: "roce_v1"}, {Index: 3, Type: "roce_v2"}}})
		s.exchange("mlx5_0", "pingpong.rc", 100, 0, 2)
	}, is("gid_type_mismatch", "error", "mlx5_0")},
	{"gid_type_mismatch", "the peer has both", linuxScene, func(s scene) {
		s.peer(PeerFacts{GIDs: []GID{{Index: 2, Type: "roce_v1"}, {Index: 3, Type: "roce_v2"}}})
	}, nil},
	{"gid_type_mismatch", "the peer did not say", linuxScene, func(s scene) { s.peer(PeerFacts{GIDs: []GID{{Index: 3}}}) }, nil},
	{"gid_type_mismatch", "another device's peer", linuxScene, func(s scene) { s.peer(PeerFacts{Device: "mlx5_9", GIDs: []GID{{Index: 0, Type: "roce_v1"}}}) }, nil},
	{"gid_type_mismatch", "it works all the same", linuxScene, func(s scene) {
		s.peer(PeerFacts{GIDs: []GID{{Index: 0, Type: "roce_v1"}}})
		s.confirm("mlx5_0", "pingpong.rc")
	}, nil},
	{"mtu_mismatch", "larger there", linuxScene, func(s scene) { s.peer(PeerFacts{ActiveMTU: 4096}) }, is("mtu_mismatch", "warning", "mlx5_0")},
	{"mtu_mismatch", "the same", linuxScene, func(s scene) { s.peer(PeerFacts{ActiveMTU: 1024}) }, nil},
	{"mtu_mismatch", "not announced", linuxScene, func(s scene) { s.peer(PeerFacts{Host: "node-b"}) }, nil},
	{"device_changed", "another GUID", linuxScene, func(s scene) {
		e := lostDevice{Event: identityChanged, Device: "mlx5_0", What: "node GUID", Was: "0000:5eff:fe00:5301", Is: "0000:5eff:fe00:5302"}
		s.fail("mlx5_0", "mr.register", Precondition, 0).Data = e.data()
	}, is("device_changed", "error", "mlx5_0")},
	{"device_changed", "another precondition", linuxScene, func(s scene) { s.fail("mlx5_0", "mr.register", Precondition, 0) }, nil},
	{"device_changed", "it is gone", linuxScene, func(s scene) {
		e := lostDevice{Event: identityVanished, Device: "mlx5_0"}
		s.fail("mlx5_0", "mr.register", Precondition, 0).Data = e.data()
	}, is("device_vanished", "error", "mlx5_0")},
	{"device_vanished", "renamed", linuxScene, func(s scene) {
		e := lostDevice{Event: identityVanished, Device: "mlx5_0", Now: "mlx5_9"}
		s.fail("mlx5_0", "mr.register", Precondition, 0).Data = e.data()
	}, is("device_vanished", "error", "mlx5_0")},
	{"device_vanished", "another has its name", linuxScene, func(s scene) {
		e := lostDevice{Event: identityChanged, Device: "mlx5_0", What: "node", Was: "uverbs0", Is: "uverbs1"}
		s.fail("mlx5_0", "mr.register", Precondition, 0).Data = e.data()
	}, is("device_changed", "error", "mlx5_0")},
	{"transport_needs_rdma_cm", "iWARP", linuxScene, func(s scene) { s.dev("mlx5_0").Transport = "iwarp" }, is("transport_needs_rdma_cm", "info", "mlx5_0")},
	{"transport_needs_rdma_cm", "RoCE", linuxScene, func(s scene) {}, nil},
}

// dualPort gives the device a second port.
func (s scene) dualPort(state string) {
	d := s.dev("mlx5_0")
	d.Ports = append(d.Ports, Port{Num: 2, State: state, LinkLayer: "ethernet", GIDs: []GID{}})
	s.d.Observations = append(s.d.Observations, Observation{Run: s.d.Run.ID, ID: "port.state", Device: "mlx5_0", Port: 2, Level: "confirmed", Value: state})
}

// flap makes a port's state differ between samples.
func (s scene) flap(device string) {
	o := s.fail(device, "port.state", Unstable, 0)
	o.Port, o.Value = 1, "active"
	o.Data = map[string]any{"samples": []any{"down/polling", "down/link_up", "active/link_up"}}
}

// exchange makes a row of the data class that ended at its own deadline.
func (s scene) exchange(device, id string, count, verified, gidIndex int) *Observation {
	o := s.fail(device, id, NoCompletion, 0)
	o.Port, o.Child = 1, &Child{Outcome: "completed", PID: 200}
	o.Data = map[string]any{"count": count, "verified": verified, "lost": count - verified}
	o.Params = map[string]any{"gid_index": gidIndex, "path_mtu": 1024}
	return o
}

var runCases = []findingCase{
	{"provider_crashed", "Thunderbolt", macScene, func(s scene) { s.ended("rdma_en3", "pingpong.uc", "ibv_post_recv", "crashed") }, is("provider_crashed", "error", "rdma_en3")},
	{"provider_crashed", "three probes, one finding", macScene, func(s scene) {
		s.ended("rdma_en3", "qp.uc.create", "ibv_create_qp", "crashed")
		s.ended("rdma_en3", "qp.rc.create", "ibv_create_qp", "crashed")
		s.ended("rdma_en3", "mr.register", "ibv_reg_mr", "crashed")
	}, is("provider_crashed", "error", "rdma_en3")},
	{"provider_crashed", "in the listing", linuxScene, func(s scene) { s.bare(); s.ended("", "dev.enumerate", "ibv_get_device_list", "crashed") }, is("provider_crashed", "error", "host")},
	{"provider_crashed", "in an earlier run", linuxScene, func(s scene) { s.refuse("mlx5_0", "crashed", "ibv_reg_mr", "mr.register", "qp.uc.create") }, is("provider_crashed", "error", "mlx5_0")},
	{"provider_crashed", "another row of a child that died", linuxScene, func(s scene) {
		s.row("mlx5_0", "dev.open").Child = &Child{Outcome: "crashed"}
		s.fail("mlx5_0", "mr.rkey", Precondition, 0).Child = &Child{Outcome: "crashed"}
	}, nil},
	{"provider_wedged", "killed", linuxScene, func(s scene) { s.ended("mlx5_0", "port.query", "ibv_query_port", "timed_out") }, is("provider_wedged", "error", "mlx5_0")},
	{"provider_wedged", "left running", macScene, func(s scene) { s.ended("rdma_en3", "pd.alloc", "ibv_alloc_pd", "left") }, is("provider_wedged", "error", "rdma_en3")},
	{"provider_wedged", "in an earlier run", macScene, func(s scene) { s.refuse("rdma_en3", "left", "ibv_create_qp", "mr.register") }, is("provider_wedged", "error", "rdma_en3")},
	{"provider_wedged", "its own deadline", linuxScene, func(s scene) {
		s.fail("mlx5_0", "gid.usable", Timeout, 0).Child = &Child{Outcome: "completed"}
	}, nil},
	{"provider_wedged", "the same run's other probes", macScene, func(s scene) {
		s.ended("rdma_en3", "pingpong.uc", "ibv_poll_cq", "left").Data["phase"] = "data"
		by := s.refuse("rdma_en3", "left", "ibv_poll_cq", "op.rdma_write").Data["closed_by"].(map[string]any)
		by["run"] = s.d.Run.ID
	}, is("pingpong_timeout", "error", "rdma_en3")},
	{"child_unkillable", "stuck", linuxScene, func(s scene) { s.ended("mlx5_0", "qp.rc.create", "ibv_create_qp", "stuck") }, is("child_unkillable", "error", "mlx5_0")},
	{"child_unkillable", "while sending", linuxScene, func(s scene) { s.ended("mlx5_0", "pingpong.rc", "ibv_poll_cq", "stuck").Data["phase"] = "data" }, is("child_unkillable", "error", "mlx5_0")},
	{"child_unkillable", "in an earlier run", linuxScene, func(s scene) { s.refuse("mlx5_0", "stuck", "ibv_query_port", "port.query") }, is("child_unkillable", "error", "mlx5_0")},
	{"child_unkillable", "it died of the kill", linuxScene, func(s scene) { s.ended("mlx5_0", "qp.rc.create", "ibv_create_qp", "timed_out") }, is("provider_wedged", "error", "mlx5_0")},
	{"pingpong_timeout", "the peer is gone", macScene, func(s scene) { s.exchange("rdma_en3", "pingpong.uc", 100, 0, 1) }, is("pingpong_timeout", "error", "rdma_en3")},
	{"pingpong_timeout", "hung while sending", macScene, func(s scene) { s.ended("rdma_en3", "pingpong.uc", "ibv_poll_cq", "left").Data["phase"] = "data" }, is("pingpong_timeout", "error", "rdma_en3")},
	{"pingpong_timeout", "RC, not all", linuxScene, func(s scene) { s.exchange("mlx5_0", "pingpong.rc", 100, 60, 3) }, is("pingpong_timeout", "error", "mlx5_0")},
	{"pingpong_timeout", "retries used up", linuxScene, func(s scene) {
		o := s.exchange("mlx5_0", "pingpong.rc", 100, 0, 0)
		o.Reason, o.Data["wc_status"] = ProviderError, "IBV_WC_RETRY_EXC_ERR"
	}, is("pingpong_timeout", "error", "mlx5_0")},
	{"pingpong_timeout", "in an earlier run", macScene, func(s scene) { s.refuse("rdma_en3", "left", "ibv_poll_cq", "mr.register") }, is("pingpong_timeout", "error", "rdma_en3")},
	{"pingpong_timeout", "the side channel failed", macScene, func(s scene) { s.fail("rdma_en3", "pingpong.uc", Unreachable, 60) }, nil},
	{"pingpong_timeout", "wrong bytes", linuxScene, func(s scene) { s.exchange("mlx5_0", "pingpong.rc", 100, 99, 3).Reason = PayloadMismatch }, is("payload_mismatch", "error", "mlx5_0")},
	{"pingpong_timeout", "all came back", linuxScene, func(s scene) {
		s.exchange("mlx5_0", "pingpong.rc", 100, 100, 3)
		s.confirm("mlx5_0", "pingpong.rc")
	}, nil},
	{"completion_without_delivery", "success, nothing written", linuxScene, func(s scene) {
		s.fail("mlx5_0", "op.rdma_write", PayloadMismatch, 0).Data = map[string]any{"delivered": false, "wc_status": "SUCCESS"}
	}, is("completion_without_delivery", "warning", "mlx5_0")},
	{"completion_without_delivery", "no completion either", linuxScene, func(s scene) {
		s.fail("mlx5_0", "op.rdma_write", NoCompletion, 0).Data = map[string]any{"delivered": false}
	}, is("pingpong_timeout", "error", "mlx5_0")},
	{"completion_without_delivery", "the completion was an error", linuxScene, func(s scene) {
		s.fail("mlx5_0", "op.rdma_write", ProviderError, 0).Data = map[string]any{"delivered": false, "wc_status": "REM_ACCESS_ERR"}
	}, is("data_transfer_failed", "error", "mlx5_0")},
	{"completion_without_delivery", "delivered", linuxScene, func(s scene) {
		s.confirm("mlx5_0", "op.rdma_write")
		s.row("mlx5_0", "op.rdma_write").Data = map[string]any{"delivered": true, "wc_status": "SUCCESS"}
	}, nil},
	{"uc_message_loss", "some are missing", linuxScene, func(s scene) {
		s.exchange("mlx5_0", "pingpong.uc", 100, 97, 3)
		s.confirm("mlx5_0", "pingpong.rc")
	}, is("uc_message_loss", "warning", "mlx5_0")},
	{"uc_message_loss", "cut off, and none lost", linuxScene, func(s scene) {
		o := s.exchange("mlx5_0", "pingpong.uc", 100, 97, 3)
		o.Reason, o.Data["lost"] = Interrupted, 0
	}, nil},
	{"uc_message_loss", "wrong bytes are not missing", linuxScene, func(s scene) {
		o := s.exchange("mlx5_0", "pingpong.uc", 100, 7, 3)
		o.Reason, o.Data["lost"] = PayloadMismatch, 0
	}, is("payload_mismatch", "error", "mlx5_0")},
	{"uc_message_loss", "RC goes over", linuxScene, func(s scene) {
		s.exchange("mlx5_0", "pingpong.uc", 100, 0, 3)
		s.confirm("mlx5_0", "pingpong.rc")
	}, is("uc_message_loss", "warning", "mlx5_0")},
	{"uc_message_loss", "another size goes over", linuxScene, func(s scene) {
		lost := *s.exchange("mlx5_0", "pingpong.uc", 100, 0, 3)
		lost.Data["size"] = 4096
		s.confirm("mlx5_0", "pingpong.uc")
		s.d.Observations = append(s.d.Observations, lost)
	}, is("uc_message_loss", "warning", "mlx5_0")},
	{"uc_message_loss", "all are missing", linuxScene, func(s scene) { s.exchange("mlx5_0", "pingpong.uc", 100, 0, 3) }, is("pingpong_timeout", "error", "mlx5_0")},
	{"uc_message_loss", "RC", linuxScene, func(s scene) { s.exchange("mlx5_0", "pingpong.rc", 100, 97, 3) }, is("pingpong_timeout", "error", "mlx5_0")},
	{"provider_stderr", "noise at teardown", macScene, func(s scene) {
		s.row("rdma_en3", "teardown").Child = &Child{Outcome: "completed", PID: 300, Stderr: "unmap memory failed\n"}
	}, is("provider_stderr", "info", "rdma_en3")},
	{"provider_stderr", "one child of all devices", linuxScene, func(s scene) {
		s.second()
		for _, d := range []string{"mlx5_0", "mlx5_1"} {
			s.row(d, "port.query").Child = &Child{Outcome: "completed", PID: 300, Stderr: "warning\n"}
		}
	}, is("provider_stderr", "info", "host")},
	{"provider_stderr", "what every listing says", linuxScene, func(s scene) {
		s.stderr("libibverbs: warning")
		s.row("mlx5_0", "mr.register").Child = &Child{Outcome: "completed", PID: 300, Stderr: "libibverbs: warning\n"}
	}, is("provider_stderr", "info", "host")},
	{"provider_stderr", "a dying child's", macScene, func(s scene) {
		s.ended("rdma_en3", "mr.register", "ibv_reg_mr", "crashed").Child.Stderr = "SIGSEGV: segmentation violation\n"
	}, is("provider_crashed", "error", "rdma_en3")},
	{"provider_stderr", "explained by the missing provider", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().Providers = ptrTo(false)
		s.stderr("couldn't open config directory /etc/libibverbs.d")
	}, is("provider_library_missing", "error", "mlx5_0")},
	{"left_processes", "ended", linuxScene, func(s scene) {
		s.row("mlx5_0", "mr.register").Child = &Child{Outcome: "completed", PID: 300, Left: []guard.LeftProcess{{PID: 301, Name: "helper", Ended: true}}}
	}, is("left_processes", "warning", "mlx5_0")},
	{"left_processes", "known by its hold alone", linuxScene, func(s scene) {
		s.row("mlx5_0", "mr.register").Child = &Child{Outcome: "completed", PID: 300, Held: true}
	}, is("left_processes", "warning", "mlx5_0")},
	{"left_processes", "none", linuxScene, func(s scene) { s.row("mlx5_0", "mr.register").Child = &Child{Outcome: "completed", PID: 300} }, nil},
	{"required_capability_not_confirmed", "rejected", macScene, func(s scene) { s.c.Required = []string{"queue_pair_rc"} }, is("required_capability_not_confirmed", "error", "rdma_en3")},
	{"required_capability_not_confirmed", "two things", macScene, func(s scene) { s.c.Required = []string{"queue_pair_rc", "pingpong.uc"} }, is("required_capability_not_confirmed", "error", "rdma_en3")},
	{"required_capability_not_confirmed", "one of two named", linuxScene, func(s scene) {
		s.second()
		s.fail("mlx5_1", "qp.rc.create", ProviderError, 22)
		s.c.Required, s.c.NamedDevices = []string{"queue_pair_rc"}, []string{"mlx5_0", "mlx5_1"}
	}, is("required_capability_not_confirmed", "error", "mlx5_1")},
	{"required_capability_not_confirmed", "only an earlier run confirmed it", linuxScene, func(s scene) {
		s.row("mlx5_0", "qp.rc.create").Run = "earlier"
		s.c.Required = []string{"queue_pair_rc"}
	}, is("required_capability_not_confirmed", "error", "mlx5_0")},
	{"required_capability_not_confirmed", "one of two is enough", linuxScene, func(s scene) {
		s.second()
		s.fail("mlx5_1", "qp.rc.create", ProviderError, 22)
		s.c.Required = []string{"queue_pair_rc"}
	}, nil},
	{"device_busy", "another run", linuxScene, func(s scene) { s.refuse("mlx5_0", "busy", "", "port.query", "mr.register") }, is("device_busy", "warning", "mlx5_0")},
	{"device_busy", "another program", linuxScene, func(s scene) { s.refuse("mlx5_0", "holder", "", "qp.rc.rtr") }, nil},
	{"probe_interrupted", "an open intent", linuxScene, func(s scene) {
		s.fail("mlx5_0", "mr.register", Interrupted, 0).Data = map[string]any{"intent": map[string]any{"probe": "mr", "at": "2026-11-01T08:00:00Z", "run": "earlier"}}
	}, is("probe_interrupted", "warning", "mlx5_0")},
	{"probe_interrupted", "refused because of it", linuxScene, func(s scene) { s.refuse("mlx5_0", "interrupted", "", "mr.register") }, is("probe_interrupted", "warning", "mlx5_0")},
	{codeLimitMet, "a row tells of one", linuxScene, func(s scene) {
		s.row("mlx5_0", "gid.usable").Data = map[string]any{"limit": "gid_slots", "limit_found": 20000}
	}, is(codeLimitMet, "error", "mlx5_0")},
	{codeLimitMet, "of the list of devices", linuxScene, func(s scene) {
		s.row("", "dev.enumerate").Data = map[string]any{"limit": "devices", "limit_found": 5000}
	}, is(codeLimitMet, "error", "host")},
	{codeLimitMet, "another kind of data", linuxScene, func(s scene) {
		s.row("mlx5_0", "gid.usable").Data = map[string]any{"entries": 256}
	}, nil},
	{"probe_interrupted", "this run was", linuxScene, func(s scene) { s.fail("mlx5_0", "mr.register", Interrupted, 0) }, nil},
}

var providerCases = []findingCase{
	{"pd_alloc_failed", "another program", macScene, func(s scene) {
		s.host().RDMAProcesses = []hostfacts.Process{{PID: 4242, Command: "python3", QPs: ptrTo(1), MRs: ptrTo(1)}}
		s.null("rdma_en3", "pd.alloc", "ibv_alloc_pd", 0)
	}, is("pd_alloc_failed", "error", "rdma_en3")},
	{"pd_alloc_failed", "port down", linuxScene, func(s scene) {
		s.state("mlx5_0", "down")
		s.null("mlx5_0", "pd.alloc", "ibv_alloc_pd", 3)
	}, []string{"pd_alloc_failed error mlx5_0", "port_down error mlx5_0"}},
	{"pd_alloc_failed", "it crashed", macScene, func(s scene) { s.ended("rdma_en3", "pd.alloc", "ibv_alloc_pd", "crashed") }, is("provider_crashed", "error", "rdma_en3")},
	{"pd_alloc_failed", "it was not tried", macScene, func(s scene) { s.fail("rdma_en3", "pd.alloc", Precondition, 0) }, nil},
	{"pd_alloc_failed_port_active", "nobody else", macScene, func(s scene) { s.null("rdma_en3", "pd.alloc", "ibv_alloc_pd", 0) }, is("pd_alloc_failed_port_active", "error", "rdma_en3")},
	{"pd_alloc_failed_port_active", "another program on another device", macScene, func(s scene) {
		s.host().RDMAProcesses = []hostfacts.Process{{PID: 4242, QPs: ptrTo(1), Devices: []string{"rdma_en5"}}}
		s.null("rdma_en3", "pd.alloc", "ibv_alloc_pd", 0)
	}, is("pd_alloc_failed_port_active", "error", "rdma_en3")},
	{"pd_alloc_failed_port_active", "another program", macScene, func(s scene) {
		s.host().RDMAProcesses = []hostfacts.Process{{PID: 4242}}
		s.null("rdma_en3", "pd.alloc", "ibv_alloc_pd", 0)
	}, is("pd_alloc_failed", "error", "rdma_en3")},
	{"qp_pool_exhausted", "EBUSY", macScene, func(s scene) { s.hold(10, 0); s.null("rdma_en3", "qp.uc.create", "ibv_create_qp", 16) }, is("qp_pool_exhausted", "error", "rdma_en3")},
	{"qp_pool_exhausted", "ENOMEM at the maximum", macScene, func(s scene) { s.hold(11, 0); s.null("rdma_en3", "qp.uc.create", "ibv_create_qp", 12) }, is("qp_pool_exhausted", "error", "rdma_en3")},
	{"qp_pool_exhausted", "nobody holds any", macScene, func(s scene) { s.hold(0, 5); s.null("rdma_en3", "qp.uc.create", "ibv_create_qp", 16) }, is("object_create_failed", "error", "rdma_en3")},
	{"qp_pool_exhausted", "ENOMEM far below the maximum", macScene, func(s scene) { s.hold(2, 0); s.null("rdma_en3", "qp.uc.create", "ibv_create_qp", 12) }, is("object_create_failed", "error", "rdma_en3")},
	{"qp_pool_exhausted", "another errno", macScene, func(s scene) { s.hold(10, 0); s.null("rdma_en3", "qp.uc.create", "ibv_create_qp", 22) }, is("object_create_failed", "error", "rdma_en3")},
	{"mr_pool_exhausted", "NULL without errno", macScene, func(s scene) { s.hold(0, 100); s.null("rdma_en3", "mr.register", "ibv_reg_mr", 0) }, is("mr_pool_exhausted", "error", "rdma_en3")},
	{"mr_pool_exhausted", "explains ENOMEM of a page", macScene, func(s scene) {
		s.hold(0, 100)
		s.null("rdma_en3", "mr.register", "ibv_reg_mr", 12).Params = map[string]any{"length": 4096}
	}, is("mr_pool_exhausted", "error", "rdma_en3")},
	{"mr_pool_exhausted", "explains ENOMEM under a limit, on its own device only", linuxScene, func(s scene) {
		s.second()
		s.host().MemlockKiB = ptrTo(int64(64))
		s.hold(0, 1024)
		s.host().RDMAProcesses[0].Devices = []string{"mlx5_0"}
		s.null("mlx5_0", "mr.register", "ibv_reg_mr", 12)
		s.null("mlx5_1", "mr.register", "ibv_reg_mr", 12)
	}, []string{"memlock_too_low error host", "mr_pool_exhausted error mlx5_0"}},
	{"mr_pool_exhausted", "nobody holds any", macScene, func(s scene) { s.hold(5, 0); s.null("rdma_en3", "mr.register", "ibv_reg_mr", 0) }, nil},
	{"mr_register_enomem", "one page, no limit", linuxScene, func(s scene) {
		s.null("mlx5_0", "mr.register", "ibv_reg_mr", 12).Params = map[string]any{"length": float64(4096)}
	}, is("mr_register_enomem", "error", "mlx5_0")},
	{"mr_register_enomem", "a large region", linuxScene, func(s scene) {
		s.null("mlx5_0", "mr.register", "ibv_reg_mr", 12).Params = map[string]any{"length": 1 << 30}
	}, nil},
	{"mr_register_enomem", "a limit", linuxScene, func(s scene) {
		s.host().MemlockKiB = ptrTo(int64(64))
		s.null("mlx5_0", "mr.register", "ibv_reg_mr", 12).Params = map[string]any{"length": 4096}
	}, is("memlock_too_low", "error", "host")},
	{"rtr_path_timeout", "index 0", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 60, 0) }, is("rtr_path_timeout", "error", "rdma_en3")},
	{"rtr_path_timeout", "Linux's number", linuxScene, func(s scene) { s.rtr("mlx5_0", "qp.rc.rtr", 110, 1) }, is("rtr_path_timeout", "error", "mlx5_0")},
	{"rtr_path_timeout", "in an earlier run", macScene, func(s scene) {
		o := s.refuse("rdma_en3", "rtr_failed", "ibv_modify_qp", "qp.uc.rtr")
		o.Data["closed_by"].(map[string]any)["errno"] = &Errno{Number: 60, Name: "ETIMEDOUT", Platform: "darwin"}
	}, is("rtr_path_timeout", "error", "rdma_en3")},
	{"rtr_path_timeout", "Linux's 60 is ENOSTR", linuxScene, func(s scene) { s.rtr("mlx5_0", "qp.rc.rtr", 60, 3) }, is("provider_degraded", "error", "mlx5_0")},
	{"stale_kernel_resources", "EBUSY", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 16, 1) }, is("stale_kernel_resources", "error", "rdma_en3")},
	{"stale_kernel_resources", "EBUSY of a creation", macScene, func(s scene) { s.null("rdma_en3", "qp.uc.create", "ibv_create_qp", 16) }, is("object_create_failed", "error", "rdma_en3")},
	{"provider_degraded", "ENODATA on Darwin", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 96, 1) }, is("provider_degraded", "error", "rdma_en3")},
	{"provider_degraded", "in an earlier run, read from a file", macScene, func(s scene) {
		o := s.refuse("rdma_en3", "rtr_failed", "ibv_modify_qp", "qp.uc.rtr")
		o.Data["closed_by"].(map[string]any)["errno"] = map[string]any{"number": 96.0, "name": "ENODATA", "platform": "darwin"}
	}, is("provider_degraded", "error", "rdma_en3")},
	{"gid_index_refused", "a link-local entry", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 22, 0) }, is("gid_index_refused", "error", "rdma_en3")},
	{"gid_index_refused", "not supported", macScene, func(s scene) {
		o := s.rtr("rdma_en3", "qp.uc.rtr", 102, 0)
		o.Level, o.Reason = "rejected", ""
	}, nil},
	{"gid_index_refused", "the table was not read", linuxScene, func(s scene) {
		s.rtr("mlx5_0", "qp.rc.rtr", 22, 9)
		s.fail("mlx5_0", "gid.usable", Timeout, 0)
		s.dev("mlx5_0").Ports[0].GIDs = []GID{}
	}, nil},
	{"gid_index_refused", "an empty slot on Linux", linuxScene, func(s scene) { s.rtr("mlx5_0", "qp.rc.rtr", 22, 9) }, is("gid_index_refused", "error", "mlx5_0")},
	{"gid_index_refused", "the peer was not found", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 60, 0) }, is("rtr_path_timeout", "error", "rdma_en3")},
	{"provider_degraded", "a link-local GID", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 22, 0) }, is("gid_index_refused", "error", "rdma_en3")},
	{"provider_degraded", "an empty slot", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 96, 5) }, is("gid_index_refused", "error", "rdma_en3")},
	{"provider_degraded", "not supported", macScene, func(s scene) {
		o := s.rtr("rdma_en3", "qp.uc.rtr", 102, 1)
		o.Level, o.Reason = "rejected", ""
	}, nil},
	{"provider_degraded", "explained by a pool", macScene, func(s scene) {
		s.rtr("rdma_en3", "qp.uc.rtr", 96, 1)
		s.host().RDMAProcesses = []hostfacts.Process{{PID: 5151, Leaked: true}}
	}, is("pd_pool_exhausted", "error", "rdma_en3")},
	{"rtr_not_attempted", "no GID, and a failure in the log", macScene, func(s scene) {
		s.c.Command = "probe"
		s.gids("rdma_en3", GID{Index: 0, GID: "fe80::200:5eff:fe00:5301"})
		s.host().KernelLog = []string{"AppleThunderboltRDMA: Failed INIT->RTR"}
	}, []string{"gid_no_ipv4_mapped error rdma_en3", "rtr_not_attempted info rdma_en3"}},
	{"rtr_not_attempted", "a failure in the log, with its Unicode arrow", macScene, func(s scene) {
		s.c.Command = "probe"
		s.host().KernelLog = []string{"rdma: Failed INIT→RTR transition"}
	}, is("rtr_not_attempted", "info", "rdma_en3")},
	{"rtr_not_attempted", "what the engine's preflight missed", linuxScene, func(s scene) {
		s.c.Command = "probe"
		s.fail("mlx5_0", "qp.rc.rtr", Precondition, 0).Data = map[string]any{"preflight": true, "missing": []string{"another live process holds the device"}}
	}, is("rtr_not_attempted", "info", "mlx5_0")},
	{"rtr_not_attempted", "somebody else is on the device", macScene, func(s scene) {
		s.c.Command = "probe"
		s.refuse("rdma_en3", "holder", "", "qp.uc.rtr", "qp.rc.rtr")
	}, is("rtr_not_attempted", "info", "rdma_en3")},
	{"rtr_not_attempted", "doctor never tries it", macScene, func(s scene) { s.host().KernelLog = []string{"Failed INIT->RTR"} }, nil},
	{"rtr_not_attempted", "nothing is missing", macScene, func(s scene) { s.c.Command = "probe" }, nil},
	{"rtr_not_attempted", "it was tried", macScene, func(s scene) {
		s.c.Command = "probe"
		s.host().KernelLog = []string{"Failed INIT->RTR"}
		s.confirm("rdma_en3", "qp.uc.rtr")
	}, nil},
	{"rtr_not_attempted", "the log's failure was waved away", macScene, func(s scene) {
		s.c.Command, s.d.Run.Gates = "probe", []string{"force"}
		s.host().KernelLog = []string{"Failed INIT->RTR"}
	}, nil},
}

// hold makes another process hold objects.
func (s scene) hold(qps, mrs int) {
	s.host().RDMAProcesses = []hostfacts.Process{{PID: 4242, Command: "python3", QPs: ptrTo(qps), MRs: ptrTo(mrs)}}
}

// Where the library does not tell the interface of an entry the kernel does, while it
// has the same entry.
func TestInterfaceOfAnEntryByTheKernel(t *testing.T) {
	for kernel, want := range map[string][]string{"::ffff:203.0.113.7": nil, "::ffff:203.0.113.8": is("gid_stale", "warning", "mlx5_0")} {
		s := linuxScene()
		s.vlanGID(kernel)
		if got := raised(s, "gid_stale"); !slices.Equal(got, want) {
			t.Errorf("slot with %s: %q, want %q", kernel, got, want)
		}
	}
}

// vlanGID puts an address of a VLAN into the table, and what the kernel says of its slot.
func (s scene) vlanGID(kernel string) {
	s.host().Interfaces["ens1f0.7"] = hostfacts.Interface{Addresses: []string{"203.0.113.7/24"}}
	s.gids("mlx5_0", GID{Index: 3, GID: "::ffff:192.0.2.1", Type: "roce_v2"}, GID{Index: 5, GID: "::ffff:203.0.113.7", Type: "roce_v2"})
	slot := hostfacts.SysfsGID{Index: 5, GID: kernel, Netdev: "ens1f0.7"}
	s.host().Sysfs = map[string]hostfacts.SysfsDevice{"mlx5_0": {Ports: []hostfacts.SysfsPort{{Num: 1, GIDs: []hostfacts.SysfsGID{slot}}}}}
}

// rtr makes a transition that the provider refused.
func (s scene) rtr(device, id string, errno, gidIndex int) *Observation {
	o := s.fail(device, id, ProviderError, errno)
	o.Port, o.Call, o.Params = 1, "ibv_modify_qp", map[string]any{"gid_index": gidIndex, "path_mtu": 1024}
	o.Return, o.Child = &Return{Number: int64(errno)}, &Child{Outcome: "completed", PID: 200}
	return o
}
