package probe

import (
	"strings"
	"testing"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// remedyCase is a machine, and what one of its findings has to say and must not.
type remedyCase struct {
	name, code string
	scene      func() scene
	change     func(scene)
	says, not  []string
}

func checkRemedies(t *testing.T, cases []remedyCase) {
	t.Helper()
	for _, c := range cases {
		s := c.scene()
		c.change(s)
		text := textOf(s, c.code)
		if text == "" {
			t.Errorf("%s: no %s", c.name, c.code)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s does not say %q: %s", c.name, c.code, want, text)
			}
		}
		for _, bad := range c.not {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %s says %q: %s", c.name, c.code, bad, text)
			}
		}
		checkFindings(t, s)
	}
}

// A remedy is for the machine as it is: nothing is given that it has, and no
// command names what it does not have.
func TestRemediesKnowWhatIsThere(t *testing.T) {
	other := GID{Index: 0, GID: "fe80::200:5eff:fe00:5302", Type: "roce_v1"}
	checkRemedies(t, []remedyCase{
		{"no address", "gid_no_ipv4_mapped", macScene, func(s scene) {
			s.gids("rdma_en3", GID{GID: "fe80::200:5eff:fe00:5301"})
			s.iface("en3", func(i *hostfacts.Interface) { i.Addresses = []string{"fe80::1"} })
		}, []string{"give en3 a fixed IPv4 address", "en3 inet ADDRESS -alias"}, nil},
		{"an address that the table does not show", "gid_no_ipv4_mapped", macScene, func(s scene) { s.gids("rdma_en3", GID{GID: "fe80::200:5eff:fe00:5301"}) },
			[]string{"it has 192.0.2.1", "unplug"}, []string{"give en3", "-alias", "bridge"}},
		{"an address on a member of a bridge", "gid_no_ipv4_mapped", macScene, func(s scene) {
			s.host().Bridges["bridge0"] = []string{"en3", "en4"}
			s.gids("rdma_en3", GID{GID: "fe80::200:5eff:fe00:5301"})
		}, []string{"it has 192.0.2.1", "out of the bridge"}, []string{"give en3"}},
		{"an empty table on the host's own network", "gid_table_empty", linuxScene, func(s scene) { s.gids("mlx5_0"); s.host().Netns = "host" },
			[]string{"although the interface ens1f0 has 192.0.2.1", "ip link set ens1f0 down"}, []string{"namespace", "--network host", "give it"}},
		{"an empty table in a container on the host's network", "gid_table_empty", linuxScene, func(s scene) {
			s.gids("mlx5_0")
			s.host().Netns, s.host().Container = "host", ptrTo(true)
		}, []string{"ens1f0"}, []string{"namespace", "--network host"}},
		{"an empty table and no address", "gid_table_empty", linuxScene, func(s scene) {
			s.gids("mlx5_0")
			s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = []string{} })
		}, []string{"ip addr add ADDRESS/PREFIX dev ens1f0"}, []string{"namespace", "although"}},
		{"an empty table in a container", "gid_table_empty", linuxScene, func(s scene) {
			s.gids("mlx5_0")
			s.host().Container, s.host().NetdevOfDevice["mlx5_0"] = ptrTo(true), nil
		}, []string{"namespace", "--network host"}, []string{"ip link"}},
		{"a table of old addresses", "gid_stale", linuxScene, func(s scene) {
			s.gids("mlx5_0", GID{Index: 2, GID: "::ffff:192.0.2.77", Type: "roce_v1"}, GID{Index: 3, GID: "::ffff:192.0.2.77", Type: "roce_v2"})
		}, []string{"take ens1f0 down and up", "192.0.2.1"}, []string{"give the interface", "none of the entries"}},
		{"one index for two devices", "configured_gid_index_empty", linuxScene, func(s scene) {
			s.second()
			s.gids("mlx5_1", other, GID{Index: 5, GID: "::ffff:192.0.2.2", Type: "roce_v2"})
			s.host().Env["NCCL_IB_GID_INDEX"] = "3"
		}, []string{"the usable entry is now 5", "no one index"}, []string{"=5 works"}},
		{"one index, and the other device is left out", "configured_gid_index_empty", linuxScene, func(s scene) {
			s.second()
			s.gids("mlx5_1", other, GID{Index: 5, GID: "::ffff:192.0.2.2", Type: "roce_v2"})
			s.host().Env["NCCL_IB_GID_INDEX"], s.host().Env["NCCL_IB_HCA"] = "3", "mlx5_1"
		}, []string{"NCCL_IB_GID_INDEX=5 works"}, []string{"no one index"}},
		{"iWARP without an address", "netdev_without_address", linuxScene, func(s scene) {
			s.dev("mlx5_0").Transport = "iwarp"
			s.gids("mlx5_0", GID{GID: "2:5eff:fe00::", Type: "none"})
			s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = []string{} })
		}, []string{"this iWARP device", "ip addr add ADDRESS/PREFIX dev ens1f0"}, []string{"RoCE"}},
	})
}

