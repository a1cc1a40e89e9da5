package probe

import (
	"errors"
	"fmt"
	"time"
)

// await polls until the message is back, false when it counts as lost. The send
// must have completed too before its memory is used again.
func (p *pingpong) await(start time.Time) (bool, error) {
	near, back := p.c.near, false
	times := pollsPerLook
	if p.c.far != nil {
		times = 1 // the far end wants its turn
	}
	for polls := times; ; polls += times {
		n, err := p.poll(times)
		if err != nil {
			return false, err
		}
		if n >= 0 {
			if !p.flowing {
				p.last = p.breath.now() // the round trip ends here; checking is no part of it
			}
			if back, err = p.check(n); err != nil {
				return false, err
			}
		}
		if back && (p.left || !near.sending) {
			return true, nil
		}
		if err := p.answer(); err != nil {
			return false, fmt.Errorf("the other end: %w", err)
		}
		if polls%pollsPerLook != 0 {
			continue
		}
		yield()
		if p.c.remote.lost() {
			return false, &peerError{p.c.remote.err}
		}
		now := p.breath.now()
		p.breath.take(now)
		if now.Sub(start) > p.loss || p.over() {
			return back, p.overdue()
		}
	}
}

// poll polls, and sends the next message in the same excursion where there is one
// to be sent and the one before it is what comes.
func (p *pingpong) poll(times int) (n int, err error) {
	near := p.c.near
	if p.next < 0 || !near.canAnswer() {
		return near.poll(times)
	}
	n, p.left, err = near.pollAnswer(times, answer{to: p.seq, size: p.size, slot: p.next, length: p.size, recvLength: p.size})
	return n, err
}

// overdue decides what a message that is not back means. A send that never
// completed blocks the queue pair; all else is a loss, and the loop goes on.
func (p *pingpong) overdue() error {
	if p.c.near.sending && !p.over() {
		return errNoCompletion
	}
	return nil
}

// errNoCompletion says that a posted send gave no completion in time.
var errNoCompletion = errors.New("the send did not complete in time")

// answer is the far end's part where it is in this process: check what arrived
// and send its own bytes for it, once the answer before it has completed.
func (p *pingpong) answer() error {
	near, far := p.c.near, p.c.far
	if far == nil {
		return nil
	}
	n, err := far.poll(1)
	if err != nil {
		return err
	}
	if n >= 0 {
		slot := far.taken()
		switch b := far.slotBytes(slot)[:n]; {
		case n == p.size && near.out.Mismatch(b, p.seq) < 0:
			p.took.received++
			p.took.right(b, p.seq)
			p.unanswered = true
		case p.outOfTurn(b, near.out.Key, near.out.Mismatch):
			return far.postRecv(p.size)
		default:
			return p.wrong(b, near.out.Mismatch)
		}
	}
	if !p.unanswered || far.sending {
		return nil
	}
	p.unanswered = false
	far.out.Fill(far.slotBytes(slotSend)[:p.size], p.seq)
	return far.postSend(slotSend, p.size)
}
