package probe

import "time"

// flow is the loop against another process as long as nothing is lost. The next
// message leaves as soon as one is back; that one is checked, and the one after is
// written, while the next is on its way. A round trip counts from one post to the
// next, as in the tools that come with the provider. It returns the message to go
// on with.
func (p *pingpong) flow(i int) (int, error) {
	p.flowing = true
	defer func() { p.flowing, p.next, p.left = false, -1, false }()
	slot := slotSend
	p.fill(p.c.near.slotBytes(slot)[:p.size], p.seq+1)
	start := p.breath.now()
	if err := p.leave(slot); err != nil {
		return i, err
	}
	for ; ; i++ {
		slot = p.another(slot, i+2 >= p.count || p.over())
		back, err := p.await(start)
		if err != nil {
			return i + 1, err
		}
		if !back {
			p.giveUp(start, i >= 0)
			return i + 1, nil
		}
		seq, came, sent := p.seq, p.unchecked, start
		p.unchecked = nil
		if i+1 == p.count || !p.left && p.over() {
			return i + 1, p.settle(seq, came, sent, p.breath.now(), i >= 0)
		}
		if i+2 == p.count {
			start = p.breath.now() // the last one has no successor: it counts from before its post to its arrival
		}
		if err := p.leave(slot); err != nil {
			return i + 1, err
		}
		now := p.breath.now()
		if i+2 < p.count {
			start = now
		}
		if err := p.settle(seq, came, sent, now, i >= 0); err != nil {
			return i + 1, err
		}
		p.breath.take(now)
	}
}

// another writes the message after the one that is on its way. It may leave as soon
// as that one is back; the last of all leaves when the clock has been read, and none
// any more once the time is up.
func (p *pingpong) another(slot int, last bool) int {
	slot = slotSend + slotSend1 - slot
	p.fill(p.c.near.slotBytes(slot)[:p.size], p.seq+1)
	if p.next, p.left = slot, false; last {
		p.next = -1
	}
	return slot
}

// leave sends the next message, with its receive posted first, if it has not left.
func (p *pingpong) leave(slot int) error {
	p.seq++
	if p.left {
		return nil
	}
	if p.c.near.posted {
		return p.c.near.postSend(slot, p.size)
	}
	return p.c.near.postBoth(slot, p.size, p.size)
}

// settle checks the rest of message seq, of which check has seen the number, and
// counts it.
func (p *pingpong) settle(seq uint64, came []byte, sent, end time.Time, timed bool) error {
	if came != nil {
		if at := p.mismatch(came, seq); at >= 0 {
			return &payloadError{seq: seq, at: at, got: len(came), want: p.size}
		}
		p.back.right(came, seq)
	}
	return p.keep(sent, end, timed)
}
