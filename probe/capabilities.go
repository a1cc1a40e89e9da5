package probe

import (
	"time"

	"rdmaprobe/rdma"
)

// Capabilities is the summary of one device: for each capability the newest
// conclusive evidence, with what was tried since and what documents claim.
type Capabilities struct {
	QueuePairUC Summary `json:"queue_pair_uc"`
	SendRecv    Summary `json:"send_recv"`
	QueuePairRC Summary `json:"queue_pair_rc"`
	RDMARead    Summary `json:"rdma_read"`
	RDMAWrite   Summary `json:"rdma_write"`
	RemoteKey   Summary `json:"remote_key"`
}

// Summary is the state of one capability. No level is derived from another id.
type Summary struct {
	State       rdma.Capability  `json:"state"`
	Port        int              `json:"port,omitempty"`
	Observation *ObservationRef  `json:"observation,omitempty"`
	ObservedAt  *time.Time       `json:"observed_at,omitempty"`
	Stale       bool             `json:"stale,omitempty"` // seen under another OS build or library
	LastAttempt *Attempt         `json:"last_attempt,omitempty"`
	Documented  []DocumentedFact `json:"documented,omitempty"`
	Contradicts bool             `json:"contradicts,omitempty"` // the evidence and a document disagree
}

// ObservationRef names a row of a document or a ledger.
type ObservationRef struct {
	Run string `json:"run"`
	Seq int64  `json:"seq"`
	ID  string `json:"id"`
}

// Attempt is an inconclusive try that came after the evidence.
type Attempt struct {
	Level  rdma.Capability `json:"level"`
	Reason Reason          `json:"reason,omitempty"`
	At     time.Time       `json:"at"`
}

// DocumentedFact is what a document claims, beside what was seen.
type DocumentedFact struct {
	Source   string `json:"source"`
	Revision string `json:"revision"`
	Claim    string `json:"claim"` // supported, unsupported, or a level of the reference table
}
