package probe

import (
	"testing"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/probe/peer"
)

// Which message arrived: the expected one, a later one, or none of them.
func TestWhich(t *testing.T) {
	for _, size := range []int{4, 64} {
		for _, c := range []struct {
			sent uint64
			ok   bool
		}{{11, true}, {12, true}, {19, true}, {10, false}, {31, false}, {500, false}} {
			near := &wireEnd{in: pattern.NewKey(1, pattern.Asks)}
			asks := pattern.NewSender(1, pattern.Asks)
			e := &echo{c: &connection{near: near}, round: peer.Round{Size: size, Count: 20, First: 11}, next: 11}
			b := make([]byte, size)
			asks.Fill(b, c.sent)
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
