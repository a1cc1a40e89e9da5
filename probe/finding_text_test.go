package probe

import (
	"strings"
	"testing"
	"unicode"

	"rdmaprobe/probe/hostfacts"
)

// textOf is everything that a finding of a scene says; "" when it is not raised.
func textOf(s scene, code string) string {
	for _, f := range Findings(s.d, *s.c) {
		if f.Code == code {
			return strings.Join([]string{f.Message, f.Remedy, f.Undo, f.Check}, " | ")
		}
	}
	return ""
}

// TestRemediesFitTheCause has a line for what each report's people needed to be
// told, and for what would have misled them.
func TestRemediesFitTheCause(t *testing.T) {
	checkRemedies(t, []remedyCase{
		{"Thunderbolt 4, enabled", "thunderbolt_generation_unsupported", macScene, func(s scene) { s.thunderbolt4(); s.bare() },
			[]string{"IP over Thunderbolt"}, []string{"Recovery", "rdma_ctl", "cable", "disabled"}},
		{"a Thunderbolt 5 cable on a Thunderbolt 4 host", "thunderbolt_generation_unsupported", macScene, func(s scene) { s.thunderbolt4(); s.link(0).Cable = "TB5"; s.bare() },
			[]string{"Thunderbolt 4"}, []string{"cable"}},
		{"RDMA is off", "rdma_disabled", macScene, func(s scene) { s.host().RDMACtl = "disabled"; s.bare() },
			[]string{"Recovery", "`rdma_ctl enable`"}, []string{"sudo"}},
		{"the peer is Thunderbolt 4", "peer_not_advertising_rdma", macScene, func(s scene) {
			s.link(0).PeerRDMA, s.link(0).PeerGeneration = ptrTo(false), ptrTo(4)
			s.bare()
		}, []string{"IP over Thunderbolt"}, []string{"Recovery", "enable"}},
		{"a loaded driver is no success", "peer_not_advertising_rdma", linuxScene, func(s scene) {
			s.bare()
			s.host().Thunderbolt = &hostfacts.Thunderbolt{Links: []hostfacts.Link{{Interface: "thunderbolt0", Peer: "host-b", PeerRDMA: ptrTo(false)}}}
		}, []string{"host-b", "only networking", "load"}, []string{"success", "ready", "Recovery"}},
		{"a link behind a hub", "link_speed_below_tb5", macScene, func(s scene) { s.link(0).SpeedGbps, s.link(0).ViaHub = ptrTo(40.0), ptrTo(true) },
			[]string{"directly"}, []string{"replace the cable"}},
		{"soft-RoCE is not packaged", "no_rdma_device", linuxScene, func(s scene) {
			s.bare()
			s.host().Kernel, s.host().ModulesAvail = "6.14.0-1015-aws", map[string]bool{"rdma_rxe": false}
			s.host().Interfaces = map[string]hostfacts.Interface{"lo": {Up: ptrTo(true)}, "docker0": {Up: ptrTo(true)}, "ens5": {Up: ptrTo(true), Addresses: []string{}}}
		}, []string{"linux-modules-extra-6.14.0-1015-aws", "netdev ens5", "not installed"}, []string{"eth0", "docker0"}},
		{"soft-RoCE, and no interface is known", "no_rdma_device", linuxScene, func(s scene) { s.bare(); s.host().Interfaces = nil },
			[]string{"netdev NETDEV"}, []string{"eth0"}},
		{"a driver that is not loaded", "no_rdma_device", linuxScene, func(s scene) { s.bare() },
			[]string{"neither the library nor the kernel has one", "driver, which is not loaded"}, []string{"no RDMA hardware", "on the host"}},
		{"no device in a container", "no_rdma_device", linuxScene, func(s scene) { s.bare(); s.host().Container = ptrTo(true) },
			[]string{"look on the host", "--device /dev/infiniband"}, []string{"modprobe", "hardware"}},
		{"a library of something else", "verbs_library_mismatch", linuxScene, func(s scene) {
			s.bare()
			s.lacks("ibv_free_device_list", "ibv_b", "ibv_c", "ibv_d", "ibv_e", "ibv_f")
			s.fail("", "dev.enumerate", SymbolMissing, 0)
		}, []string{"/lib/libother.so.6 was loaded", "lacks ibv_free_device_list, ibv_b, ibv_c, ibv_d and 2 more", "leave out --library"}, []string{"provider"}},
		{"the system's library lacks a function", "verbs_library_mismatch", linuxScene, func(s scene) {
			s.bare()
			s.lacks("ibv_get_device_list")
			s.d.Provider.Library.Asked = "libibverbs.so.1"
			s.fail("", "dev.enumerate", SymbolMissing, 0)
		}, []string{"it lacks ibv_get_device_list", "reinstall libibverbs"}, []string{"--library"}},
		{"a text file", "verbs_library_mismatch", linuxScene, func(s scene) {
			s.noLibrary("unknown")
			s.d.Provider.Library.Asked, s.d.Provider.Library.Error = "/etc/motd", "load /etc/motd: /etc/motd: invalid ELF header"
		}, []string{"what --library names", "invalid ELF header", "leave out --library"}, []string{"reinstall"}},
		{"another processor", "verbs_library_mismatch", linuxScene, func(s scene) { s.noLibrary("wrong_architecture") },
			[]string{"another processor"}, []string{"--library"}},
		{"the provider's package", "provider_library_missing", linuxScene, func(s scene) { s.unlist("mlx5_0"); s.host().Providers = ptrTo(false) },
			[]string{"the kernel has mlx5_0", "ibverbs-providers"}, []string{"no RDMA hardware", "no device"}},
		{"which side of the ABI is old", "provider_abi_mismatch", linuxScene, func(s scene) {
			s.unlist("mlx5_0")
			s.host().ABI = map[string]hostfacts.ABI{"mlx5_0": {Kernel: 1, ProviderMin: 2, ProviderMax: 2}}
		}, []string{"ABI 1", "needs 2", "kernel is the older side"}, nil},
		{"the provider is old", "provider_abi_mismatch", linuxScene, func(s scene) {
			s.unlist("mlx5_0")
			s.host().ABI = map[string]hostfacts.ABI{"mlx5_0": {Kernel: 5, ProviderMin: 1, ProviderMax: 3}}
		}, []string{"needs 1 to 3", "update rdma-core"}, nil},
		{"into the container", "uverbs_node_missing", linuxScene, func(s scene) {
			s.host().Container = ptrTo(true)
			delete(s.host().DevInfiniband, "uverbs0")
			s.fail("mlx5_0", "dev.open", ProviderError, 2)
		}, []string{"--device /dev/infiniband/uverbs0"}, []string{"modprobe", "ACTIVE"}},
		{"limits.conf already allows it", "memlock_too_low", linuxScene, func(s scene) {
			s.host().MemlockKiB = ptrTo(int64(64))
			s.null("mlx5_0", "cq.create", "ibv_create_cq", 12)
		}, []string{"64 KiB", "limits.conf already allows unlimited", "log in again"}, nil},
		{"limits.conf does not", "memlock_too_low", linuxScene, func(s scene) {
			s.host().MemlockKiB, s.host().LimitsConfMemlock = ptrTo(int64(64)), "64"
			s.null("mlx5_0", "cq.create", "ibv_create_cq", 12)
		}, []string{"raise the limit"}, []string{"already"}},
		{"not a matter of ulimit", "mr_register_enomem", linuxScene, func(s scene) {
			s.host().KernelChanged = ptrTo(true)
			s.null("mlx5_0", "mr.register", "ibv_reg_mr", 12).Params = map[string]any{"length": 4096}
		}, []string{"kernel is another one"}, []string{"raise", "limits.conf"}},
		{"the slot that works now", "configured_gid_index_empty", linuxScene, func(s scene) { s.movedGID(); s.host().Env["NCCL_IB_GID_INDEX"] = "3" },
			[]string{"NCCL_IB_GID_INDEX=3", "usable entry is now 8"}, nil},
		{"no slot works now", "configured_gid_index_empty", linuxScene, func(s scene) {
			s.gids("mlx5_0", GID{Index: 8, GID: "::ffff:192.0.2.77", Type: "roce_v2"})
			s.host().Env["NCCL_IB_GID_INDEX"] = "3"
		}, []string{"NCCL_IB_GID_INDEX=3", "unset"}, []string{"index 8", "is now", "works"}},
		{"which index is good", "gid_stale", linuxScene, func(s scene) {
			s.gids("mlx5_0", GID{Index: 2, GID: "::ffff:192.0.2.77", Type: "roce_v2"}, GID{Index: 3, GID: "::ffff:192.0.2.1", Type: "roce_v2"})
		}, []string{"index 2", "use index 3"}, nil},
		{"no entry is good", "gid_stale", linuxScene, func(s scene) { s.bareNetdev() }, []string{"none of the entries"}, []string{"use index"}},
		{"an InfiniBand virtual function", "ib_port_down_no_sm", linuxScene, func(s scene) { s.virtual("down", 0) },
			[]string{"GUID", "subnet manager"}, []string{"cable", "address"}},
		{"a Thunderbolt 4 port that is down", "port_down", macScene, func(s scene) { s.thunderbolt4(); s.state("rdma_en3", "down") },
			[]string{"Thunderbolt 4"}, []string{"cable", "Recovery"}},
		{"an Ethernet port that is down", "port_down", linuxScene, func(s scene) { s.state("mlx5_0", "down") },
			[]string{"ip link set ens1f0 up"}, []string{"Thunderbolt", "RDMA enabled"}},
		{"GID index 0", "rtr_path_timeout", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 60, 0) },
			[]string{"index 0", "use 1"}, []string{"retry", "rejected"}},
		{"Darwin's 96", "provider_degraded", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 96, 1) },
			[]string{"96 (ENODATA)", "restart"}, []string{"EPFNOSUPPORT"}},
		{"a Mellanox card", "provider_degraded", linuxScene, func(s scene) { s.rtr("mlx5_0", "qp.rc.rtr", 22, 3) },
			[]string{"EINVAL", "driver"}, []string{"Thunderbolt", "cable"}},
		{"a wedged Mellanox card", "provider_wedged", linuxScene, func(s scene) { s.ended("mlx5_0", "port.query", "ibv_query_port", "timed_out") },
			[]string{"ibv_query_port", "killed"}, []string{"Thunderbolt", "cable", "left running"}},
		{"a wedged Mac", "provider_wedged", macScene, func(s scene) { s.ended("rdma_en3", "pd.alloc", "ibv_alloc_pd", "left") },
			[]string{"ibv_alloc_pd", "pid 4711", "left running", "unplug"}, nil},
		{"which call crashed, after how many", "provider_crashed", macScene, func(s scene) {
			o := s.ended("rdma_en3", "pingpong.uc", "ibv_post_recv", "crashed")
			o.Data["calls"], o.Detail = uint64(41), "the child died in ibv_post_recv: SIGSEGV: segmentation violation"
		}, []string{"ibv_post_recv (call number 41)", "pingpong.uc", "SIGSEGV"}, []string{"rejected"}},
		{"a crash on Thunderbolt 4", "provider_crashed", macScene, func(s scene) { s.thunderbolt4(); s.ended("rdma_en3", "mr.register", "ibv_reg_mr", "crashed") },
			[]string{"ibv_reg_mr", "not use RDMA on this Mac"}, []string{"cable", "Recovery"}},
		{"an earlier crash", "provider_crashed", linuxScene, func(s scene) { s.refuse("mlx5_0", "crashed", "ibv_reg_mr", "mr.register") },
			[]string{"ibv_reg_mr", "2026-11-01T08:00:00Z", "run earlier", "--force"}, nil},
		{"who holds the regions", "mr_pool_exhausted", macScene, func(s scene) { s.hold(0, 100); s.null("rdma_en3", "mr.register", "ibv_reg_mr", 0) },
			[]string{"python3 (pid 4242)", "100 of 100", "without setting errno", "do not retry"}, []string{"ulimit"}},
		{"leaked domains", "pd_pool_exhausted", macScene, func(s scene) {
			s.host().IOClassCount[pdClass] = 11
			s.host().RDMAProcesses = []hostfacts.Process{{PID: 5151, Command: "mlx rank", Leaked: true}}
		}, []string{"11 of 11", "mlx rank (pid 5151)", "gently", "restart"}, nil},
		{"another GID for the ping-pong", "pingpong_timeout", linuxScene, func(s scene) { s.exchange("mlx5_0", "pingpong.rc", 100, 0, 0) },
			[]string{"0 of 100", "GID index 0", "index 3 instead of 0"}, []string{"rejected"}},
		{"another GID, and the row could not say which", "pingpong_timeout", linuxScene, func(s scene) {
			s.confirm("mlx5_0", "qp.rc.rtr")
			s.row("mlx5_0", "qp.rc.rtr").Params = map[string]any{"gid_index": 0}
			s.ended("mlx5_0", "pingpong.rc", "ibv_poll_cq", "timed_out").Data["phase"] = "data"
		}, []string{"GID index 0", "index 3 instead of 0"}, nil},
		{"what a transition needs, as the run told it", "rtr_not_attempted", macScene, func(s scene) {
			s.c.Command = "probe"
			s.gids("rdma_en3", GID{GID: "fe80::200:5eff:fe00:5301"})
			s.fail("rdma_en3", "qp.uc.rtr", Precondition, 0).Data = map[string]any{"missing": []any{"a warm neighbour entry"}}
		}, []string{"needs a warm neighbour entry", "| rdmaprobe probe --allow-rtr -d rdma_en3"}, []string{"IPv4-mapped"}},
		{"RC is confirmed", "uc_message_loss", linuxScene, func(s scene) { s.exchange("mlx5_0", "pingpong.uc", 100, 97, 3) },
			[]string{"97 of 100", "use RC"}, nil},
		{"RC is not there", "uc_message_loss", macScene, func(s scene) { s.exchange("rdma_en3", "pingpong.uc", 100, 97, 1) },
			[]string{"post receives"}, []string{"use RC"}},
		{"an intent without outcome", "probe_interrupted", linuxScene, func(s scene) {
			s.fail("mlx5_0", "mr.register", Interrupted, 0).Data = map[string]any{"intent": map[string]any{"probe": "mr", "at": "2026-11-01T08:00:00Z", "run": "earlier"}}
		}, []string{"no outcome was recorded", "may have"}, nil},
		{"the requirement and its level", "required_capability_not_confirmed", macScene, func(s scene) { s.c.Required = []string{"queue_pair_rc", "rdma_read"} },
			[]string{"queue_pair_rc is rejected", "rdma_read is unknown (not_tried)"}, nil},
		{"a requirement that can never pass", "required_capability_not_confirmed", linuxScene, func(s scene) {
			s.c.Required, s.c.NamedDevices = []string{"rdma_read", "send_recv"}, []string{"mlx5_0"}
		}, []string{"does not expose RDMA READ", "| rdmaprobe probe -d mlx5_0 --require send_recv"}, []string{"--plan", "--require rdma_read"}},
		{"a requirement of the host", "required_capability_not_confirmed", linuxScene, func(s scene) {
			s.bare()
			s.fail("", "lib.symbols", NotTried, 0)
			s.c.Required = []string{"lib.symbols"}
		}, []string{"| rdmaprobe probe --require lib.symbols"}, []string{"-d"}},
		{"what tries a crashed device again", "provider_crashed", linuxScene, func(s scene) { s.ended("mlx5_0", "mr.register", "ibv_reg_mr", "crashed") },
			[]string{"once more with `--force`", "| rdmaprobe probe --force -d mlx5_0"}, nil},
		{"a crash in the listing", "provider_crashed", linuxScene, func(s scene) {
			s.bare()
			s.ended("", "dev.enumerate", "ibv_get_device_list", "crashed")
		}, []string{"| rdmaprobe devices"}, []string{"-d", "--force"}},
		{"the other network", "control_channel_on_rdma_port", macScene, func(s scene) { s.control(ControlFacts{Interface: "en3"}) },
			[]string{"Ethernet or Wi-Fi"}, nil},
		{"a ping proves nothing", "address_on_bridge_not_port", macScene, func(s scene) {
			s.inBridge()
			s.iface("bridge0", func(i *hostfacts.Interface) { i.Addresses = []string{"192.0.2.1"} })
		}, []string{"192.0.2.1", "proves nothing", "en3"}, nil},
	})
}

