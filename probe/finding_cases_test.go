package probe

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// findingCase is a scene and the findings of severity error and warning, and of
// the code under test, that it raises: "code severity scope".
type findingCase struct {
	code   string // the one under test
	name   string
	scene  func() scene
	change func(s scene)
	want   []string
}

// is makes the wanted finding of a case.
func is(code, severity, scope string) []string { return []string{code + " " + severity + " " + scope} }

// raised lists the findings of a scene as cases want them.
func raised(s scene, code string) []string {
	var got []string
	for _, f := range Findings(s.d, *s.c) {
		if f.Severity != SeverityInfo || f.Code == code {
			got = append(got, f.Code+" "+f.Severity+" "+f.Scope)
		}
	}
	slices.Sort(got)
	return got
}

func TestFindingCases(t *testing.T) {
	cases := slices.Concat(macCases, macNetworkCases, linuxCases, deviceCases, runCases, readCases, dataCases, providerCases, createCases)
	hits, misses := map[string]int{}, map[string]int{}
	for _, c := range cases {
		t.Run(c.code+"/"+c.name, func(t *testing.T) {
			s := c.scene()
			c.change(s)
			got, want := raised(s, c.code), slices.Clone(c.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("raised %q\nwant %q", got, want)
				for _, f := range Findings(s.d, *s.c) {
					t.Logf("%s: %s", f.Code, f.Message)
				}
			}
			checkFindings(t, s)
		})
		if slices.ContainsFunc(c.want, func(w string) bool { return len(w) > len(c.code) && w[:len(c.code)+1] == c.code+" " }) {
			hits[c.code]++
		} else {
			misses[c.code]++
		}
	}
	for _, code := range FindingCodes() {
		if hits[code] == 0 || misses[code] == 0 {
			t.Errorf("%s: %d documents raise it and %d near misses do not; want at least one of each", code, hits[code], misses[code])
		}
	}
}

