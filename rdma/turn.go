package rdma

import "runtime"

// MaxPolls bounds the polls of one IbvTurn: C is never entered without a bound.
const MaxPolls = 1024

// IbvTurn is what a data loop does between two looks at the clock, done in one
// excursion to C: post a receive, post a send, poll. It looks nothing up and does
// not allocate, and the garbage collector does not wait for it. It is valid as
// long as its queues; one goroutine may use it at a time.
type IbvTurn struct {
	qp IbvQPPoster
	cq IbvCQPoller
}

// NewIbvTurn looks up what Run needs. With an error the turn is the zero value.
func NewIbvTurn(qp RDMAQP, cq RDMACQ) (IbvTurn, error) {
	poster, err := NewIbvQPPoster(qp)
	if err != nil {
		return IbvTurn{}, err
	}
	poller, err := NewIbvCQPoller(cq)
	if err != nil {
		return IbvTurn{}, err
	}
	return IbvTurn{qp: poster, cq: poller}, nil
}

// IbvTurnWork is the work of one turn. A nil request is not posted. The requests
// and what they name lie in memory that C may keep.
type IbvTurnWork struct {
	Recv    *IbvRecvWR
	BadRecv **IbvRecvWR
	Send    *IbvSendWR
	BadSend **IbvSendWR
	WC      []IbvWC // where completions go, at most as many as it has
	Polls   int     // how often the queue is polled at most, up to MaxPolls

	Await *IbvTurnAwait // poll first, and post in answer to this; nil: post first
}

// IbvTurnAwait is the message that a turn answers: the one completion that came is
// a success with this id and length, and the message begins as it should. All
// else about it is left to be looked at while the answer is on its way.
type IbvTurnAwait struct {
	WRID   uint64
	Length uint32  // bytes
	At     *uint64 // where the message begins; eight bytes that may be read
	Mask   uint64  // the bits that count of those
	Word   uint64  // what they must be
	Then   int     // polls after the answer, for one more completion in WC[1]
}

// IbvTurnResult holds the provider's own numbers, 0 for what was not called.
type IbvTurnResult struct {
	Recv, Send int // of ibv_post_recv and ibv_post_send
	Polled     int // of the last ibv_poll_cq

	Answered bool // what was awaited came, so that the requests were posted
	Then     int  // of the last ibv_poll_cq after that
}

// turnBlock is the argument of callTurn. The assembly knows its offsets.
type turnBlock struct {
	qp, cq    uintptr
	recvFn    uintptr // 0: nothing to post
	recv      *IbvRecvWR
	badRecv   **IbvRecvWR
	sendFn    uintptr
	send      *IbvSendWR
	badSend   **IbvSendWR
	pollFn    uintptr
	entries   uintptr
	wc        *IbvWC
	polls     uintptr
	mark      *CallMark // nil: none
	recvVerb  uintptr   // as in CallMark.Verb
	sendVerb  uintptr
	pollVerb  uintptr
	recvValue uintptr // int results; the upper halves mean nothing
	sendValue uintptr
	pollValue uintptr

	wantID     uint64
	wantLength uintptr
	wantAt     *uint64 // nil: nothing is awaited
	wantMask   uint64
	wantWord   uint64
	answered   uintptr
	then       uintptr // polls after the answer
}

// Run posts the receive, then the send, then polls until the provider returns
// anything but 0 or the polls are used up. It ends at the first post that is
// refused. With Await it polls, and posts if that is what came. The zero value, and
// a request without a place for a bad one, give -1 and call nothing.
func (t IbvTurn) Run(w *IbvTurnWork) IbvTurnResult {
	switch {
	case t.cq.lib == nil:
		return IbvTurnResult{Recv: notCalled, Send: notCalled, Polled: notCalled}
	case w.Recv != nil && w.BadRecv == nil:
		return IbvTurnResult{Recv: notCalled}
	case w.Send != nil && w.BadSend == nil:
		return IbvTurnResult{Send: notCalled}
	case w.Await != nil && w.Await.At == nil:
		return IbvTurnResult{Polled: notCalled}
	}
	var b turnBlock
	t.prepare(&b, w)
	t.cq.lib.rawTurn(&b)
	runtime.KeepAlive(w)
	return b.told()
}

// prepare makes b of w, for those who do it.
func (t IbvTurn) prepare(b *turnBlock, w *IbvTurnWork) {
	b.qp, b.cq, b.pollFn, b.mark = t.qp.qp, t.cq.cq, t.cq.fn, t.cq.lib.mark.Load()
	b.recvVerb, b.sendVerb, b.pollVerb = uintptr(verbPostRecv)+1, uintptr(verbPostSend)+1, uintptr(verbPollCQ)+1
	if w.Recv != nil {
		b.recvFn, b.recv, b.badRecv = t.qp.recv, w.Recv, w.BadRecv
	}
	if w.Send != nil {
		b.sendFn, b.send, b.badSend = t.qp.send, w.Send, w.BadSend
	}
	if len(w.WC) > 0 && w.Polls > 0 {
		b.wc, b.entries, b.polls = &w.WC[0], uintptr(len(w.WC)), uintptr(min(w.Polls, MaxPolls))
	}
	if a := w.Await; a != nil {
		b.wantID, b.wantLength, b.wantAt, b.wantMask, b.wantWord = a.WRID, uintptr(a.Length), a.At, a.Mask, a.Word
		if len(w.WC) > 1 {
			b.then = uintptr(min(max(a.Then, 0), MaxPolls))
		}
	}
}

// told is what b's numbers say.
func (b *turnBlock) told() IbvTurnResult {
	r := IbvTurnResult{Recv: int(int32(b.recvValue)), Send: int(int32(b.sendValue)), Polled: int(int32(b.pollValue)), Answered: b.answered != 0}
	if r.Answered {
		r.Polled, r.Then = 1, r.Polled
	}
	return r
}
