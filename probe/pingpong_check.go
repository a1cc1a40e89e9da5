package probe

import (
	"fmt"
	"slices"

	"rdmaprobe/probe/pattern"
)

// check verifies the message that arrived. One that comes out of turn is no
// answer, and nothing wrong either: UC delivers what a network repeats or holds
// back.
func (p *pingpong) check(n int) (bool, error) {
	near := p.c.near
	b := near.slotBytes(near.taken())[:n]
	if p.flowing && p.begins(b) {
		p.unchecked = b
		return true, nil
	}
	if n == p.size && p.mismatch(b, p.seq) < 0 {
		return true, nil
	}
	if p.outOfTurn(b) {
		return false, near.postRecv(p.size)
	}
	return false, p.wrong(b)
}

// begins tells whether b can be the expected message: its size and its number.
func (p *pingpong) begins(b []byte) bool {
	n, ok := pattern.Sequence(b)
	return ok && n == p.seq && len(b) == p.size
}

// outOfTurn tells whether b is an earlier message, byte for byte, and counts it:
// late when it had been given up, else repeated. What an earlier message left in
// the memory is not taken for one that arrived: postRecv strikes its number out.
func (p *pingpong) outOfTurn(b []byte) bool {
	if i := slices.IndexFunc(p.givenUp, func(seq uint64) bool { return len(b) == p.size && p.mismatch(b, seq) < 0 }); i >= 0 {
		p.late++
		return true
	}
	if earlier(b, p.seq) {
		p.repeated++
		return true
	}
	return false
}

// earlier tells whether b is one of our messages before number seq. One that is
// too short to carry its number could be any.
func earlier(b []byte, seq uint64) bool {
	n, ok := pattern.Sequence(b)
	return ok && n > 0 && n < seq && pattern.Mismatch(b, n) < 0
}

// wrong is the error of a message that is not the expected one.
func (p *pingpong) wrong(b []byte) error {
	at := -1
	if len(b) == p.size {
		at = p.mismatch(b, p.seq)
	}
	return &payloadError{seq: p.seq, at: at, got: len(b), want: p.size}
}

// payloadError is a message whose bytes are not those that were sent.
type payloadError struct {
	seq       uint64
	at        int
	got, want int
}

func (e *payloadError) Error() string {
	if e.at < 0 {
		return fmt.Sprintf("message %d came back with %d bytes instead of %d", e.seq, e.got, e.want)
	}
	return fmt.Sprintf("message %d came back with a wrong byte at offset %d", e.seq, e.at)
}
