package probe

import "testing"

// Every byte of a message is the one that its number and place give, and each that
// is not is found, at every length around those at which the loops change.
func TestPatternAtEveryLength(t *testing.T) {
	for _, size := range []int{0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 95, 100, 4096} {
		for _, seq := range []uint64{0, 1, 7, 1 << 40, 1<<64 - 1} {
			b := make([]byte, size)
			fill(b, seq)
			for i, c := range b {
				if want := byte(word(seq, i/8) >> (8 * (i % 8))); c != want {
					t.Fatalf("byte %d of %d of message %d is %#x, want %#x", i, size, seq, c, want)
				}
			}
			if at := mismatch(b, seq); at >= 0 {
				t.Errorf("message %d of %d bytes differs at %d", seq, size, at)
			}
			for i := range b {
				b[i] ^= 0x10
				if at := mismatch(b, seq); at != i {
					t.Errorf("byte %d of %d of message %d is wrong, found at %d", i, size, seq, at)
				}
				b[i] ^= 0x10
			}
		}
	}
}
