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
// byte by byte, posts the receive for the next one, and answers with bytes of its own.
type echo struct {
	s     *session
	c     *connection
	round peer.Round

	tally              // of what arrived
	next        uint64 // number of the message that is expected
	missing     int
	repeated    int       // messages that came once more, or after a later one
	end         peer.End  // what the client said at its end
	slot        int       // of the answer to written
	written     uint64    // the last message whose answer is written; 0: none
	pending     bool      // that answer is not sent yet
	first, last time.Time // arrivals, by this receiver's clock
	breath      breath
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
	e := &echo{s: s, c: c, round: round, next: round.First, slot: slotSend}
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

// results are what the client is told: what arrived here, and of short messages, which
// it cannot judge by itself, whether the answers that it has are those that were sent.
func (e *echo) results() peer.Results {
	got := e.tally.results()
	if pattern.Blind(e.round.Size) && got.Mismatch == "" && e.end.Received == e.round.Count && e.end.Digest != uint64(e.sent()) {
		got.Mismatch = "the answers that came back are not those that were sent there"
	}
	return got
}

// sent is the digest of the answers to all messages.
func (e *echo) sent() pattern.Digest {
	return e.c.near.out.Digest(e.round.Size, e.round.First, e.round.Count)
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
	e.write(e.next)
	return e.c.remote.send(peer.TypeReady, empty{})
}

// run answers messages until the client says that it has sent the last one.
func (e *echo) run() error {
	for {
		n, answered, err := e.await()
		if err != nil {
			return err
		}
		came := n >= 0
		switch {
		case answered: // the rest is done while the answer is on its way: with hardware this is no part of the round trip
			e.take(n)
			e.another()
		case came:
			if came, err = e.takeLate(n); err != nil {
				return err
			}
		}
		if err := e.answer(); err != nil {
			return err
		}
		if came {
			e.last = e.breath.now()
			if e.first.IsZero() {
				e.first = e.last
			}
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
	if e.pending || e.written != e.next || !near.canAnswer() {
		n, err = near.poll(pollsPerLook)
		return n, false, err
	}
	a := answer{to: e.next, size: e.round.Size, slot: e.slot, length: e.round.Size}
	if e.received+1+e.missing < e.round.Count {
		a.recvLength = e.round.Size
	}
	return near.pollAnswer(pollsPerLook, a)
}

// another makes the next answer, in the other slot: the one before it is on its way.
func (e *echo) another() {
	e.slot = slotSend + slotSend1 - e.slot
	e.write(e.next)
}

// write makes the answer to message seq.
func (e *echo) write(seq uint64) {
	e.c.near.out.Fill(e.c.near.slotBytes(e.slot)[:e.round.Size], seq)
	e.written = seq
}

// look sees whether the client is done, or gone.
func (e *echo) look() (over bool, err error) {
	select {
	case m := <-e.c.remote.inbox:
		end, err := peer.Body[peer.End](m, peer.TypeEnd)
		end.Sent = min(end.Sent, e.round.Count)
		e.end = end
		return err == nil, err
	default:
	}
	if e.c.remote.lost() {
		return false, &peerError{e.c.remote.err}
	}
	return false, context.Cause(e.s.child.Context())
}

// takeLate takes a message that was not answered when it came. One that comes out of
// turn was answered or given up: it is counted, and its receive posted again.
func (e *echo) takeLate(n int) (came bool, err error) {
	near := e.c.near
	if earlier(near.in, near.slotBytes(slotRecv0 + near.slot)[:n], e.next) {
		e.repeated++
		near.taken()
		return false, near.postRecv(e.round.Size)
	}
	seq := e.take(n)
	if e.written != seq {
		e.write(seq)
	}
	e.pending = true
	return true, nil
}

// take counts a message and looks at every byte of it, and returns its number. Its
// memory is not received into again before the next one has arrived.
func (e *echo) take(n int) (seq uint64) {
	b := e.c.near.slotBytes(e.c.near.taken())[:n]
	e.received++
	seq, at := e.which(b)
	switch {
	case n != e.round.Size:
		e.wrong(fmt.Sprintf("message %d arrived with %d bytes instead of %d", e.next, n, e.round.Size))
	case at >= 0:
		e.wrong(fmt.Sprintf("message %d arrived with a wrong byte at offset %d", e.next, at))
	default:
		e.right(b, seq)
		e.missing += int(seq - e.next)
		e.next = seq + 1
	}
	return seq
}

// maxAhead is how many lost messages are looked past where a message is too
// short to carry its number.
const maxAhead = 16

// which finds the message that b is: the expected one, or a later one where
// messages were lost. at is the first wrong byte, -1 when there is none.
func (e *echo) which(b []byte) (seq uint64, at int) {
	at = e.c.near.in.Mismatch(b, e.next)
	if at < 0 {
		return e.next, at
	}
	end := e.round.First + uint64(e.round.Count)
	if seq, ok := e.c.near.in.Sequence(b); ok {
		if seq > e.next && seq < end && e.c.near.in.Mismatch(b, seq) < 0 {
			return seq, -1
		}
		return e.next, at
	}
	for seq = e.next + 1; seq < min(end, e.next+maxAhead); seq++ {
		if e.c.near.in.Mismatch(b, seq) < 0 {
			return seq, -1
		}
	}
	return e.next, at
}

func (e *echo) wrong(text string) {
	if e.mismatch == "" {
		e.mismatch = text
	}
	e.next++
}

// answer sends the answer to what arrived, once the one before it has completed. The
// receive for the next message is posted first, and none after the last one.
func (e *echo) answer() error {
	near := e.c.near
	if !e.pending || near.sending {
		return nil
	}
	e.pending = false
	slot := e.slot
	defer e.another()
	if e.received+e.missing < e.round.Count && !near.posted {
		return near.postBoth(slot, e.round.Size, e.round.Size)
	}
	return near.postSend(slot, e.round.Size)
}

// tell finishes the row: confirmed when this receiver has checked every message, and
// the client has shown that it has every answer.
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
	missing := ""
	if e.verified == e.round.Count {
		back := peer.Results{Received: e.end.Received, Verified: e.end.Received, Digest: e.end.Digest}
		missing = unproven(&back, e.round.Count, e.sent())
	}
	var gone *peerError
	switch {
	case e.mismatch != "":
		r.unknown(PayloadMismatch, e.mismatch)
	case errors.As(err, &gone):
		r.unknown(Unreachable, fmt.Sprintf("%v; %s", gone, came))
	case errors.Is(err, errLeftover):
		r.unknown(Precondition, err.Error())
	case err != nil && e.s.child.Context().Err() != nil:
		why, detail := e.s.ended()
		r.unknown(why, detail+"; "+came)
	case err != nil:
		r.failData(err)
	case e.verified == e.round.Count && e.end.Received < e.round.Count:
		r.unknown(NoCompletion, fmt.Sprintf("%s, and %d of their answers at the client", came, e.end.Received))
	case e.verified == e.round.Count && missing != "":
		r.unknown(Unproven, came+", and "+missing)
	case e.verified == e.round.Count:
		r.o.Level, r.o.Call, r.o.Value = rdma.CapabilityConfirmed, "ibv_poll_cq", e.verified
		r.send()
	case e.end.Sent > 0 && e.verified >= e.end.Sent:
		r.unknown(Timeout, fmt.Sprintf("the client ended after %d of %d messages, and all of them arrived", e.end.Sent, e.round.Count))
	default:
		r.unknown(NoCompletion, came)
	}
}

// lost is how many messages are known to have been sent and did not arrive.
func (e *echo) lost(err error) int {
	switch {
	case err != nil:
		return e.missing
	case e.end.Sent > 0:
		return max(e.end.Sent-e.received, 0)
	}
	return e.round.Count - e.received
}
