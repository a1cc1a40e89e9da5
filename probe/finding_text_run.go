package probe

// runPages are about how the children and exchanges of a run ended.
var runPages = []findingPage{
	{
		code:    "provider_crashed",
		meaning: "A probe child died inside the verbs library. The library did it, not the question: what was seen before stays, and what was asked for is unknown, not rejected.",
		concluded: "From a child that ended without its last message, inside the call that it had announced. In later runs of the same boot nothing that allocates is tried on the device, " +
			"and the refusal says so again.",
		do: "Thunderbolt: check cable and link, and end other RDMA programs. Elsewhere: take libibverbs, provider and kernel driver from one release, and look at the kernel log. " +
			"Then try once more with `--force`. A library that dies again is worth a report: `rdmaprobe report --redact`.",
		verify: "`rdmaprobe probe --force -d DEVICE` completes. Without `--force` nothing that allocates is tried on the device in the same boot.",
		sources: []string{
			"https://github.com/ml-explore/mlx/issues/4192", "https://github.com/ml-explore/mlx/issues/4485", "https://github.com/exo-explore/exo/issues/2186",
		},
	},
	{
		code: "provider_wedged",
		meaning: "A call into the verbs library did not come back in time, outside the sending of messages. On Thunderbolt this is known as a wedged provider: queries block as well, " +
			"and a process that is killed in such a call leaks what it holds. Therefore a child that has allocated is left running there.",
		concluded: "From the child's end: killed at its deadline, or left running in the call. In later runs of the same boot the refusal says so again.",
		do:        "Thunderbolt: unplug and replug the cable, and restart if it stays. Elsewhere: kernel log, driver, restart.",
		verify:    "`rdmaprobe devices` reads the port.",
		sources:   []string{"https://github.com/exo-explore/exo/issues/1712", "https://github.com/exo-explore/exo/issues/1711", "https://github.com/ml-explore/mlx/issues/3910"},
	},
	{
		code:      "child_unkillable",
		meaning:   "A probe child did not die of SIGKILL: it sits in the kernel. Nothing more is started on the device while it lives; on Thunderbolt nothing that allocates on any Thunderbolt device.",
		concluded: "From a child that still lived after the last step that ends one.",
		do:        "Restart the machine.",
		verify:    "After the restart `rdmaprobe devices` reads the device.",
		sources:   []string{"https://github.com/ml-explore/mlx/issues/3910", "https://github.com/ntrdma/ntrdma/issues/18"},
	},
	{
		code: "pingpong_timeout",
		meaning: "Queue pairs were connected and messages sent, and no answer came back in time. On UC a peer that is gone gives no error at all, so only a deadline ends the wait. " +
			"It does not mean that the transport is rejected.",
		concluded: "From a ping-pong without a verified round trip (RC: not all), a write that never completed, retries that were used up, another end that went away among the messages, " +
			"or a call that hung while messages were sent.",
		do: "Check the other end. Use the GID index that rdmaprobe chooses: a link-local entry is often not routed. Where both ends are on one machine only the provider is left: " +
			"the kernel log, the driver.",
		verify:  "`rdmaprobe probe --pingpong --peer HOST` is confirmed.",
		sources: []string{"https://github.com/ml-explore/mlx/issues/3910", "https://github.com/SoftRoCE/rxe-dev/issues/47", "https://github.com/NVIDIA/nccl/issues/769"},
	},
	{
		code: "payload_mismatch",
		meaning: "A message or a remote write arrived, and its bytes are not those that were sent: a damaged one, a part of one, or what was in the memory before. " +
			"Completions said that all was well. A program that does not check its data computes with these bytes, which is worse than a message that is lost.",
		concluded: "From the pattern that each message carries and the receiver compares byte by byte, at both ends. A message that comes once more or late is not wrong, " +
			"and a write that left its target as it was is completion_without_delivery.",
		do: "Do not use the path for data. Repeat with another `--size`, from the other machine to this one, and with another peer, to see what the damage follows. " +
			"Then report it to the vendor, with the file of `rdmaprobe report --bundle FILE.tar.gz`.",
		verify:  "`rdmaprobe probe --pingpong` confirms every size that is used, more than once.",
		sources: []string{"https://github.com/ml-explore/mlx/pull/3152", srcTN3205},
	},
	{
		code: "receiver_did_not_confirm",
		meaning: "Messages were answered here, or a remote write completed, and the end that should have received them did not show that it did. A wire that gives messages back to their sender, " +
			"or a peer that says what it does not know, looks like this. What completed here is no proof of what arrived there.",
		concluded: "From the results of the other end, which has to return a digest over the number, length and bytes of every message: missing, of fewer or more messages than were sent, or with another digest. " +
			"Each message holds bytes that go over RDMA and no other way, so that nobody can give the digest who has not received them.",
		do: "Take the same release of rdmaprobe at both ends, and look at what `rdmaprobe serve` said there. On UC a message that was lost before those that count looks the same: repeat it. " +
			"Repeat it with both ends on one machine, where nothing that another host says is needed.",
		verify:  "`rdmaprobe probe --pingpong --peer HOST` is confirmed.",
		sources: []string{srcTN3205},
	},
	{
		code: "data_transfer_failed",
		meaning: "The provider failed a message by itself: posting it was refused, it completed with an error, or the provider gave an answer that cannot be, such as a completion of nothing that was posted. " +
			"The peer's silence and a port that went down have findings of their own.",
		concluded: "From what the call returned, the completion's status, or the answer. It is a warning where only remote writes failed and messages arrive.",
		do:        "Look at the kernel log. Try a smaller `--size` and another peer, and take library, provider and driver from one release.",
		verify:    "`rdmaprobe probe --pingpong` is confirmed.",
		sources:   []string{"https://github.com/hellas-ai/thunderbolt-ibverbs/pull/35", "https://github.com/ml-explore/mlx/pull/3152"},
	},
	{
		code:      "completion_without_delivery",
		meaning:   "A remote write was reported as done, and the target's bytes did not change. A completion of this provider is no proof of delivery.",
		concluded: "From a successful completion at the sender and the target's memory, which was compared.",
		do:        "Let the receiver check the bytes, or send them by SEND and RECV.",
		verify:    "`rdmaprobe probe --write --peer HOST` confirms op.rdma_write.",
		sources: []string{
			srcTN3205, "https://github.com/hellas-ai/thunderbolt-ibverbs/blob/76ba39b630a70accb72f19388eefe48844b50eb8/bench/results/8845HS-mbp-1x40g/perftest.md",
		},
	},
	{
		code:      "uc_message_loss",
		meaning:   "Some messages over UC arrived and were verified, others vanished. UC has no acknowledgements: a message that arrives before a receive was posted is dropped without notice on ordinary adapters.",
		concluded: "From a UC ping-pong in which fewer round trips were verified than were made. UC is then not confirmed.",
		do:        "Prefer RC where it is confirmed. Else post receives before the other end sends.",
		verify:    "`rdmaprobe probe --pingpong --peer HOST` verifies all round trips.",
		sources:   []string{"https://github.com/antirez/ds4/pull/1024"},
	},
	{
		code:      "provider_stderr",
		meaning:   "The verbs library wrote to its standard error. It is kept as evidence and never mixed into results; noise at teardown, for example, is known and harmless.",
		concluded: "From what a child left there, where no other finding explains it.",
		do:        "Nothing. Read it when something else looks odd.",
		verify:    "`rdmaprobe report --json` has the text at child.stderr.",
		sources:   []string{"https://github.com/ggml-org/llama.cpp/pull/27908", "https://github.com/ggml-org/llama.cpp/pull/26421"},
	},
	{
		code: "left_processes",
		meaning: "The verbs library started processes that were still there when the probe's child ended. In an ordinary program they would live on, with what they inherited: " +
			"open devices, locks, pipes. Those of the child's own group are ended everywhere; on Linux also those that went into another session, and they are named.",
		concluded: "From the children that the child still had at its end, for it adopts what its descendants leave; after a crash or a kill from the mark in the environment of all that it started. " +
			"Elsewhere only from its output, which something still held.",
		do:      "Look what starts them: a provider, or a library that is loaded with it (LD_PRELOAD). One that could not be ended is to be ended by hand, by its number.",
		verify:  "`rdmaprobe report --json` has no `child.left` in the rows of the newest run.",
		sources: []string{"https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html"},
	},
	{
		code:      "required_capability_not_confirmed",
		meaning:   "`--require` asked for something, and this run did not confirm it. Evidence of earlier runs does not count.",
		concluded: "From this run's rows: with `-d` each named device must confirm it, else one is enough. Rejected, observed_zero and unknown all fail a requirement.",
		do:        "Look at the level, its reason and the other findings. Drop `rdma_read`: the binding of rdmaprobe does not expose RDMA READ, so that it can never pass.",
		verify:    "`rdmaprobe probe -d DEVICE --require WHAT` ends with exit status 0.",
		sources:   []string{"https://github.com/linux-rdma/perftest/issues/311"},
	},
	{
		code:      "device_busy",
		meaning:   "Another rdmaprobe works on the device. Two at once would see each other's objects, so this one waited and then left the device alone.",
		concluded: "From the device's lock, which was not free within `--timeout`.",
		do:        "Wait, or give a longer `--timeout`.",
		verify:    "The same command, when the other run has ended.",
		sources:   []string{srcRdmaperf},
	},
	{
		code: "probe_interrupted",
		meaning: "An earlier run announced a probe, and no outcome of it was ever recorded. The run may have been killed, or the machine may have gone down in the probe. " +
			"The probe is not repeated by itself until the system was updated.",
		concluded: "From an intent in the ledger whose run is over. It says that nothing was recorded, not why.",
		do:        "Look whether the machine panicked at that time. If not, repeat the probe with `--force`.",
		verify:    "The probe has a row of its own.",
		sources:   []string{srcRdmaperf, "https://github.com/ml-explore/mlx/issues/3910"},
	},
	{
		code: codeLimitMet,
		meaning: "The provider claims more than rdmaprobe takes of it: devices of a list, slots of a GID table, GIDs of a port, rows of one child or bytes of one message. " +
			"The message says which, how much there was and how much was taken. What is shown is what was seen, and it is not all.",
		concluded: "From the row of what was cut, whose data name the limit. No verdict is `ready` beside it, and the status is 1: what was left out may be what matters.",
		do:        "Name the devices that matter with `-d`, and a GID with `--gid-index`. A provider that really has as much is worth a report: `rdmaprobe report --redact`.",
		verify:    "`rdmaprobe devices` has no such finding.",
		sources:   []string{srcRdmaperf},
	},
}
