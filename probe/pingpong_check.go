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
		p.back.right(b, p.seq)
		return true, nil
	}
	if p.outOfTurn(b, near.in, p.mismatch) {
		return false, near.postRecv(p.size)
	}
	return false, p.wrong(b, p.mismatch)
}

// begins tells whether b can be the expected message: its size and its number.
func (p *pingpong) begins(b []byte) bool { return len(b) == p.size && p.c.near.in.Begins(b, p.seq) }

// outOfTurn tells whether b is an earlier message, byte for byte, and counts it:
// late when it had been given up, else repeated. What an earlier message left in
// the memory is not taken for one that arrived: postRecv strikes its number out.
func (p *pingpong) outOfTurn(b []byte, key pattern.Key, mismatch func([]byte, uint64) int) bool {
	if i := slices.IndexFunc(p.givenUp, func(seq uint64) bool { return len(b) == p.size && mismatch(b, seq) < 0 }); i >= 0 {
		p.late++
		return true
	}
	if earlier(key, b, p.seq) {
		p.repeated++
		return true
	}
	return false
}

// earlier tells whether b is a message of a key before number seq. One that is too
// short to carry its number could be any.
func earlier(key pattern.Key, b []byte, seq uint64) bool {
	n, ok := key.Sequence(b)
	return ok && n > 0 && n < seq && key.Mismatch(b, n) < 0
}

// wrong is the error of a message that is not the expected one.
func (p *pingpong) wrong(b []byte, mismatch func([]byte, uint64) int) error {
	at := -1
	if len(b) == p.size {
		at = mismatch(b, p.seq)
	}
	return &payloadError{seq: p.seq, at: at, got: len(b), want: p.size, reflected: at >= 0 && p.c.near.out.Mismatch(b, p.seq) < 0}
}

// payloadError is a message whose bytes are not those that were sent.
type payloadError struct {
	seq       uint64
	at        int
	got, want int
	reflected bool // it is what this end sent
}

func (e *payloadError) Error() string {
	if e.reflected {
		return fmt.Sprintf("message %d came back as it was sent: no other end answered it, whose messages have other bytes", e.seq)
	}
	if e.at < 0 {
		return fmt.Sprintf("message %d came back with %d bytes instead of %d", e.seq, e.got, e.want)
	}
	return fmt.Sprintf("message %d came back with a wrong byte at offset %d", e.seq, e.at)
}
