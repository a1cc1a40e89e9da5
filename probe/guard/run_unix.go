//go:build linux || darwin || freebsd

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// Run runs one child to its end, or to where it has to be given up, and passes
// its messages to on, from the calling goroutine and in order. on may be nil.
// When ctx ends the child is asked to end at once; that is no error.
//
// The error is for what is our own fault: the child could not be started, or it
// ended before Enter. Then the Result holds what is known.
func Run(ctx context.Context, s Spec, on func(Message)) (Result, error) {
	// Only the child may hold it once it runs: its end is then the connection's.
	release := sync.OnceFunc(func() {
		if s.Conn != nil {
			s.Conn.Close()
		}
	})
	defer release()
	if s.Soft <= 0 {
		return Result{}, errors.New("start child: no soft deadline")
	}
	if ctx.Err() != nil {
		return Result{Interrupted: true}, fmt.Errorf("start child: %w", context.Cause(ctx))
	}
	if on == nil {
		on = func(Message) {}
	}
	began := time.Now()
	p, err := start(s)
	release()
	if err != nil {
		return Result{}, err
	}
	r := &run{spec: s, p: p, on: on, timer: time.NewTimer(0)}
	r.res.PID = p.cmd.Process.Pid
	r.next(onTerm, began.Add(s.Lap()))
	r.loop(ctx)
	err = r.finish(ctx.Err() != nil)
	r.res.Duration = time.Since(began)
	return r.res, err
}

// rung is what happens when the run's timer fires.
type rung int

const (
	onTerm    rung = iota // ask the child to end
	onKill                // kill it, or leave it
	onGiveUp              // it does not die
	onDrain               // it has ended, its channels have not
	onDrained             // nor did they when their readers were told to end
	noRung                // nothing more
)

// run is one child on its way to its end.
type run struct {
	spec  Spec
	p     *process
	on    func(Message)
	timer *time.Timer
	res   Result

	rung  rung
	due   time.Time
	hello bool // the child took its channels over
	done  bool // it sent its result
	sham  bool // it plays one that cannot be killed
	sent  map[syscall.Signal]bool
	ended time.Time // zero while it lives
}

// next sets what happens at the given time.
func (r *run) next(g rung, at time.Time) {
	r.rung, r.due = g, at
	r.timer.Reset(max(0, time.Until(at)))
}

// loop returns when the child and its channels have ended, or when there is
// nothing more to wait for.
func (r *run) loop(ctx context.Context) {
	defer r.timer.Stop()
	messages, output, cancelled := r.p.messages, r.p.outEnd, ctx.Done()
	for r.rung != noRung && !(r.over() && messages == nil && output == nil) {
		select {
		case m, ok := <-messages:
			if !ok {
				messages = nil
				continue
			}
			r.take(m)
		case <-output:
			output = nil
		case <-r.p.exited:
			r.exit()
		case <-r.timer.C:
			r.climb()
		case <-cancelled:
			cancelled = nil
			if !r.over() && len(r.res.Rungs) == 0 {
				r.res.Interrupted = true
			}
			if r.rung == onTerm {
				r.climb()
			}
		}
	}
}

// take handles one message.
func (r *run) take(m Message) {
	switch m.Type {
	case msgHello:
		r.hello = true
		return
	case msgFault:
		var what string
		r.sham = json.Unmarshal(m.Body, &what) == nil && what == "stuck"
	case msgLeft:
		_ = json.Unmarshal(m.Body, &r.res.Left)
		return
	case msgDone:
		r.done = true
	}
	r.on(m)
	if r.rung == onTerm && r.spec.Renews != nil && r.spec.Renews(m) {
		r.next(onTerm, time.Now().Add(r.spec.Lap()))
	}
	switch {
	case r.over(): // what it wrote before its end is still coming
		r.next(onDrain, time.Now().Add(drainGrace))
	case r.done && r.rung <= onKill:
		// It has nothing more to say, so there is nothing to ask it for.
		at := time.Now().Add(doneGrace)
		if r.due.Before(at) {
			at = r.due
		}
		r.next(onKill, at)
	}
}