var macCases = []findingCase{
	{"os_too_old", "before 26.2", macScene, func(s scene) { s.host().OSVersion = "15.7.1"; s.noLibrary("missing_file") }, is("os_too_old", "error", "host")},
	{"os_too_old", "26.0", macScene, func(s scene) { s.host().OSVersion = "26.0"; s.noLibrary("missing_file") }, is("os_too_old", "error", "host")},
	{"os_too_old", "26", macScene, func(s scene) { s.host().OSVersion = "26"; s.noLibrary("missing_file") }, is("os_too_old", "error", "host")},
	{"os_too_old", "26.1", macScene, func(s scene) { s.host().OSVersion = "26.1"; s.noLibrary("missing_file") }, is("os_too_old", "error", "host")},
	{"os_too_old", "16 is what an old SDK is told", macScene, func(s scene) { s.host().OSVersion = "16.0"; s.noLibrary("missing_file") }, is("verbs_library_missing", "error", "host")},
	{"os_too_old", "old, but it loads", macScene, func(s scene) { s.host().OSVersion = "26.1" }, nil},
	{"os_too_old", "new enough", macScene, func(s scene) { s.noLibrary("missing_file") }, is("verbs_library_missing", "error", "host")},
	{"os_too_old", "version not read", macScene, func(s scene) { s.host().OSVersion = ""; s.noLibrary("missing_file") }, is("verbs_library_missing", "error", "host")},
	{"running_translated", "Rosetta", macScene, func(s scene) { s.host().Translated = ptrTo(true); s.noLibrary("missing_file") }, is("running_translated", "error", "host")},
	{"running_translated", "the loader speaks of the architecture", macScene, func(s scene) {
		s.host().Translated = ptrTo(true)
		s.noLibrary("wrong_architecture")
	}, is("running_translated", "error", "host")},
	{"running_translated", "not known", macScene, func(s scene) { s.host().Translated = nil }, nil},
	{"verbs_library_missing", "Linux", linuxScene, func(s scene) { s.bare(); s.noLibrary("missing_file") }, is("verbs_library_missing", "error", "host")},
	{"verbs_library_missing", "another load error", linuxScene, func(s scene) { s.bare(); s.noLibrary("wrong_architecture") }, is("verbs_library_mismatch", "error", "host")},
	{"verbs_library_missing", "unknown text", macScene, func(s scene) { s.noLibrary("unknown") }, is("verbs_library_mismatch", "error", "host")},
	{"rdma_disabled", "Thunderbolt 5", macScene, func(s scene) { s.host().RDMACtl = "disabled"; s.bare() }, is("rdma_disabled", "error", "host")},
	{"rdma_disabled", "generation not known", macScene, func(s scene) { s.host().RDMACtl = "disabled"; s.host().Thunderbolt = nil; s.bare() }, is("no_rdma_device", "error", "host")},
	{"rdma_disabled", "Thunderbolt 4", macScene, func(s scene) { s.host().RDMACtl = "disabled"; s.thunderbolt4(); s.bare() }, is("thunderbolt_generation_unsupported", "error", "host")},
	{"thunderbolt_generation_unsupported", "enabled, no devices", macScene, func(s scene) { s.thunderbolt4(); s.bare() }, is("thunderbolt_generation_unsupported", "error", "host")},
	{"thunderbolt_generation_unsupported", "devices listed anyway", macScene, func(s scene) {
		s.thunderbolt4()
		s.state("rdma_en3", "down")
	}, []string{"port_down error rdma_en3", "thunderbolt_generation_unsupported error host"}},
	{"thunderbolt_generation_unsupported", "a slow link on a Thunderbolt 5 host", macScene, func(s scene) { s.link(0).SpeedGbps = ptrTo(40.0); s.link(0).PeerGeneration = ptrTo(4) }, nil},
	{"thunderbolt_generation_unsupported", "Linux drives Thunderbolt 4", linuxScene, func(s scene) { s.host().Thunderbolt = &hostfacts.Thunderbolt{Generation: 4} }, nil},
	{"link_speed_below_tb5", "both ends could do more", macScene, func(s scene) { s.link(0).SpeedGbps = ptrTo(40.0) }, is("link_speed_below_tb5", "error", "en3")},
	{"link_speed_below_tb5", "20 Gb/s on another port", macScene, func(s scene) {
		*s.link(1) = hostfacts.Link{Interface: "en4", SpeedGbps: ptrTo(20.0), Peer: "mac-c", PeerRDMA: ptrTo(true), PeerGeneration: ptrTo(5)}
		s.host().Bridges = nil
	}, is("link_speed_below_tb5", "error", "en4")},
	{"link_speed_below_tb5", "the peer's generation is not known", macScene, func(s scene) { s.link(0).SpeedGbps, s.link(0).PeerGeneration = ptrTo(40.0), nil }, nil},
	{"link_speed_below_tb5", "nothing connected", macScene, func(s scene) { s.link(1).SpeedGbps, s.link(1).PeerGeneration = ptrTo(0.0), ptrTo(5) }, nil},
	{"link_speed_below_tb5", "120 Gb/s", macScene, func(s scene) { s.link(0).SpeedGbps = ptrTo(120.0) }, nil},
	{"mac_studio_port_en2", "cabled", macScene, func(s scene) { s.studio() }, is("mac_studio_port_en2", "warning", "rdma_en2")},
	{"mac_studio_port_en2", "another model", macScene, func(s scene) { s.studio(); s.host().Model = "Mac16,8" }, nil},
	{"mac_studio_port_en2", "nothing in it", macScene, func(s scene) { s.studio(); s.link(2).Peer = "" }, nil},
	{"address_manager_resets", "manual address", macScene, func(s scene) { s.host().AddressManagerDaemon = ptrTo(true) }, is("address_manager_resets", "warning", "host")},
	{"address_manager_resets", "address by DHCP", macScene, func(s scene) {
		s.host().AddressManagerDaemon = ptrTo(true)
		s.iface("en3", func(i *hostfacts.Interface) { i.Manual = ptrTo(false) })
	}, nil},
	{"address_manager_resets", "a manual address elsewhere", macScene, func(s scene) {
		s.host().AddressManagerDaemon = ptrTo(true)
		s.iface("en3", func(i *hostfacts.Interface) { i.Manual = nil })
		s.iface("en0", func(i *hostfacts.Interface) { i.Manual = ptrTo(true) })
	}, nil},
	{"os_builds_differ", "handshake", macScene, func(s scene) { s.peer(PeerFacts{Host: "mac-b", OSBuild: "25E100"}) }, is("os_builds_differ", "warning", "host")},
	{"os_builds_differ", "the same build", macScene, func(s scene) { s.peer(PeerFacts{Host: "mac-b", OS: "macos", OSBuild: "25F80"}) }, nil},
	{"os_builds_differ", "the peer is no Mac", macScene, func(s scene) { s.peer(PeerFacts{Host: "node-b", OS: "linux", OSBuild: "6.8.0"}) }, nil},
	{"os_builds_differ", "the peer did not say", macScene, func(s scene) { s.peer(PeerFacts{Host: "mac-b"}) }, nil},
	{"pd_pool_exhausted", "all in use", macScene, func(s scene) { s.host().IOClassCount[pdClass] = 11 }, is("pd_pool_exhausted", "error", "rdma_en3")},
	{"pd_pool_exhausted", "leaked owner", macScene, func(s scene) {
		s.host().RDMAProcesses = []hostfacts.Process{{PID: 5151, Command: "rank", Leaked: true}}
	}, is("pd_pool_exhausted", "error", "rdma_en3")},
	{"pd_pool_exhausted", "leaked owner of another device", macScene, func(s scene) {
		s.host().RDMAProcesses = []hostfacts.Process{{PID: 5151, Leaked: true, Devices: []string{"rdma_en7"}}}
	}, nil},
	{"pd_pool_exhausted", "explains a failed allocation", macScene, func(s scene) {
		s.host().IOClassCount[pdClass] = 11
		s.null("rdma_en3", "pd.alloc", "ibv_alloc_pd", 0)
	}, is("pd_pool_exhausted", "error", "rdma_en3")},
	{"pd_pool_exhausted", "one left", macScene, func(s scene) { s.host().IOClassCount[pdClass] = 10 }, nil},
	{"pd_pool_exhausted", "counted over two devices that both gave one", macScene, func(s scene) { s.addMac("rdma_en5", 2); s.host().IOClassCount[pdClass] = 12 }, nil},
	{"pd_pool_exhausted", "max_pd not read", macScene, func(s scene) { s.host().IOClassCount[pdClass] = 11; s.dev("rdma_en3").Attr = nil }, nil},
	{"peer_not_advertising_rdma", "Mac", macScene, func(s scene) {
		s.link(0).PeerRDMA = ptrTo(false)
		s.state("rdma_en3", "down")
	}, []string{"peer_not_advertising_rdma error host", "port_down error rdma_en3"}},
	{"peer_not_advertising_rdma", "Linux, driver loaded", linuxScene, func(s scene) {
		s.bare()
		s.host().Modules = []string{"odl_tb5"}
		s.host().Thunderbolt = &hostfacts.Thunderbolt{Links: []hostfacts.Link{{Interface: "thunderbolt0", Peer: "host-b", PeerRDMA: ptrTo(false)}}}
	}, is("peer_not_advertising_rdma", "error", "host")},
	{"peer_not_advertising_rdma", "another peer does", macScene, func(s scene) {
		s.link(0).PeerRDMA = ptrTo(false)
		*s.link(1) = hostfacts.Link{Interface: "en4", Peer: "mac-c", PeerRDMA: ptrTo(true)}
		s.host().Bridges = nil
		s.state("rdma_en3", "down")
	}, is("port_down", "error", "rdma_en3")},
	{"peer_not_advertising_rdma", "not known of the peer", macScene, func(s scene) { s.link(0).PeerRDMA = nil; s.state("rdma_en3", "down") }, is("port_down", "error", "rdma_en3")},
	{"peer_not_advertising_rdma", "a port is ACTIVE", macScene, func(s scene) { s.link(0).PeerRDMA = ptrTo(false) }, nil},
	{"peer_not_advertising_rdma", "the devices are of another kind", linuxScene, func(s scene) {
		s.host().Thunderbolt = &hostfacts.Thunderbolt{Links: []hostfacts.Link{{Interface: "thunderbolt0", Peer: "laptop", PeerRDMA: ptrTo(false)}}}
		s.state("mlx5_0", "down")
	}, is("port_down", "error", "mlx5_0")},
	{"peer_not_advertising_rdma", "explained by the link", macScene, func(s scene) {
		s.link(0).PeerRDMA, s.link(0).SpeedGbps = ptrTo(false), ptrTo(40.0)
		s.bare()
	}, is("link_speed_below_tb5", "error", "en3")},
}

