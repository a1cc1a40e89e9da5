package probe

import (
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

var linuxCases = []findingCase{
	{"no_rdma_device", "no uverbs, module not packaged", linuxScene, func(s scene) {
		s.bare()
		s.fail("", "dev.enumerate", ProviderError, 38)
		s.host().ModulesAvail = map[string]bool{"rdma_rxe": false}
		s.host().DevInfiniband = map[string]string{}
	}, []string{"no_rdma_device error host", "rdma_cm_node_missing warning host"}},
	{"no_rdma_device", "empty list", linuxScene, func(s scene) { s.bare() }, is("no_rdma_device", "error", "host")},
	{"no_rdma_device", "Mac", macScene, func(s scene) { s.bare() }, is("no_rdma_device", "error", "host")},
	{"no_rdma_device", "a requirement explains nothing", linuxScene, func(s scene) { s.bare(); s.c.Required = []string{"queue_pair_rc"} },
		[]string{"no_rdma_device error host", "required_capability_not_confirmed error host"}},
	{"no_rdma_device", "the kernel has one", linuxScene, func(s scene) { s.unlist("mlx5_0"); s.host().Providers = ptrTo(false) }, is("provider_library_missing", "error", "mlx5_0")},
	{"no_rdma_device", "the listing hung", linuxScene, func(s scene) {
		s.bare()
		s.ended("", "dev.enumerate", "ibv_get_device_list", "timed_out")
	}, is("provider_wedged", "error", "host")},
	{"no_rdma_device", "the named one is not among those listed", linuxScene, func(s scene) {
		s.bare()
		s.c.NamedDevices = []string{"mlx5_9"}
		s.confirm("", "dev.enumerate")
	}, nil},
	{"verbs_library_mismatch", "loading", linuxScene, func(s scene) {
		s.bare()
		s.noLibrary("symbol_version")
		s.d.Provider.Library.Error = "libibverbs.so.1: version `IBVERBS_PRIVATE_44' not found (required by libmlx5.so.1)"
	}, is("verbs_library_mismatch", "error", "host")},
	{"verbs_library_mismatch", "a provider", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.stderr("libibverbs: Warning: couldn't load driver 'libmlx5-rdmav34.so': libibverbs.so.1: version `IBVERBS_PRIVATE_44' not found (required by libmlx5-rdmav34.so)")
	}, is("verbs_library_mismatch", "error", "host")},
	{"verbs_library_mismatch", "the C library's version", linuxScene, func(s scene) {
		s.bare()
		s.noLibrary("symbol_version")
		s.d.Provider.Library.Error = "libc.so.6: version `GLIBC_2.38' not found (required by libibverbs.so.1)"
	}, is("verbs_library_mismatch", "error", "host")},
	{"verbs_library_mismatch", "a library of something else", linuxScene, func(s scene) {
		s.bare()
		s.lacks("ibv_alloc_pd", "ibv_get_device_list")
		s.fail("", "dev.enumerate", SymbolMissing, 0)
	}, is("verbs_library_mismatch", "error", "host")},
	{"verbs_library_mismatch", "no device, and functions are missing", linuxScene, func(s scene) { s.bare(); s.lacks("ibv_get_device_name") },
		[]string{"no_rdma_device error host", "verbs_library_mismatch warning host"}},
	{"verbs_library_mismatch", "it lists a device, and lacks what makes a queue", linuxScene, func(s scene) {
		s.lacks("ibv_create_cq")
		s.fail("mlx5_0", "cq.create", SymbolMissing, 0)
	}, nil},
	{"verbs_library_mismatch", "it lists devices all the same", linuxScene, func(s scene) { s.lacks("ibv_free_device_list") }, is("verbs_library_mismatch", "warning", "host")},
	{"verbs_library_mismatch", "no library", linuxScene, func(s scene) { s.noLibrary("unknown") }, is("verbs_library_mismatch", "error", "host")},
	{"verbs_library_mismatch", "no file", linuxScene, func(s scene) { s.noLibrary("missing_file") }, is("verbs_library_missing", "error", "host")},
	{"verbs_library_mismatch", "not asked", linuxScene, func(s scene) { s.fail("", "lib.symbols", NotTried, 0) }, nil},
	{"provider_library_missing", "no provider at all", linuxScene, func(s scene) { s.unlist("mlx5_0"); s.host().Providers = ptrTo(false) }, is("provider_library_missing", "error", "mlx5_0")},
	{"provider_library_missing", "none for its driver", linuxScene, func(s scene) { s.unlist("mlx5_0"); s.host().ProviderFiles = []string{"libmlx4-rdmav34.so"} }, is("provider_library_missing", "error", "mlx5_0")},
	{"provider_library_missing", "no entry for its driver", linuxScene, func(s scene) { s.unlist("mlx5_0"); s.host().ProviderEntries = []string{"rxe"} }, is("provider_library_missing", "error", "mlx5_0")},
	{"provider_library_missing", "a soft device, whatever its name", linuxScene, func(s scene) {
		s.rename("mlx5_0", "mlx5_soft")
		s.host().Modules = []string{"ib_uverbs", "rdma_rxe"}
		s.host().ProviderFiles = []string{"libmlx5-rdmav34.so"}
		s.unlist("mlx5_soft")
	}, is("provider_library_missing", "error", "mlx5_soft")},
	{"provider_library_missing", "by the library's own words", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().Providers, s.host().ProviderFiles, s.host().ProviderEntries, s.host().Driver = nil, nil, nil, nil
		s.dev("mlx5_0").Driver = ""
		s.stderr("libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband_verbs/uverbs0")
	}, is("provider_library_missing", "error", "mlx5_0")},
	{"provider_library_missing", "nothing is known of its node", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().Providers, s.host().ProviderFiles, s.host().ProviderEntries, s.host().UverbsOfDevice = nil, nil, nil, nil
	}, nil},
	{"provider_library_missing", "nothing is known of its driver", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().Driver, s.dev("mlx5_0").Driver = nil, ""
	}, nil},
	{"provider_library_missing", "nothing is known of providers", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().Providers, s.host().ProviderFiles, s.host().ProviderEntries, s.host().Driver = nil, nil, nil, nil
	}, is("provider_library_missing", "error", "mlx5_0")},
	{"provider_library_missing", "the node is missing", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().Providers = ptrTo(false)
		delete(s.host().DevInfiniband, "uverbs0")
	}, is("uverbs_node_missing", "error", "mlx5_0")},
	{"provider_library_missing", "the listing did not come to an end", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().Providers = ptrTo(false)
		s.fail("", "dev.enumerate", Interrupted, 0)
	}, nil},
	{"provider_abi_mismatch", "kernel too old", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().ABI = map[string]hostfacts.ABI{"mlx5_0": {Kernel: 1, ProviderMin: 2, ProviderMax: 2}}
	}, is("provider_abi_mismatch", "error", "mlx5_0")},
	{"provider_abi_mismatch", "by the library's own words", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.stderr("libibverbs: Warning: Driver mlx5 does not support the kernel ABI of 3 (supports 1 to 2) for device /sys/class/infiniband/mlx5_0")
	}, is("provider_abi_mismatch", "error", "mlx5_0")},
	{"provider_abi_mismatch", "built for another libibverbs", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().ProviderFiles = []string{"libmlx5-rdmav25.so"}
	}, is("provider_abi_mismatch", "error", "mlx5_0")},
	{"provider_abi_mismatch", "in the range", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.host().ABI = map[string]hostfacts.ABI{"mlx5_0": {Kernel: 1, ProviderMin: 1, ProviderMax: 1}}
	}, is("provider_library_missing", "error", "mlx5_0")},
	{"provider_abi_mismatch", "listed all the same", linuxScene, func(s scene) {
		s.host().ABI = map[string]hostfacts.ABI{"mlx5_0": {Kernel: 1, ProviderMin: 2, ProviderMax: 2}}
	}, nil},
	{"device_without_provider", "usNIC", linuxScene, func(s scene) { s.usnic("usnic_verbs") }, is("device_without_provider", "warning", "usnic_0")},
	{"device_without_provider", "named so, but another driver", linuxScene, func(s scene) { s.usnic("mlx4_core") }, is("provider_library_missing", "error", "usnic_0")},
	{"verbs_interposer", "preloaded", linuxScene, func(s scene) { s.fake(); s.host().Env["LD_PRELOAD"] = "libfakeverbs.so" }, is("verbs_interposer", "warning", "fake0")},
	{"verbs_interposer", "nothing preloaded", linuxScene, func(s scene) { s.fake() }, nil},
	{"verbs_interposer", "preloaded, and the kernel has all", linuxScene, func(s scene) { s.host().Env["LD_PRELOAD"] = "libtrace.so" }, nil},
	{"uverbs_node_missing", "container", linuxScene, func(s scene) {
		s.host().Container, s.host().DevInfiniband = ptrTo(true), map[string]string{}
		s.fail("mlx5_0", "dev.open", ProviderError, 2)
		s.blind("mlx5_0")
	}, []string{"rdma_cm_node_missing warning host", "uverbs_node_missing error mlx5_0"}},
	{"uverbs_node_missing", "another device works", linuxScene, func(s scene) {
		s.second()
		delete(s.host().DevInfiniband, "uverbs1")
		s.fail("mlx5_1", "dev.open", ProviderError, 2)
		s.blind("mlx5_1")
	}, is("uverbs_node_missing", "warning", "mlx5_1")},
	{"uverbs_node_missing", "module not loaded", linuxScene, func(s scene) {
		s.unlist("mlx5_0")
		s.fail("", "dev.enumerate", ProviderError, 38)
		s.host().DevInfiniband, s.host().UverbsOfDevice, s.host().Modules = map[string]string{"rdma_cm": "crw-rw-rw-"}, map[string]string{}, []string{"ib_core"}
	}, is("uverbs_node_missing", "error", "mlx5_0")},
	{"uverbs_node_missing", "nodes not read", linuxScene, func(s scene) {
		s.host().DevInfiniband = nil
		s.fail("mlx5_0", "dev.open", ProviderError, 2)
		s.blind("mlx5_0")
	}, nil},
	{"uverbs_permission_denied", "mode and user", linuxScene, func(s scene) {
		s.host().DevInfiniband["uverbs0"], s.host().UverbsAccess = "crw-------", nil
		s.fail("mlx5_0", "dev.open", ProviderError, 2)
		s.blind("mlx5_0")
	}, is("uverbs_permission_denied", "error", "mlx5_0")},
	{"uverbs_permission_denied", "access(2), and an errno of no meaning", linuxScene, func(s scene) {
		s.host().UverbsAccess["uverbs0"] = false
		s.null("mlx5_0", "dev.open", "ibv_open_device", 0)
		s.blind("mlx5_0")
	}, is("uverbs_permission_denied", "error", "mlx5_0")},
	{"uverbs_permission_denied", "root, against the device rules", linuxScene, func(s scene) {
		s.host().EUID, s.host().Container = ptrTo(0), ptrTo(true)
		s.fail("mlx5_0", "dev.open", Permission, 1)
		s.blind("mlx5_0")
	}, is("uverbs_permission_denied", "error", "mlx5_0")},
	{"uverbs_permission_denied", "it was opened", linuxScene, func(s scene) { s.host().DevInfiniband["uverbs0"], s.host().UverbsAccess = "crw-------", nil }, nil},
	{"uverbs_permission_denied", "the mode leaves it open, and the user is not known", linuxScene, func(s scene) {
		s.host().DevInfiniband["uverbs0"], s.host().UverbsAccess, s.host().EUID = "crw-------", nil, nil
		s.fail("mlx5_0", "dev.open", ProviderError, 5)
		s.blind("mlx5_0")
	}, nil},
	{"uverbs_permission_denied", "by its group, perhaps", linuxScene, func(s scene) {
		s.host().DevInfiniband["uverbs0"], s.host().UverbsAccess = "crw-rw----", nil
		s.fail("mlx5_0", "dev.open", ProviderError, 5)
		s.blind("mlx5_0")
	}, nil},
	{"rdma_cm_node_missing", "absent", linuxScene, func(s scene) { delete(s.host().DevInfiniband, "rdma_cm") }, is("rdma_cm_node_missing", "warning", "host")},
	{"rdma_cm_node_missing", "nodes not read", linuxScene, func(s scene) { s.host().DevInfiniband = nil }, nil},
	{"memlock_too_low", "completion queue", linuxScene, func(s scene) {
		s.host().MemlockKiB = ptrTo(int64(64))
		s.null("mlx5_0", "cq.create", "ibv_create_cq", 12)
	}, is("memlock_too_low", "error", "host")},
	{"memlock_too_low", "two devices, one finding", linuxScene, func(s scene) {
		s.second()
		s.host().MemlockKiB = ptrTo(int64(64))
		s.null("mlx5_0", "cq.create", "ibv_create_cq", 12)
		s.null("mlx5_1", "mr.register", "ibv_reg_mr", 12)
	}, is("memlock_too_low", "error", "host")},
	{"memlock_too_low", "nothing may be locked", linuxScene, func(s scene) {
		s.host().MemlockKiB = ptrTo(int64(0))
		s.null("mlx5_0", "mr.register", "ibv_reg_mr", 1)
	}, is("memlock_too_low", "error", "host")},
	{"memlock_too_low", "EPERM where something may be locked", linuxScene, func(s scene) {
		s.host().MemlockKiB = ptrTo(int64(64))
		s.null("mlx5_0", "mr.register", "ibv_reg_mr", 1)
	}, nil},
	{"memlock_too_low", "unlimited", linuxScene, func(s scene) { s.null("mlx5_0", "cq.create", "ibv_create_cq", 12) }, is("object_create_failed", "error", "mlx5_0")},
	{"memlock_too_low", "limit not read", linuxScene, func(s scene) { s.host().MemlockKiB = nil; s.null("mlx5_0", "cq.create", "ibv_create_cq", 12) }, is("object_create_failed", "error", "mlx5_0")},
	{"memlock_too_low", "another errno", linuxScene, func(s scene) {
		s.host().MemlockKiB = ptrTo(int64(64))
		s.null("mlx5_0", "cq.create", "ibv_create_cq", 22)
	}, is("object_create_failed", "error", "mlx5_0")},
	{"memlock_too_low", "receives past the depth", linuxScene, func(s scene) {
		s.host().MemlockKiB = ptrTo(int64(64))
		s.fail("mlx5_0", "pingpong.rc", Exhausted, 12)
	}, nil},
	{"netdev_without_address", "none", linuxScene, func(s scene) { s.bareNetdev() }, []string{"gid_stale warning mlx5_0", "netdev_without_address error mlx5_0"}},
	{"netdev_without_address", "addresses not read", linuxScene, func(s scene) { s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = nil }) }, nil},
	{"netdev_without_address", "a second port that nobody uses", linuxScene, func(s scene) {
		s.second()
		s.state("mlx5_1", "down")
		s.iface("ens1f1", func(i *hostfacts.Interface) { i.Addresses = []string{} })
	}, nil},
	{"netdev_without_address", "the unused port of a device that works", linuxScene, func(s scene) { s.unusedPort("down") }, nil},
	{"netdev_without_address", "that port is ACTIVE", linuxScene, func(s scene) { s.unusedPort(stateActive) },
		[]string{"gid_stale warning mlx5_0", "netdev_without_address error mlx5_0"}},
	{"netdev_without_address", "that port was named", linuxScene, func(s scene) {
		s.unusedPort("down")
		s.c.NamedDevices, s.c.Port = []string{"mlx5_0"}, 2
	}, []string{"netdev_without_address error mlx5_0", "port_down error mlx5_0"}},
	{"netdev_without_address", "the device was named", linuxScene, func(s scene) {
		s.unusedPort("down")
		s.c.NamedDevices = []string{"mlx5_0"}
	}, nil},
	{"netdev_without_address", "a VLAN over it has one", linuxScene, func(s scene) {
		s.vlanGID("::ffff:203.0.113.7")
		s.gids("mlx5_0", GID{Index: 5, GID: "::ffff:203.0.113.7", Type: "roce_v2", Netdev: "ens1f0.7"})
		s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = []string{} })
	}, nil},
	{"netdev_without_address", "a VLAN that has another one", linuxScene, func(s scene) {
		s.vlanGID("::ffff:203.0.113.7")
		s.gids("mlx5_0", GID{Index: 5, GID: "::ffff:203.0.113.7", Type: "roce_v2", Netdev: "ens1f0.7"})
		s.host().Interfaces["ens1f0.7"] = hostfacts.Interface{Addresses: []string{"203.0.113.8/24"}}
		s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = []string{} })
	}, []string{"gid_stale warning mlx5_0", "netdev_without_address error mlx5_0"}},
	{"netdev_without_address", "InfiniBand", linuxScene, func(s scene) {
		s.infiniband("mlx5_0")
		s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = []string{} })
	}, nil},
	{"configured_gid_index_empty", "NCCL", linuxScene, func(s scene) { s.movedGID(); s.host().Env["NCCL_IB_GID_INDEX"] = "3" }, is("configured_gid_index_empty", "error", "mlx5_0")},
	{"configured_gid_index_empty", "iWARP", linuxScene, func(s scene) {
		s.dev("mlx5_0").Transport = "iwarp"
		s.gids("mlx5_0", GID{GID: "2:5eff:fe00::", Type: "none"})
		s.host().Env["NCCL_IB_GID_INDEX"] = "3"
	}, nil},
	{"configured_gid_index_empty", "a program that is not for Macs", macScene, func(s scene) { s.host().Env = map[string]string{"NCCL_IB_GID_INDEX": "7", "UCX_IB_GID_INDEX": "7"} }, nil},
	{"configured_gid_index_empty", "one that may be", macScene, func(s scene) { s.host().Env = map[string]string{"MINE_GID_INDEX": "7"} },
		is("configured_gid_index_empty", "error", "rdma_en3")},
	{"configured_gid_index_empty", "another program", linuxScene, func(s scene) { s.movedGID(); s.host().Env["UCX_IB_GID_INDEX"] = "2" }, is("configured_gid_index_empty", "error", "mlx5_0")},
	{"configured_gid_index_empty", "the slot is filled", linuxScene, func(s scene) { s.movedGID(); s.host().Env["NCCL_IB_GID_INDEX"] = "8" }, nil},
	{"configured_gid_index_empty", "automatic", linuxScene, func(s scene) {
		s.movedGID()
		s.host().Env["NCCL_IB_GID_INDEX"], s.host().Env["UCX_IB_GID_INDEX"] = "-1", "auto"
	}, nil},
	{"configured_gid_index_empty", "NCCL does not use the device", linuxScene, func(s scene) {
		s.movedGID()
		s.host().Env["NCCL_IB_GID_INDEX"], s.host().Env["NCCL_IB_HCA"] = "3", "=mlx5_1:1"
	}, nil},
	{"configured_gid_index_empty", "InfiniBand", linuxScene, func(s scene) { s.infiniband("mlx5_0"); s.host().Env["NCCL_IB_GID_INDEX"] = "3" }, nil},
	{"ib_port_down_no_sm", "virtual function", linuxScene, func(s scene) { s.virtual("down", 0) }, is("ib_port_down_no_sm", "error", "mlx5_0")},
	{"ib_port_down_no_sm", "no virtual function", linuxScene, func(s scene) { s.virtual("down", 0); s.host().SRIOVVF = nil }, is("port_down", "error", "mlx5_0")},
	{"ib_port_down_no_sm", "another device is the virtual function", linuxScene, func(s scene) { s.virtual("down", 0); s.host().VirtualFunctions = []string{"mlx5_7"} }, is("port_down", "error", "mlx5_0")},
	{"ib_port_down_no_sm", "a subnet manager was there", linuxScene, func(s scene) { s.virtual("down", 1) }, is("port_down", "error", "mlx5_0")},
	{"ib_port_init_no_sm", "link up", linuxScene, func(s scene) { s.virtual("init", 0); s.dev("mlx5_0").Ports[0].PhysState = "link_up" }, is("ib_port_init_no_sm", "error", "mlx5_0")},
	{"ib_port_init_no_sm", "a subnet manager was there", linuxScene, func(s scene) { s.virtual("init", 1) }, is("port_down", "error", "mlx5_0")},
	{"ib_port_init_no_sm", "no link", linuxScene, func(s scene) { s.virtual("init", 0); s.dev("mlx5_0").Ports[0].PhysState = "polling" }, is("port_down", "error", "mlx5_0")},
	{"ib_port_init_no_sm", "Ethernet", linuxScene, func(s scene) { s.state("mlx5_0", "init") }, is("port_down", "error", "mlx5_0")},
}

