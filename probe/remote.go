package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// link is a session with the rdmaprobe of another host, for one device. It is
// the parent's: it moves addresses and makes no provider call.
type link struct {
	conn   *peer.Conn
	theirs peer.Hello
	ports  peer.Ports
	port   peer.Port      // the other end
	proof  map[string]any // that the path to it is open, or why not

	side    *sideChannel // failed: why there is no session
	refused string       // why nothing can be connected over this one
	data    map[string]any
}

// Limits of what the other end does before it answers: it reads its port in
// guarded children, and waits for its device.
const (
	selectLimit = 60 * time.Second
	taskLimit   = 20 * time.Second
	byeLimit    = time.Second
)

// reach opens the session with the other host, once for a device, and tells
// whether a row can go on. Where it can not its rows are kept.
func (dr *deviceRun) reach(row tableRow) bool {
	if dr.opts.Handshake == remoteStock {
		if row.option == taskPingpong {
			return true
		}
		dr.refuse(row, Precondition, "the exchange of rdma-core's tools carries a ping-pong and nothing else", nil)
		return false
	}
	if dr.link == nil {
		dr.link = dr.openLink()
	}
	switch l := dr.link; {
	case l.side != nil:
		dr.unreachable(row, l.side)
		return false
	case l.refused != "":
		dr.refuse(row, Precondition, l.refused, l.data)
		return false
	}
	return true
}

// openLink dials, pairs and proves.
func (dr *deviceRun) openLink() *link {
	l := &link{}
	t, side, err := dialControl(dr.ctx, dr.opts.Peer, peer.DefaultPort)
	if err != nil {
		l.refused = fmt.Sprintf("--peer %s: %v", dr.opts.Peer, err)
		return l
	}
	dr.useChannel(side)
	if t == nil {
		l.side = side
		return l
	}
	l.conn = peer.NewConn(t, nil)
	if l.theirs, l.ports, err = dr.greet(l.conn); err != nil {
		return dr.brokenLink(l, side, err)
	}
	if why := dr.choosePort(l); why != "" {
		l.refused = why
		return l
	}
	if err := dr.selectPort(l); err != nil {
		return dr.brokenLink(l, side, err)
	}
	dr.addPeer(dr.name, l.theirs, &l.port)
	dr.judgeProof(l, side.facts)
	return l
}

// brokenLink is a session that did not come about: refused by the other end, or
// broken off.
func (dr *deviceRun) brokenLink(l *link, side *sideChannel, err error) *link {
	l.conn.Close()
	l.conn = nil
	var said *peer.RemoteError
	if errors.As(err, &said) {
		l.refused = said.Error()
		return l
	}
	l.side = &sideChannel{facts: side.facts, why: err.Error()}
	return l
}

// choosePort finds the port at the other end of this device's cable. With one
// port on offer there is nothing to find, and still a path to prove.
func (dr *deviceRun) choosePort(l *link) (why string) {
	own := dr.portEntry(dr.device())
	var fit []peer.Port
	for _, p := range l.ports.Ports {
		if own != nil && (p.LinkLayer == "" || own.LinkLayer == "" || p.LinkLayer == own.LinkLayer) {
			fit = append(fit, p)
		}
	}
	if len(fit) == 0 {
		return fmt.Sprintf("the other host offers no port of this kind: it has %d ports", len(l.ports.Ports))
	}
	l.port = fit[0]
	proof, tried := dr.pair(l, fit)
	if proof != nil {
		for _, p := range fit {
			if p.Device == proof.Device && p.Num == proof.Num {
				l.port, l.proof = p, map[string]any{"link_local": true, "from": proof.From, "to": proof.To}
				return ""
			}
		}
		tried = fmt.Sprintf("the port that answered, %s port %d, is not on the list", proof.Device, proof.Num)
	}
	l.proof = map[string]any{"link_local": false, "why": tried}
	if len(fit) > 1 && !dr.tb {
		dr.note(fmt.Sprintf("the other host has %d ports, and none could be paired with %s (%s): its %s was taken; serve -d names another", len(fit), dr.name, tried, l.port.Device))
	}
	return ""
}

