package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"rdmaprobe/rdma"
)

// Why a child's context ended, as context.Cause tells. All ask for the same:
// finish the current call, destroy in order, send the result, exit.
var (
	ErrDeadline   = errors.New("the deadline has passed")
	ErrTerminated = errors.New("asked to end")
	ErrOrphaned   = errors.New("the parent has died")
)

// Child is this process as the child of a Run. Its methods may be called from
// any goroutine.
type Child struct {
	pid     int // of the process that entered: a library may make copies of it
	nonce   string
	request []byte
	clock   *clock
	mark    *rdma.CallMark
	conn    *os.File

	sending sync.Mutex // messages are written whole and one by one
	write   func([]byte) error

	kill        time.Duration // after the deadline the parent would kill it; 0 = not inside a call
	orphan      atomic.Bool
	ignoreTerm  atomic.Bool
	orphanLimit atomic.Int64 // a duration; 0 = none
}

// Request is Spec.Request.
func (c *Child) Request() []byte { return c.request }

// Conn is Spec.Conn, nil when there is none. It is the caller's to close.
func (c *Child) Conn() *os.File { return c.conn }

// Context ends at the soft deadline, at SIGTERM and when the parent dies. Renew
// replaces it.
func (c *Child) Context() context.Context { return c.clock.context() }

// Renew starts the deadline anew, unless the context has ended. The parent goes by
// Spec.Renews: call this before the message that tells it.
func (c *Child) Renew() bool { return c.clock.renew() }

// Mark is the page by which the parent knows the call in flight. Give it to
// rdma.Library.SetMark before the first call.
func (c *Child) Mark() *rdma.CallMark { return c.mark }

// Send passes one message to the parent; body is encoded as JSON, up to 1 MiB.
// It fails when the parent is gone or has stopped listening; a child in that
// state still has to destroy what it made. A copy of the process, which a library
// has made by a fork(2) that returns twice, ends here: what it says would be heard as
// the child's, and what it does would be done to the child's objects.
func (c *Child) Send(typ string, body any) error {
	if os.Getpid() != c.pid {
		syscall.Exit(copyExit)
	}
	b, err := encodeMessage(c.nonce, typ, body)
	if err != nil {
		return err
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.write(b); err != nil {
		return fmt.Errorf("send %s message: %w", typ, err)
	}
	return nil
}

// copyExit is the status of such a copy. Only the library could wait for it.
const copyExit = 3

// Done ends what the library has started, tells of it, and sends the result, which
// makes the run Completed. The process should exit
// next: it has a second. An orphan ends in it, with what its library has started:
// nobody else will end that.
func (c *Child) Done(body any) error {
	if c.orphan.Load() {
		endGroup()
	}
	if left := endChildren(); len(left) > 0 {
		_ = c.Send(msgLeft, left)
	}
	return c.Send(msgDone, body)
}

// IgnoreTerm makes SIGTERM do nothing. Simulated hangs use it.
func (c *Child) IgnoreTerm() { c.ignoreTerm.Store(true) }

// OrphanLimit ends this process d after its parent's death, also inside a
// provider call, where it is not ended sooner. Only a simulated child may set it.
func (c *Child) OrphanLimit(d time.Duration) { c.orphanLimit.Store(int64(d)) }

// Waits of an orphan.
const (
	orphanGrace = 700 * time.Millisecond // outside any call, before it is ended
	orphanLook  = 25 * time.Millisecond
)

// orphaned runs once the parent is dead, until exit is called. Inside a call that is
// when the parent would have killed it, if it would.
func (c *Child) orphaned(exit func()) {
	c.orphan.Store(true)
	killed := c.clock.end(ErrOrphaned).Add(c.kill)
	born := time.Now()
	idleSince := born
	for now := born; ; now = time.Now() {
		if c.mark.Verb.Load() != 0 {
			idleSince = now
		}
		limit := time.Duration(c.orphanLimit.Load())
		late := c.kill > 0 && now.After(killed)
		if limit > 0 { // it may play one that cannot be killed
			late = now.Sub(born) >= limit
		}
		if late || now.Sub(idleSince) >= orphanGrace {
			exit()
			return
		}
		time.Sleep(orphanLook)
	}
}
