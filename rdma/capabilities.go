package rdma

// Capability is the level of evidence for one feature of a provider.
type Capability string

const (
	// CapabilityUnknown: there is no observation of the provider for the feature.
	CapabilityUnknown Capability = "unknown"

	// CapabilityConfirmed: the provider was seen to do it.
	CapabilityConfirmed Capability = "confirmed"

	// CapabilityRejected: the provider was seen to refuse it, on a certain
	// device, in a certain configuration and run.
	CapabilityRejected Capability = "rejected"

	// CapabilityObservedZero: the call succeeded and gave zero where use of the
	// feature needs a value.
	CapabilityObservedZero Capability = "observed_zero"
)

// Capabilities is the evidence for a provider's features. Nothing in it is
// inferred, least of all from what this package exposes.
type Capabilities struct {
	QueuePairUC Capability // a UC queue pair can be created
	SendRecv    Capability // SEND and RECV carry data
	QueuePairRC Capability // an RC queue pair can be created
	RDMARead    Capability // one-sided READ carries data
	RDMAWrite   Capability // one-sided WRITE carries data
	RemoteKey   Capability // a region registered for remote access has a key
}

// AppleThunderboltCapabilities is the documented baseline for Apple's
// Thunderbolt provider, to stand beside what a machine shows, never in its
// place. The reference package recorded on 2026-07-17, on one rdma_en3: RC
// creation refused with NULL and EOPNOTSUPP (102), a region asked for remote
// access with rkey 0. UC and SEND/RECV are what Apple's TN3205 documents and
// working programs use. One-sided operations were not tried.
func AppleThunderboltCapabilities() Capabilities {
	return Capabilities{
		QueuePairUC: CapabilityConfirmed,
		SendRecv:    CapabilityConfirmed,
		QueuePairRC: CapabilityRejected,
		RDMARead:    CapabilityUnknown,
		RDMAWrite:   CapabilityUnknown,
		RemoteKey:   CapabilityObservedZero,
	}
}

// CompletionStatusClass says what a completion status means for the caller.
type CompletionStatusClass string

// Classes of completion statuses. A protection error is the access rights at
// work; it is kept apart from other failures.
const (
	CompletionSuccess    CompletionStatusClass = "success"
	CompletionProtection CompletionStatusClass = "protection error"
	CompletionFailure    CompletionStatusClass = "failure"
)

// ClassifyCompletionStatus is the class of IbvWC.Status.
func ClassifyCompletionStatus(status int32) CompletionStatusClass {
	switch status {
	case IBV_WC_SUCCESS:
		return CompletionSuccess
	case IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR:
		return CompletionProtection
	default:
		return CompletionFailure
	}
}