// pair tries every address of every port side by side; the first in their order
// that answers is the other end.
func (dr *deviceRun) pair(l *link, ports []peer.Port) (*peer.Proof, string) {
	netdev := netdevOf(dr.facts, dr.name)
	if netdev == "" {
		return nil, "no network interface of " + dr.name + " is known"
	}
	own := peer.LinkLocal(netdev)
	if len(own) == 0 {
		return nil, netdev + " has no link-local address"
	}
	type try struct {
		from  netip.Addr
		to    netip.AddrPort
		proof *peer.Proof
		err   error
	}
	var tries []*try
	for _, p := range ports {
		for _, a := range p.Addresses {
			// The addresses are the peer's word: only what a cable reaches is dialled,
			// and not more than a machine can have.
			to, err := netip.ParseAddrPort(a)
			if err != nil || !to.Addr().IsLinkLocalUnicast() || len(tries) >= maxTries {
				continue
			}
			for _, from := range own {
				if from.Is4() != to.Addr().Is4() || from.WithZone("") == to.Addr() {
					continue
				}
				if to.Addr().Is6() {
					to = netip.AddrPortFrom(to.Addr().WithZone(netdev), to.Port())
				}
				tries = append(tries, &try{from: from, to: to})
			}
		}
	}
	var wg sync.WaitGroup
	h := dr.hello(peer.RolePair, l.theirs.Token)
	for _, t := range tries {
		wg.Go(func() { t.proof, t.err = peer.Pair(dr.ctx, h, netdev, t.from, t.to) })
	}
	wg.Wait()
	why := "the other host announced no address that " + netdev + " could reach"
	for _, t := range tries {
		if t.err == nil {
			return t.proof, ""
		}
		why = printable(t.err.Error())
	}
	return nil, why
}

// maxTries bounds the addresses that are dialled at once to find a cable's end.
const maxTries = 64

// selectPort tells the other end which port it is, and what this one is like; the
// path between the two GIDs is then proven where they are IP addresses.
func (dr *deviceRun) selectPort(l *link) error {
	own := dr.announce(dr.device())
	if err := l.conn.Send(peer.TypeSelect, peer.Select{Device: l.port.Device, Num: l.port.Num, Mine: own}, peer.StepLimit); err != nil {
		return err
	}
	got, err := peer.Expect[peer.Selected](l.conn, peer.TypeSelected, selectLimit)
	if err != nil {
		return err
	}
	l.port = got.Port
	gid, _ := netip.ParseAddr(own.GID)
	if !gid.Is4In6() || len(l.port.Proof) == 0 {
		return nil
	}
	to, err := netip.ParseAddrPort(l.port.Proof[0])
	if err != nil {
		return err
	}
	l.proof["gid"] = true
	if _, err := peer.Pair(dr.ctx, dr.hello(peer.RolePair, l.theirs.Token), own.Netdev, gid.Unmap(), to); err != nil {
		l.proof["gid"], l.proof["why"] = false, printable(err.Error())
	}
	return nil
}

// judgeProof decides what a path that is not proven means: on Thunderbolt that
// nothing is connected, since a failed transition cannot be tried again there.
func (dr *deviceRun) judgeProof(l *link, f *ControlFacts) {
	proven := l.proof["link_local"] == true && l.proof["gid"] != false
	l.proof["proven"] = proven
	if n := netdevOf(dr.facts, dr.name); n != "" {
		dr.mu.Lock()
		f.BoundInterface, f.BoundConnects = n, &proven
		dr.mu.Unlock()
	}
	if proven || !dr.tb {
		return
	}
	why, _ := l.proof["why"].(string)
	missing := fmt.Sprintf("a proven path to %s of the other host (%s)", l.port.Device, cmp.Or(why, "not tried"))
	l.refused, l.data = "needs "+missing, preflight{missing: []string{missing}}.data()
}

// announce is a device's port as the other end has to know it.
func (dr *deviceRun) announce(d Device) peer.Port {
	p := peer.Port{Device: d.Name, Num: dr.port(), GIDIndex: -1, Netdev: printable(netdevOf(dr.facts, d.Name))}
	own := dr.portEntry(d)
	if own == nil {
		return p
	}
	f := dr.preflightOf()
	p.LinkLayer, p.State, p.MTU, p.GIDIndex, p.GID = own.LinkLayer, own.State, own.ActiveMTU, f.gidIndex, f.gid
	if own.LID != nil {
		p.LID = *own.LID
	}
	for _, g := range own.GIDs {
		if g.Index == f.gidIndex {
			p.GIDType = g.Type
		}
	}
	return p
}

// openTask makes the connection that a row's two children talk over. Where that
// fails the row's rows are kept.
func (dr *deviceRun) openTask(row tableRow) bool {
	if dr.opts.Handshake == remoteStock {
		return dr.openStock(row)
	}
	err := dr.startTask(row)
	if err == nil {
		return true
	}
	var said *peer.RemoteError
	if errors.As(err, &said) {
		dr.refuse(row, Precondition, said.Error(), nil)
		if said.Code != peer.CodeConsent && said.Code != peer.CodeNotReady {
			dr.closeLink()
		}
		return false
	}
	dr.closeLink()
	dr.mu.Lock()
	c := &sideChannel{facts: dr.channel.facts, why: err.Error()}
	dr.mu.Unlock()
	dr.unreachable(row, c)
	return false
}

