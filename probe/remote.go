package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// link is a session with the rdmaprobe of another host, for one device. It is
// the parent's: it moves addresses and makes no provider call.
type link struct {
	conn   *peer.Conn
	freed  func() bool // the connection no longer ends with the run
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
func (dr *deviceRun) reach(row *tableRow) bool {
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
	// An interrupted run waits for the other end no longer than for its goodbye.
	l.freed = context.AfterFunc(dr.ctx, func() { time.AfterFunc(byeLimit, func() { t.Close() }) })
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
	l.freed()
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

// closeLink ends the session, if there is one.
func (dr *deviceRun) closeLink() {
	if dr.link == nil || dr.link.conn == nil {
		return
	}
	_ = dr.link.conn.Send(peer.TypeBye, empty{}, byeLimit) // it sees the end of the connection too
	dr.link.freed()
	dr.link.conn.Close()
	dr.link = nil
}

// unreachable keeps the rows of a probe whose side channel failed. One that was cut
// since the run is over says nothing of the peer.
func (dr *deviceRun) unreachable(row *tableRow, c *sideChannel) {
	if dr.ctx.Err() != nil {
		dr.refuse(row, Interrupted, "the run was interrupted", nil)
		return
	}
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
