package probe

import (
	"errors"
	"fmt"
	"time"

	"rdmaprobe/rdma"
)

// echoStock is the answering end towards one of rdma-core's tools: it receives
// and sends the same number of messages. The tool has one buffer for both, so
// each message after the first holds what was sent to it before, and is checked
// against that.
func (s *session) echoStock(c *connection, id string) {
	d := s.req.Data
	size := d.Sizes[0]
	params := s.dataParams(c, size)
	params["role"] = "server"
	r := s.beginData(id, params)
	received, verified, err := s.stockLoop(c, size)
	r.o.Data = map[string]any{"count": d.Iterations, "verified": verified, "received": received, "lost": d.Iterations - received, "size": size}
	if err != nil {
		s.noticePort(r)
	}
	var bad *payloadError
	switch {
	case errors.As(err, &bad):
		r.unknown(PayloadMismatch, err.Error())
	case errors.Is(err, errSilentPeer):
		r.unknown(NoCompletion, fmt.Sprintf("%d of %d messages arrived, then none for %v", received, d.Iterations, stockSilence))
	case err != nil && s.child.Context().Err() != nil:
		why, detail := s.ended()
		r.unknown(why, fmt.Sprintf("%s; %d of %d messages arrived", detail, received, d.Iterations))
	case err != nil:
		r.failData(err)
	case verified == 0:
		r.unknown(Precondition, "needs two messages or more (--iters): one arrived, and its bytes are the tool's own, so that nothing came that this end could check")
	default:
		r.set("validated", "the round trip, here: every message but the first, against what was sent before it. Not the other end: the tool says nothing of what it received")
		r.o.Level, r.o.Call, r.o.Value = rdma.CapabilityConfirmed, "ibv_poll_cq", verified
		r.send()
	}
}

// stockSilence is how long a stock tool may send nothing.
const stockSilence = 2 * time.Second

var errSilentPeer = errors.New("the other end sends nothing more")

// stockLoop answers every message with a new one.
func (s *session) stockLoop(c *connection, size int) (received, verified int, err error) {
	near, count := c.near, s.req.Data.Iterations
	last := time.Now()
	waiting := false // a message was received and is not answered yet
	for received < count || waiting || near.sending {
		n, err := near.poll(pollsPerLook)
		if err != nil {
			return received, verified, err
		}
		if n >= 0 {
			last, waiting = time.Now(), true
			b := near.slotBytes(near.taken())[:n]
			if received++; received > 1 {
				if at := near.out.MismatchStock(b, uint64(received-1)); n != size || at >= 0 {
					return received, verified, &payloadError{seq: uint64(received - 1), at: at, got: n, want: size}
				}
				verified++
			}
		}
		if waiting && !near.sending {
			waiting = false
			if received < count {
				if err := near.postRecv(size); err != nil {
					return received, verified, err
				}
			}
			near.out.FillStock(near.slotBytes(slotSend)[:size], uint64(received))
			if err := near.postSend(slotSend, size); err != nil {
				return received, verified, err
			}
		}
		if n >= 0 {
			continue
		}
		yield()
		if s.child.Context().Err() != nil {
			return received, verified, s.child.Context().Err()
		}
		if time.Since(last) > stockSilence {
			return received, verified, errSilentPeer
		}
	}
	return received, verified, nil
}
