package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/peer"
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
}

type pairedPort struct {
	device string
	num    int
}

// meet takes one connection: who it is from, and what it is for. Nobody holds
// one of the places for strangers longer than a hello may take.
func (s *server) meet(nc net.Conn) {
	c := peer.NewConn(nc, nil)
	stranger := true
	known := func() {
		if stranger {
			stranger = false
			<-s.strangers
		}
	}
	defer known()
	stop := context.AfterFunc(s.ctx, func() { nc.Close() })
	defer stop()
	from := peer.AddrOf(nc.RemoteAddr())
	if !s.allow.Has(from) {
		s.say("refused a connection from %v: not in --allow", from)
		c.Fail(peer.CodeRefused, "this address may not connect: serve --allow names those that may")
		nc.Close()
		return
	}
	if s.o.Handshake == remoteStock {
		known()
		s.stockClient(c)
		return
	}
	h, err := peer.Expect[peer.Hello](c, peer.TypeHello, peer.HelloLimit)
	if err != nil {
		c.FailWith(err)
		nc.Close()
		return
	}
	known()
	switch h.Role {
	case peer.RoleTask:
		s.attach(c, h)
		return // the connection is the task's now
	case peer.RolePair:
		s.pair(c, h)
	default:
		s.session(c, h)
	}
	nc.Close()
}

// pair answers on a connection that came in over one of the ports.
func (s *server) pair(c *peer.Conn, h peer.Hello) {
	s.mu.Lock()
	ses := s.sessions[h.Token]
	s.mu.Unlock()
	netdev := peer.InterfaceOf(peer.AddrOf(c.LocalAddr()))
	i := slices.IndexFunc(s.offered(), func(d Device) bool { return netdev != "" && netdevOf(s.facts, d.Name) == netdev })
	if ses == nil || i < 0 {
		c.Fail(peer.CodeInvalid, "no session of that token, or no port at this address")
		return
	}
	p := pairedPort{s.offered()[i].Name, s.portOf(s.offered()[i])}
	if err := peer.AnswerPair(c, p.device, p.num, func() { ses.paired.Store(&p) }); err != nil {
		s.say("pairing with %v: %v", c.RemoteAddr(), err)
	}
}

// portOf is the port of a device that sessions get.
func (s *server) portOf(d Device) int {
	if s.o.Port > 0 {
		return s.o.Port
	}
	return activePort(d.Ports)
}

// attach gives a connection to the task that waits for it.
func (s *server) attach(c *peer.Conn, h peer.Hello) {
	s.mu.Lock()
	wait := s.tasks[h.Token]
	delete(s.tasks, h.Token)
	s.mu.Unlock()
	if wait == nil {
		c.Fail(peer.CodeInvalid, "no task of that token")
		c.Close()
		return
	}
	if err := c.Send(peer.TypeHello, s.hello(peer.RoleTask, h.Token), peer.HelloLimit); err != nil {
		c.Close()
		close(wait)
		return
	}
	wait <- c // has room for one
}

// session is one client from its hello to its bye.
func (s *server) session(c *peer.Conn, h peer.Hello) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		c.Fail(peer.CodeBusy, fmt.Sprintf("%d sessions are open, and no more are taken: serve --sessions raises that", s.o.Sessions))
		return
	}
	ses := &serveSession{s: s, token: peer.NewToken(), conn: c, client: h}
	s.mu.Lock()
	s.sessions[ses.token] = ses
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.sessions, ses.token)
		s.mu.Unlock()
	}()
	err := ses.run()
	s.forget()
	if err != nil {
		s.say("session with %v: %v", c.RemoteAddr(), err)
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
	dr, err := ses.take(sel)
	if err != nil {
		return err
	}
	defer ses.release(dr)
	return ses.tasks(dr)
}

// announced are the ports on offer.
func (s *server) announced() []peer.Port {
	var ports []peer.Port
	for _, d := range s.offered() {
		dr := s.newDeviceRun(d)
		p := dr.announce(d)
		if netdev := netdevOf(s.facts, d.Name); netdev != "" {
			for _, a := range peer.LinkLocal(netdev) {
				if len(p.Addresses) < 16 && s.listening(a) {
					p.Addresses = append(p.Addresses, netip.AddrPortFrom(a.WithZone(""), uint16(s.port())).String())
				}
			}
		}
		ports = append(ports, p)
	}
	return ports
}

func (s *server) listening(a netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listeners[netip.AddrPortFrom(a, uint16(s.port())).String()] != nil
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
	}
	return dr, nil
}

func (s *server) release(dr *deviceRun) {
	s.mu.Lock()
	s.closed[dr.name] = slices.DeleteFunc(slices.Clone(dr.closures), func(c closure) bool { return !c.Now })
	s.mu.Unlock()
	dr.unlockAll()
}

func (ses *serveSession) release(dr *deviceRun) { ses.s.release(dr) }

// proofListener listens, for this session alone, on the address that the port's
// GID stands for: the client connects from the address that its own stands for.
func (ses *serveSession) proofListener(dr *deviceRun, gid string) string {
	own, err := netip.ParseAddr(gid)
	theirs, terr := netip.ParseAddr(ses.mine.GID)
	if err != nil || terr != nil || !own.Is4In6() || !theirs.Is4In6() {
		return ""
	}
	l, err := net.Listen("tcp", netip.AddrPortFrom(own.Unmap(), 0).String())
	if err != nil {
		return ""
	}
	ses.wantID = true
	s := ses.s
	s.handlers.Go(func() {
		defer l.Close()
		stop := context.AfterFunc(s.ctx, func() { l.Close() })
		defer stop()
		_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(peer.StepLimit))
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		pc := peer.NewConn(c, nil)
		h, err := peer.Expect[peer.Hello](pc, peer.TypeHello, peer.HelloLimit)
		if err != nil || h.Token != ses.token || peer.AddrOf(c.RemoteAddr()).Unmap() != theirs.Unmap() {
			pc.Fail(peer.CodeRefused, "this address is for the session's own port")
			return
		}
		if err := peer.AnswerPair(pc, dr.name, dr.port(), func() { ses.gid.Store(true) }); err != nil {
			s.say("the path to %v: %v", c.RemoteAddr(), err)
		}
	})
	return l.Addr().String()
}

