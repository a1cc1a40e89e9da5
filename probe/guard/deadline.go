package guard

import (
	"context"
	"sync"
	"time"
)

// clock is a child's deadline and whatever else ends its context.
type clock struct {
	soft   time.Duration
	base   context.Context // has no deadline
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	ctx  context.Context // base until due
	stop context.CancelFunc
	due  time.Time
}

// newClock starts a clock of which left remains, and soft after a renewal.
func newClock(left, soft time.Duration) *clock {
	c := &clock{soft: soft}
	c.base, c.cancel = context.WithCancelCause(context.Background())
	c.wind(left)
	return c
}

func (c *clock) wind(left time.Duration) {
	c.due = time.Now().Add(left)
	c.ctx, c.stop = context.WithDeadlineCause(c.base, c.due, ErrDeadline)
}

func (c *clock) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx
}

// renew does nothing once the context has ended: the parent may be about to end
// this process.
func (c *clock) renew() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	c.stop()
	c.wind(c.soft)
	return true
}

// end ends the context, for good, and tells when its deadline would have been.
func (c *clock) end(cause error) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel(cause)
	return c.due
}

// terminate ends the context for a SIGTERM. One after the deadline is the ladder's:
// the child may have been stopped, or have had no processor, when it passed.
func (c *clock) terminate() {
	c.mu.Lock()
	late := !time.Now().Before(c.due)
	c.mu.Unlock()
	if late {
		c.end(ErrDeadline)
		return
	}
	c.end(ErrTerminated)
}
