package probe

import (
	"errors"
	"testing"
	"time"

	"rdmaprobe/probe/pattern"
)

// A message whose number is right leaves the loop at once; its other bytes are
// looked at afterwards, all of them.
func TestFlowChecksEveryByte(t *testing.T) {
	const size, seq = 100, 7
	near := &wireEnd{size: 128, data: make([]byte, slotCount*128), in: pattern.NewKey(1, pattern.Answers)}
	answers := pattern.NewSender(1, pattern.Answers)
	p := &pingpong{c: &connection{near: near}, size: size, seq: seq, mismatch: near.in.Mismatch, times: newTimes(), flowing: true}
	for at := range size {
		b := near.slotBytes(slotRecv0 + near.slot)[:size]
		p.unchecked, p.verified = nil, 0
		answers.Fill(b, seq)
		b[at] ^= 1
		back, err := p.check(size)
		if at < pattern.NumberSize {
			if back || err == nil {
				t.Errorf("byte %d: a wrong number passes", at)
			}
			continue
		}
		if !back || err != nil || len(p.unchecked) != size {
			t.Fatalf("byte %d: %v, %v, %d bytes to check", at, back, err, len(p.unchecked))
		}
		var bad *payloadError
		if err := p.settle(seq, p.unchecked, time.Now(), time.Now(), true); !errors.As(err, &bad) || bad.at != at || bad.seq != seq || p.verified != 0 {
			t.Errorf("byte %d: %v, %d verified", at, err, p.verified)
		}
	}
	b := near.slotBytes(slotRecv0 + near.slot)[:size]
	answers.Fill(b, seq)
	if back, err := p.check(size - 1); back || err == nil {
		t.Errorf("too short a message: %v, %v", back, err)
	}
	near.taken()
	if back, err := p.check(size); !back || err != nil {
		t.Fatal(back, err)
	}
	if err := p.settle(seq, p.unchecked, time.Now(), time.Now(), true); err != nil || p.verified != 1 {
		t.Errorf("the right message: %v, %d verified", err, p.verified)
	}
}
