package probe

// linuxPages are about Linux hosts: library, providers, nodes and limits.
var linuxPages = []findingPage{
	{
		code: "no_rdma_device",
		meaning: "Neither the verbs library nor the kernel has an RDMA device, and nothing else explains it: there is no RDMA hardware, or its driver is not loaded. " +
			"In a container nothing is there that was not passed in. RDMA in software (soft-RoCE) needs a kernel module which cloud kernels ship in a package of its own.",
		concluded: "From a listing that worked and was empty, or that said that the kernel has no uverbs (ENOSYS), and from /sys/class/infiniband. " +
			"It is dropped when any other error explains the empty list.",
		do: "In a container: look on the host, and pass its device in. With an RDMA adapter: load its driver. " +
			"For RDMA in software: install the extra modules package of the running kernel, load rdma_rxe, and add a device on an interface that exists: `rdma link add rxe0 type rxe netdev IFACE`. " +
			"On a Mac, see whether it has Thunderbolt 5.",
		verify:  "`rdmaprobe devices` lists a device.",
		sources: []string{"https://github.com/aibrix/PrisKV/issues/6"},
	},
	{
		code: "verbs_library_mismatch",
		meaning: "What was taken for the verbs library is not one that can be used: it lacks functions, the loader does not take the file, " +
			"or libibverbs and a provider are from different releases. The interface between those is versioned, and the loader refuses the pair, so the provider's devices are not listed.",
		concluded: "From functions that listing devices needs and the library does not have, from a load that failed for another reason than a missing file, " +
			"or from the loader's own words about a missing symbol version of libibverbs. Where devices are listed all the same it is a warning. Any other function that is missing is told by the rows of what needs it, and is no finding.",
		do:      "Leave out `--library`, or name a verbs library with it. Else reinstall libibverbs and its providers from one release, and remove copies that vendor packages or `make install` left behind.",
		verify:  "`rdmaprobe devices` lists the device, and the library writes no warning.",
		sources: []string{"https://github.com/SoftRoCE/rxe-dev/issues/48", "https://github.com/SoftRoCE/rxe-dev/issues/49"},
	},
	{
		code: "provider_library_missing",
		meaning: "The kernel knows the device, but libibverbs has no provider, its driver in user space, for it. Many tools then say that there is no hardware; there is. " +
			"A provider is found by its file and by an entry in libibverbs.d.",
		concluded: "From a device in sysfs that a working listing leaves out, and from the installed providers, by driver and never by the device's name, or from the library's own warning. " +
			"A missing node or a version that does not fit comes first. Where the node is there and nothing is known to be wrong with the provider of its driver, the library takes none: that is said, and how to ask it why.",
		do:      "Install the distribution's provider package. A provider from elsewhere needs its entry where this libibverbs looks.",
		verify:  "`rdmaprobe devices` lists the device.",
		sources: []string{"https://github.com/SoftRoCE/rxe-dev/issues/65", "https://github.com/dsx-ai-factory/infra-controller/pull/5251", "https://github.com/NVIDIA/k8s-test-infra/issues/558"},
	},
	{
		code: "provider_abi_mismatch",
		meaning: "Kernel and provider speak different versions of the interface between them, or the provider is built for another libibverbs. " +
			"The library then leaves the device out.",
		concluded: "From the kernel's verbs ABI against the range of the provider, by facts or by the library's warning, or from the rdmav number in the provider's file name.",
		do:        "Change the older side: the kernel, or rdma-core as a whole.",
		verify:    "`rdmaprobe devices` lists the device.",
		sources:   []string{"https://github.com/SoftRoCE/rxe-dev/issues/74"},
	},
	{
		code:      "device_without_provider",
		meaning:   "The device registers in the kernel's RDMA class, but its maker ships no verbs provider. It cannot be used through verbs, and other paths to it may work well.",
		concluded: "From its driver, for which no release of rdma-core has a provider, and from a listing that leaves it out.",
		do:        "Use it by its own interface (usNIC: libfabric), or ignore it.",
		verify:    "Nothing to verify: the warning stays as long as the device is there.",
		sources:   []string{"https://github.com/ofiwg/libfabric/issues/975"},
	},
	{
		code:      "verbs_interposer",
		meaning:   "A device is listed that the kernel does not have, and a library is preloaded. That library makes the device; programs that do not preload it will not see it.",
		concluded: "From a listed device that /sys/class/infiniband does not have, while LD_PRELOAD is set.",
		do:        "Start the programs in question with the same LD_PRELOAD, or unset it.",
		verify:    "`env -u LD_PRELOAD rdmaprobe devices` shows what the kernel has.",
		sources:   []string{"https://github.com/wkljohn/ds4-strix-halo-tp-odinlink/issues/15"},
	},
	{
		code: "uverbs_node_missing",
		meaning: "A program opens an RDMA device by its node /dev/infiniband/uverbsN. sysfs shows the device and its port, but the node is not there, so it cannot be used. " +
			"In a container this is the usual case: sysfs comes along by itself, the nodes do not.",
		concluded: "From sysfs and the contents of /dev/infiniband. It is a warning while another device works. What sysfs says of the port is not taken as usable.",
		do:        "Pass the node into the container. On a host, load ib_uverbs.",
		verify:    "`ls -l /dev/infiniband` shows the node, and `rdmaprobe devices` opens the device.",
		sources: []string{
			"https://github.com/NVIDIA/nccl/issues/451", "https://github.com/linux-rdma/rdma-core/pull/1060",
			"https://github.com/hustcat/k8s-rdma-device-plugin/issues/8", "https://github.com/MrBr-github/lshca/issues/83",
		},
	},
	{
		code: "uverbs_permission_denied",
		meaning: "The node is there, and this user may not open it: by its mode, or because the container's device rules do not allow it. " +
			"It says nothing about what the device can do.",
		concluded: "From access(2), from EACCES or EPERM of the open, or, where neither is known, from the mode and the user id. Which errno the library returned does not matter.",
		do:        "Add a udev rule or the node's group; in a container pass the node by `--device`.",
		verify:    "`rdmaprobe devices` opens the device as this user.",
		sources:   []string{"https://github.com/eth-cscs/sarus/issues/19"},
	},
	{
		code:      "rdma_cm_node_missing",
		meaning:   "/dev/infiniband/rdma_cm is not there. Programs that connect through the RDMA connection manager (rping, many storage and container plugins) fail; verbs itself is not affected.",
		concluded: "From the contents of /dev/infiniband.",
		do:        "Load rdma_ucm if such programs are used; pass the node into a container.",
		verify:    "`ls -l /dev/infiniband/rdma_cm`.",
		sources:   []string{"https://github.com/Mellanox/k8s-rdma-shared-dev-plugin/issues/192"},
	},
	{
		code:    "memlock_too_low",
		meaning: "The kernel locks the memory of queues and regions, and counts it against the limit of the process. With a small limit, creating a completion queue or registering memory fails with ENOMEM; where nothing at all may be locked, with EPERM.",
		concluded: "From ENOMEM of one of these calls, or EPERM under a limit of 0, while the live limit of this very process is not unlimited. With an unlimited one it is never blamed. " +
			"A limit in limits.conf is read at login only, which is why the two can differ.",
		do:      "Raise the limit and log in again; services and containers have limits of their own.",
		verify:  "`ulimit -l` says unlimited, and `rdmaprobe doctor` confirms cq.create.",
		sources: []string{"https://github.com/openucx/ucx/issues/8229", "https://github.com/openucx/ucx/issues/8746"},
	},
	{
		code:    "netdev_without_address",
		meaning: "A RoCE device sends over a network interface, an iWARP one is connected by its address, and this interface has no address at all. On old kernels a data-path test in this state has frozen the whole machine.",
		concluded: "From the device's interface and its addresses, both known. Data-path probes are then not tried. " +
			"A port that is not ACTIVE while another one is, is left out, unless it is named, and one that can send from the address of a VLAN or a bond over its interface.",
		do:      "Give the interface an address.",
		verify:  "`rdmaprobe devices` shows a GID for the address.",
		sources: []string{"https://github.com/SoftRoCE/rxe-dev/issues/67", "https://github.com/SoftRoCE/rxe-dev/issues/34"},
	},
	{
		code: "configured_gid_index_empty",
		meaning: "A variable in the environment fixes the GID index that a program uses, and that slot of the table is empty now. " +
			"The table is filled anew on link events, so an index that worked yesterday may be another one today.",
		concluded: "From variables that end in GID_INDEX and the GID tables of the ACTIVE ports that need one. Devices that NCCL_IB_HCA or UCX_NET_DEVICES leaves out are not looked at for that program's.",
		do:        "Unset the variable; most programs choose well by themselves.",
		verify:    "`rdmaprobe devices` shows an entry at the index, or the variable is gone.",
		sources:   []string{"https://github.com/NVIDIA/nccl/issues/1333", "https://github.com/NVIDIA/nccl/issues/2157"},
	},
	{
		code:      "ib_port_down_no_sm",
		meaning:   "The InfiniBand port of a virtual function is DOWN and no subnet manager has ever set it up. A virtual function needs GUIDs, and a subnet manager that knows virtual ports.",
		concluded: "From the port's state, its sm_lid of 0, and the device being a virtual function.",
		do:        "Set the GUIDs of the function on the host, and run a subnet manager with virtualisation support.",
		verify:    "`rdmaprobe devices` shows the port ACTIVE and a sm_lid other than 0.",
		sources:   []string{"https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/269", "https://github.com/Mellanox/network-operator/issues/249"},
	},
	{
		code:      "ib_port_init_no_sm",
		meaning:   "The InfiniBand port has its physical link and stays in INIT: no subnet manager has given it an address.",
		concluded: "From the port's state INIT, its sm_lid of 0 and its link.",
		do:        "Run a subnet manager: opensm on one host, or that of the switch.",
		verify:    "`rdmaprobe devices` shows the port ACTIVE.",
		sources:   []string{"https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/269"},
	},
}