// noLibrary takes the library out of a scene.
func (s scene) noLibrary(class string) {
	s.bare()
	s.d.Provider.Library = Library{Error: "load lib: no such file", Symbols: map[string]bool{}}
	for _, id := range []string{"lib.load", "lib.symbols", "dev.enumerate"} {
		s.fail("", id, LibraryMissing, 0)
	}
	s.row("", "lib.load").Data = map[string]any{"class": class}
}

// lacks makes a library one that was loaded and has not all functions.
func (s scene) lacks(functions ...string) {
	s.d.Provider.Library.Asked, s.d.Provider.Library.Path, s.d.Provider.Library.Loaded = "libother.so.6", "/lib/libother.so.6", true
	s.fail("", "lib.symbols", SymbolMissing, 0).Detail = "not in the library: " + strings.Join(functions, ", ")
}

// thunderbolt4 makes a scene's Mac an older one.
func (s scene) thunderbolt4() {
	s.host().Thunderbolt.Generation = 4
	s.link(0).SpeedGbps, s.link(0).PeerRDMA, s.link(0).PeerGeneration = ptrTo(40.0), ptrTo(false), nil
}

func (s scene) link(i int) *hostfacts.Link { return &s.host().Thunderbolt.Links[i] }

// studio cables the port beside the Ethernet jack of a Mac Studio.
func (s scene) studio() {
	s.host().Thunderbolt.Links = append(s.host().Thunderbolt.Links, hostfacts.Link{Interface: "en2", Peer: "mac-c", PeerRDMA: ptrTo(true)})
	s.addMac("rdma_en2", 3)
}

