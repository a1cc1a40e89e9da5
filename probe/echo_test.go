package probe

import (
	"bytes"
	"testing"

	"rdmaprobe/probe/peer"
)

func TestPattern(t *testing.T) {
	for _, size := range []int{1, 3, 7, 8, 9, 64, 4095, 4096, 4097, 20000} {
		for _, p := range []struct {
			name     string
			fill     func([]byte, uint64)
			mismatch func([]byte, uint64) int
		}{{"own", fill, mismatch}, {"stock", fillStock, mismatchStock}} {
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
		fill(b, 1<<40)
		if seq, ok := sequence(b); ok != (size >= 8) || ok && seq != 1<<40 {
			t.Errorf("%d bytes: number %d, %v", size, seq, ok)
		}
	}
	if mismatch(nil, 1) != -1 || mismatchStock(nil, 1) != -1 {
		t.Error("no bytes are wrong")
	}
	if bytes.Equal(make([]byte, 64), func() []byte { b := make([]byte, 64); fill(b, 0); return b }()) {
		t.Error("a message is all zeros, like memory that nothing arrived in")
	}
}

// Which message arrived: the expected one, a later one, or none of them.
func TestWhich(t *testing.T) {
	for _, size := range []int{4, 64} {
		for _, c := range []struct {
			sent uint64
			ok   bool
		}{{11, true}, {12, true}, {19, true}, {10, false}, {31, false}, {500, false}} {
			e := &echo{round: peer.Round{Size: size, Count: 20, First: 11}, next: 11}
			b := make([]byte, size)
			fill(b, c.sent)
			seq, at := e.which(b)
			if c.ok && (at >= 0 || seq != c.sent) || !c.ok && at < 0 {
				t.Errorf("%d bytes of message %d: number %d, wrong at %d", size, c.sent, seq, at)
			}
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		posted, size      int
		plain, inTheCable bool
	}{{64, 64, true, true}, {4096, 64, true, true}, {64, 4096, false, true}, {8192, 64, true, false}, {64, 4097, false, false}} {
		e := &wireEnd{posted: true, length: c.posted}
		if e.fits(c.size, false) != c.plain || e.fits(c.size, true) != c.inTheCable {
			t.Errorf("a receive of %d for %d bytes: %v and %v", c.posted, c.size, e.fits(c.size, false), e.fits(c.size, true))
		}
	}
	if !(&wireEnd{length: 1}).fits(4096, true) {
		t.Error("without a receive everything fits")
	}
}

// The answering side of every two-host probe, and no other word, is known.
func TestServeRows(t *testing.T) {
	n := 0
	for _, row := range table {
		got, ok := rowOf("serve." + row.word)
		if want := row.class >= ClassTransition; ok != want {
			t.Errorf("serve.%s: known %v, want %v", row.word, ok, want)
		}
		if ok {
			n++
			if got.word != "serve."+row.word || got.class != row.class || got.qp != row.qp || got.option != row.option || len(got.ids(nil)) != len(row.ids(nil)) {
				t.Errorf("serve.%s: %+v", row.word, got)
			}
		}
	}
	if n != 6 {
		t.Errorf("%d rows are served", n)
	}
	for _, w := range []string{"serve.", "serve.serve.pingpong.uc", "serve.pingpong", "serve.pingpong.ud"} {
		if _, ok := rowOf(w); ok {
			t.Errorf("%q is known", w)
		}
	}
}
