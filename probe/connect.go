package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// connection is this end of a queue pair, ready to send, and what is known of
// the other one. far is the other end where it is in this process too.
type connection struct {
	near   *wireEnd
	far    *wireEnd
	remote *remoteEnd // where the other end is on another host
	sim    *sim.Peer
	theirs *pattern.Sender // of what the other end sends, where it is in this process
	peer   endpoint
	mtu    int // path MTU, bytes: the smaller of the two ends'
}

// connect makes a queue pair and takes it to RTS towards the other end: a second
// queue pair of this process, another host's, or the simulated peer. Rows of the
// stages are sent; noConnection tells what an error means for all that comes after.
func (s *session) connect(size int) (*connection, error) {
	t := s.req.Data.Type
	qp, cq, pd := s.makeQP(t)
	if qp == 0 {
		return nil, s.stopAt("there is no queue pair")
	}
	if !s.initQP(t, qp, s.req.Port, s.access()) {
		return nil, s.stopAt("the queue pair is not in INIT")
	}
	near, err := s.newWireEnd(t, qp, cq, pd, size)
	if err != nil {
		stopped := s.stopAt("memory for messages: " + err.Error())
		if errors.Is(err, rdma.ErrSymbolUnavailable) {
			stopped = &stageError{err.Error(), SymbolMissing}
		}
		return nil, stopped
	}
	c := &connection{near: near}
	if err := s.describeNear(near); err != nil {
		return nil, s.stopAt(err.Error())
	}
	err = s.meet(c)
	if err == nil {
		err = s.stillAnnounced(near)
	}
	if err != nil {
		stopped := s.stopAt(err.Error())
		c.remote.fail(err.Error())
		if told(err) {
			return nil, err
		}
		return nil, cmp.Or(peerOnly(err), stopped)
	}
	s.agree(c)
	c.mtu = min(near.info.MTU, c.peer.MTU)
	if why := s.ready(c); why != "" {
		c.remote.fail("its queue pair could not be connected")
		return nil, &stageError{why, Precondition}
	}
	if err := s.barrier(c); err != nil {
		return nil, err
	}
	return c, nil
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
		return movedError(s.req.Data.GIDIndex, want, e.info.GID)
	}
	return nil
}

func movedError(index int, held, now string) error {
	return fmt.Errorf("GID table entry %d moved: it held %s, now %s", index, held, now)
}

// stillAnnounced reads the GID once more that the other end has been told, just before
// RTR: an exchange with another host takes its time.
func (s *session) stillAnnounced(e *wireEnd) error {
	if s.req.Data.GIDIndex < 0 {
		return nil
	}
	now, err := readGID(s.ctx, s.req.Port, s.req.Data.GIDIndex)
	if err == nil && now != e.info.GID {
		err = movedError(s.req.Data.GIDIndex, e.info.GID, now)
	}
	return err
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
	c.sim = peer
	c.peer = endpoint{Device: e.Device, Salt: pattern.NewSalt(), QPN: e.QPN, PSN: e.PSN, LID: int(e.LID), MTU: e.ActiveMTU.Bytes(), Addr: e.Addr, Length: int(e.Length), RKey: e.RKey}
	if g, _, ok := choosePeerGID(rdma.LinkLayerName(uint8(e.LinkLayer)), simulatedGIDs(e.GIDs), nil); ok {
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
// this process. It says what failed, "" when nothing did.
func (s *session) ready(c *connection) (why string) {
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
		return err.Error()
	}
	if !s.modify(t.id("rtr"), num, params, c.near.qp, attr, mask) {
		s.skip(Precondition, "the queue pair is not ready to receive", num, t.id("rts"))
		return "the queue pair is not ready to receive"
	}
	if c.far != nil {
		if err := s.readyFar(c); err != nil {
			why = "the other end: " + err.Error()
			s.skip(Precondition, why, num, t.id("rts"))
			return why
		}
	}
	attr, mask = rtsAttr(t, c.near.info.PSN)
	if !s.modify(t.id("rts"), num, map[string]any{"sq_psn": c.near.info.PSN}, c.near.qp, attr, mask) {
		return "the queue pair is not ready to send"
	}
	return ""
}
