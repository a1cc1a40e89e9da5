package probe

const (
	srcTN3205   = "https://developer.apple.com/documentation/technotes/tn3205-low-latency-communication-with-rdma-over-thunderbolt"
	srcRdmaperf = "https://github.com/tmc/apple/blob/09debddb7f7152b867d5951dbb419098dec63239/examples/rdma/rdmaperf/README.md"
	srcPDs      = "https://github.com/dryvist/nix-ai/blob/0109b839359efebde2b08d10ab9db4ec4af0cccd/docs/runbooks/rdma-protection-domains.md"
)

// macPages are about a Mac's system, its controllers and what is plugged in.
var macPages = []findingPage{
	{
		code:    "os_too_old",
		meaning: "RDMA over Thunderbolt is part of macOS from 26.2 on. On an older system there is no verbs library, so nothing of RDMA can be used.",
		concluded: "From the system's version, and from a load of the verbs library that failed because there is no such file. " +
			"A program built against an old SDK can be told 16 or 10.16 for a newer system; such a version counts as unknown, never as old.",
		do:      "Update to macOS 26.2 or newer. Bring all machines of a cluster to the same build.",
		verify:  "`sw_vers -productVersion` says 26.2 or more, and `rdmaprobe devices` no longer says that the library is missing.",
		sources: []string{srcTN3205},
	},
	{
		code: "running_translated",
		meaning: "This rdmaprobe was built for Intel processors and runs on Apple silicon through Rosetta. " +
			"A translated process cannot load the system's verbs library, so it would report that there is none.",
		concluded: "From the system, which says that this process is translated.",
		do:        "Use the arm64 build. Check that the terminal itself is not set to open using Rosetta, since that setting passes on to what it starts.",
		verify:    "`file $(which rdmaprobe)` says arm64, and `rdmaprobe version` runs.",
		sources:   []string{srcTN3205},
	},
	{
		code: "verbs_library_missing",
		meaning: "The verbs library could not be loaded because it, or a library that it needs, is not there. Without it there is nothing to ask. " +
			"On macOS it is in the system's shared cache and not on disk, so looking for the file proves nothing; only loading does.",
		concluded: "From the loader's own text. A failure with another text (a wrong architecture, a missing symbol) is not this finding.",
		do: "macOS: update to 26.2 or newer; the library cannot be installed by itself. Linux: install libibverbs and its providers. " +
			"With `--library PATH`: correct the path.",
		verify:  "`rdmaprobe devices` shows the library as loaded.",
		sources: []string{srcTN3205, "https://github.com/ggml-org/llama.cpp/pull/27815"},
	},
	{
		code:    "rdma_disabled",
		meaning: "A Mac with Thunderbolt 5 has RDMA switched off until it has been enabled once. The switch is kept outside the running system and can only be set from Recovery.",
		concluded: "From `rdma_ctl status`, which says disabled, on a Mac whose controllers are Thunderbolt 5. On older controllers the switch decides nothing, " +
			"and the finding is another one.",
		do: "Start into Recovery, open Utilities > Terminal, run `rdma_ctl enable`, restart. It needs somebody at the machine; the running system refuses, and " +
			"a Recovery Lock of a device management keeps you out.",
		verify:  "After the restart `rdma_ctl status` says enabled, and `rdmaprobe devices` lists devices.",
		sources: []string{srcTN3205, "https://github.com/exo-explore/exo/issues/1032", "https://github.com/exo-explore/exo/pull/1072"},
	},
	{
		code: "thunderbolt_generation_unsupported",
		meaning: "Apple's RDMA needs Thunderbolt 5 controllers in the Mac. With Thunderbolt 4 or older it cannot work. Such a Mac may still say that RDMA is enabled, " +
			"and reports differ on whether it lists devices: neither makes it usable. The generation that counts is that of the Mac, not of the cable.",
		concluded: "From the generation of the host's own controllers, whatever the switch or the device list says.",
		do:        "Nothing on this Mac helps. Use IP over Thunderbolt between these machines, or Macs with Thunderbolt 5.",
		verify:    "`system_profiler SPThunderboltDataType` on the machine to be used shows a speed of 80 Gb/s or more for its own ports.",
		sources: []string{
			srcTN3205, "https://github.com/ml-explore/mlx/issues/3777", "https://github.com/jundot/omlx/issues/3037",
			"https://github.com/exo-explore/exo/pull/1813", "https://github.com/exo-explore/exo/issues/1636", "https://github.com/ml-explore/mlx/issues/4485",
		},
	},
	{
		code:      "link_speed_below_tb5",
		meaning:   "Both Macs have Thunderbolt 5, but their link came up at 40 Gb/s or less. RDMA needs a Thunderbolt 5 link. The usual cause is a cable for Thunderbolt 4, or a hub.",
		concluded: "From the generation of both ends and the trained speed of the link. Where the peer's generation is not known, nothing is concluded.",
		do:        "Replace the cable by one certified for Thunderbolt 5, and connect the machines directly.",
		verify:    "`system_profiler SPThunderboltDataType` shows 80 Gb/s for the link.",
		sources:   []string{srcTN3205, "https://github.com/exo-explore/exo/issues/1636", "https://github.com/exo-explore/exo/pull/1813"},
	},
	{
		code:      "mac_studio_port_en2",
		meaning:   "On a Mac Studio the Thunderbolt 5 port beside the Ethernet jack (interface en2) is reported not to carry RDMA. Its device is listed all the same.",
		concluded: "From the model and from a link on en2 that has a peer.",
		do:        "Move the cable to another Thunderbolt 5 port.",
		verify:    "`rdmaprobe devices` shows the device of the other port as ACTIVE.",
		sources:   []string{"https://github.com/exo-explore/exo/pull/1543"},
	},
	{
		code:      "os_builds_differ",
		meaning:   "The machines run different builds of macOS. Ports of Macs with different builds may not find each other, and what one build does says little about another.",
		concluded: "From the builds that both ends named when they talked, or from the hosts of a merged report. Only Macs are compared; Linux kernels may differ.",
		do:        "Bring all machines to the same build.",
		verify:    "`sw_vers -buildVersion` is the same everywhere.",
		sources:   []string{"https://github.com/exo-explore/exo"},
	},
	{
		code: "pd_pool_exhausted",
		meaning: "A Thunderbolt device has few protection domains (11 have been reported). When all are in use, or lost to programs that died, new programs fail: " +
			"some at the allocation, some only when a queue pair goes to RTR. The maximum that a device reports is not what is free.",
		concluded: "From the kernel's count of live domains against the device's max_pd, or from owners that are gone while their objects are not. " +
			"The count is over all devices: where several are ACTIVE, one that just gave a domain is not called exhausted by the count alone.",
		do:      "End the owners gently. SIGKILL leaks what they hold. When no owner is left, only a restart gives the domains back.",
		verify:  "`ioclasscount " + pdClass + "` shows fewer than max_pd.",
		sources: []string{srcPDs, "https://github.com/exo-explore/exo/issues/1973", "https://github.com/ml-explore/mlx/issues/3207"},
	},
	{
		code: "peer_not_advertising_rdma",
		meaning: "The cable and the Thunderbolt link are fine, but the other end offers only networking. A port becomes usable for RDMA when both ends offer it; " +
			"that a driver is loaded on this side does not mean that there will be a device.",
		concluded: "From links that have a peer, none of which offers an RDMA service, while no port of this host is ACTIVE. A peer that is not known to lack it raises nothing.",
		do:        "Enable RDMA on the peer, or load its Thunderbolt RDMA driver. Where the peer's controllers are older than Thunderbolt 5 it cannot offer it.",
		verify:    "`rdmaprobe doctor` on both machines; the port's state is then ACTIVE at both ends.",
		sources: []string{
			"https://github.com/Geramy/OdinLink-Five/issues/4", "https://github.com/Geramy/OdinLink-Five/pull/26", "https://github.com/exo-explore/exo/issues/1390",
		},
	},
}
