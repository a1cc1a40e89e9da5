package rdma

import (
	"sync/atomic"
	"unsafe"
)

// CallMark says from outside the process which provider call it is in: place it
// in memory shared with another process. It follows one calling goroutine. With
// several at once Verb is that of the latest, 0 as soon as one returns, and Counts
// may miss some.
type CallMark struct {
	Verb   atomic.Uint32 // 1 + index into Verbs while inside a provider call, else 0
	_      uint32
	Counts [64]atomic.Uint64 // calls begun, by index into Verbs
}

// SetMark makes every later call through l, the inline verbs included, keep m.
// nil stops it.
func (l *Library) SetMark(m *CallMark) { l.mark.Store(m) }

// The owner writes the mark with plain stores, each of one aligned word: three
// locked instructions would cost more than half of a poll. The call between begin
// and end keeps the compiler from moving or merging them, and memory shared
// between processes is coherent, also after a crash.

// begin notes that v is about to be called.
//
//go:norace
func (m *CallMark) begin(v verb) {
	*(*uint64)(unsafe.Pointer(&m.Counts[v]))++
	*(*uint32)(unsafe.Pointer(&m.Verb)) = uint32(v) + 1
}

// end notes that the call has returned.
//
//go:norace
func (m *CallMark) end() { *(*uint32)(unsafe.Pointer(&m.Verb)) = 0 }