// A port that is not ACTIVE is told what keeps it so, as far as that is known.
func TestRemediesOfAPortThatIsDown(t *testing.T) {
	down := func(change func(s scene)) func(scene) {
		return func(s scene) { s.state("rdma_en3", "down"); change(s) }
	}
	doctor := "run `rdmaprobe doctor` on the peer"
	checkRemedies(t, []remedyCase{
		{"a link that is there", "port_down", macScene, down(func(scene) {}), []string{doctor}, nil},
		{"a peer with Thunderbolt 4", "port_down", macScene, down(func(s scene) { s.link(0).PeerGeneration, s.link(0).SpeedGbps = ptrTo(4), ptrTo(40.0) }),
			[]string{"older than Thunderbolt 5"}, []string{doctor, "cable"}},
		{"a slow link", "port_down", macScene, down(func(s scene) { s.link(0).SpeedGbps = ptrTo(40.0) }), []string{"mend the link"}, []string{doctor}},
		{"RDMA is off here", "port_down", macScene, down(func(s scene) { s.host().RDMACtl = "disabled" }), []string{"off on this Mac"}, []string{doctor}},
		{"the port beside the Ethernet jack", "port_down", macScene, down(func(s scene) {
			s.studio()
			s.state("rdma_en2", "down")
			s.link(1).Peer = ""
			s.link(0).Interface = "en9"
		}),
			[]string{"move the cable"}, nil},
		{"Thunderbolt 3", "port_down", macScene, down(func(s scene) { s.thunderbolt4(); s.host().Thunderbolt.Generation = 3 }), []string{"a Thunderbolt 3 controller"}, []string{"Thunderbolt 4"}},
		{"InfiniBand with its link", "port_down", linuxScene, func(s scene) {
			s.infiniband("mlx5_0")
			s.state("mlx5_0", "init")
			s.dev("mlx5_0").Ports[0].PhysState = "link_up"
		}, []string{"subnet manager", "sminfo"}, []string{"check cable"}},
		{"InfiniBand without its link", "port_down", linuxScene, func(s scene) {
			s.infiniband("mlx5_0")
			s.state("mlx5_0", "down")
			s.dev("mlx5_0").Ports[0].PhysState = "polling"
		}, []string{"check cable"}, []string{"sminfo"}},
		{"the Ethernet port of a device with both", "port_down", linuxScene, func(s scene) {
			s.infiniband("mlx5_0")
			s.twoPorts("mlx5_0")
			p := &s.dev("mlx5_0").Ports[1]
			p.LinkLayer, p.State, p.Netdev = "ethernet", "down", "ens1f1"
			s.portRow("mlx5_0", "port.state", 2, "confirmed", "down")
		}, []string{"ip link set ens1f1 up"}, []string{"subnet manager"}},
	})
}

