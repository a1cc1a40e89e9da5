package probe

// providerPages are about what a provider refused.
var providerPages = []findingPage{
	{
		code: "pd_alloc_failed",
		meaning: "ibv_alloc_pd gave no protection domain. Everything else needs one, so nothing after it was tried; " +
			"programs that go on with the NULL crash in the registration of memory.",
		concluded: "From the NULL, on a port that is not ACTIVE or while other processes hold RDMA objects.",
		do:        "Bring up the link, end other RDMA programs gently, restart if it stays.",
		verify:    "`rdmaprobe probe` confirms pd.alloc.",
		sources:   []string{"https://github.com/exo-explore/exo/issues/2186", "https://github.com/ml-explore/mlx/pull/3802"},
	},
	{
		code: "pd_alloc_failed_port_active",
		meaning: "ibv_alloc_pd gave no protection domain although the port is ACTIVE and no other program is known to hold one. " +
			"On Thunderbolt domains can be lost to programs that died, without an owner that could be ended.",
		concluded: "From the NULL, the port's state and the processes that are known.",
		do:        "Thunderbolt: replug the cable, then restart. Elsewhere: kernel log, driver, restart.",
		verify:    "`rdmaprobe probe` confirms pd.alloc.",
		sources:   []string{"https://github.com/ml-explore/mlx/issues/3207", srcPDs},
	},
	{
		code: "object_create_failed",
		meaning: "A completion queue, a memory region or a queue pair that can be connected could not be made, by a failure that is none of \"not supported\", and nothing else explains it. " +
			"Without it no program can use the device. It does not mean that the device lacks the ability.",
		concluded: "From NULL or the errno of ibv_create_cq, of ibv_reg_mr with every access that was tried, or of ibv_create_qp and ibv_modify_qp to INIT for every type of UC and RC that was tried. " +
			"A type that fails beside one that works raises nothing, nor does EINVAL of the only type that was tried, except on Thunderbolt: drivers say it of a type that they do not have. A limit of locked memory, a pool that other processes hold and controllers that cannot do RDMA are named instead.",
		do: "End other RDMA programs on the device gently. Look at the log of the kernel or of the system for the driver's reason, and take library, provider and driver from one release. " +
			"Restart if it stays; do not retry in a loop.",
		verify:  "`rdmaprobe probe` confirms mr.register and a queue pair.",
		sources: []string{"https://github.com/ml-explore/mlx/pull/4209", "https://github.com/ml-explore/mlx/issues/3162"},
	},
	{
		code: "teardown_failed",
		meaning: "A probe could not release what it had made. Elsewhere the kernel takes it back when the process ends; on Thunderbolt what is not released can be lost until a restart, " +
			"and the device has few of each.",
		concluded: "From the errno of the release that failed: queue pair, region, completion queue, protection domain or context. The rest was then left as it was.",
		do:        "Thunderbolt: probe no more than needed, and restart when things run out. Elsewhere: kernel log, one release of library, provider and driver.",
		verify:    "`rdmaprobe probe` confirms teardown.",
		sources:   []string{srcPDs, "https://github.com/ggml-org/llama.cpp/pull/27908"},
	},
	{
		code: "qp_pool_exhausted",
		meaning: "A device has a fixed number of queue pairs, and other processes hold them. Apple documents 10 for Thunderbolt; some devices have fewer. " +
			"EBUSY here does not mean to try again.",
		concluded: "From EBUSY, or ENOMEM or NULL at the device's maximum, while other processes are known to hold queue pairs.",
		do:        "End those processes gently, or share their queue pairs.",
		verify:    "`rdmaprobe probe` confirms the creation.",
		sources:   []string{srcTN3205, "https://github.com/ml-explore/mlx/pull/4209", "https://github.com/ml-explore/mlx/issues/3162"},
	},
	{
		code:      "mr_pool_exhausted",
		meaning:   "A device has a fixed number of memory regions (100 on Thunderbolt, by reports), and other processes hold them. The registration fails, some versions without an errno.",
		concluded: "From a registration that failed with NULL or ENOMEM while other processes are known to hold regions up to the device's maximum.",
		do:        "End those processes gently, or let them register fewer and larger regions.",
		verify:    "`rdmaprobe probe` confirms mr.register.",
		sources: []string{
			"https://github.com/ml-explore/mlx/issues/3162",
			"https://github.com/adurham/exo/blob/95cf9690f91a6bdab8dff77ac2b336c95503205c/docs/thunderbolt_rdma_mr_limit.md",
		},
	},
	{
		code:      "mr_register_enomem",
		meaning:   "Registering a single page failed with ENOMEM, and the process may lock as much memory as it likes. The limit is not the cause; a changed kernel or driver is.",
		concluded: "From ENOMEM for one page with an unlimited memlock.",
		do:        "Look at the kernel log, and try the previous kernel.",
		verify:    "`rdmaprobe probe` confirms mr.register.",
		sources:   []string{"https://github.com/openucx/ucx/issues/8746"},
	},
	{
		code: "rtr_path_timeout",
		meaning: "The transition to RTR resolves the peer's address, and the peer was not found in time. With a link-local source GID (index 0) this is common: it does not belong to the path. " +
			"It says nothing about the transport.",
		concluded: "From ETIMEDOUT (60 on macOS, 110 on Linux) of the transition to RTR.",
		do:        "Let rdmaprobe choose the GID. Check that the peer is on and has an address in the same network. Never repeat it in a loop on Thunderbolt.",
		verify:    "`rdmaprobe probe --pingpong --peer HOST` confirms the transition.",
		sources:   []string{"https://github.com/ml-explore/mlx/pull/3468", "https://github.com/NVIDIA/nccl/issues/769", srcRdmaperf},
	},
	{
		code: "gid_index_refused",
		meaning: "The transition to RTR was refused for a source GID that was named by its index, and that cannot address a peer there: an empty slot, or, on Thunderbolt, an entry that is not IPv4-mapped. " +
			"It says nothing about the transport.",
		concluded: "From another errno than ETIMEDOUT and EBUSY of the transition, and from the entry that the queue pair was given.",
		do:        "Leave out `--gid-index`, so that the entry is chosen by its content. A program of your own should search the table as well.",
		verify:    "`rdmaprobe probe --pingpong --peer HOST` confirms the transition.",
		sources:   []string{"https://github.com/ml-explore/mlx/issues/3467", "https://github.com/ml-explore/mlx/issues/3389"},
	},
	{
		code:      "stale_kernel_resources",
		meaning:   "The transition to RTR was refused with EBUSY: the kernel still holds what an earlier program left behind. It has been reported to last until a restart.",
		concluded: "From EBUSY of the transition to RTR.",
		do:        "Restart the machine. Do not retry.",
		verify:    "After the restart the transition is confirmed.",
		sources:   []string{"https://github.com/ml-explore/mlx/issues/3207"},
	},
	{
		code: "provider_degraded",
		meaning: "The transition to RTR was refused although the port is ACTIVE and the GID is good, or that to RTS after RTR had succeeded. On Thunderbolt this is seen after hours without traffic and after programs that died; " +
			"errno 96 is ENODATA on macOS. Restarting the program does not help, restarting the machine does.",
		concluded: "From a refusal with another errno than ETIMEDOUT, EBUSY and the \"not supported\" ones, or with none, on an ACTIVE port with a GID that can work; at RTS from any but the \"not supported\" ones. A used-up pool comes first.",
		do:        "Look for leaked owners, end them gently, then restart; both ends if it stays.",
		verify:    "The transition is confirmed.",
		sources:   []string{"https://github.com/exo-explore/exo/issues/1973", srcPDs},
	},
	{
		code: "rtr_not_attempted",
		meaning: "The transition to RTR changes state in the kernel, and repeated failures of it can wedge a Thunderbolt port until a restart. " +
			"It needs consent, and what it stands on must be there; here it is not.",
		concluded: "From the port's GID table, its interface and the kernel's log, whether consent was given or not. `doctor` never asks for a transition and never says so.",
		do:        "Mend what is missing, then give consent by `--allow-rtr`.",
		verify:    "`rdmaprobe probe --allow-rtr -d DEVICE` makes the transition, or says what still speaks against it.",
		sources:   []string{srcRdmaperf},
	},
}
