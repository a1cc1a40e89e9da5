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

// IbvTurnWork is the work of one turn. A nil request is not posted. All of it but
// the completions lies in memory that C may keep.
type IbvTurnWork struct {
	Recv    *IbvRecvWR
	BadRecv **IbvRecvWR
	Send    *IbvSendWR
	BadSend **IbvSendWR
	WC      []IbvWC // where completions go, at most as many as it has
	Polls   int     // how often the queue is polled at most, up to MaxPolls
}

// IbvTurnResult holds the provider's own numbers, 0 for what was not called.
type IbvTurnResult struct {
	Recv, Send int // of ibv_post_recv and ibv_post_send
	Polled     int // of the last ibv_poll_cq
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
}

// Run posts the receive, then the send, then polls until the provider returns
// anything but 0 or the polls are used up. It ends at the first post that is
// refused. The zero value, and a request without a place for a bad one, give -1
// and call nothing.
func (t IbvTurn) Run(w *IbvTurnWork) IbvTurnResult {
	switch {
	case t.cq.lib == nil:
		return IbvTurnResult{Recv: notCalled, Send: notCalled, Polled: notCalled}
	case w.Recv != nil && w.BadRecv == nil:
		return IbvTurnResult{Recv: notCalled}
	case w.Send != nil && w.BadSend == nil:
		return IbvTurnResult{Send: notCalled}
	}
	b := turnBlock{
		qp: t.qp.qp, cq: t.cq.cq, pollFn: t.cq.fn, mark: t.cq.lib.mark.Load(),
		recvVerb: uintptr(verbPostRecv) + 1, sendVerb: uintptr(verbPostSend) + 1, pollVerb: uintptr(verbPollCQ) + 1,
	}
	if w.Recv != nil {
		b.recvFn, b.recv, b.badRecv = t.qp.recv, w.Recv, w.BadRecv
	}
	if w.Send != nil {
		b.sendFn, b.send, b.badSend = t.qp.send, w.Send, w.BadSend
	}
	if len(w.WC) > 0 && w.Polls > 0 {
		b.wc, b.entries, b.polls = &w.WC[0], uintptr(len(w.WC)), uintptr(min(w.Polls, MaxPolls))
	}
	t.cq.lib.rawTurn(&b)
	runtime.KeepAlive(w)
	return IbvTurnResult{Recv: int(int32(b.recvValue)), Send: int(int32(b.sendValue)), Polled: int(int32(b.pollValue))}
}
