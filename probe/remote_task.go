package probe

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"rdmaprobe/probe/peer"
)

// openTask makes the connection that a row's two children talk over. Where that
// fails the row's rows are kept.
func (dr *deviceRun) openTask(row *tableRow) bool {
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
func (dr *deviceRun) startTask(row *tableRow) error {
	l, timeout := dr.link, dr.opts.Timeout
	t := peer.Task{Probe: row.option, Type: string(row.qp), Sizes: dr.opts.Sizes, Iterations: dr.opts.Iterations, Timeout: timeout, Loss: timeout / 20}
	if err := l.conn.Send(peer.TypeTask, t, peer.StepLimit); err != nil {
		return err
	}
	ready, err := peer.Expect[peer.Ready](l.conn, peer.TypeReady, taskLimit)
	if err != nil {
		return err
	}
	if ready.Timeout < timeout {
		dr.note(fmt.Sprintf("the other end ends a task after %v, before --timeout %v: serve --timeout lets it go on", ready.Timeout, timeout))
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
// child's. On Thunderbolt that connection is the proof of the path as well, so that
// nothing but the port's own interface may carry it.
func (dr *deviceRun) openStock(row *tableRow) bool {
	iface := ""
	if dr.tb {
		if iface = dr.netdev(); iface == "" {
			return dr.pathMissing(row, "the interface of "+dr.name+" is not known")
		}
	}
	c, side, err := dialOver(dr.ctx, iface, dr.opts.Peer, peer.StockPort)
	if err != nil {
		dr.refuse(row, Precondition, err.Error(), nil)
		return false
	}
	dr.useChannel(side)
	if c == nil {
		dr.unreachable(row, side)
		return false
	}
	proof := stockPath(iface, peer.AddrOf(c.LocalAddr()), peer.AddrOf(c.RemoteAddr()))
	if dr.tb && proof == nil {
		c.Close()
		return dr.pathMissing(row, "the connection did not take "+iface)
	}
	dr.task = &openTask{how: remoteStock, proof: proof}
	if dr.task.file, dr.task.early, err = peer.NewConn(c, nil).Detach(); err != nil {
		dr.task = nil
		dr.refuse(row, Precondition, err.Error(), nil)
		return false
	}
	return true
}

// pathMissing refuses a row whose path to one of rdma-core's tools is not proven.
func (dr *deviceRun) pathMissing(row *tableRow, why string) bool {
	missing := "a proven path to the tool: --peer has to be its address at the other end of the cable (" + why + ")"
	dr.refuse(row, Precondition, "needs "+missing, preflight{missing: []string{missing}}.data())
	return false
}

// stockPath is the proof of a path that a connection of one of rdma-core's tools
// gives: it came about over the port's own interface. nil: it is none.
func stockPath(iface string, local, remote netip.Addr) map[string]any {
	if iface == "" || peer.InterfaceOf(local) != iface {
		return nil
	}
	return map[string]any{"proven": true, "link_local": remote.IsLinkLocalUnicast(), "from": local.String(), "to": remote.String()}
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
func (dr *deviceRun) finishTask(row *tableRow) {
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
