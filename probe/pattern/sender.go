package pattern

import (
	"crypto/rand"
	"encoding/binary"
)

// Sender makes the messages of one end. Its secret leaves it in the challenges of
// its messages, and nowhere else.
type Sender struct {
	Key
	secret [2]uint64
}

// NewSender is a sender with a secret of its own.
func NewSender(salt uint64, d Direction) Sender {
	return Sender{NewKey(salt, d), [2]uint64{NewSalt(), NewSalt()}}
}

// NewSalt is a random number that is not 0.
func NewSalt() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:]) | 1
}

// challenge is that of message seq.
func (s *Sender) challenge(seq uint64) uint64 {
	return spread(spread(s.secret[0]+seq*mix) ^ s.secret[1])
}

// Fill writes message seq into b.
func (s *Sender) Fill(b []byte, seq uint64) { s.fill(b, seq, s.challenge(seq)) }

// Mismatch is the offset of the first byte of b that is not of message seq, -1 when
// all are, the challenge among them.
func (s *Sender) Mismatch(b []byte, seq uint64) int {
	return mismatch(b, s.number(seq), s.challenge(seq))
}

// Digest is what the receiver of count messages of a size has, from message first
// on.
func (s *Sender) Digest(size int, first uint64, count int) Digest {
	_, c := parts(size)
	d := Digest(0)
	for seq := first; seq < first+uint64(count); seq++ {
		d = d.add(size, seq, low(s.challenge(seq), c))
	}
	return d
}

// Digest stands for messages that were received, in their order: their numbers,
// lengths and bytes. The bytes that Key.Mismatch has compared follow from number and
// challenge, so that these two are all that it takes in.
type Digest uint64

// Add takes message seq in, in which Key.Mismatch found nothing.
func (d Digest) Add(b []byte, seq uint64) Digest {
	n, c := parts(len(b))
	return d.add(len(b), seq, word(b[n:], c))
}

func (d Digest) add(size int, seq, challenge uint64) Digest {
	return Digest(spread(uint64(d) + mix ^ spread(challenge^spread(seq*mix+uint64(size)))))
}
