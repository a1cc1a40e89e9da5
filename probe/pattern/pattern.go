package pattern

import "encoding/binary"

// A message begins with its number, then come the bytes of its challenge; all that
// follows is made from both. The number is what the receiver expects, the challenge
// what nobody can know who has not received the message: Digest takes it in.
//
// The number and the challenge have eight bytes each, and share a message of fewer
// than 16 as parts says.

// Direction tells the messages of the end that asks from those of the end that
// answers.
type Direction uint64

// The two directions of a connection.
const (
	Asks Direction = iota + 1
	Answers
)

// Key is what all messages of one run and one direction have in common. Both ends
// know it before the first message.
type Key uint64

// NewKey is the key of the messages that go in a direction, from the end that drew
// salt.
func NewKey(salt uint64, d Direction) Key { return Key(spread(salt ^ uint64(d)*mix)) }

// mix tells two numbers apart, and step the words of one message; the others are its
// multiples modulo 2^64, since four words are done at a time.
const (
	mix   = 0x9e3779b97f4a7c15
	step  = 0xc2b2ae3d27d4eb4f
	step2 = 2 * step % (1 << 64)
	step3 = 3 * step % (1 << 64)
	step4 = 4 * step % (1 << 64)
)

// spread makes each bit of its result depend on all bits of v (the finalizer of
// splitmix64). gather is its inverse.
func spread(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

func gather(v uint64) uint64 {
	v = (v ^ v>>31 ^ v>>62) * 0x319642b2d24d8ec3
	v = (v ^ v>>27 ^ v>>54) * 0x96de1b173f119089
	return v ^ v>>30 ^ v>>60
}

// NumberSize is the part of a message that carries its number, and no more than
// that.
const NumberSize = 8

// parts is how many bytes of a message carry its number, and how many its challenge.
// A single byte is a challenge.
func parts(size int) (number, challenge int) {
	challenge = min(8, max(size/2, 1), size)
	return min(NumberSize, size-challenge), challenge
}

// Blind reports whether a receiver cannot see a wrong challenge in a message of a size,
// since nothing follows that was made from it: its digest shows it to the sender.
func Blind(size int) bool {
	n, c := parts(size)
	return n+c == size
}

// low are the first n bytes of v.
func low(v uint64, n int) uint64 { return v & (1<<(8*n) - 1) }

// word are the first n bytes of b.
func word(b []byte, n int) (v uint64) {
	if n == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	for j, c := range b[:n] {
		v |= uint64(c) << (8 * j)
	}
	return v
}

func putWord(b []byte, n int, v uint64) {
	if n == 8 {
		binary.LittleEndian.PutUint64(b, v)
		return
	}
	for j := range b[:n] {
		b[j] = byte(v >> (8 * j))
	}
}

// number is what message seq begins with.
func (k Key) number(seq uint64) uint64 { return spread(uint64(k) + seq*mix) }

// body is what the bytes after the challenge are made from.
func body(number, challenge uint64) uint64 { return spread(number ^ challenge) }

// Begin is the number of message seq as one of size bytes begins with it: these bits
// of its first word.
func (k Key) Begin(seq uint64, size int) (word, mask uint64) {
	n, _ := parts(size)
	mask = low(^uint64(0), n)
	return k.number(seq) & mask, mask
}

// Begins reports whether b begins as message seq does.
func (k Key) Begins(b []byte, seq uint64) bool {
	n, _ := parts(len(b))
	return word(b, n) == low(k.number(seq), n)
}

// Sequence is the number of the message that b holds, as its first word tells;
// ok is false for a message too short to have one.
func (k Key) Sequence(b []byte) (seq uint64, ok bool) {
	if n, _ := parts(len(b)); n < NumberSize {
		return 0, false
	}
	return (gather(binary.LittleEndian.Uint64(b)) - uint64(k)) * unmix, true
}

// unmix is the inverse of mix modulo 2^64.
const unmix = 0xf1de83e19937733d

// fill writes message seq with a challenge into b.
func (k Key) fill(b []byte, seq, challenge uint64) {
	n, c := parts(len(b))
	w := k.number(seq)
	putWord(b, n, w)
	putWord(b[n:], c, challenge)
	fillBody(b[n+c:], body(w, challenge))
}

func fillBody(b []byte, w uint64) {
	k := uint64(0)
	for ; len(b) >= 32; b, k = b[32:], k+step4 {
		q := (*[32]byte)(b)
		binary.LittleEndian.PutUint64(q[0:], w^k)
		binary.LittleEndian.PutUint64(q[8:], w^(k+step))
		binary.LittleEndian.PutUint64(q[16:], w^(k+step2))
		binary.LittleEndian.PutUint64(q[24:], w^(k+step3))
	}
	for ; len(b) >= 8; b, k = b[8:], k+step {
		binary.LittleEndian.PutUint64(b, w^k)
	}
	for j := range b {
		b[j] = byte((w ^ k) >> (8 * j))
	}
}

// Mismatch is the offset of the first byte of b that is not of message seq, -1
// when all are. What the challenge should be only its sender knows: of a message of
// up to 16 bytes a wrong one is seen by Digest alone.
func (k Key) Mismatch(b []byte, seq uint64) int {
	n, c := parts(len(b))
	w := k.number(seq)
	challenge, rest := word(b[n:], c), b[n+c:]
	at := mismatch(b, w, challenge)
	if at < n+c || len(rest) < 16 {
		return at
	}
	// The body tells what its challenge was.
	if was := gather(binary.LittleEndian.Uint64(rest)) ^ w; bodyMismatch(rest, body(w, was)) < 0 {
		return n + firstByte(challenge^was)
	}
	return at
}

// mismatch compares b with the message that has a number and a challenge.
func mismatch(b []byte, number, challenge uint64) int {
	n, c := parts(len(b))
	if d := word(b, n) ^ low(number, n); d != 0 {
		return firstByte(d)
	}
	if d := word(b[n:], c) ^ low(challenge, c); d != 0 {
		return n + firstByte(d)
	}
	if at := bodyMismatch(b[n+c:], body(number, challenge)); at >= 0 {
		return n + c + at
	}
	return -1
}

// firstByte is the first byte of a word that is not zero.
func firstByte(v uint64) int {
	at := 0
	for ; at < 7 && byte(v) == 0; v >>= 8 {
		at++
	}
	return at
}

func bodyMismatch(b []byte, w uint64) int {
	k, rest := uint64(0), b
	for ; len(rest) >= 32; rest, k = rest[32:], k+step4 {
		q := (*[32]byte)(rest)
		d0, d1 := binary.LittleEndian.Uint64(q[0:])^w^k, binary.LittleEndian.Uint64(q[8:])^w^(k+step)
		d2, d3 := binary.LittleEndian.Uint64(q[16:])^w^(k+step2), binary.LittleEndian.Uint64(q[24:])^w^(k+step3)
		if d0|d1|d2|d3 != 0 {
			break
		}
	}
	for ; len(rest) > 0; k += step {
		n := min(len(rest), 8)
		for j, c := range rest[:n] {
			if c != byte((w^k)>>(8*j)) {
				return len(b) - len(rest) + j
			}
		}
		rest = rest[n:]
	}
	return -1
}
