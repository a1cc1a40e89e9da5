package rdma

import "sync/atomic"

// CallMark says from outside the process which provider call it is in: place it
// in memory shared with another process. It follows one calling goroutine; with
// several at once Verb is that of the latest, and 0 as soon as one returns.
type CallMark struct {
	Verb   atomic.Uint32 // 1 + index into Verbs while inside a provider call, else 0
	_      uint32
	Counts [64]atomic.Uint64 // calls begun, by index into Verbs
}

// SetMark makes every later call through l, the inline verbs included, keep m.
// nil stops it.
func (l *Library) SetMark(m *CallMark) { l.mark.Store(m) }

// begin notes that v is about to be called.
func (m *CallMark) begin(v verb) {
	m.Counts[v].Add(1)
	m.Verb.Store(uint32(v) + 1)
}

// end notes that the call has returned.
func (m *CallMark) end() { m.Verb.Store(0) }