// Routes, limits and libraries: the command is one of this system.
func TestRemediesOfTheHost(t *testing.T) {
	routed := func(by, peer string, change func(s scene)) func(scene) {
		return func(s scene) {
			s.host().Routes = map[string]string{"0.0.0.0/0": "en0", "192.0.2.0/24": by, "169.254.0.0/16": by}
			s.control(ControlFacts{Peer: peer})
			change(s)
		}
	}
	fixed := "fixed addresses"
	checkRemedies(t, []remedyCase{
		{"a VPN has the route", "route_not_via_thunderbolt", macScene, routed("utun4", "192.0.2.2", func(scene) {}),
			[]string{"VPN that utun4", "route -n add -host 192.0.2.2 -interface en3", "route -n delete -host 192.0.2.2"}, []string{fixed}},
		{"Wi-Fi has a fixed network", "route_not_via_thunderbolt", macScene, routed("en1", "192.0.2.2", func(scene) {}), []string{"-interface en3"}, []string{fixed, "VPN"}},
		{"self-assigned", "route_not_via_thunderbolt", macScene, routed("en0", "169.254.9.9", func(s scene) {
			s.iface("en3", func(i *hostfacts.Interface) { i.Addresses, i.Prefixes = []string{"169.254.3.3"}, nil })
		}), []string{fixed}, []string{"VPN", "route -n add"}},
		{"Linux", "route_not_via_thunderbolt", linuxScene, func(s scene) {
			s.host().Thunderbolt = &hostfacts.Thunderbolt{Links: []hostfacts.Link{{Interface: "thunderbolt0", Peer: "host-b"}}}
			s.host().Interfaces["thunderbolt0"] = hostfacts.Interface{Up: ptrTo(true), Addresses: []string{"192.0.2.65"}, Prefixes: []string{"192.0.2.64/30"}}
			s.host().Routes = map[string]string{"0.0.0.0/0": "ens1f0"}
			s.control(ControlFacts{Peer: "192.0.2.66"})
		}, []string{"ip route get 192.0.2.66", "ip route add 192.0.2.66 dev thunderbolt0"}, []string{"route -n", "Mac"}},
		{"an old macOS on Thunderbolt 4", "os_too_old", macScene, func(s scene) {
			s.thunderbolt4()
			s.host().OSVersion = "15.6"
			s.noLibrary("missing_file")
		}, []string{"no RDMA"}, []string{"update to macOS"}},
		{"a limit in a container", "memlock_too_low", linuxScene, func(s scene) {
			s.host().MemlockKiB, s.host().Container = ptrTo(int64(64)), ptrTo(true)
			s.null("mlx5_0", "cq.create", "ibv_create_cq", 12)
		}, []string{"--ulimit memlock=-1"}, []string{"log in again", "/etc/security"}},
		{"a limit that is a number", "memlock_too_low", linuxScene, func(s scene) {
			s.host().MemlockKiB, s.host().LimitsConfMemlock = ptrTo(int64(64)), "8192"
			s.null("mlx5_0", "cq.create", "ibv_create_cq", 12)
		}, []string{"already allows 8192 KiB"}, nil},
		{"a provider that is there and takes nothing", "provider_library_missing", linuxScene, func(s scene) { s.unlist("mlx5_0") },
			[]string{"no provider that takes the device", "mlx5", "IBV_SHOW_WARNINGS=1"}, []string{"apt install"}},
		{"no protection domain on a Mac", "pd_alloc_failed_port_active", macScene, func(s scene) { s.null("rdma_en3", "pd.alloc", "ibv_alloc_pd", 0) },
			[]string{"unplug"}, []string{"still do not return"}},
		{"no protection domain on Linux", "pd_alloc_failed_port_active", linuxScene, func(s scene) { s.null("mlx5_0", "pd.alloc", "ibv_alloc_pd", 12) },
			[]string{"dmesg"}, []string{"Mac", "end other"}},
	})
}

