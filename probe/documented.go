package probe

import "rdmaprobe/rdma"

// Sources of what is claimed about Apple's provider.
const (
	technote  = "Apple TN3205"
	reference = "reference package rdma v0.6.16"
)

// documented is what is claimed for Thunderbolt devices, by capability. It
// stands beside the evidence and is never part of it.
var documented = map[string][]DocumentedFact{
	"queue_pair_uc": {{technote, "2026-04-13", "supported"}, {reference, "2026-07-17", string(rdma.AppleThunderboltCapabilities().QueuePairUC)}},
	"send_recv":     {{technote, "2026-04-13", "supported"}, {reference, "2026-07-17", string(rdma.AppleThunderboltCapabilities().SendRecv)}},
	"queue_pair_rc": {{technote, "2026-04-13", "unsupported"}, {reference, "2026-07-17", string(rdma.AppleThunderboltCapabilities().QueuePairRC)}},
	"rdma_read":     {{technote, "2026-04-13", "unsupported"}, {reference, "2026-07-17", string(rdma.AppleThunderboltCapabilities().RDMARead)}},
	"rdma_write":    {{technote, "2026-04-13", "unsupported"}, {reference, "2026-07-17", string(rdma.AppleThunderboltCapabilities().RDMAWrite)}},
	"remote_key":    {{reference, "2026-07-17", string(rdma.AppleThunderboltCapabilities().RemoteKey)}},
}

// Against tells whether a state and the claim cannot both be right. What is not
// known contradicts nothing.
func (f DocumentedFact) Against(state rdma.Capability) bool { return f.contradicts(state) }

// contradicts tells whether a state and a claim cannot both be right. What is
// not known contradicts nothing.
func (f DocumentedFact) contradicts(state rdma.Capability) bool {
	if !conclusive(state) {
		return false
	}
	switch f.Claim {
	case "supported":
		return state != rdma.CapabilityConfirmed
	case "unsupported":
		return state == rdma.CapabilityConfirmed
	case string(rdma.CapabilityUnknown):
		return false
	}
	return string(state) != f.Claim
}