// stderr is what the library writes while it lists its devices.
func (s scene) stderr(text string) {
	s.row("", "dev.enumerate").Child = &Child{Outcome: "completed", PID: 99, Stderr: text + "\n"}
}

// rename gives the scene's device another name everywhere.
func (s scene) rename(from, to string) {
	s.dev(from).Name, s.dev(from).Driver = to, ""
	for i := range s.d.Observations {
		if o := &s.d.Observations[i]; o.Device == from {
			o.Device = to
		}
	}
	h := s.host()
	h.UverbsOfDevice, h.NetdevOfDevice, h.Driver = map[string]string{to: "uverbs0"}, nil, map[string]string{}
	h.SysfsDevices = []string{to}
}

// usnic makes the scene one of a device that is not listed.
func (s scene) usnic(driver string) {
	s.rename("mlx5_0", "usnic_0")
	s.dev("usnic_0").Driver = driver
	s.host().Driver["usnic_0"] = driver
	s.unlist("usnic_0")
}

// fake adds a listed device that the kernel does not have.
func (s scene) fake() {
	s.addRoCE("fake0", 3)
	s.dev("fake0").Sysfs = ptrTo(false)
}

// unusedPort gives mlx5_0 a second port in a state, whose interface has no address.
func (s scene) unusedPort(state string) {
	s.twoPorts("mlx5_0")
	p := &s.dev("mlx5_0").Ports[1]
	p.State, p.Netdev, p.GIDs = state, "ens1f1", []GID{{GID: "fe80::200:5eff:fe00:5302", Type: "roce_v2", Class: "link_local", Netdev: "ens1f1"}}
	s.portRow("mlx5_0", "port.state", 2, rdma.CapabilityConfirmed, state)
	s.host().Interfaces["ens1f1"] = hostfacts.Interface{Up: ptrTo(state == stateActive), Addresses: []string{}}
}

