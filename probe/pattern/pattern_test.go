package pattern

import (
	"bytes"
	"fmt"
	"testing"
)

// sizes are those around which the layout and the loops change.
var sizes = []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 63, 64, 95, 100, 4095, 4096, 4097}

// told is a sender that makes the same messages in each test.
func told(d Direction) Sender { return Sender{NewKey(0x5eff, d), [2]uint64{11, 12}} }

// Each byte of a message that is wrong is found at its place by who knows the
// challenge. Who does not finds it at its place too, but for a challenge that nothing
// follows.
func TestMismatchAtEveryByte(t *testing.T) {
	s := told(Asks)
	for _, size := range sizes {
		number, challenge := parts(size)
		for _, seq := range []uint64{0, 1, 7, 1 << 40, 1<<64 - 1} {
			b := make([]byte, size)
			s.Fill(b, seq)
			if at, blind := s.Mismatch(b, seq), s.Key.Mismatch(b, seq); at >= 0 || blind >= 0 {
				t.Errorf("message %d of %d bytes differs at %d, %d", seq, size, at, blind)
			}
			for i := range b {
				b[i] ^= 0x10
				want := i
				if end := number + challenge; i >= number && i < end && size < end+16 {
					want = end // where the body shows it, if there is one
				}
				if want == size {
					want = -1
				}
				at, blind := s.Mismatch(b, seq), s.Key.Mismatch(b, seq)
				if at != i || blind != want {
					t.Errorf("byte %d of %d of message %d is wrong, found at %d, and %d without the challenge", i, size, seq, at, blind)
				}
				b[i] ^= 0x10
			}
		}
	}
}

// A message is none of another run, of the other direction, or of another number.
func TestKeysApart(t *testing.T) {
	s, back := told(Asks), told(Answers)
	other := Sender{NewKey(0x5efe, Asks), s.secret}
	for _, size := range sizes[3:] {
		b := make([]byte, size)
		s.Fill(b, 41)
		for name, k := range map[string]Key{"direction": back.Key, "run": other.Key} {
			if k.Begins(b, 41) || k.Mismatch(b, 41) < 0 {
				t.Errorf("%d bytes: it passes for one of another %s", size, name)
			}
		}
		if s.Begins(b, 42) || s.Key.Mismatch(b, 42) < 0 || !s.Begins(b, 41) {
			t.Errorf("%d bytes: it passes for another message", size)
		}
		if s.Key.Mismatch(make([]byte, size), 41) < 0 {
			t.Errorf("%d bytes: memory in which nothing arrived passes", size)
		}
	}
	one, two := NewSalt(), NewSalt()
	first, second := NewSender(1, Asks), NewSender(1, Asks)
	if one == two || first.secret == second.secret {
		t.Error("two runs are alike")
	}
}

func TestSequence(t *testing.T) {
	s := told(Answers)
	for _, v := range []uint64{0, 1, 0x5eff, 1 << 63, 1<<64 - 1} {
		if got := gather(spread(v)); got != v {
			t.Errorf("%#x comes back as %#x", v, got)
		}
	}
	for _, size := range sizes {
		for _, want := range []uint64{0, 1, 1 << 40} {
			b := make([]byte, size)
			s.Fill(b, want)
			if seq, ok := s.Sequence(b); ok != (size > 15) && size != 15 || ok && seq != want {
				t.Errorf("%d bytes: number %d, %v", size, seq, ok)
			}
			if w, mask := s.Begin(want, size); size >= 8 && word(b, 8)&mask != w {
				t.Errorf("%d bytes: it begins otherwise", size)
			}
		}
	}
	if _, ok := s.Sequence(nil); ok || s.Key.Mismatch(nil, 1) != -1 {
		t.Error("no bytes are wrong")
	}
}

// The digest is that of what was sent if, and only if, every message has arrived,
// with its bytes, its length and its number.
func TestDigest(t *testing.T) {
	s := told(Asks)
	for _, size := range sizes {
		digest := func(change func(i int, b []byte) ([]byte, uint64)) (d Digest) {
			for i := range 5 {
				b := make([]byte, size)
				s.Fill(b, uint64(i+3))
				if b, seq := change(i, b); b != nil {
					d = d.Add(b, seq)
				}
			}
			return d
		}
		want := s.Digest(size, 3, 5)
		whole := func(i int, b []byte) ([]byte, uint64) { return b, uint64(i + 3) }
		if got := digest(whole); got != want {
			t.Errorf("%d bytes: %#x, want %#x", size, got, want)
		}
		n, c := parts(size)
		for name, change := range map[string]func(i int, b []byte) ([]byte, uint64){
			"one is missing":   func(i int, b []byte) ([]byte, uint64) { return b[:len(b)*min(1, i^2)], uint64(i + 3) },
			"another number":   func(i int, b []byte) ([]byte, uint64) { return b, uint64(i + 4) },
			"longer by a byte": func(i int, b []byte) ([]byte, uint64) { return append(b, 0), uint64(i + 3) },
			"a challenge":      func(i int, b []byte) ([]byte, uint64) { b[n+c-1] ^= byte(i & 1); return b, uint64(i + 3) },
		} {
			if digest(change) == want {
				t.Errorf("%d bytes, %s: the digest does not show it", size, name)
			}
		}
		if s.Digest(size, 3, 4) == want || s.Digest(size, 2, 5) == want || s.Digest(size+1, 3, 5) == want {
			t.Errorf("%d bytes: another count, number or length has the same digest", size)
		}
		if blind := (&Sender{s.Key, [2]uint64{11, 13}}); blind.Digest(size, 3, 5) == want {
			t.Errorf("%d bytes: it takes no secret to know the digest", size)
		}
	}
}

func TestStock(t *testing.T) {
	k := told(Asks).Key
	for _, size := range []int{1, 3, 7, 8, 9, 64, 4095, 4096, 4097, 20000} {
		b := make([]byte, size)
		k.FillStock(b, 41)
		if at := k.MismatchStock(b, 41); at != -1 {
			t.Errorf("%d bytes: wrong at %d", size, at)
		}
		for _, at := range []int{0, size / 2, size - 1} {
			b[at] ^= 0x80
			if got := k.MismatchStock(b, 41); got != at {
				t.Errorf("%d bytes, byte %d changed: found at %d", size, at, got)
			}
			b[at] ^= 0x80
		}
		if size > 8 && (k.MismatchStock(b, 42) < 0 || told(Answers).MismatchStock(b, 41) < 0) {
			t.Errorf("%d bytes: another message passes", size)
		}
		for i := 0; i < size; i += stockPage {
			if b[i] != 0 {
				t.Errorf("byte %d is %#x; the tools look for 0 there", i, b[i])
			}
		}
		if size > 8 && bytes.Equal(b, make([]byte, size)) {
			t.Error("a message is all zeros, like memory that nothing arrived in")
		}
	}
}

// BenchmarkMessage is what is written into a message and looked at in it.
func BenchmarkMessage(b *testing.B) {
	s := told(Asks)
	for _, size := range []int{2, 64, 4096} {
		buf := make([]byte, size)
		b.Run(fmt.Sprintf("fill/size=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				s.Fill(buf, 7)
			}
		})
		b.Run(fmt.Sprintf("check/size=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			s.Fill(buf, 7)
			d := Digest(0)
			for b.Loop() {
				if s.Key.Mismatch(buf, 7) >= 0 {
					b.Fatal("the right bytes are wrong")
				}
				d = d.Add(buf, 7)
			}
		})
	}
}