// startTask asks for a task and attaches to it.
func (dr *deviceRun) startTask(row tableRow) error {
	l, timeout := dr.link, dr.opts.Timeout
	t := peer.Task{Probe: row.option, Type: string(row.qp), Sizes: dr.opts.Sizes, Iterations: dr.opts.Iterations, Timeout: timeout, Loss: timeout / 20}
	if err := l.conn.Send(peer.TypeTask, t, peer.StepLimit); err != nil {
		return err
	}
	ready, err := peer.Expect[peer.Ready](l.conn, peer.TypeReady, taskLimit)
	if err != nil {
		return err
	}
	c, _, err := dialControl(dr.ctx, l.conn.RemoteAddr().String(), peer.DefaultPort)
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("the second connection to the other end failed")
	}
	conn := peer.NewConn(c, nil)
	if err := conn.Send(peer.TypeHello, dr.hello(peer.RoleTask, ready.Token), peer.HelloLimit); err != nil {
		c.Close()
		return err
	}
	if _, err := peer.Expect[peer.Hello](conn, peer.TypeHello, peer.HelloLimit); err != nil {
		c.Close()
		return err
	}
	dr.task = &openTask{proof: l.proof, how: remoteOwn, timeout: ready.Timeout}
	dr.task.file, dr.task.early, err = conn.Detach()
	return err
}

// openStock connects to one of rdma-core's tools. Its whole exchange is the
// child's.
func (dr *deviceRun) openStock(row tableRow) bool {
	c, side, err := dialControl(dr.ctx, dr.opts.Peer, peer.StockPort)
	if err != nil {
		dr.refuse(row, Precondition, err.Error(), nil)
		return false
	}
	dr.useChannel(side)
	if c == nil {
		dr.unreachable(row, side)
		return false
	}
	dr.task = &openTask{how: remoteStock}
	if dr.task.file, dr.task.early, err = peer.NewConn(c, nil).Detach(); err != nil {
		dr.task = nil
		dr.refuse(row, Precondition, err.Error(), nil)
		return false
	}
	return true
}

// openTask is a task whose connection is there.
type openTask struct {
	file    *os.File
	early   []byte
	how     string
	proof   map[string]any
	timeout time.Duration // of the other end's child; 0: not known
	server  *peer.Task    // this end answers, and what it was asked for
}

// finishTask waits until the other end's child has ended too, so that its device
// is free for the next row.
func (dr *deviceRun) finishTask(row tableRow) {
	t := dr.task
	dr.task = nil
	if t == nil || dr.link == nil || dr.link.conn == nil {
		return
	}
	d, err := peer.Expect[peer.Done](dr.link.conn, peer.TypeDone, dr.bound())
	switch {
	case err != nil:
		dr.closeLink()
	case d.Outcome != "completed":
		dr.note(fmt.Sprintf("the other end's part of %s on %s: its child %s: %s", row.word, dr.name, d.Outcome, d.Detail))
	}
}

// closeLink ends the session, if there is one.
func (dr *deviceRun) closeLink() {
	if dr.link == nil || dr.link.conn == nil {
		return
	}
	_ = dr.link.conn.Send(peer.TypeBye, empty{}, byeLimit) // it sees the end of the connection too
	dr.link.conn.Close()
	dr.link = nil
}

// unreachable keeps the rows of a probe whose side channel failed.
func (dr *deviceRun) unreachable(row tableRow, c *sideChannel) {
	for _, id := range row.ids(nil) {
		o := Observation{ID: id, Probe: row.word, Device: dr.name, Port: dr.port()}
		if evidence(id).Class == ClassData {
			dr.observe(c.failedRow(o))
			continue
		}
		o.Level, o.Reason, o.Detail = rdma.CapabilityUnknown, Precondition, "the peer could not be asked for its address"
		dr.observe(o)
	}
}

// remote tells whether the other end of connections is on another host. A
// simulated port is always wired to its simulated peer.
func (dr *deviceRun) remote() bool { return dr.opts.Peer != "" && dr.profile == nil }

// dropTask gives up a task before its child was started.
func (dr *deviceRun) dropTask() {
	if dr.task != nil {
		dr.task.file.Close()
	}
	dr.task = nil
	dr.closeLink()
}

// fill adds to a child's request what the two ends have agreed on.
func (t *openTask) fill(q *dataRequest) {
	if t == nil {
		return
	}
	q.Remote, q.Early, q.PathProof = t.how, t.early, t.proof
	if s := t.server; s != nil {
		q.Server, q.Task, q.Sizes, q.Iterations, q.LossNS = true, s.Probe, s.Sizes, s.Iterations, s.Loss.Nanoseconds()
	}
}

// soft is the deadline of this end's child. The client's ends first, so that the
// other one sees it go.
func (t *openTask) soft(own time.Duration) time.Duration {
	const ahead = time.Second
	switch {
	case t.server != nil:
		return t.server.Timeout + ahead
	case t.timeout > 0:
		return min(own, max(t.timeout-ahead, ahead))
	}
	return own
}

// serving tells whether this end answers another host's.
func (dr *deviceRun) serving() bool { return dr.task != nil && dr.task.server != nil }
