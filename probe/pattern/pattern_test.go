package pattern

import (
	"bytes"
	"fmt"
	"testing"
)

// Every byte of a message is the one that its number and place give, and each that
// is not is found, at every length around those at which the loops change.
func TestPatternAtEveryLength(t *testing.T) {
	for _, size := range []int{0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 95, 100, 4096} {
		for _, seq := range []uint64{0, 1, 7, 1 << 40, 1<<64 - 1} {
			b := make([]byte, size)
			Fill(b, seq)
			for i, c := range b {
				if want := byte(Word(seq, i/8) >> (8 * (i % 8))); c != want {
					t.Fatalf("byte %d of %d of message %d is %#x, want %#x", i, size, seq, c, want)
				}
			}
			if at := Mismatch(b, seq); at >= 0 {
				t.Errorf("message %d of %d bytes differs at %d", seq, size, at)
			}
			for i := range b {
				b[i] ^= 0x10
				if at := Mismatch(b, seq); at != i {
					t.Errorf("byte %d of %d of message %d is wrong, found at %d", i, size, seq, at)
				}
				b[i] ^= 0x10
			}
		}
	}
}

func TestPattern(t *testing.T) {
	for _, size := range []int{1, 3, 7, 8, 9, 64, 4095, 4096, 4097, 20000} {
		for _, p := range []struct {
			name     string
			fill     func([]byte, uint64)
			mismatch func([]byte, uint64) int
		}{{"own", Fill, Mismatch}, {"stock", FillStock, MismatchStock}} {
			b := make([]byte, size)
			p.fill(b, 41)
			if at := p.mismatch(b, 41); at != -1 {
				t.Errorf("%s, %d bytes: wrong at %d", p.name, size, at)
			}
			for _, at := range []int{0, size / 2, size - 1} {
				b[at] ^= 0x80
				if got := p.mismatch(b, 41); got != at {
					t.Errorf("%s, %d bytes, byte %d changed: found at %d", p.name, size, at, got)
				}
				b[at] ^= 0x80
			}
			if size > 8 && p.mismatch(b, 42) < 0 {
				t.Errorf("%s, %d bytes: another message passes", p.name, size)
			}
			if p.name == "stock" {
				for i := 0; i < size; i += stockPage {
					if b[i] != 0 {
						t.Errorf("byte %d is %#x; the tools look for 0 there", i, b[i])
					}
				}
			}
		}
		b := make([]byte, size)
		Fill(b, 1<<40)
		if seq, ok := Sequence(b); ok != (size >= 8) || ok && seq != 1<<40 {
			t.Errorf("%d bytes: number %d, %v", size, seq, ok)
		}
	}
	if Mismatch(nil, 1) != -1 || MismatchStock(nil, 1) != -1 {
		t.Error("no bytes are wrong")
	}
	if bytes.Equal(make([]byte, 64), func() []byte { b := make([]byte, 64); Fill(b, 0); return b }()) {
		t.Error("a message is all zeros, like memory that nothing arrived in")
	}
}

// BenchmarkMessage is what is written into a message and looked at in it.
func BenchmarkMessage(b *testing.B) {
	for _, size := range []int{2, 64, 4096} {
		buf := make([]byte, size)
		b.Run(fmt.Sprintf("fill/size=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				Fill(buf, 7)
			}
		})
		b.Run(fmt.Sprintf("check/size=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			Fill(buf, 7)
			for b.Loop() {
				if Mismatch(buf, 7) >= 0 {
					b.Fatal("the right bytes are wrong")
				}
			}
		})
	}
}
