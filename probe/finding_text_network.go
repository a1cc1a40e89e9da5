package probe

// macNetworkPages are about addresses, bridges, routes and the side channel.
var macNetworkPages = []findingPage{
	{
		code: "port_in_thunderbolt_bridge",
		meaning: "macOS puts all Thunderbolt ports into one bridge at first. A port that is only a member of the bridge has no address of its own, and an RDMA device without an " +
			"address has no IPv4-mapped GID: programs then fail at RTR with errno 22, which names no cause.",
		concluded: "From the bridge's members and the port's addresses, both known. Ports with nothing connected are left out.",
		do:        "Take the port out of the bridge, give it its own network service and a fixed IPv4 address, each link in a network of its own.",
		verify:    "`ifconfig` of the port shows an IPv4 address, and `rdmaprobe devices` an IPv4-mapped GID.",
		sources:   []string{srcTN3205, "https://github.com/exo-explore/exo/issues/1390", "https://github.com/ml-explore/mlx/issues/3207"},
	},
	{
		code: "address_on_bridge_not_port",
		meaning: "The address is on the bridge and not on the port that is its member. Ordinary traffic works, so a ping proves nothing: " +
			"the GIDs of an RDMA device come from the addresses of its own port.",
		concluded: "From the addresses of the bridge and of its member, both known.",
		do:        "Take the port out of the bridge and put the address on the port.",
		verify:    "`rdmaprobe devices` shows an IPv4-mapped GID for the port's device.",
		sources:   []string{srcTN3205, "https://github.com/exo-explore/exo/issues/1390"},
	},
	{
		code: "gid_no_ipv4_mapped",
		meaning: "The port is up, but its GID table has no entry of the form ::ffff:a.b.c.d. Thunderbolt RDMA addresses its peer by such an entry, " +
			"and the port has one only while its network interface has an IPv4 address. RTR then fails with errno 22, or is sent an address that was never set.",
		concluded: "From the whole GID table of an ACTIVE Thunderbolt port. The table is searched by content; no index is assumed.",
		do:        "Give the port's interface an IPv4 address: a fixed one, since a self-assigned one comes late and changes.",
		verify:    "`rdmaprobe devices` shows an IPv4-mapped GID.",
		sources: []string{
			srcTN3205, "https://github.com/ml-explore/mlx/issues/3467", "https://github.com/ml-explore/mlx/pull/4191", "https://github.com/ml-explore/mlx/issues/3389",
		},
	},
	{
		code: "gid_only_at_index_0",
		meaning: "The port has an IPv4-mapped GID, but at index 0, where Apple's provider usually has the link-local one. With a source GID of index 0 the transition to RTR was reported to time out, " +
			"and by somebody else to work; a port can be wedged by transitions that fail. So no probe takes it by itself, and whether the port works is not known.",
		concluded: "From the whole GID table of an ACTIVE Thunderbolt port without another IPv4-mapped entry. A run with `--gid-index`, and a transition that is confirmed, raise nothing.",
		do:        "Let the table be filled anew, by the address or the cable. Or name the index, once: `--gid-index 0`.",
		verify:    "`rdmaprobe devices` shows the IPv4-mapped GID at another index, or a ping-pong with `--gid-index 0` is confirmed.",
		sources:   []string{"https://github.com/ml-explore/mlx/pull/3468", srcTN3205},
	},
	{
		code: "gid_self_assigned_volatile",
		meaning: "The IPv4-mapped GID comes from an address in 169.254.0.0/16. macOS takes such an address by itself when no DHCP server answers: minutes after the link came up, " +
			"and not always the same. Until then there is no GID, and what works today can fail after a restart.",
		concluded: "From the GID that would be chosen. It is a warning when the last recorded run saw another one on this device, else for information.",
		do:        "Set a fixed IPv4 address outside 169.254.0.0/16. Never keep a GID or its index as the identity of a port.",
		verify:    "`rdmaprobe devices` shows the fixed address in the GID table, also after the cable was plugged anew.",
		sources:   []string{"https://github.com/ml-explore/mlx/issues/3467"},
	},
	{
		code:      "address_manager_resets",
		meaning:   "exo installs a launch daemon that keeps Thunderbolt services on DHCP and runs every half hour. An address that was set by hand does not survive it.",
		concluded: "From the daemon's file and a Thunderbolt interface whose address is manual.",
		do:        "Remove the daemon, or leave the addresses to it.",
		verify:    "The manual address is still there after an hour.",
		sources:   []string{"https://github.com/exo-explore/exo"},
	},
	{
		code: "route_not_via_thunderbolt",
		meaning: "The peer is at the other end of a Thunderbolt link, but the system sends packets for it out of another interface. It happens with self-assigned addresses: " +
			"one route for all of 169.254.0.0/16 follows the primary interface, often Wi-Fi. A source address alone does not choose the way out.",
		concluded: "From the peer's address, the routes, and the Thunderbolt interface whose network or link has the peer. Without a known route nothing is concluded.",
		do:        "Use fixed addresses in a network of the link's own, or bind the connection to the interface. Where a VPN has the route, let it leave that network alone.",
		verify:    "`route -n get PEER` names the Thunderbolt interface.",
		sources:   []string{"https://github.com/swellweb/targetBridge/pull/130"},
	},
	{
		code:      "path_filtered",
		meaning:   "The peer answers ping over the port, but a TCP connection from the port's address does not get through. Something filters connections: a VPN client, a content filter or a firewall.",
		concluded: "From a ping that was answered and a bound connection that was not made.",
		do:        "Switch the filter off, or make an exception, on both machines.",
		verify:    "`rdmaprobe doctor --peer HOST` connects.",
		sources:   []string{srcTN3205},
	},
	{
		code: "control_channel_on_rdma_port",
		meaning: "The side channel, over which both ends exchange queue pair numbers, uses the Thunderbolt interface of the RDMA port. " +
			"Set-ups have been reported that fail often with it and not over another network. The mechanism is not known.",
		concluded: "From the local address or interface of the side channel.",
		do:        "Give the peer by its address on Ethernet or Wi-Fi.",
		verify:    "`rdmaprobe doctor --peer HOST` no longer says so.",
		sources:   []string{"https://github.com/exo-explore/exo/pull/1059"},
	},
	{
		code: "control_channel_blocked_local_network",
		meaning: "macOS asks before a program may talk to the local network. Where that was refused, a connection fails at once with EHOSTUNREACH (65), " +
			"although the network is fine. It is no fault of RDMA: RDMA was not reached.",
		concluded: "From a connection that failed at once with EHOSTUNREACH while another program reaches the same address.",
		do:        "Allow it under System Settings > Privacy & Security > Local Network for the program that started rdmaprobe, then start that program anew.",
		verify:    "`rdmaprobe doctor --peer HOST` connects.",
		sources:   []string{srcTN3205},
	},
}