// Where the distribution is known, only its own command is told.
func TestPackagesAreThoseOfTheDistribution(t *testing.T) {
	version := func(os string, change func(s scene)) func(scene) {
		return func(s scene) { change(s); s.host().OSVersion = os }
	}
	noProvider := func(s scene) { s.unlist("mlx5_0"); s.host().Providers = ptrTo(false) }
	noModule := func(s scene) { s.bare(); s.host().ModulesAvail = map[string]bool{"rdma_rxe": false} }
	checkRemedies(t, []remedyCase{
		{"not known", "provider_library_missing", linuxScene, version("", noProvider), []string{"apt", "dnf", "zypper"}, nil},
		{"another one", "provider_library_missing", linuxScene, version("arch", noProvider), []string{"apt", "dnf", "zypper"}, nil},
		{"Debian", "provider_library_missing", linuxScene, version("debian 13", noProvider), []string{"sudo apt install ibverbs-providers"}, []string{"dnf", "zypper"}},
		{"Fedora", "provider_library_missing", linuxScene, version("fedora 41", noProvider), []string{"sudo dnf install libibverbs"}, []string{"apt", "zypper"}},
		{"openSUSE", "provider_library_missing", linuxScene, version("opensuse-leap 15.6", noProvider), []string{"sudo zypper install libibverbs"}, []string{"apt", "dnf"}},
		{"no library", "verbs_library_missing", linuxScene, version("rocky 9.4", func(s scene) { s.noLibrary("missing_file") }), []string{"sudo dnf install libibverbs"}, []string{"apt install"}},
		{"Ubuntu without the module", "no_rdma_device", linuxScene, version("ubuntu 24.04", noModule), []string{"linux-modules-extra-6.8.0-45-generic"}, []string{"dnf"}},
		{"Debian without the module", "no_rdma_device", linuxScene, version("debian 12", noModule), []string{"linux-image-amd64"}, []string{"modules-extra", "dnf"}},
		{"Kali without the module", "no_rdma_device", linuxScene, version("kali 2024.3", noModule), []string{"package of this distribution"}, []string{"modules-extra", "dnf", "sudo apt"}},
		{"Mint without the module", "no_rdma_device", linuxScene, version("linuxmint 22", noModule), []string{"linux-modules-extra-6.8.0-45-generic"}, []string{"dnf"}},
		{"Fedora without the module", "no_rdma_device", linuxScene, version("fedora 41", noModule), []string{"kernel-modules-extra"}, []string{"apt install"}},
	})
}

// The command that checks a finding about the peer names the peer.
func TestChecksNameThePeer(t *testing.T) {
	s := macScene()
	s.control(ControlFacts{Peer: "192.0.2.2", Interface: "en3"})
	if text := textOf(s, "control_channel_on_rdma_port"); !strings.HasSuffix(text, "| rdmaprobe doctor --peer 192.0.2.2") {
		t.Errorf("%q", text)
	}
	s.control(ControlFacts{Peer: "$(id)", Interface: "en3"})
	if text := textOf(s, "control_channel_on_rdma_port"); !strings.HasSuffix(text, "| rdmaprobe doctor --peer HOST") {
		t.Errorf("%q", text)
	}
}

// Who holds a pool is told as far as it is known.
func TestRemediesOfPools(t *testing.T) {
	process := func(p hostfacts.Process) func(scene) {
		return func(s scene) {
			s.host().RDMAProcesses = []hostfacts.Process{p}
			s.noQueuePair("rdma_en3", 16, qpUC)
		}
	}
	checkRemedies(t, []remedyCase{
		{"so many", "qp_pool_exhausted", macScene, process(hostfacts.Process{PID: 77, Command: "exo", QPs: ptrTo(10)}), []string{"hold queue pairs", "10 of 11"}, []string{"may hold"}},
		{"not known how many", "qp_pool_exhausted", macScene, process(hostfacts.Process{PID: 77, Command: "exo"}), []string{"have this device open, and may hold"}, []string{" of 11"}},
		{"the owner is gone", "pd_pool_exhausted", macScene, process(hostfacts.Process{PID: 77, Command: "exo", Leaked: true}), []string{"restart the Mac"}, []string{"end the programs"}},
		{"a link-local entry was named", "gid_index_refused", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 22, 0) },
			[]string{"index 0", "fe80::200:5eff:fe00:5301", "errno 22 (EINVAL)", "use 1"}, []string{"restart the machine"}},
		{"an empty slot was named", "gid_index_refused", macScene, func(s scene) { s.rtr("rdma_en3", "qp.uc.rtr", 96, 5) }, []string{"index 5, which is empty"}, nil},
	})
}

