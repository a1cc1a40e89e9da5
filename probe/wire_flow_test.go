//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"testing"
	"time"
)

// Time that is up ends the loop, also while every message comes back at once: none
// leaves after the one that is on its way.
func TestFlowEndsInTime(t *testing.T) {
	const size, enough = 64, 25
	near, far := wired(t, "")
	must(t, far.postRecv(size))
	stop, ended := make(chan struct{}), make(chan error)
	go func() { ended <- far.echo(size, stop) }()
	p := &pingpong{
		c: &connection{near: near}, size: size, count: 2000, loss: time.Minute, fill: near.out.Fill, mismatch: near.in.Mismatch,
		times: newTimes(), next: -1,
	}
	p.over = func() bool { return p.verified >= enough }
	i, err := p.flow(0)
	if err != nil || p.verified < enough || i > enough+2 || int(p.seq) != i || i != p.verified+len(p.givenUp) {
		t.Errorf("message %d, number %d, %d verified, %v given up, %v; %s", i, p.seq, p.verified, p.givenUp, err, near.state())
	}
	close(stop)
	must(t, <-ended)
}

// echo answers messages from 1 on until it is told to stop.
func (e *wireEnd) echo(size int, stop chan struct{}) error {
	for seq := uint64(1); ; {
		select {
		case <-stop:
			return nil
		default:
		}
		if !e.canAnswer() {
			if _, err := e.poll(1); err != nil {
				return err
			}
			continue
		}
		_, answered, err := e.pollAnswer(16, e.answered(seq, size))
		if err != nil {
			return err
		}
		if answered {
			e.taken()
			seq++
		}
	}
}
