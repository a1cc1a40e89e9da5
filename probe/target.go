package probe

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// watchTarget waits for the client's write and looks at the memory that it was
// to change.
func (s *session) watchTarget(c *connection, id string) {
	params := s.echoParams(c, peer.Round{Size: maxOf(s.req.Data.Sizes), Count: 1})
	delete(params, "iterations")
	r := s.beginData(id, params)
	m, err := c.remote.next(s.child.Context(), peer.StepLimit)
	if err == nil && m.Type == peer.TypeBye {
		err = errors.New("the client ended without a write")
	}
	var w peer.Written
	if err == nil {
		w, err = peer.Body[peer.Written](m, peer.TypeWritten)
	}
	if err == nil && w.Size > c.near.size {
		err = fmt.Errorf("the client says that it wrote %d bytes, and there are %d", w.Size, c.near.size)
	}
	if err != nil {
		r.unknown(reasonOfEnd(s, err), err.Error())
		return
	}
	got := tally{received: 1}
	if at := s.awaitTarget(c, w); at < 0 {
		got.right(c.near.slotBytes(slotTarget)[:w.Size], w.Seq)
		r.tellTarget(w.Size)
	} else {
		what, changed := r.astray(c.near.slotBytes(slotTarget)[:w.Size], at, "the client's write completed, and ")
		if got.mismatch = what; !changed {
			got.received = 0
		}
	}
	if c.remote.send(peer.TypeResults, got.results()) == nil {
		_, _ = c.remote.next(s.child.Context(), peer.StepLimit) // bye: the client is done with its queue pair
	}
}

// tellTarget finishes the row of a write in whose bytes nothing is wrong. Of a short
// one only the client knows all bytes: its row has the answer.
func (r *row) tellTarget(size int) {
	if pattern.Blind(size) {
		r.unknown(Unproven, fmt.Sprintf("of %d bytes only the client knows whether they are those that it wrote", size))
		return
	}
	r.set("delivered", true)
	r.o.Level, r.o.Value = rdma.CapabilityConfirmed, size
	r.send()
}

// awaitTarget looks until the bytes are there: over UC they may come after the
// completion. Zeros are what the target had before.
func (s *session) awaitTarget(c *connection, w peer.Written) int {
	deadline := time.Now().Add(time.Duration(s.req.Data.LossNS))
	for {
		b := c.near.slotBytes(slotTarget)[:w.Size]
		at := c.near.in.Mismatch(b, w.Seq)
		came := at < 0 && slices.ContainsFunc(b, func(v byte) bool { return v != 0 })
		if came || time.Now().After(deadline) || s.child.Context().Err() != nil {
			return at
		}
		time.Sleep(time.Millisecond)
	}
}
