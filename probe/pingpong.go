package probe

import (
	"context"
	"errors"
	"time"

	"rdmaprobe/probe/peer"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// pingpong is the loop of one size: messages one at a time, each answered by the
// other end and checked byte by byte here.
type pingpong struct {
	s     *session
	c     *connection
	size  int
	count int
	warm  int // messages before those that count
	loss  time.Duration
	seq   uint64

	over      func() bool // the child has to end
	before    uint64      // seq when the loop began
	givenUp   []uint64    // messages that were not waited for any longer, warm-up included
	fill      func(b []byte, seq uint64)
	mismatch  func(b []byte, seq uint64) int
	results   *peer.Results // what the other end received; nil: it has not said
	noResults error         // why it has not
	took      tally         // what it received, where it is in this process
	back      tally         // what came back

	unanswered           bool // a message arrived at the far end, which has not answered it
	verified, lost, late int
	repeated             int // messages that came once more
	times                *hdrhistogram.Histogram
	first, last          time.Time // arrivals, by this receiver's clock
	flowing              bool      // what arrives is checked when the next message has left
	next                 int       // slot of a message that may leave as soon as one is back; -1: none
	left                 bool      // it has left
	breath               breath
	unchecked            []byte // that message; nil: it is checked
}

// WarmUp is how many messages a ping-pong sends before those that it counts. They
// are checked like all others, and not timed.
const WarmUp = 10

// pollsPerLook is how many empty polls pass between two looks at the clock, in
// one excursion to the provider where nothing else has to be done between them.
const pollsPerLook = 128

// probePingpong connects and runs the loop for each size.
func probePingpong(s *session) {
	atLeastLoopProcs()
	d := s.req.Data
	id := "pingpong." + string(d.Type)
	c, err := s.connect(maxOf(d.Sizes))
	defer s.teardown()
	if err != nil {
		s.noConnection(err, id)
		return
	}
	var seq uint64
	for i, size := range d.Sizes {
		r := s.beginData(id, s.dataParams(c, size))
		if why, detail := s.ended(); why != "" && i > 0 {
			r.noTime(why, detail)
			continue
		}
		p := s.newPingpong(c, size, seq)
		err := p.begin()
		if err == nil {
			err = p.run()
		}
		p.end(err)
		p.tell(r, err)
		if seq = p.seq; err != nil {
			break // the queue pair is in no state to go on
		}
	}
	c.remote.bye()
}

// beginData begins a row of messages, and tells the parent at once: its calls go past
// what announces others, since that would cost more than they do.
func (s *session) beginData(id string, params map[string]any) *row {
	r := s.begin(id, s.req.Port, params)
	s.last = callMessage{} // the row of another size looks the same
	s.announce("")
	return r
}

func (s *session) newPingpong(c *connection, size int, seq uint64) *pingpong {
	d := s.req.Data
	p := &pingpong{
		s: s, c: c, size: size, count: d.Iterations, warm: min(WarmUp, d.Iterations), loss: time.Duration(d.LossNS), seq: seq, before: seq,
		over:  func() bool { return s.child.Context().Err() != nil },
		times: newTimes(), next: -1, fill: c.near.out.Fill, mismatch: c.near.in.Mismatch,
	}
	switch {
	case p.stock():
		p.warm, p.fill, p.mismatch = 0, c.near.out.FillStock, c.near.out.MismatchStock // its count is exact
	case c.theirs != nil:
		p.mismatch = c.theirs.Mismatch
	}
	if c.sim != nil {
		c.sim.Answer(p.answerSimulated)
	}
	return p
}

// stock tells whether the other end is a tool that sends back what it got.
func (p *pingpong) stock() bool { return p.s.req.Data.Remote == remoteStock }

// begin makes the other host's end post its receive.
func (p *pingpong) begin() error {
	if !p.c.near.fits(p.size, p.s.thunderbolt()) {
		return errLeftover
	}
	e := p.c.remote
	if e == nil || e.stock {
		return nil
	}
	round := peer.Round{Size: p.size, Count: p.warm + p.count, First: p.seq + 1}
	_, err := ask[empty](p.s.child.Context(), e, peer.TypeRound, round, peer.TypeReady, peer.StepLimit)
	return err
}

// endLimit is how long the other end's results are waited for, also when this
// child's own deadline has passed: it is asked to end half a second after that.
const endLimit = 300 * time.Millisecond

// endWait is how long they are waited for: as long as this child has.
func endWait(ctx context.Context) time.Duration {
	left := peer.StepLimit
	if end, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(end))
	}
	return max(left, endLimit)
}

