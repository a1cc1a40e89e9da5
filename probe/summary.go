package probe

import (
	"slices"

	"rdmaprobe/rdma"
)

// summarise makes the capabilities of a device from all evidence of its
// identity; build and lib are those of now.
func (h *history) summarise(identity, build, lib string, thunderbolt bool) *Capabilities {
	c := &Capabilities{}
	for key, s := range c.each() {
		ids, _ := requiredIDs(key)
		*s = h.summary(identity, ids, build, lib)
		if thunderbolt {
			s.Documented = documented[key]
			s.Contradicts = slices.ContainsFunc(s.Documented, func(f DocumentedFact) bool { return f.contradicts(s.State) })
		}
	}
	return c
}

// each gives the summaries by their keys.
func (c *Capabilities) each() map[string]*Summary {
	return map[string]*Summary{
		"queue_pair_uc": &c.QueuePairUC, "send_recv": &c.SendRecv, "queue_pair_rc": &c.QueuePairRC,
		"rdma_read": &c.RDMARead, "rdma_write": &c.RDMAWrite, "remote_key": &c.RemoteKey,
	}
}

// rank orders levels from worst to best.
var rank = map[rdma.Capability]int{
	rdma.CapabilityUnknown: 0, rdma.CapabilityRejected: 1, rdma.CapabilityObservedZero: 2, rdma.CapabilityConfirmed: 3,
}

// place is what one state is about: an id on a port.
type place struct {
	id   string
	port int
}

// summary is the state of a capability: for each id and port the newest answer
// under this build and library counts, and of those the best. Evidence of another
// build or library stands in, marked stale, where there is none.
func (h *history) summary(identity string, ids []string, build, lib string) Summary {
	fresh, stale, last := map[place]*pastRow{}, map[place]*pastRow{}, (*pastRow)(nil)
	for k, rows := range h.newest[identity] {
		if !slices.Contains(ids, k.id) {
			continue
		}
		at, into := place{k.id, k.port}, stale
		if k.build == build && k.lib == lib {
			into = fresh
			if rows.last().newer(last) {
				last = rows.last()
			}
		}
		if rows.answer != nil && rows.answer.newer(into[at]) {
			into[at] = rows.answer
		}
	}
	s := Summary{State: rdma.CapabilityUnknown}
	best := bestRow(fresh)
	if best == nil {
		best = bestRow(stale)
		s.Stale = best != nil
	}
	if best != nil {
		o := best.observation()
		s.State, s.Port, s.ObservedAt = o.Level, o.Port, o.StartedAt
		s.Observation = &ObservationRef{Run: o.Run, Seq: o.Seq, ID: o.ID}
	}
	if last != nil && !conclusive(last.level) && last.newer(best) {
		o := last.observation()
		s.LastAttempt = &Attempt{Level: o.Level, Reason: o.Reason}
		if o.StartedAt != nil {
			s.LastAttempt.At = *o.StartedAt
		}
	}
	return s
}

// bestRow is the best level, the newest among equals.
func bestRow(rows map[place]*pastRow) *pastRow {
	var best *pastRow
	for _, p := range rows {
		if best == nil || rank[p.level] > rank[best.level] || rank[p.level] == rank[best.level] && p.newer(best) {
			best = p
		}
	}
	return best
}

// RDMA gives the levels alone, in the binding's own type.
func (c Capabilities) RDMA() rdma.Capabilities {
	return rdma.Capabilities{
		QueuePairUC: c.QueuePairUC.State, SendRecv: c.SendRecv.State, QueuePairRC: c.QueuePairRC.State,
		RDMARead: c.RDMARead.State, RDMAWrite: c.RDMAWrite.State, RemoteKey: c.RemoteKey.State,
	}
}