// exit handles the end of the process: whoever is left in its group goes too.
// No child of ours can have that group's number yet, and nobody else's is likely
// to: numbers are handed out in turn.
func (r *run) exit() {
	r.ended = time.Now()
	r.p.signal(syscall.SIGKILL)
	if !r.done || len(r.res.Left) > 0 { // else it has looked itself
		for _, p := range endMarked(r.p.mark) {
			r.res.Left = addLeft(r.res.Left, p)
		}
		r.res.Left = lookAgain(r.res.Left)
	}
	r.next(onDrain, time.Now().Add(drainGrace))
}

// climb does what the current rung is for.
func (r *run) climb() {
	select {
	case <-r.p.exited: // no signal to, and no verdict on, a process that is no more
		r.exit()
		return
	default:
	}
	switch r.rung {
	case onTerm:
		r.res.Late = max(0, time.Since(r.due))
		stopped := stopped(r.res.PID)
		r.send(syscall.SIGTERM, "SIGTERM")
		r.wake(stopped)
		r.next(onKill, time.Now().Add(r.spec.Ladder.Kill))
	case onKill:
		if r.spec.Leave && !r.idle() {
			r.wake(stopped(r.res.PID)) // it is to end by itself
			r.res.Rungs = append(r.res.Rungs, "left")
			r.end(Left)
			return
		}
		r.send(syscall.SIGKILL, "SIGKILL")
		r.next(onGiveUp, time.Now().Add(r.spec.Ladder.GiveUp))
	case onGiveUp:
		r.res.Rungs = append(r.res.Rungs, "gave up")
		r.end(Stuck)
	case onDrain:
		r.drain()
	case onDrained:
		r.rung = noRung
	}
}

// over tells that the process has ended.
func (r *run) over() bool { return !r.ended.IsZero() }

// drain ends the readers of a child that has ended, while others hold its pipes.
// What it wrote itself is in them already, so as long as there is something it is
// this process that is late: a busy machine must not turn a child that completed
// into one that crashed.
func (r *run) drain() {
	last := r.ended.Add(drainLimit)
	if time.Now().Before(last) && (readable(r.p.msgs) || readable(r.p.stdout)) {
		r.next(onDrain, time.Now().Add(drainGrace))
		return
	}
	r.res.Held = true
	for _, f := range []*os.File{r.p.msgs, r.p.stdout} {
		_ = f.SetReadDeadline(time.Now()) // they pass on what they have read
	}
	r.next(onDrained, time.Now().Add(drainGrace))
}

// wake continues a child that somebody has stopped: it can end in order then,
// and release what it holds.
func (r *run) wake(stopped bool) {
	if stopped {
		r.res.Stopped = true
		r.send(syscall.SIGCONT, "SIGCONT")
	}
}

// end stops waiting for a child that lives.
func (r *run) end(o Outcome) {
	r.res.Outcome, r.res.Alive, r.rung = o, true, noRung
}

// settle is how long a stopped process may take until none of its threads runs.
const settle = 5 * time.Millisecond

// idle reports that the child is outside any provider call and will stay so: it
// is stopped before the last look. One that is inside a call is not stopped.
func (r *run) idle() bool {
	if r.p.page.read().inside() {
		return false
	}
	if r.sham {
		return true
	}
	r.p.signal(syscall.SIGSTOP)
	time.Sleep(settle)
	if r.p.page.read().inside() {
		r.p.signal(syscall.SIGCONT)
		return false
	}
	return true
}

// send signals the child's group, unless the child plays one that no signal
// reaches.
func (r *run) send(sig syscall.Signal, name string) {
	if r.sham {
		r.res.Rungs = append(r.res.Rungs, name+" (withheld)")
		return
	}
	r.res.Rungs = append(r.res.Rungs, name)
	if r.sent == nil {
		r.sent = make(map[syscall.Signal]bool)
	}
	r.sent[sig] = true
	r.p.signal(sig)
}
