package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"rdmaprobe/probe"
)

// endSignals are those that end a run in good order. A hangup is one of them,
// unless whoever started this process had it ignored, as nohup does.
func endSignals() []os.Signal {
	s := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		s = append(s, syscall.SIGHUP)
	}
	return s
}

// endedBy is why the context of a command is done: the first signal that came.
// One channel takes the signals and says which it was: with two, either may have
// it first.
type endedBy struct{ os.Signal }

func (e endedBy) Error() string { return e.String() + " received" }

// untilSignal is done at the first signal that ends a run.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	first := make(chan os.Signal, 1)
	signal.Notify(first, endSignals()...)
	go func() {
		select {
		case s := <-first:
			cancel(endedBy{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(first); cancel(nil) }
}

// unfinished are the files and folders of this process that nobody shall find once
// it has ended.
var unfinished sync.Map

// scratch makes a folder for as long as a command needs one.
func scratch(pattern string) (dir string, gone func(), err error) {
	dir, err = os.MkdirTemp("", pattern)
	if err != nil {
		return "", nil, err
	}
	unfinished.Store(dir, true)
	return dir, func() {
		_ = os.RemoveAll(dir) // what is left then is in the system's own such folder
		unfinished.Delete(dir)
	}, nil
}

// endAtSecond makes the next signal end the process at once, as if nothing had
// caught it, but for what is unfinished. It is for what does not look at the
// context.
func endAtSecond() {
	again := make(chan os.Signal, 1)
	signal.Notify(again, endSignals()...)
	go func() {
		s := <-again
		signal.Reset(endSignals()...) // a third is not caught: a removal may hang
		removeUnfinished()
		if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) == nil {
			time.Sleep(time.Second) // the signal ends it, as whoever waits for it expects
		}
		os.Exit(probe.ExitInterrupted) // it was ignored when the process began, or cannot be sent here
	}()
}

func removeUnfinished() {
	unfinished.Range(func(path, _ any) bool {
		_ = os.RemoveAll(path.(string)) // nothing more can be done
		return true
	})
}

// errInterrupted is why a read of stdin ended that the user would not wait for.
var errInterrupted = errors.New("interrupted")

// untilDone reads from in until the context is done, also while a read of it
// would go on: a terminal or a pipe that nobody writes to cannot be closed under
// it. The read that is left behind ends with the process.
type untilDone struct {
	ctx  context.Context
	in   io.Reader
	pipe *io.PipeReader // nil until the first read: most commands never read
}

func (u *untilDone) Read(b []byte) (int, error) {
	if u.pipe == nil {
		r, w := io.Pipe()
		u.pipe = r
		go func() {
			_, err := io.Copy(w, u.in)
			w.CloseWithError(err)
		}()
		context.AfterFunc(u.ctx, func() { w.CloseWithError(errInterrupted) })
	}
	return u.pipe.Read(b)
}