// proof is what this end has seen of the path.
func (ses *serveSession) proof(dr *deviceRun) map[string]any {
	p := ses.paired.Load()
	link := p != nil && p.device == dr.name
	m := map[string]any{"link_local": link, "proven": link && (ses.gid.Load() || !ses.wantID)}
	if ses.wantID {
		m["gid"] = ses.gid.Load()
	}
	return m
}

// tasks answers what the client asks for until it says bye.
func (ses *serveSession) tasks(dr *deviceRun) error {
	for {
		m, err := ses.conn.Receive(idleLimit)
		if err != nil {
			return err
		}
		if m.Type == peer.TypeBye {
			return nil
		}
		t, err := peer.Body[peer.Task](m, peer.TypeTask)
		if err != nil {
			return err
		}
		if err := ses.one(dr, t); err != nil {
			return err
		}
	}
}

// one is one task: may it be done, then the connection for its children, then
// this end's child. Its refusal is an answer and ends nothing.
func (ses *serveSession) one(dr *deviceRun, t peer.Task) error {
	s := ses.s
	row, ok := rowOf("serve." + t.Probe + "." + t.Type)
	if !ok {
		return &peer.Failure{Code: peer.CodeInvalid, Text: fmt.Sprintf("no probe %s over %s", t.Probe, t.Type)}
	}
	t.Timeout = min(t.Timeout, s.opts.Timeout)
	t.Loss = min(t.Loss, t.Timeout)
	dr.task = &openTask{how: remoteOwn, server: &t, proof: ses.proof(dr)}
	defer func() { dr.task = nil }()
	if f := ses.refusal(dr, row, t); f != nil {
		s.say("refused %s of %v: %s", row.word, ses.conn.RemoteAddr(), f.Text)
		ses.conn.Fail(f.Code, f.Text)
		return nil
	}
	wait, token := make(chan *peer.Conn, 1), peer.NewToken()
	s.mu.Lock()
	s.tasks[token] = wait
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.tasks, token)
		s.mu.Unlock()
	}()
	if err := ses.conn.Send(peer.TypeReady, peer.Ready{Token: token, Timeout: t.Timeout}, peer.StepLimit); err != nil {
		return err
	}
	limit := time.NewTimer(peer.StepLimit)
	defer limit.Stop()
	select {
	case c := <-wait:
		if c == nil {
			return errors.New("the client's second connection broke")
		}
		return ses.child(dr, row, c)
	case <-limit.C:
		return errors.New("the client did not make its second connection")
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// refusal is why a task is not done, nil when it is.
func (ses *serveSession) refusal(dr *deviceRun, row tableRow, t peer.Task) *peer.Failure {
	switch {
	case dr.profile != nil:
		return &peer.Failure{Code: peer.CodeNotReady, Text: "this end is simulated: nothing leads from here to another host"}
	case t.Probe == taskWrite && !ses.s.o.Write:
		return &peer.Failure{Code: peer.CodeConsent, Text: "this end lets nobody write into its memory: serve --write does"}
	case dr.tb && ses.proof(dr)["proven"] != true:
		return &peer.Failure{Code: peer.CodePath, Text: "the path between the two ports is not proven"}
	}
	if c := dr.closedFor(row); c != nil {
		dr.refuse(row, Guarded, c.text(), c.data())
		return &peer.Failure{Code: peer.CodeNotReady, Text: c.text()}
	}
	if why, data := dr.precondition(row); why != "" {
		dr.refuse(row, Precondition, why, data)
		return &peer.Failure{Code: peer.CodeNotReady, Text: "this end " + why}
	}
	return nil
}

// child runs this end's child on the connection, as long as the client stays.
func (ses *serveSession) child(dr *deviceRun, row tableRow, c *peer.Conn) error {
	s := ses.s
	file, early, err := c.Detach()
	if err != nil {
		c.Close()
		return err
	}
	defer file.Close() // where no child took it over
	dr.task.file, dr.task.early = file, early
	watched, stop := ses.conn.Watch(s.ctx, dr.task.server.Timeout+s.bound())
	dr.ctx = watched
	if dr.tb {
		s.careful.Lock()
		defer s.careful.Unlock()
	}
	dr.outcome, dr.endDetail = guard.Completed, ""
	err = dr.one(row)
	stop()
	dr.ctx = s.ctx
	if err != nil {
		return err
	}
	done := peer.Done{Outcome: string(dr.outcome), Detail: printable(dr.endDetail)}
	s.say("%s on %s for %v: %s", row.word, dr.name, ses.conn.RemoteAddr(), done.Outcome)
	return ses.conn.Send(peer.TypeDone, done, peer.StepLimit)
}

// forget keeps the memory of a server that runs for months bounded: the oldest
// rows are in the ledger.
func (s *server) forget() {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	if n := len(s.doc.Observations) - maxRemembered; n > 0 {
		s.doc.Observations = slices.Clone(s.doc.Observations[n:])
	}
	if n := len(s.peersSeen) - maxStrangers; n > 0 {
		s.peersSeen = slices.Clone(s.peersSeen[n:])
	}
}
