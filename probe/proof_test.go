package probe

import (
	"testing"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/probe/peer"
)

// Only the results of who has received everything prove it.
func TestUnproven(t *testing.T) {
	const size, sent = 64, 10
	s := pattern.NewSender(7, pattern.Asks)
	digest := s.Digest(size, 1, sent)
	all := tally{}
	b := make([]byte, size)
	for seq := uint64(1); seq <= sent; seq++ {
		s.Fill(b, seq)
		all.received++
		all.right(b, seq)
	}
	if got := all.results(); unproven(&got, sent, digest) != "" {
		t.Errorf("%+v: %s", got, unproven(&got, sent, digest))
	}
	if unproven(nil, sent, digest) == "" {
		t.Error("silence proves it")
	}
	for name, lie := range map[string]func(*peer.Results){
		"nothing":           func(r *peer.Results) { r.Received, r.Verified = 0, 0 },
		"fewer":             func(r *peer.Results) { r.Received, r.Verified = 9, 9 },
		"fewer verified":    func(r *peer.Results) { r.Verified = 9 },
		"more":              func(r *peer.Results) { r.Received = 11 },
		"more verified":     func(r *peer.Results) { r.Verified = 11 },
		"less than nothing": func(r *peer.Results) { r.Received, r.Verified = -1, -1 },
		"no digest":         func(r *peer.Results) { r.Digest = 0 },
		"another digest":    func(r *peer.Results) { r.Digest ^= 1 },
		"of fewer":          func(r *peer.Results) { r.Digest = uint64(s.Digest(size, 1, sent-1)) },
		"of the keys alone": func(r *peer.Results) {
			r.Digest = uint64((&pattern.Sender{Key: s.Key}).Digest(size, 1, sent))
		},
	} {
		got := all.results()
		lie(&got)
		if unproven(&got, sent, digest) == "" {
			t.Errorf("%s: %+v proves it", name, got)
		}
	}
}

// Each end has a key for each direction, and the two ends the same ones: what comes
// back to its sender is no answer, also where both have drawn one salt.
func TestSpeak(t *testing.T) {
	for _, salts := range [][2]uint64{{1, 2}, {3, 3}} {
		a, b := &wireEnd{info: endpoint{Salt: salts[0]}}, &wireEnd{info: endpoint{Salt: salts[1]}}
		a.speak(pattern.Asks, salts[1])
		b.speak(pattern.Answers, salts[0])
		if a.out.Key != b.in || b.out.Key != a.in || a.out.Key == a.in {
			t.Errorf("salts %v: %x sends to %x, %x to %x", salts, a.out.Key, b.in, b.out.Key, a.in)
		}
	}
}

// A message of up to 16 bytes has nothing that its receiver could compare its challenge
// with: only who sent the answers can say whether they arrived as they were.
func TestShortAnswersAreJudgedByTheirSender(t *testing.T) {
	near := &wireEnd{info: endpoint{Salt: 5}}
	near.speak(pattern.Answers, 6)
	for _, size := range []int{1, 2, 16} {
		if !pattern.Blind(size) {
			t.Errorf("a receiver is said to see a wrong challenge in %d bytes", size)
		}
		e := &echo{c: &connection{near: near}, round: peer.Round{Size: size, Count: 4, First: 1}}
		e.end = peer.End{Sent: 4, Received: 4, Digest: uint64(e.sent())}
		if got := e.results(); got.Mismatch != "" {
			t.Errorf("%d bytes, right answers: %s", size, got.Mismatch)
		}
		e.end.Digest ^= 1
		if got := e.results(); got.Mismatch == "" {
			t.Errorf("%d bytes: the client is not told that its answers are wrong", size)
		}
	}
	if pattern.Blind(17) {
		t.Error("17 bytes have one that follows from the challenge")
	}
}