// Thunderbolt on another system is no Mac: nothing is restarted or read that it has not.
func TestRemediesOfThunderboltElsewhere(t *testing.T) {
	onLinux := func(change func(s scene)) func(scene) {
		return func(s scene) {
			p := &s.dev("mlx5_0").Ports[0]
			s.dev("mlx5_0").Transport, p.LinkLayer = "unspecified", "thunderbolt"
			s.gids("mlx5_0", GID{Index: 1, GID: "::ffff:192.0.2.1"})
			change(s)
		}
	}
	mac := []string{"Mac", "log show"}
	checkRemedies(t, []remedyCase{
		{"no queue", "object_create_failed", linuxScene, onLinux(func(s scene) { s.null("mlx5_0", "cq.create", "ibv_create_cq", 5) }), []string{"sudo dmesg", "restart the machine"}, mac},
		{"no domain", "pd_alloc_failed_port_active", linuxScene, onLinux(func(s scene) { s.null("mlx5_0", "pd.alloc", "ibv_alloc_pd", 0) }), []string{"restart the machine"}, mac},
		{"not given back", "teardown_failed", linuxScene, onLinux(func(s scene) {
			o := s.fail("mlx5_0", teardownID, ProviderError, 16)
			o.Call, o.Return = "ibv_dealloc_pd", &Return{Number: 16}
		}), []string{"restart of the machine"}, mac},
		{"a call that hangs", "provider_wedged", linuxScene, onLinux(func(s scene) { s.ended("mlx5_0", "cq.create", "ibv_create_cq", "timed_out") }), []string{"restart the machine"}, mac},
		{"a table that is not read", "port_query_failed", linuxScene, onLinux(func(s scene) { s.unread("mlx5_0", "gid.usable", "ibv_query_gid", ProviderError, 5) }), []string{"sudo dmesg", "restart the machine"}, mac},
		{"a port that is down", "port_down", linuxScene, onLinux(func(s scene) { s.state("mlx5_0", "down") }), []string{"has RDMA enabled"}, []string{"OS build"}},
	})
}

// An index is one of a port's table: that of another port is no advice.
func TestRemediesNameTheIndexOfThePort(t *testing.T) {
	second := func(id string, errno, used int) func(scene) {
		return func(s scene) {
			s.twoPorts("mlx5_0")
			s.portRow("mlx5_0", "gid.usable", 2, rdma.CapabilityConfirmed, 1)
			for i := range s.d.Observations {
				if o := &s.d.Observations[i]; o.ID == "gid.usable" && o.Port == 2 {
					o.Data = map[string]any{"index": 7}
				}
			}
			s.dev("mlx5_0").Ports[1].GIDs = []GID{{Index: 7, GID: "::ffff:192.0.2.9", Type: "roce_v2", Class: "ipv4_mapped"}}
			s.rtr("mlx5_0", id, errno, used).Port = 2
		}
	}
	checkRemedies(t, []remedyCase{
		{"an empty slot", "gid_index_refused", linuxScene, second("qp.rc.rtr", 22, 9), []string{"use 7"}, nil},
		{"no answer", "rtr_path_timeout", linuxScene, second("qp.rc.rtr", 110, 9), []string{"use 7"}, nil},
		{"the port's own", "rtr_path_timeout", linuxScene, second("qp.rc.rtr", 110, 7), nil, []string{"leave out --gid-index"}},
	})
}

// A Mac without a device is told what its own facts leave as the cause.
func TestRemediesOfAMacWithoutADevice(t *testing.T) {
	checkRemedies(t, []remedyCase{
		{"Thunderbolt 5 and enabled", "no_rdma_device", macScene, func(s scene) { s.bare() }, []string{"restart the Mac if it was not"}, []string{"needs a Mac with Thunderbolt 5", "Recovery"}},
		{"a virtual machine", "no_rdma_device", macScene, func(s scene) { s.bare(); s.host().VM, s.host().Thunderbolt = ptrTo(true), nil },
			[]string{"virtual machine"}, []string{"restart", "Recovery"}},
		{"disabled, of no known generation", "no_rdma_device", macScene, func(s scene) { s.bare(); s.host().RDMACtl, s.host().Thunderbolt = "disabled", nil },
			[]string{"see first whether this Mac has Thunderbolt 5"}, []string{"Recovery", "must say enabled"}},
		{"nothing is known", "no_rdma_device", macScene, func(s scene) { s.bare(); s.host().RDMACtl, s.host().Thunderbolt = "", nil }, []string{"needs a Mac with Thunderbolt 5"}, nil},
		{"disabled, and yet ACTIVE", "rdma_disabled", macScene, func(s scene) { s.host().RDMACtl = "disabled" }, []string{"ACTIVE all the same", "Recovery"}, nil},
		{"disabled", "rdma_disabled", macScene, func(s scene) { s.bare(); s.host().RDMACtl = "disabled" }, []string{"Recovery"}, []string{"ACTIVE"}},
	})
}