// second adds a second RoCE device.
func (s scene) second() {
	h := s.host()
	h.DevInfiniband["uverbs1"], h.UverbsAccess["uverbs1"], h.UverbsOfDevice["mlx5_1"] = "crw-rw-rw-", true, "uverbs1"
	h.SysfsDevices, h.NetdevOfDevice["mlx5_1"] = append(h.SysfsDevices, "mlx5_1"), ptrTo("ens1f1")
	h.Interfaces["ens1f1"] = hostfacts.Interface{Up: ptrTo(true), Addresses: []string{"192.0.2.2", "fe80::1"}, Prefixes: []string{"192.0.2.0/24"}}
	s.addRoCE("mlx5_1", 2)
}

// blind makes everything after the open of a device unreached.
func (s scene) blind(device string) {
	s.dev(device).Ports = []Port{}
	for i := range s.d.Observations {
		if o := &s.d.Observations[i]; o.Device == device && o.ID != "dev.open" {
			o.Level, o.Reason, o.Value, o.Data = rdma.CapabilityUnknown, Precondition, nil, nil
		}
	}
}

// bareNetdev takes all addresses from the interface.
func (s scene) bareNetdev() {
	s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses, i.Prefixes = []string{}, []string{} })
	s.gids("mlx5_0", GID{Index: 0, GID: "fe80::200:5eff:fe00:5301", Type: "roce_v2"})
}

// movedGID is a table that link events have shuffled.
func (s scene) movedGID() {
	s.gids("mlx5_0", GID{Index: 1, GID: "fe80::200:5eff:fe00:5301", Type: "roce_v2"},
		GID{Index: 4, GID: "::ffff:192.0.2.1", Type: "roce_v1"}, GID{Index: 8, GID: "::ffff:192.0.2.1", Type: "roce_v2"})
}

// virtual makes the device an InfiniBand virtual function.
func (s scene) virtual(state string, smLID int) {
	s.infiniband("mlx5_0")
	s.host().SRIOVVF = ptrTo(true)
	s.dev("mlx5_0").Ports[0].SMLID = ptrTo(smLID)
	s.state("mlx5_0", state)
}