func (s scene) iface(name string, change func(*hostfacts.Interface)) {
	i := s.host().Interfaces[name]
	change(&i)
	s.host().Interfaces[name] = i
}

var macNetworkCases = []findingCase{
	{"port_in_thunderbolt_bridge", "no address", macScene, func(s scene) { s.inBridge() },
		[]string{"gid_no_ipv4_mapped error rdma_en3", "port_in_thunderbolt_bridge error en3"}},
	{"port_in_thunderbolt_bridge", "only a link-local IPv6 address", macScene, func(s scene) {
		s.inBridge()
		s.iface("en3", func(i *hostfacts.Interface) { i.Addresses = []string{"fe80::200:5eff:fe00:5301"} })
	}, []string{"gid_no_ipv4_mapped error rdma_en3", "port_in_thunderbolt_bridge error en3"}},
	{"port_in_thunderbolt_bridge", "with an address of its own", macScene, func(s scene) { s.host().Bridges["bridge0"] = []string{"en3", "en4"} }, nil},
	{"port_in_thunderbolt_bridge", "addresses not read", macScene, func(s scene) {
		s.inBridge()
		s.iface("en3", func(i *hostfacts.Interface) { i.Addresses = nil })
	}, is("gid_no_ipv4_mapped", "error", "rdma_en3")},
	{"port_in_thunderbolt_bridge", "nothing connected to it", macScene, func(s scene) { s.addIdle() }, nil},
	{"port_in_thunderbolt_bridge", "a bridge of other interfaces", macScene, func(s scene) {
		s.host().Bridges["bridge100"] = []string{"vmenet0"}
		s.host().Interfaces["vmenet0"] = hostfacts.Interface{Addresses: []string{}}
	}, nil},
	{"address_on_bridge_not_port", "on the bridge", macScene, func(s scene) {
		s.inBridge()
		s.iface("bridge0", func(i *hostfacts.Interface) { i.Addresses = []string{"192.0.2.1"} })
	}, []string{"address_on_bridge_not_port error en3", "gid_no_ipv4_mapped error rdma_en3"}},
	{"address_on_bridge_not_port", "both have one", macScene, func(s scene) {
		s.host().Bridges["bridge0"] = []string{"en3", "en4"}
		s.iface("bridge0", func(i *hostfacts.Interface) { i.Addresses = []string{"203.0.113.1"} })
	}, nil},
	{"gid_no_ipv4_mapped", "link-local only", macScene, func(s scene) {
		s.gids("rdma_en3", GID{Index: 0, GID: "fe80::200:5eff:fe00:5301"}, GID{Index: 1, GID: "fe80::200:5eff:fe00:5302"})
	}, is("gid_no_ipv4_mapped", "error", "rdma_en3")},
	{"gid_no_ipv4_mapped", "empty table", macScene, func(s scene) { s.gids("rdma_en3") }, is("gid_no_ipv4_mapped", "error", "rdma_en3")},
	{"gid_no_ipv4_mapped", "another name", macScene, func(s scene) {
		s.addMac("tbt7", 2)
		s.gids("tbt7", GID{GID: "fe80::200:5eff:fe00:5304"})
	}, is("gid_no_ipv4_mapped", "error", "tbt7")},
	{"gid_no_ipv4_mapped", "at index 2", macScene, func(s scene) {
		s.gids("rdma_en3", GID{Index: 0, GID: "fe80::200:5eff:fe00:5301"}, GID{Index: 2, GID: "::ffff:192.0.2.1"})
	}, nil},
	{"gid_no_ipv4_mapped", "port down", macScene, func(s scene) { s.addIdle() }, nil},
	{"gid_no_ipv4_mapped", "table not read", macScene, func(s scene) {
		s.fail("rdma_en3", "gid.ipv4_mapped", Timeout, 0)
		s.dev("rdma_en3").Ports[0].GIDs = nil
	}, nil},
	{"gid_no_ipv4_mapped", "not Thunderbolt", linuxScene, func(s scene) { s.gids("mlx5_0", GID{Index: 1, GID: "fe80::200:5eff:fe00:5301", Type: "roce_v2"}) }, nil},
	{"gid_only_at_index_0", "nothing else", macScene, func(s scene) { s.gids("rdma_en3", GID{GID: "::ffff:192.0.2.1"}) },
		is("gid_only_at_index_0", "warning", "rdma_en3")},
	{"gid_only_at_index_0", "before another", macScene, func(s scene) {
		s.gids("rdma_en3", GID{GID: "::ffff:192.0.2.1"}, GID{Index: 1, GID: "::ffff:192.0.2.9"})
	}, nil},
	{"gid_only_at_index_0", "it was named", macScene, func(s scene) {
		s.gids("rdma_en3", GID{GID: "::ffff:192.0.2.1"})
		s.c.GIDIndex = new(int)
	}, nil},
	{"gid_only_at_index_0", "it works", macScene, func(s scene) {
		s.gids("rdma_en3", GID{GID: "::ffff:192.0.2.1"})
		s.confirm("rdma_en3", "qp.uc.rtr")
	}, nil},
	{"gid_only_at_index_0", "not Thunderbolt", linuxScene, func(s scene) { s.gids("mlx5_0", GID{GID: "::ffff:192.0.2.1", Type: "roce_v2"}) }, nil},
	{"gid_self_assigned_volatile", "self-assigned", macScene, func(s scene) { s.selfAssigned() }, is("gid_self_assigned_volatile", "info", "rdma_en3")},
	{"gid_self_assigned_volatile", "the same as last time", macScene, func(s scene) {
		s.selfAssigned()
		s.c.PreviousGIDs["rdma_en3"] = "::ffff:169.254.10.1"
	}, is("gid_self_assigned_volatile", "info", "rdma_en3")},
	{"gid_self_assigned_volatile", "another one than last time", macScene, func(s scene) {
		s.selfAssigned()
		s.c.PreviousGIDs["rdma_en3"] = "::ffff:169.254.77.8"
	}, is("gid_self_assigned_volatile", "warning", "rdma_en3")},
	{"gid_self_assigned_volatile", "fixed, though another one than last time", macScene, func(s scene) { s.c.PreviousGIDs["rdma_en3"] = "::ffff:192.0.2.77" }, nil},
	{"route_not_via_thunderbolt", "169.254 by Wi-Fi", macScene, func(s scene) {
		s.selfAssigned()
		s.control(ControlFacts{Peer: "169.254.20.2"})
	}, is("route_not_via_thunderbolt", "error", "en3")},
	{"route_not_via_thunderbolt", "by the default route, and the prefix not known", macScene, func(s scene) {
		s.iface("en3", func(i *hostfacts.Interface) { i.Prefixes = nil })
		delete(s.host().Routes, "192.0.2.0/24")
		s.control(ControlFacts{Peer: "192.0.2.2"})
	}, is("route_not_via_thunderbolt", "error", "en3")},
	{"route_not_via_thunderbolt", "by another Thunderbolt port", macScene, func(s scene) {
		s.host().Routes["192.0.2.0/24"] = "en4"
		s.control(ControlFacts{Peer: "192.0.2.2"})
	}, is("route_not_via_thunderbolt", "error", "en3")},
	{"route_not_via_thunderbolt", "by the port", macScene, func(s scene) { s.control(ControlFacts{Peer: "192.0.2.2"}) }, nil},
	{"route_not_via_thunderbolt", "over Ethernet, as it should be", macScene, func(s scene) { s.control(ControlFacts{Peer: "198.51.100.20", PeerName: "mac-b"}) }, nil},
	{"route_not_via_thunderbolt", "routes not read", macScene, func(s scene) {
		s.host().Routes = nil
		s.selfAssigned()
		s.control(ControlFacts{Peer: "169.254.20.2"})
	}, nil},
	{"path_filtered", "ping passes, TCP does not", macScene, func(s scene) {
		s.control(ControlFacts{Peer: "192.0.2.2", Ping: ptrTo(true), BoundInterface: "en3", BoundConnects: ptrTo(false)})
	}, is("path_filtered", "error", "en3")},
	{"path_filtered", "both pass", macScene, func(s scene) {
		s.control(ControlFacts{Peer: "192.0.2.2", Ping: ptrTo(true), BoundInterface: "en3", BoundConnects: ptrTo(true)})
	}, nil},
	{"path_filtered", "no ping was tried", macScene, func(s scene) {
		s.control(ControlFacts{Peer: "192.0.2.2", BoundInterface: "en3", BoundConnects: ptrTo(false)})
	}, nil},
	{"control_channel_on_rdma_port", "by its interface", macScene, func(s scene) { s.control(ControlFacts{Peer: "192.0.2.2", Interface: "en3"}) }, is("control_channel_on_rdma_port", "warning", "en3")},
	{"control_channel_on_rdma_port", "by its address", macScene, func(s scene) { s.control(ControlFacts{Peer: "192.0.2.2", Local: "192.0.2.1"}) }, is("control_channel_on_rdma_port", "warning", "en3")},
	{"control_channel_on_rdma_port", "over Ethernet", macScene, func(s scene) {
		s.control(ControlFacts{Peer: "198.51.100.20", Local: "198.51.100.10", Interface: "en0"})
	}, nil},
	{"control_channel_on_rdma_port", "on a RoCE port", linuxScene, func(s scene) { s.control(ControlFacts{Peer: "192.0.2.2", Local: "192.0.2.1", Interface: "ens1f0"}) }, nil},
	{"control_channel_blocked_local_network", "at once", macScene, func(s scene) { s.blocked(65, 2*time.Millisecond, ptrTo(true)) }, is("control_channel_blocked_local_network", "error", "host")},
	{"control_channel_blocked_local_network", "after seconds", macScene, func(s scene) { s.blocked(65, 5*time.Second, ptrTo(true)) }, nil},
	{"control_channel_blocked_local_network", "nobody else tried", macScene, func(s scene) { s.blocked(65, 2*time.Millisecond, nil) }, nil},
	{"control_channel_blocked_local_network", "nobody reaches it", macScene, func(s scene) { s.blocked(65, 2*time.Millisecond, ptrTo(false)) }, nil},
	{"control_channel_blocked_local_network", "another errno", macScene, func(s scene) { s.blocked(61, 2*time.Millisecond, ptrTo(true)) }, nil},
	{"control_channel_blocked_local_network", "Linux has no such rule", linuxScene, func(s scene) { s.blocked(113, 2*time.Millisecond, ptrTo(true)) }, nil},
}

