package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// echo is the answering end of a ping-pong: it checks every message that arrives
// byte by byte, posts the receive for the next one, and sends the message back.
type echo struct {
	s     *session
	c     *connection
	round peer.Round

	next               uint64 // number of the message that is expected
	received, verified int
	missing            int
	repeated           int // messages that came once more, or after a later one
	sent               int // by what the client said at its end; 0: not known
	mismatchAt         string
	pending            int // slot of a message that is not sent back yet; -1: none
	pendingLen         int
	first, last        time.Time // arrivals, by this receiver's clock
	breath             breath
}

// probeEcho is the server's side of every task: connect, answer, and release
// when the client says that it has what it wanted, or is gone.
func probeEcho(s *session) {
	atLeastLoopProcs()
	d := s.req.Data
	row, _ := rowOf(s.req.Task)
	own := row.ids(s.req)[len(d.Type.steps("rtr", "rts")):]
	c, err := s.connect(maxOf(d.Sizes))
	defer s.teardown()
	if err != nil {
		s.noConnection(err, own...)
		return
	}
	if d.Remote == remoteStock {
		row.answer = (*session).echoStock
	}
	row.answer(s, c, cmp.Or(own...))
}

// echoNothing waits for the client's goodbye, or for the end of the connection.
func (s *session) echoNothing(c *connection, _ string) {
	_, _ = c.remote.next(s.child.Context(), peer.StepLimit)
}

// echoRounds answers one round after the other until the client is done.
func (s *session) echoRounds(c *connection, id string) {
	for rounds := 0; ; rounds++ {
		m, err := c.remote.next(s.child.Context(), peer.StepLimit)
		if err == nil && m.Type == peer.TypeBye {
			err = errors.New("the client ended before the first message")
		}
		var round peer.Round
		if err == nil {
			round, err = peer.Body[peer.Round](m, peer.TypeRound)
		}
		if err == nil && round.Size > c.near.size {
			err = fmt.Errorf("the client announced %d bytes and now wants to send %d", maxOf(s.req.Data.Sizes), round.Size)
		}
		if err != nil {
			if rounds == 0 {
				s.skip(reasonOfEnd(s, err), err.Error(), s.req.Port, id)
			}
			if m.Type != peer.TypeBye {
				c.remote.fail(err.Error())
			}
			return
		}
		if !s.echoRound(c, id, round) {
			return
		}
	}
}

// reasonOfEnd is why a conversation did not go on.
func reasonOfEnd(s *session, err error) Reason {
	if why, _ := s.ended(); why != "" {
		return why
	}
	var gone *peerError
	if errors.As(err, &gone) {
		return Unreachable
	}
	return Precondition
}

// echoRound is one row: the messages of one size. It tells whether more may come.
func (s *session) echoRound(c *connection, id string, round peer.Round) bool {
	r := s.beginData(id, s.echoParams(c, round))
	e := &echo{s: s, c: c, round: round, next: round.First, pending: -1}
	err := e.start()
	if err == nil {
		err = e.run()
	}
	e.tell(r, err)
	if err != nil {
		c.remote.fail(err.Error())
		return false
	}
	return c.remote.send(peer.TypeResults, e.results()) == nil
}

func (s *session) echoParams(c *connection, round peer.Round) map[string]any {
	p := s.dataParams(c, round.Size)
	p["iterations"], p["role"] = round.Count, "server"
	return p
}

// start posts the first receive and lets the client begin.
func (e *echo) start() error {
	near := e.c.near
	if !near.fits(e.round.Size, e.s.thunderbolt()) {
		return errLeftover
	}
	if !near.posted {
		if err := near.postRecv(e.round.Size); err != nil {
			return err
		}
	}
	return e.c.remote.send(peer.TypeReady, empty{})
}

// run answers messages until the client says that it has sent the last one.
func (e *echo) run() error {
	for {
		n, answered, err := e.await()
		if err != nil {
			return err
		}
		slot := -1
		switch {
		case answered:
			slot = e.c.near.taken()
			e.received++
		case n >= 0:
			if slot, err = e.take(n); err != nil {
				return err
			}
		}
		if err := e.answer(); err != nil {
			return err
		}
		if slot >= 0 { // while the answer is on its way: with hardware this is no part of the round trip
			e.last = e.breath.now()
			if e.first.IsZero() {
				e.first = e.last
			}
			e.check(slot, n)
			if !e.breath.take(e.last) {
				continue // a client that sends without end is looked at as often as the scheduler
			}
		} else {
			yield()
			e.breath.take(e.breath.now())
		}
		if over, err := e.look(); over || err != nil {
			return err
		}
	}
}

// await polls, and answers in the same excursion where the expected message is the
// one that comes.
func (e *echo) await() (n int, answered bool, err error) {
	near := e.c.near
	if e.pending >= 0 || !near.canAnswer() {
		n, err = near.poll(pollsPerLook)
		return n, false, err
	}
	a := answer{to: e.next, size: e.round.Size, slot: slotRecv0 + near.slot, length: e.round.Size}
	if e.received+1+e.missing < e.round.Count {
		a.recvLength = e.round.Size
	}
	return near.pollAnswer(pollsPerLook, a)
}

// look sees whether the client is done, or gone.
func (e *echo) look() (over bool, err error) {
	select {
	case m := <-e.c.remote.inbox:
		end, err := peer.Body[peer.End](m, peer.TypeEnd)
		e.sent = min(end.Sent, e.round.Count)
		return err == nil, err
	default:
	}
	if e.c.remote.lost() {
		return false, &peerError{e.c.remote.err}
	}
	return false, context.Cause(e.s.child.Context())
}

