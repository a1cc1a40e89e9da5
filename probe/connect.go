package probe

import (
	"errors"
	"fmt"
	"net/netip"

	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// connection is this end of a queue pair, ready to send, and what is known of
// the other one. far is the other end where it is in this process too.
type connection struct {
	near   *wireEnd
	far    *wireEnd
	remote *remoteEnd // where the other end is on another host
	peer   endpoint
	mtu    int // path MTU, bytes: the smaller of the two ends'
}

// errStage says that a stage failed whose row has been sent.
var errStage = errors.New("a stage on the way failed")

// connect makes a queue pair and takes it to RTS towards the other end: a second
// queue pair of this process, another host's, or the simulated peer. Rows of the
// stages are sent; an error that is not errStage is about the other end.
func (s *session) connect(size int) (*connection, error) {
	t, num := s.req.Data.Type, s.req.Port
	qp, cq, pd := s.makeQP(t)
	if qp == 0 {
		s.skip(Precondition, "there is no queue pair", num, t.steps("rtr", "rts")...)
		return nil, errStage
	}
	if !s.initQP(t, qp, num, s.access()) {
		s.skip(Precondition, "the queue pair is not in INIT", num, t.steps("rtr", "rts")...)
		return nil, errStage
	}
	near, err := s.newWireEnd(t, qp, cq, pd, size)
	if err != nil {
		s.skip(Precondition, "memory for messages: "+err.Error(), num, t.steps("rtr", "rts")...)
		return nil, errStage
	}
	c := &connection{near: near}
	if err := s.describeNear(near); err != nil {
		s.skip(Precondition, err.Error(), num, t.steps("rtr", "rts")...)
		return nil, errStage
	}
	if err := s.meet(c); err != nil {
		s.skip(Precondition, err.Error(), num, t.steps("rtr", "rts")...)
		c.remote.fail(err.Error())
		return nil, remoteOnly(err)
	}
	c.mtu = min(near.info.MTU, c.peer.MTU)
	if !s.ready(c) {
		c.remote.fail("its queue pair could not be connected")
		return nil, errStage
	}
	if err := s.barrier(c); err != nil {
		return nil, err
	}
	return c, nil
}

// remoteOnly keeps an error that is the other host's, and no other.
func remoteOnly(err error) error {
	var p *peerError
	if errors.As(err, &p) {
		return p
	}
	return errStage
}

// noConnection sends rows of what needed the connection that there is not. A
// peer that cannot be reached, or that gave up, is told as such.
func (s *session) noConnection(err error, ids ...string) {
	reason, detail := Precondition, "there is no connection"
	var p *peerError
	if errors.As(err, &p) {
		detail = "the other end: " + p.Error()
		var said *peer.RemoteError
		if !errors.As(err, &said) {
			reason = Unreachable
		}
	}
	s.skip(reason, detail, s.req.Port, ids...)
}

// describeNear fills in this end's address. The GID is read again: one that
// moved since it was chosen is not used.
func (s *session) describeNear(e *wireEnd) error {
	p, err := portOf(s.ctx, s.req.Port)
	if err != nil {
		return err
	}
	e.info.Device, e.info.LID, e.info.MTU, e.gbps = s.device, *p.LID, p.ActiveMTU, p.Speed
	if s.req.Data.GIDIndex < 0 {
		return nil
	}
	e.info.GID, err = readGID(s.ctx, s.req.Port, s.req.Data.GIDIndex)
	if err != nil {
		return err
	}
	if want := s.req.Data.GID; want != "" && want != e.info.GID {
		return fmt.Errorf("GID table entry %d moved: it held %s, now %s", s.req.Data.GIDIndex, want, e.info.GID)
	}
	return nil
}

// meet finds the other end.
func (s *session) meet(c *connection) error {
	switch {
	case s.sim != nil:
		return s.meetSimulated(c)
	case s.req.Data.Remote != "":
		return s.meetRemote(c)
	}
	far, err := s.farEnd(c.near)
	if err != nil {
		return fmt.Errorf("the other end: %w", err)
	}
	c.far, c.peer = far, far.info
	return nil
}

// meetSimulated asks the simulated wire for its other end.
func (s *session) meetSimulated(c *connection) error {
	peer, err := s.sim.Peer(s.device, s.req.Port)
	if err != nil {
		return err
	}
	e, err := peer.Endpoint(s.made)
	if err != nil {
		return err
	}
	c.peer = endpoint{Device: e.Device, QPN: e.QPN, PSN: e.PSN, LID: int(e.LID), MTU: e.ActiveMTU.Bytes(), Addr: e.Addr, Length: int(e.Length), RKey: e.RKey}
	if g, _, ok := chooseGID(rdma.LinkLayerName(uint8(e.LinkLayer)), simulatedGIDs(e.GIDs), nil); ok {
		c.peer.GID = g.GID
	}
	return nil
}

// simulatedGIDs is a simulated GID table in the document's form.
func simulatedGIDs(slots []sim.GIDSlot) []GID {
	var gids []GID
	for _, g := range slots {
		addr := netip.AddrFrom16(g.GID)
		gids = append(gids, GID{Index: g.Index, GID: addr.String(), Class: gidClass(addr), Type: rdma.GIDTypeName(uint32(g.Type))})
	}
	return gids
}

// ready is RTR and RTS of the near end, with their rows, and of a far end in
// this process.
func (s *session) ready(c *connection) bool {
	t, num, d := s.req.Data.Type, s.req.Port, s.req.Data
	params := map[string]any{"path_mtu": c.mtu, "peer": c.peer.params()}
	if d.PathProof != nil {
		params["path_proof"] = d.PathProof
	}
	if d.GIDIndex >= 0 {
		params["gid_index"], params["gid"] = d.GIDIndex, c.near.info.GID
		if d.GIDWhy != "" {
			params["gid_why"] = d.GIDWhy
		}
	}
	attr, mask, err := s.rtrAttr(t, num, d.GIDIndex, c.mtu, c.peer)
	if err != nil {
		s.skip(Precondition, err.Error(), num, t.steps("rtr", "rts")...)
		return false
	}
	if !s.modify(t.id("rtr"), num, params, c.near.qp, attr, mask) {
		s.skip(Precondition, "the queue pair is not ready to receive", num, t.id("rts"))
		return false
	}
	if c.far != nil {
		if err := s.readyFar(c); err != nil {
			s.skip(Precondition, "the other end: "+err.Error(), num, t.id("rts"))
			return false
		}
	}
	attr, mask = rtsAttr(t, c.near.info.PSN)
	return s.modify(t.id("rts"), num, map[string]any{"sq_psn": c.near.info.PSN}, c.near.qp, attr, mask)
}
