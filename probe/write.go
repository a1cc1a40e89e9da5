package probe

import (
	"fmt"
	"slices"
	"time"

	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// probeWrite writes into the other end's memory and looks at the target's bytes.
// A completion alone confirms nothing.
func probeWrite(s *session) {
	const id = "op.rdma_write"
	size := maxOf(s.req.Data.Sizes)
	c, err := s.connect(size)
	defer s.teardown()
	if err != nil {
		s.noConnection(err, id)
		return
	}
	defer c.remote.bye()
	if c.peer.RKey == 0 {
		s.skip(Precondition, "the peer's rkey is 0: there is no key to write with", s.req.Port, id)
		return
	}
	if c.remote != nil && c.peer.Length < size {
		s.skip(Precondition, fmt.Sprintf("the peer's target has %d bytes, fewer than the %d to write", c.peer.Length, size), s.req.Port, id)
		return
	}
	params := s.dataParams(c, size)
	delete(params, "iterations")
	params["type"] = string(s.req.Data.Type)
	r := s.beginData(id, params)
	const seq = 1
	c.near.out.Fill(c.near.slotBytes(slotSend)[:size], seq)
	if err := c.near.postWrite(size, c.peer); err != nil {
		r.failData(err)
		return
	}
	if err := s.awaitSend(c.near); err != nil {
		r.failWrite(err)
		return
	}
	if c.remote != nil {
		s.askTarget(r, c, size, seq)
		return
	}
	s.judgeWrite(r, c, size, seq)
}

// askTarget lets the other host's end look at its memory.
func (s *session) askTarget(r *row, c *connection, size int, seq uint64) {
	got, err := ask[peer.Results](s.child.Context(), c.remote, peer.TypeWritten, peer.Written{Size: size, Seq: seq}, peer.TypeResults, peer.StepLimit)
	r.o.Call = "ibv_post_send"
	missing := unproven(&got, 1, c.near.out.Digest(size, seq, 1))
	switch {
	case told(err):
		r.unknown(Interrupted, err.Error())
	case err != nil:
		r.unknown(Unproven, "the write completed, and the other end did not say what its memory has: "+err.Error())
	case got.Mismatch == "" && got.Verified > 0 && missing != "":
		r.unknown(Unproven, "the write completed, and "+missing)
	case got.Mismatch == "" && got.Verified > 0:
		r.set("delivered", true)
		r.o.Value, r.o.Level = size, rdma.CapabilityConfirmed
		r.send()
	default:
		r.set("delivered", false)
		r.set("changed", got.Received > 0)
		r.unknown(PayloadMismatch, "the write completed with success, and the other end's memory does not have it: "+got.Mismatch)
	}
}

// awaitSend polls until the send has completed.
func (s *session) awaitSend(e *wireEnd) error {
	deadline := time.Now().Add(time.Duration(s.req.Data.LossNS))
	for polls := 1; e.sending; polls++ {
		if _, err := e.poll(1); err != nil {
			return err
		}
		if polls%pollsPerLook == 0 && (time.Now().After(deadline) || s.child.Context().Err() != nil) {
			return errNoCompletion
		}
	}
	return nil
}

// failWrite finishes the row of a write that did not complete with success.
func (r *row) failWrite(err error) {
	r.s.noticePort(r)
	if err == errNoCompletion {
		r.o.Call = pollCall
		r.unknown(NoCompletion, err.Error())
		return
	}
	r.failData(err)
}

// judgeWrite looks at the target. Over UC the bytes may come after the
// completion, so they are waited for.
func (s *session) judgeWrite(r *row, c *connection, size int, seq uint64) {
	deadline := time.Now().Add(time.Duration(s.req.Data.LossNS))
	for {
		target, err := s.target(c, size)
		if err != nil {
			r.unknown(ProviderError, "the target cannot be read: "+err.Error())
			return
		}
		at := c.near.out.Mismatch(target, seq)
		if at < 0 {
			r.set("delivered", true)
			r.o.Value = size
			r.o.Level, r.o.Call = rdma.CapabilityConfirmed, "ibv_post_send"
			r.send()
			return
		}
		if time.Now().After(deadline) || s.child.Context().Err() != nil {
			r.o.Call = "ibv_post_send"
			r.astray(target, at, "the write completed with success and ")
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// astray finishes the row of a write that is not in its target, and returns what
// the peer is to be told.
func (r *row) astray(target []byte, at int, begin string) (what string, changed bool) {
	what, changed = strayed(target, at)
	r.set("delivered", false)
	r.set("changed", changed)
	r.unknown(PayloadMismatch, begin+what)
	return what, changed
}

// strayed tells whether a write whose first wrong byte is at offset at left its
// target as it was, all zeros, or brought other bytes.
func strayed(target []byte, at int) (what string, changed bool) {
	if slices.ContainsFunc(target, func(b byte) bool { return b != 0 }) {
		return fmt.Sprintf("the first wrong byte is at offset %d", at), true
	}
	return "the target's bytes did not change", false
}

// target is the memory that was to be written.
func (s *session) target(c *connection, size int) ([]byte, error) {
	if c.far != nil {
		return c.far.slotBytes(slotTarget)[:size], nil
	}
	p, err := s.sim.Peer(s.device, s.req.Port)
	if err != nil {
		return nil, err
	}
	return p.Read(0, size)
}

// probeRTR walks a queue pair to RTS towards the other end and sends nothing.
func probeRTR(s *session) {
	c, err := s.connect(pageSize) // its stages are the rows
	if err == nil {
		c.remote.bye()
	}
	s.teardown()
}
