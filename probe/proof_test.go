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
