package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/peer"
)

// How the other end is reached where it is on another host.
const (
	remoteOwn   = "rdmaprobe" // its rdmaprobe
	remoteStock = "ibv"       // one of rdma-core's ping-pong tools
)

// remoteEnd is the other host's end of a connection, over the socket that this
// child inherited. One goroutine reads it to the end, so that a peer that goes
// away is noticed while messages are polled for.
type remoteEnd struct {
	conn  *peer.Conn
	stock bool
	inbox chan peer.Message
	gone  chan struct{} // closed once nothing more comes
	err   error         // why; after gone is closed
}

// peerError says that the other host's end failed or went away.
type peerError struct{ err error }

func (e *peerError) Error() string { return e.err.Error() }
func (e *peerError) Unwrap() error { return e.err }

// inboxSize bounds what may come before it is asked for: one message.
const inboxSize = 4

// openRemote takes the inherited socket over.
func (s *session) openRemote() (*remoteEnd, error) {
	file := s.child.Conn()
	if file == nil {
		return nil, errors.New("there is no connection to the other host")
	}
	c, err := net.FileConn(file)
	file.Close()
	if err != nil {
		return nil, fmt.Errorf("take the connection over: %w", err)
	}
	e := &remoteEnd{conn: peer.NewConn(c, s.req.Data.Early), stock: s.req.Data.Remote == remoteStock}
	if e.stock {
		context.AfterFunc(s.child.Context(), func() { c.Close() }) // no wait of its exchange outlives the child's time
	} else {
		e.inbox, e.gone = make(chan peer.Message, inboxSize), make(chan struct{})
		go e.read(s.child.Context())
	}
	return e, nil
}

// read passes messages on until the connection or the child ends.
func (e *remoteEnd) read(ctx context.Context) {
	defer close(e.gone)
	for {
		limit := peer.StepLimit
		if end, ok := ctx.Deadline(); ok {
			limit += time.Until(end)
		}
		m, err := e.conn.Receive(limit)
		if err != nil {
			e.err = err
			return
		}
		select {
		case e.inbox <- m:
		default:
			e.err = errors.New("the other end sent more than was asked for")
			return
		}
	}
}

// next waits for a message of the other end. What it sent before it went away
// still counts.
func (e *remoteEnd) next(ctx context.Context, limit time.Duration) (peer.Message, error) {
	select {
	case m := <-e.inbox:
		return m, nil
	default:
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case m := <-e.inbox:
		return m, nil
	case <-e.gone:
		select {
		case m := <-e.inbox:
			return m, nil
		default:
			return peer.Message{}, &peerError{e.err}
		}
	case <-ctx.Done():
		return peer.Message{}, waited(ctx)
	case <-t.C:
		return peer.Message{}, &peerError{fmt.Errorf("the other end did not answer within %v", limit)}
	}
}

// waited is why the other end is not waited for any longer, where it is not its own
// doing: it had the time that this child has, or the child has to end.
func waited(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, guard.ErrDeadline) {
		return cause
	}
	return &peerError{errors.New("the other end did not answer before this end's deadline")}
}

// lost tells whether the other end has gone away.
func (e *remoteEnd) lost() bool {
	if e == nil || e.stock {
		return false // a stock tool closes the connection before it sends anything
	}
	select {
	case <-e.gone:
		return len(e.inbox) == 0
	default:
		return false
	}
}

// send writes to the other end.
func (e *remoteEnd) send(typ string, body any) error {
	if err := e.conn.Send(typ, body, peer.StepLimit); err != nil {
		return &peerError{err}
	}
	return nil
}

// fail tells the other end why nothing more comes, where it understands that.
func (e *remoteEnd) fail(text string) {
	if e != nil && !e.stock {
		e.conn.Fail(peer.CodeFailed, text)
	}
}

// bye ends the conversation.
func (e *remoteEnd) bye() {
	if e != nil && !e.stock {
		_ = e.send(peer.TypeBye, struct{}{}) // it sees the end of the connection too
	}
}

// ask sends one message and waits for the answer.
func ask[T interface{ Check() error }](ctx context.Context, e *remoteEnd, typ string, body any, answer string, limit time.Duration) (T, error) {
	var none T
	if err := e.send(typ, body); err != nil {
		return none, err
	}
	m, err := e.next(ctx, limit)
	if err != nil {
		return none, err
	}
	v, err := peer.Body[T](m, answer)
	if err != nil {
		return none, &peerError{err}
	}
	return v, nil
}

// meetRemote exchanges addresses with the other host's end.
func (s *session) meetRemote(c *connection) error {
	e, err := s.openRemote()
	if err != nil {
		return err
	}
	c.remote = e
	if e.stock {
		return s.meetStock(c)
	}
	own := c.near.info
	if !s.req.Data.Server || s.req.Data.Task != taskWrite {
		own.Addr, own.RKey, own.Length = 0, 0, 0 // no key but for a write that both ends consent to
	}
	far, err := ask[peer.Endpoint](s.child.Context(), e, peer.TypeEndpoint, peer.Endpoint(own), peer.TypeEndpoint, peer.StepLimit)
	if err != nil {
		return err
	}
	if far.Salt == 0 {
		return &peerError{errors.New("the other end sent no salt for its messages")}
	}
	c.peer = endpoint(far)
	return nil
}

// meetStock is the exchange of rdma-core's tools: the client speaks first, the
// server answers when its queue pair is connected.
func (s *session) meetStock(c *connection) error {
	if !s.req.Data.Server {
		if err := peer.SendStock(c.remote.conn, peer.Endpoint(c.near.info), peer.StepLimit); err != nil {
			return s.stockFailed(err)
		}
	}
	far, err := peer.ReadStock(c.remote.conn, peer.StepLimit)
	if err != nil {
		return s.stockFailed(err)
	}
	if far.GID == "" && s.req.Data.GIDIndex >= 0 {
		return &peerError{errors.New("the other end announced no GID: start it with -g INDEX")}
	}
	c.peer = endpoint(far)
	if s.req.Data.Server {
		return nil
	}
	if err := peer.SendDone(c.remote.conn, peer.StepLimit); err != nil {
		return s.stockFailed(err)
	}
	return nil
}

// stockFailed tells of an exchange that broke off, or whose connection was closed here.
func (s *session) stockFailed(err error) error {
	if ctx := s.child.Context(); ctx.Err() != nil {
		return waited(ctx)
	}
	return &peerError{err}
}

// barrier waits until both ends are connected. A stock server's answer is that
// barrier: its receive is posted before it.
func (s *session) barrier(c *connection) error {
	switch e := c.remote; {
	case e == nil:
		return nil
	case !e.stock:
		_, err := ask[empty](s.child.Context(), e, peer.TypePrepared, empty{}, peer.TypePrepared, peer.StepLimit)
		return err
	case !s.req.Data.Server:
		return nil
	default:
		if err := c.near.postRecv(s.req.Data.Sizes[0]); err != nil {
			return err
		}
		if err := peer.SendStock(e.conn, peer.Endpoint(c.near.info), peer.StepLimit); err != nil {
			return s.stockFailed(err)
		}
		if err := peer.AwaitDone(e.conn, peer.StepLimit); err != nil {
			return s.stockFailed(err)
		}
		return nil
	}
}

// empty is the body of a message that has none.
type empty struct{}

// Check accepts it.
func (empty) Check() error { return nil }
