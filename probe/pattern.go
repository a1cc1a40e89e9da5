package probe

import "encoding/binary"

// mix spreads a message's number over its bytes: every word of two messages
// differs, so that a stale buffer never passes for a new one.
const mix = 0x9e3779b97f4a7c15

// word is the i-th 8 bytes of message seq.
func word(seq uint64, i int) uint64 { return (seq+1)*mix ^ uint64(i)*0xc2b2ae3d27d4eb4f }

// fill writes message seq into b. The first word carries the number.
func fill(b []byte, seq uint64) {
	i := 0
	for ; len(b) >= 8; b, i = b[8:], i+1 {
		binary.LittleEndian.PutUint64(b, word(seq, i))
	}
	w := word(seq, i)
	for j := range b {
		b[j] = byte(w >> (8 * j))
	}
}

// mismatch is the offset of the first byte of b that is not of message seq, -1
// when all are.
func mismatch(b []byte, seq uint64) int {
	i := 0
	for rest := b; len(rest) >= 8; rest, i = rest[8:], i+1 {
		if binary.LittleEndian.Uint64(rest) != word(seq, i) {
			return firstByte(rest[:8], word(seq, i), i*8)
		}
	}
	return firstByte(b[i*8:], word(seq, i), i*8)
}

func firstByte(b []byte, w uint64, at int) int {
	for j := range b {
		if b[j] != byte(w>>(8*j)) {
			return at + j
		}
	}
	return -1
}

// unmix is the inverse of mix modulo 2^64.
const unmix = 0xf1de83e19937733d

// sequence is the number of the message that b holds, as its first word tells;
// ok is false for a message too short to have one.
func sequence(b []byte) (seq uint64, ok bool) {
	if len(b) < numberSize {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b)*unmix - 1, true
}

// stockPage is the distance of the bytes that rdma-core's tools look at with -c:
// the first of every page has to be 0. Pages of 16 KiB are multiples of it.
const stockPage = 4096

// fillStock is fill for a message that a stock tool may check.
func fillStock(b []byte, seq uint64) {
	fill(b, seq)
	for i := 0; i < len(b); i += stockPage {
		b[i] = 0
	}
}

// mismatchStock is mismatch for such a message.
func mismatchStock(b []byte, seq uint64) int {
	for i, c := range b {
		want := byte(word(seq, i/8) >> (8 * (i % 8)))
		if i%stockPage == 0 {
			want = 0
		}
		if c != want {
			return i
		}
	}
	return -1
}