// take keeps the message that arrived, to be sent back. One that comes out of
// turn was answered or given up: it is counted, and its receive posted again.
func (e *echo) take(n int) (slot int, err error) {
	slot = e.c.near.taken()
	if earlier(e.c.near.slotBytes(slot)[:n], e.next) {
		e.repeated++
		return -1, e.c.near.postRecv(e.round.Size)
	}
	e.received++
	e.pending, e.pendingLen = slot, n
	return slot, nil
}

// check looks at every byte of a message. Its memory is not received into again
// before the next one has arrived.
func (e *echo) check(slot, n int) {
	b := e.c.near.slotBytes(slot)[:n]
	seq, at := e.which(b)
	switch {
	case n != e.round.Size:
		e.wrong(fmt.Sprintf("message %d arrived with %d bytes instead of %d", e.next, n, e.round.Size))
	case at >= 0:
		e.wrong(fmt.Sprintf("message %d arrived with a wrong byte at offset %d", e.next, at))
	default:
		e.verified++
		e.missing += int(seq - e.next)
		e.next = seq + 1
	}
}

// maxAhead is how many lost messages are looked past where a message is too
// short to carry its number.
const maxAhead = 16

// which finds the message that b is: the expected one, or a later one where
// messages were lost. at is the first wrong byte, -1 when there is none.
func (e *echo) which(b []byte) (seq uint64, at int) {
	at = pattern.Mismatch(b, e.next)
	if at < 0 {
		return e.next, at
	}
	end := e.round.First + uint64(e.round.Count)
	if seq, ok := pattern.Sequence(b); ok {
		if seq > e.next && seq < end && pattern.Mismatch(b, seq) < 0 {
			return seq, -1
		}
		return e.next, at
	}
	for seq = e.next + 1; seq < min(end, e.next+maxAhead); seq++ {
		if pattern.Mismatch(b, seq) < 0 {
			return seq, -1
		}
	}
	return e.next, at
}

func (e *echo) wrong(text string) {
	if e.mismatchAt == "" {
		e.mismatchAt = text
	}
	e.next++
}

// answer sends back what arrived, once the answer before it has completed. The
// receive for the next message is posted first, and none after the last one.
func (e *echo) answer() error {
	near := e.c.near
	if e.pending < 0 || near.sending {
		return nil
	}
	slot := e.pending
	e.pending = -1
	if e.received+e.missing < e.round.Count && !near.posted {
		return near.postBoth(slot, e.pendingLen, e.round.Size)
	}
	return near.postSend(slot, e.pendingLen)
}

func (e *echo) results() peer.Results {
	return peer.Results{Received: e.received, Verified: e.verified, Mismatch: e.mismatchAt}
}

// tell finishes the row: confirmed when this receiver has checked every message.
func (e *echo) tell(r *row, err error) {
	r.o.Data = map[string]any{
		"count": e.round.Count, "verified": e.verified, "received": e.received, "lost": e.lost(err), "size": e.round.Size,
	}
	if e.repeated > 0 {
		r.o.Data["repeated"] = e.repeated
	}
	if span := e.last.Sub(e.first); span > 0 && e.verified > 1 {
		r.o.Data["rate_bits_per_s"] = int64(float64(e.verified-1) * float64(e.round.Size) * 8 / span.Seconds())
	}
	if err != nil || e.verified < e.round.Count {
		e.s.noticePort(r)
	}
	came := fmt.Sprintf("%d of %d messages arrived", e.received, e.round.Count)
	var gone *peerError
	switch {
	case e.mismatchAt != "":
		r.unknown(PayloadMismatch, e.mismatchAt)
	case errors.As(err, &gone):
		r.unknown(Unreachable, fmt.Sprintf("%v; %s", gone, came))
	case errors.Is(err, errLeftover):
		r.unknown(Precondition, err.Error())
	case err != nil && e.s.child.Context().Err() != nil:
		why, detail := e.s.ended()
		r.unknown(why, detail+"; "+came)
	case err != nil:
		r.failData(err)
	case e.verified == e.round.Count:
		r.o.Level, r.o.Call, r.o.Value = rdma.CapabilityConfirmed, "ibv_poll_cq", e.verified
		r.send()
	case e.sent > 0 && e.verified >= e.sent:
		r.unknown(Timeout, fmt.Sprintf("the client ended after %d of %d messages, and all of them arrived", e.sent, e.round.Count))
	default:
		r.unknown(NoCompletion, came)
	}
}

// lost is how many messages are known to have been sent and did not arrive.
func (e *echo) lost(err error) int {
	switch {
	case err != nil:
		return e.missing
	case e.sent > 0:
		return max(e.sent-e.received, 0)
	}
	return e.round.Count - e.received
}

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
	got := peer.Results{Received: 1, Verified: 1}
	if at := s.awaitTarget(c, w); at < 0 {
		r.set("delivered", true)
		r.o.Level, r.o.Value = rdma.CapabilityConfirmed, w.Size
		r.send()
	} else {
		what, changed := r.astray(c.near.slotBytes(slotTarget)[:w.Size], at, "the client's write completed, and ")
		got.Verified, got.Mismatch = 0, what
		if !changed {
			got.Received = 0
		}
	}
	if c.remote.send(peer.TypeResults, got) == nil {
		_, _ = c.remote.next(s.child.Context(), peer.StepLimit) // bye: the client is done with its queue pair
	}
}

// awaitTarget looks until the bytes are there: over UC they may come after the
// completion.
func (s *session) awaitTarget(c *connection, w peer.Written) int {
	deadline := time.Now().Add(time.Duration(s.req.Data.LossNS))
	for {
		at := pattern.Mismatch(c.near.slotBytes(slotTarget)[:w.Size], w.Seq)
		if at < 0 || time.Now().After(deadline) || s.child.Context().Err() != nil {
			return at
		}
		time.Sleep(time.Millisecond)
	}
}
