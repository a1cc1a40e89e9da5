package probe

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rdmaprobe/probe/ledger"
)

// What the ledger may take of a run's time: reading it, waiting for its other
// writers and writing, all together. The bound of a run has both.
const (
	storeLimit  = 10 * time.Second
	intentLimit = 100 * time.Millisecond // added for each intent, which the disk has to confirm
)

// errStoreSlow says that the ledger has used up its time.
var errStoreSlow = errors.New("the file system of the ledger does not answer in time (name a file on another one with --store FILE)")

// storeTime is what is left of that. After the first failure to write nothing more
// is tried. Its nil value sets no limit. It is safe for concurrent use.
type storeTime struct {
	ctx    context.Context // ends when nothing more may be written
	cancel context.CancelFunc

	mu     sync.Mutex
	left   time.Duration
	failed error
	hung   bool // a call may still be in the system, with the ledger's run
}

func newStoreTime() *storeTime {
	ctx, cancel := context.WithCancel(context.Background())
	return &storeTime{ctx: ctx, cancel: cancel, left: storeLimit}
}

// renew gives what serves without end a new session's time.
func (s *storeTime) renew() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = max(s.left, storeLimit)
}

// do runs what reads or writes the ledger, with more time than there was. A system
// call cannot be called off: one that hangs is left to itself, and f must touch
// nothing that its caller uses afterwards.
func (s *storeTime) do(more time.Duration, f func() error) error {
	if s == nil {
		return f()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	s.left += more
	began := time.Now()
	err := s.within(s.left, f)
	s.left -= time.Since(began)
	if s.hung || errors.Is(err, ledger.ErrNotWritable) {
		s.failed = err
		s.cancel()
	}
	return err
}

// last is do for the call that gives up the ledger. It is made after a failure too,
// unless another call still hangs.
func (s *storeTime) last(f func() error) error {
	if s == nil {
		return f()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hung {
		return nil
	}
	return s.within(time.Second, f)
}

// within waits for f, and a moment more for what gives up when it is told to.
func (s *storeTime) within(limit time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
	}
	s.cancel()
	moment := time.NewTimer(intentLimit)
	defer moment.Stop()
	select {
	case err := <-done:
		return err
	case <-moment.C:
		s.hung = true
		return fmt.Errorf("after %v: %w", limit.Round(time.Millisecond), errStoreSlow)
	}
}

// storeBound is what the ledger adds to the bound of a run that makes so many
// intents: its time, and what it takes to give it up.
func (r *run) storeBound(intents int) time.Duration {
	if r.path == "" {
		return 0
	}
	return storeLimit + time.Second + 2*intentLimit + time.Duration(intents)*intentLimit
}