// inBridge puts the cabled port into the bridge, without an address.
func (s scene) inBridge() {
	s.host().Bridges["bridge0"] = []string{"en3", "en4"}
	s.iface("en3", func(i *hostfacts.Interface) { i.Addresses, i.Prefixes, i.Manual = []string{}, nil, nil })
	s.gids("rdma_en3", GID{Index: 0, GID: "fe80::200:5eff:fe00:5301"})
}

// selfAssigned gives the cabled port an address that nobody set.
func (s scene) selfAssigned() {
	s.iface("en3", func(i *hostfacts.Interface) {
		i.Addresses, i.Prefixes, i.SelfAssigned, i.Manual = []string{"169.254.10.1"}, []string{"169.254.0.0/16"}, ptrTo(true), ptrTo(false)
	})
	s.gids("rdma_en3", GID{Index: 0, GID: "fe80::200:5eff:fe00:5301"}, GID{Index: 1, GID: "::ffff:169.254.10.1"})
}

func (s scene) control(c ControlFacts) { s.c.Control = &c }
func (s scene) peer(p PeerFacts)       { s.c.Peers = append(s.c.Peers, p) }

func (s scene) blocked(errno int, after time.Duration, other *bool) {
	p := rdma.PlatformDarwin
	if s.host().OS == "linux" {
		p = rdma.PlatformLinux
	}
	s.control(ControlFacts{
		Peer: "198.51.100.20", Elapsed: after, OtherProgramConnects: other,
		Errno: &Errno{Number: errno, Name: rdma.ErrnoNameOn(p, errno), Platform: p},
	})
}
