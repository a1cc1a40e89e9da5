package probe

import (
	"slices"

	"rdmaprobe/rdma"
)

// dropUnsound leaves out the rows that are not of the vocabulary, with what the
// file concludes from them, and counts them.
func (p *part) dropUnsound() int {
	gone := map[ObservationRef]bool{}
	before := len(p.doc.Observations)
	p.doc.Observations = slices.DeleteFunc(p.doc.Observations, func(o Observation) bool { // newPart has cloned them
		if Sound(o) {
			return false
		}
		gone[ObservationRef{Run: o.Run, Seq: o.Seq, ID: o.ID}] = true
		return true
	})
	if len(gone) == 0 {
		return 0
	}
	p.doc.Verdict = nil
	for i := range p.doc.Devices {
		p.doc.Devices[i].Capabilities = p.doc.Devices[i].Capabilities.without(gone)
	}
	return before - len(p.doc.Observations)
}

// without is a copy in which what rests on certain rows is unknown.
func (c *Capabilities) without(gone map[ObservationRef]bool) *Capabilities {
	if c == nil {
		return nil
	}
	kept := *c
	for _, s := range kept.each() {
		if s.Observation != nil && gone[*s.Observation] {
			*s = Summary{State: rdma.CapabilityUnknown, Documented: s.Documented}
		}
	}
	return &kept
}
