package pattern

import "encoding/binary"

// mix spreads a message's number over its bytes: every word of two messages
// differs, so that a stale buffer never passes for a new one.
const mix = 0x9e3779b97f4a7c15

// step tells the words of one message apart; the others are its multiples modulo
// 2^64, since four words are done at a time.
const (
	step  = 0xc2b2ae3d27d4eb4f
	step2 = 2 * step % (1 << 64)
	step3 = 3 * step % (1 << 64)
	step4 = 4 * step % (1 << 64)
)

// Word is the i-th 8 bytes of message seq.
func Word(seq uint64, i int) uint64 { return (seq+1)*mix ^ uint64(i)*step }

// Fill writes message seq into b. The first word carries the number.
func Fill(b []byte, seq uint64) {
	w, k := Word(seq, 0), uint64(0)
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
// when all are.
func Mismatch(b []byte, seq uint64) int {
	w, k, rest := Word(seq, 0), uint64(0), b
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

// NumberSize is the part of a message that carries its number.
const NumberSize = 8

// unmix is the inverse of mix modulo 2^64.
const unmix = 0xf1de83e19937733d

// Sequence is the number of the message that b holds, as its first word tells;
// ok is false for a message too short to have one.
func Sequence(b []byte) (seq uint64, ok bool) {
	if len(b) < NumberSize {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b)*unmix - 1, true
}

// stockPage is the distance of the bytes that rdma-core's tools look at with -c:
// the first of every page has to be 0. Pages of 16 KiB are multiples of it.
const stockPage = 4096

// FillStock is Fill for a message that a stock tool may check.
func FillStock(b []byte, seq uint64) {
	Fill(b, seq)
	for i := 0; i < len(b); i += stockPage {
		b[i] = 0
	}
}

// MismatchStock is Mismatch for such a message.
func MismatchStock(b []byte, seq uint64) int {
	for i, c := range b {
		want := byte(Word(seq, i/8) >> (8 * (i % 8)))
		if i%stockPage == 0 {
			want = 0
		}
		if c != want {
			return i
		}
	}
	return -1
}
