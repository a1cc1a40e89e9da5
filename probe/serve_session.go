package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// serveSession is one client's stay.
type serveSession struct {
	s      *server
	token  string
	conn   *peer.Conn
	client peer.Hello
	mine   peer.Port // the client's port, as it announced it

	paired atomic.Pointer[pairedPort] // which port of this end its cable leads to
	gid    atomic.Bool                // the path between the two GIDs has passed both ways
	wantID bool                       // and there is one to prove

	address   netip.Prefix // what it counts as; these are of the server's lock
	active    time.Time    // its newest sign of life before it has chosen
	chosen    bool         // a device
	displaced bool         // it has lost its place
}

// meet takes one connection: who it is from, and what it is for. Nobody holds
// one of the places for strangers longer than a hello, or a pairing, may take.
func (s *server) meet(nc *newcomer) {
	c := peer.NewConn(nc.Conn, nil)
	defer s.strangers.leave(nc)
	stop := context.AfterFunc(s.ctx, func() { nc.Close() })
	defer stop()
	from := peer.AddrOf(nc.RemoteAddr())
	if !s.allow.Has(from) {
		s.complain("refused a connection from %v: not in --allow", from)
		c.Fail(peer.CodeRefused, "this address may not connect: serve --allow names those that may")
		nc.Close()
		return
	}
	if s.o.Handshake == remoteStock {
		s.strangers.leave(nc)
		s.stockClient(c)
		return
	}
	h, err := peer.Expect[peer.Hello](c, peer.TypeHello, peer.HelloLimit)
	if err != nil {
		c.FailWith(err)
		nc.Close()
		return
	}
	s.strangers.hello(nc)
	switch h.Role {
	case peer.RoleTask:
		s.attach(c, h)
		return // the connection is the task's now
	case peer.RolePair:
		s.pair(c, h)
	default:
		s.strangers.leave(nc)
		s.session(c, h)
	}
	nc.Close()
}

// taskDoor is where a task waits for its connection.
type taskDoor struct {
	conn chan *peer.Conn // nil: it broke
	gone chan struct{}   // closed when nobody waits any more
}

// attach gives a connection to the task that waits for it.
func (s *server) attach(c *peer.Conn, h peer.Hello) {
	s.mu.Lock()
	door := s.tasks[h.Token]
	delete(s.tasks, h.Token)
	s.mu.Unlock()
	if door == nil {
		c.Fail(peer.CodeInvalid, "no task of that token")
		c.Close()
		return
	}
	if err := c.Send(peer.TypeHello, s.hello(peer.RoleTask, h.Token), peer.HelloLimit); err != nil {
		c.Close()
		c = nil
	}
	select {
	case door.conn <- c:
	case <-door.gone:
		if c != nil {
			c.Close()
		}
	}
}

// session is one client from its hello to its bye.
func (s *server) session(c *peer.Conn, h peer.Hello) {
	ses := &serveSession{s: s, token: peer.NewToken(), conn: c, client: h}
	if !s.admit(ses) {
		c.Fail(peer.CodeBusy, fmt.Sprintf("all places are taken (serve --sessions %d): try again, or raise that", s.o.Sessions))
		return
	}
	defer s.leave(ses)
	s.keep.renew()
	err := ses.run()
	s.forget()
	switch {
	case ses.lost():
		err = errDisplaced
	case err != nil && s.ctx.Err() != nil:
		err = errors.New("serving ended while it was open")
	}
	if err != nil {
		s.complain("session with %v: %v", c.RemoteAddr(), err)
		c.FailWith(err)
		return
	}
	s.say("session with %v is complete", c.RemoteAddr())
	s.completed.Add(1)
	if s.o.Once {
		s.cancel(errServed)
	}
}

// run is the conversation. It returns nil after the client's bye.
func (ses *serveSession) run() error {
	s, c := ses.s, ses.conn
	if err := c.Send(peer.TypeHello, s.hello(peer.RoleSession, ses.token), peer.HelloLimit); err != nil {
		return err
	}
	if err := c.Send(peer.TypePorts, peer.Ports{Ports: s.announced(), Writes: s.o.Write}, peer.StepLimit); err != nil {
		return err
	}
	m, err := c.Receive(pairingLimit)
	if err != nil {
		return err
	}
	if m.Type == peer.TypeBye { // it only wanted to see who is here
		return nil
	}
	sel, err := peer.Body[peer.Select](m, peer.TypeSelect)
	if err != nil {
		return err
	}
	if err := ses.choose(); err != nil {
		return err
	}
	dr, err := ses.take(sel)
	if err != nil {
		return err
	}
	defer ses.release(dr)
	return ses.tasks(dr)
}

// take locks the device that the client selected, reads it again, and answers
// with what it is like now.
func (ses *serveSession) take(sel peer.Select) (*deviceRun, error) {
	s := ses.s
	i := slices.IndexFunc(s.offered(), func(d Device) bool { return d.Name == sel.Device })
	if i < 0 {
		return nil, &peer.Failure{Code: peer.CodeInvalid, Text: fmt.Sprintf("no device %.60q is offered here", sel.Device)}
	}
	d := s.offered()[i]
	if s.portOf(d) != sel.Num {
		return nil, &peer.Failure{Code: peer.CodeInvalid, Text: fmt.Sprintf("port %d of %s is not offered here", sel.Num, d.Name)}
	}
	dr, err := s.hold(s.ctx, d)
	if err != nil {
		return nil, err
	}
	ses.mine = sel.Mine
	s.addPeer(d.Name, ses.client, &ses.mine)
	p := dr.announce(dr.device())
	if a := ses.proofListener(dr, p.GID); a != "" {
		p.Proof = []string{a}
	}
	if err := ses.conn.Send(peer.TypeSelected, peer.Selected{Port: p}, peer.StepLimit); err != nil {
		ses.release(dr)
		return nil, err
	}
	return dr, nil
}

// hold locks a device and reads its ports and GIDs as they are now.
func (s *server) hold(ctx context.Context, d Device) (*deviceRun, error) {
	dr := s.newDeviceRun(d)
	dr.ctx = ctx
	s.mu.Lock()
	dr.closures = append(dr.closures, s.closed[d.Name]...)
	s.mu.Unlock()
	wait, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	lock, err := guard.LockDevice(wait, s.locks, dr.lockKeyOf(d.Name), false)
	if err != nil {
		return nil, &peer.Failure{Code: peer.CodeBusy, Text: "another program has " + d.Name}
	}
	dr.lock, dr.held = lock, []*guard.Lock{lock}
	for _, w := range readWords() {
		row, _ := rowOf(w)
		if err := dr.one(row); err != nil {
			s.release(dr)
			return nil, err
		}
		if why := dr.unopened(); why != "" {
			s.release(dr)
			return nil, &peer.Failure{Code: peer.CodeNotReady, Text: fmt.Sprintf("%s cannot be opened here: %s", d.Name, printable(why))}
		}
	}
	return dr, nil
}

// unopened is why the newest child could not open the device, "" when it did: one
// that was unplugged since the server began has old ports in the document.
func (dr *deviceRun) unopened() string {
	for _, o := range dr.newest {
		if o.ID == "dev.open" && o.Level == rdma.CapabilityUnknown {
			return o.Detail
		}
	}
	return ""
}

func (s *server) release(dr *deviceRun) {
	s.mu.Lock()
	s.closed[dr.name] = slices.DeleteFunc(slices.Clone(dr.closures), func(c closure) bool { return !c.Now })
	s.mu.Unlock()
	dr.unlockAll()
}

func (ses *serveSession) release(dr *deviceRun) { ses.s.release(dr) }