// end learns what the other end received. A message that was on its way behind a
// wrong one is not waited for: it does not count as sent.
func (p *pingpong) end(err error) {
	e := p.c.remote
	if p.c.theirs != nil {
		got := p.took.results()
		p.results = &got
	}
	if e == nil || e.stock || e.lost() {
		return
	}
	last := p.seq
	if bad := (*payloadError)(nil); errors.As(err, &bad) {
		last = bad.seq
	}
	ctx, sent := p.s.child.Context(), int(last-p.before)
	said := peer.End{Sent: sent, Received: p.back.verified, Digest: uint64(p.back.digest)}
	got, aerr := ask[peer.Results](context.WithoutCancel(ctx), e, peer.TypeEnd, said, peer.TypeResults, endWait(ctx))
	if p.noResults = aerr; aerr == nil {
		p.results = &got
	}
}

func maxOf(sizes []int) int {
	m := 0
	for _, n := range sizes {
		m = max(m, n)
	}
	return m
}

// longestTime is the longest round trip that is told apart; what takes longer
// counts as this.
const longestTime = int64(time.Minute)

// newTimes holds round trips from 1 ns to longestTime with three digits.
func newTimes() *hdrhistogram.Histogram { return hdrhistogram.New(1, longestTime, 3) }

// dataParams describe a data row's connection.
func (s *session) dataParams(c *connection, size int) map[string]any {
	p := map[string]any{"size": size, "iterations": s.req.Data.Iterations, "path_mtu": c.mtu, "peer": c.peer.params(), "mode": s.mode()}
	if h := s.req.Data.Remote; h != "" {
		p["handshake"] = h
	}
	if s.req.Data.PathProof != nil {
		p["path_proof"] = s.req.Data.PathProof
	}
	if s.req.Data.GIDIndex >= 0 {
		p["gid_index"], p["gid"] = s.req.Data.GIDIndex, c.near.info.GID
		if s.req.Data.GIDWhy != "" {
			p["gid_why"] = s.req.Data.GIDWhy
		}
	}
	return p
}

// Where the other end is: params.mode of a data row.
const (
	modeSimulated  = "simulated peer"
	modeTwoHosts   = "two hosts"
	modeTwoDevices = "two devices of this machine"
	modeLoopback   = "loopback on one port"
)

func (s *session) mode() string {
	switch {
	case s.sim != nil:
		return modeSimulated
	case s.req.Data.Remote != "":
		return modeTwoHosts
	case s.req.Data.PeerDevice != "":
		return modeTwoDevices
	}
	return modeLoopback
}

// run sends the messages. It ends early at the deadline, on a completion with an
// error status and on an impossible answer.
func (p *pingpong) run() error {
	i := -p.warm
	if p.c.remote != nil && !p.c.remote.stock {
		var err error
		if i, err = p.flow(i); err != nil {
			return err
		}
	}
	for ; i < p.count; i++ {
		if why, _ := p.s.ended(); why != "" {
			return nil
		}
		if p.lost > 0 && p.stock() {
			return nil // a stock tool waits for the lost message and sends nothing more
		}
		if err := p.one(i >= 0); err != nil {
			return err
		}
	}
	return nil
}

// one is one message there and back. Equal counts are posted: one receive at
// each end, and no other while it is outstanding.
func (p *pingpong) one(timed bool) error {
	near := p.c.near
	for _, e := range []*wireEnd{near, p.c.far} {
		if e != nil && !e.posted {
			if err := e.postRecv(p.size); err != nil {
				return err
			}
		}
	}
	p.seq++
	p.fill(near.slotBytes(slotSend)[:p.size], p.seq)
	start := p.breath.now()
	if err := near.postSend(slotSend, p.size); err != nil {
		return err
	}
	back, err := p.await(start)
	switch {
	case err != nil:
		return err
	case !back:
		p.giveUp(start, timed)
		return nil
	}
	return p.keep(start, p.last, timed)
}

// giveUp notes a message that is not waited for any longer. It is lost when its
// time was up; else it was on its way when the loop had to end.
func (p *pingpong) giveUp(start time.Time, timed bool) {
	p.givenUp = append(p.givenUp, p.seq)
	if timed && time.Since(start) > p.loss {
		p.lost++
	}
}

// keep counts a message that is back and right.
func (p *pingpong) keep(start, end time.Time, timed bool) error {
	if !timed {
		return nil
	}
	p.verified++
	p.last = end
	if p.first.IsZero() {
		p.first = end
	}
	return p.times.RecordValue(min(max(1, end.Sub(start).Nanoseconds()), longestTime))
}
