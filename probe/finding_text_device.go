package probe

// devicePages are about devices, ports and GID tables.
var devicePages = []findingPage{
	{
		code: "device_open_failed",
		meaning: "The library lists the device, and opening it failed with an ordinary error. Nothing else can be asked of it, and no other program can use it either. " +
			"ENODEV is what a device gives that is being reset or has been taken away.",
		concluded: "From NULL or the errno of ibv_open_device. A node that is missing or may not be opened, Thunderbolt that cannot do RDMA and RDMA that is switched off are named instead.",
		do: "Look at the kernel log for the driver's reason. Reload the driver, or plug the device or its cable in again; restart the machine if it stays. " +
			"EMFILE is the limit of open files, not the device.",
		verify:  "`rdmaprobe devices` reads the device.",
		sources: []string{"https://github.com/linux-rdma/rdma-core/pull/1060", "https://github.com/ml-explore/mlx/pull/4180"},
	},
	{
		code: "port_query_failed",
		meaning: "The device was opened, and reading it failed with an ordinary error, or gave an answer that cannot be, such as no ports. What it should tell is not known; " +
			"it does not mean that the port is down.",
		concluded: "From the return and the errno of ibv_query_device, ibv_query_port or, on an ACTIVE port whose peers are addressed by GID, ibv_query_gid.",
		do:        "Look at the kernel log for the driver's reason, and take library, provider and driver from one release. Reload the driver or restart the machine if it stays.",
		verify:    "`rdmaprobe devices` shows the port.",
		sources:   []string{"https://github.com/exo-explore/exo/issues/1712"},
	},
	{
		code:    "port_down",
		meaning: "The port is not ACTIVE. Nothing can be sent, and on Thunderbolt nothing can even be allocated. A Thunderbolt port becomes ACTIVE only when both ends have RDMA enabled.",
		concluded: "From the state that the provider gave. It is for information while another port of the host is ACTIVE, unless the command names the device: " +
			"then it is an error when none of its ports is ACTIVE.",
		do:      "Look at the cable, the interface and the other machine.",
		verify:  "`rdmaprobe devices` shows the port ACTIVE.",
		sources: []string{srcTN3205, "https://github.com/exo-explore/exo/pull/1813"},
	},
	{
		code:      "port_unstable",
		meaning:   "The port's state was not the same each time it was read. One sample would have shown whichever it happened to be; the state is therefore unknown.",
		concluded: "From several reads of the port's state in one run; `doctor` makes at least three.",
		do:        "Look at the cable, the optics, the switch port, and then at the adapter.",
		verify:    "`rdmaprobe doctor` reads the same state each time.",
		sources:   []string{"https://github.com/ROCm/rccl/issues/1423"},
	},
	{
		code:      "gid_table_empty",
		meaning:   "The port is ACTIVE, and a peer can only be addressed by GID, but its table has no entry. In a container this means that the device's interface is in another network namespace.",
		concluded: "From the whole GID table. InfiniBand ports, which are addressed by LID, are left out. A queue pair is then not taken to RTR.",
		do:        "Give the interface an address, or use the host's network or a plugin made for RDMA.",
		verify:    "`rdmaprobe devices` shows entries.",
		sources:   []string{"https://github.com/Mellanox/network-operator/issues/287", "https://github.com/SoftRoCE/librxe-dev/issues/12"},
	},
	{
		code:    "gid_stale",
		meaning: "The GID table has an entry for an address that the interface no longer has, or never had. Packets with it as their source are not answered.",
		concluded: "From the table of an ACTIVE RoCE port and the addresses of the interface, both known. The link-local entry that is made from the hardware address is there in any case: " +
			"it counts only when the interface has no address at all.",
		do:      "Use the index that the finding names; restart the interface to refill the table.",
		verify:  "`rdmaprobe devices` shows only entries of present addresses.",
		sources: []string{"https://github.com/SoftRoCE/rxe-dev/issues/67", "https://github.com/NVIDIA/nccl/issues/1333"},
	},
	{
		code:      "gid_type_mismatch",
		meaning:   "RoCE has two versions that do not understand each other. One end uses v1 and the other v2, so every packet is lost: RC ends with its retries used up.",
		concluded: "From the type of the GID used here and the type that the peer announced, unless a ping-pong was verified all the same.",
		do:        "Use v2 at both ends. Soft-RoCE speaks v2 only.",
		verify:    "`rdmaprobe probe --pingpong --peer HOST` is confirmed.",
		sources:   []string{"https://github.com/SoftRoCE/librxe-dev/issues/6", "https://github.com/kvcache-ai/Mooncake/pull/113"},
	},
	{
		code:      "mtu_mismatch",
		meaning:   "The two ends have different active MTUs. A queue pair needs one path MTU that both can carry: rdmaprobe takes the smaller, but a program that takes its own end's value fails.",
		concluded: "From the active MTU here and the one that the peer announced.",
		do:        "Set the interfaces of both ends, and the switches, to one MTU.",
		verify:    "`rdmaprobe devices` shows the same active MTU on both machines.",
		sources:   []string{"https://github.com/autoscriptlabs/nccl-mesh-plugin/pull/12"},
	},
	{
		code: "device_changed",
		meaning: "The device that has the name now is not the one that the run listed: devices were renamed, or were numbered anew, while the run went on. " +
			"What it answers would be filed under the GUID of the other one, so that nothing was asked of it, or nothing of what it said is believed.",
		concluded: "From the node GUID that the listing told and the one that the open device told first in the run, which every child compares before it creates anything and once more at its end. " +
			"Where the GUID is zero, or another device has the same, the kernel's node (uverbs0) is compared.",
		do:      "Let whatever renames or adds devices come to its end (udev, a driver that is loaded, virtual functions that are made), then run the command again.",
		verify:  "`rdmaprobe devices` shows each name with its GUID, and the same command no longer finds another one.",
		sources: []string{"https://github.com/linux-rdma/rdma-core/blob/master/Documentation/udev.md", "https://man7.org/linux/man-pages/man8/rdma-dev.8.html"},
	},
	{
		code:      "device_vanished",
		meaning:   "A device that the run listed was no longer listed when one of its probes began. What was seen before stays; what was not tried is unknown.",
		concluded: "From the list of the child that was to probe it. Where a device with its GUID is listed under another name, it was renamed, and the message names it.",
		do:        "Look at the kernel log for a driver that was unloaded, a function that was removed or an adapter that was reset. After a renaming use the new name.",
		verify:    "`rdmaprobe devices` lists the device.",
		sources:   []string{"https://man7.org/linux/man-pages/man8/rdma-dev.8.html"},
	},
	{
		code:      "transport_needs_rdma_cm",
		meaning:   "On iWARP a queue pair is connected by the RDMA connection manager only. A plain transition to RTR is answered with an error that says nothing about what the device can do.",
		concluded: "From the device's transport. Transitions and data are not attempted; creation is.",
		do:        "Test the data path with a program of librdmacm, for example rping.",
		verify:    "Nothing to verify: it is a property of the device.",
		sources:   []string{"https://github.com/open-mpi/ompi/pull/5192", "https://github.com/linux-rdma/rdma-core/pull/210"},
	},
}