// TestHostileTextsStayHarmless puts shell and terminal code wherever a name comes
// from outside.
func TestHostileTextsStayHarmless(t *testing.T) {
	const evil = "x; rm -rf /\x1b[31m\n`id` $(id)"
	mac, linux := macScene(), linuxScene()
	mac.host().Thunderbolt.Links[0] = hostfacts.Link{Interface: evil, Peer: evil, SpeedGbps: ptrTo(40.0), PeerGeneration: ptrTo(5)}
	mac.host().Interfaces[evil] = hostfacts.Interface{Addresses: []string{}}
	mac.host().Bridges = map[string][]string{evil: {evil}}
	mac.host().OSVersion = evil
	mac.host().RDMAProcesses = []hostfacts.Process{{PID: 1, Command: evil, Leaked: true}}
	mac.host().KernelLog = []string{evil + " Failed INIT->RTR " + evil}
	mac.c.Command = "probe"
	mac.ended("rdma_en3", "pd.alloc", evil, "crashed").Detail = "SIGSEGV" + evil
	linux.rename("mlx5_0", evil)
	linux.host().Interfaces[evil] = hostfacts.Interface{Up: ptrTo(true), Addresses: []string{}}
	linux.host().NetdevOfDevice = map[string]*string{evil: ptrTo(evil)}
	linux.host().Env = map[string]string{evil + "GID_INDEX": "77", "LD_PRELOAD": evil}
	linux.host().UverbsOfDevice[evil] = evil
	linux.row(evil, "teardown").Child = &Child{Outcome: "completed", Stderr: strings.Repeat(evil, 500)}
	bare := linuxScene()
	bare.bare()
	bare.host().Kernel = evil
	bare.host().Interfaces = map[string]hostfacts.Interface{evil: {Up: ptrTo(true)}}
	bare.host().ModulesAvail["rdma_rxe"] = false
	seen := 0
	for _, s := range []scene{mac, linux, bare} {
		for _, f := range Findings(s.d, *s.c) {
			seen++
			if i := strings.IndexFunc(f.Message+f.Remedy+f.Undo+f.Check, unicode.IsControl); i >= 0 {
				t.Errorf("%s: control character in %q %q", f.Code, f.Message, f.Remedy)
			}
			if strings.Contains(f.Remedy+f.Undo+f.Check, "rm -rf") && strings.Contains(f.Remedy+f.Undo+f.Check, "`") && commandHas(f, "rm -rf") {
				t.Errorf("%s: a command that would run what a name says: %q %q %q", f.Code, f.Remedy, f.Undo, f.Check)
			}
			if len(f.Message) > 4000 {
				t.Errorf("%s: a message of %d bytes", f.Code, len(f.Message))
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d findings: the test looks at too little", seen)
	}
}

// commandHas tells whether text stands in a command of a finding: between
// backquotes, or in its check.
func commandHas(f Finding, text string) bool {
	parts := strings.Split(f.Remedy+"`"+f.Undo+"`", "`")
	for i := 1; i < len(parts); i += 2 {
		if strings.Contains(parts[i], text) {
			return true
		}
	}
	return strings.Contains(f.Check, text)
}
