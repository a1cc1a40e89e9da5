package probe

import (
	"errors"

	"rdmaprobe/rdma"
)

// The far end in this process has no rows of its own: the near one's tell what
// the provider can do, and a failure here is told where it matters.

// farEnd makes the second queue pair: on the same port, or on another device of
// this machine.
func (s *session) farEnd(near *wireEnd) (*wireEnd, error) {
	ctx, device, num, gidIndex := s.ctx, s.device, s.req.Port, s.req.Data.GIDIndex
	if name := s.req.Data.PeerDevice; name != "" {
		var err error
		if ctx, err = s.openOther(name); err != nil {
			return nil, err
		}
		device, num, gidIndex = name, s.req.Data.PeerPort, s.req.Data.PeerGID
	}
	p, err := portOf(ctx, num)
	if err != nil {
		return nil, err
	}
	e, err := s.farQP(ctx, near.t, num, near.size)
	if err != nil {
		return nil, err
	}
	e.info.Device, e.info.LID, e.info.MTU = device, *p.LID, p.ActiveMTU
	if gidIndex >= 0 {
		e.info.GID, err = readGID(ctx, num, gidIndex)
	}
	return e, err
}

// openOther opens another listed device.
func (s *session) openOther(name string) (rdma.RDMAContext, error) {
	all, err := rdma.Devices()
	if err != nil {
		return 0, err
	}
	devices, _ := named(all)
	d, lost := s.find(devices, name)
	if lost != nil {
		s.lost = lost
		return 0, lost
	}
	ctx, err := d.Open()
	if err != nil {
		return 0, err
	}
	s.push("ibv_close_device", func() (int, error) { return rdma.IbvCloseDevice(ctx) })
	guid := s.guid // of the near device
	err = s.opened(ctx, name)
	s.guid = guid
	errors.As(err, &s.lost)
	return ctx, err
}

// farQP makes a queue pair in INIT with its memory.
func (s *session) farQP(ctx rdma.RDMAContext, t qpType, num, size int) (*wireEnd, error) {
	pd, err := rdma.IbvAllocPd(ctx)
	if err != nil {
		return nil, err
	}
	s.push("ibv_dealloc_pd", func() (int, error) { return rdma.IbvDeallocPd(pd) })
	cq, err := rdma.IbvCreateCq(ctx, cqDepth, 0, 0, 0)
	if err != nil {
		return nil, err
	}
	s.push("ibv_destroy_cq", func() (int, error) { return rdma.IbvDestroyCq(cq) })
	qp, err := t.create(pd, &rdma.IbvQPInitAttr{SendCQ: cq, RecvCQ: cq, SQSigAll: 1, Cap: rdma.IbvQPCap{MaxSendWR: qpDepth, MaxRecvWR: qpDepth, MaxSendSGE: 1, MaxRecvSGE: 1}})
	if err != nil {
		return nil, err
	}
	s.push("ibv_destroy_qp", func() (int, error) { return rdma.IbvDestroyQp(qp) })
	attr := &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_INIT, PortNum: uint8(num), QPAccessFlags: s.access()}
	if _, err := rdma.IbvModifyQpAttr(qp, attr, rdma.IBV_QP_STATE|rdma.IBV_QP_PKEY_INDEX|rdma.IBV_QP_PORT|rdma.IBV_QP_ACCESS_FLAGS); err != nil {
		return nil, err
	}
	return s.newWireEnd(t, qp, cq, pd, size)
}

// readyFar takes the far end to RTS towards the near one.
func (s *session) readyFar(c *connection) error {
	num, gidIndex := s.req.Port, s.req.Data.GIDIndex
	if s.req.Data.PeerDevice != "" {
		num, gidIndex = s.req.Data.PeerPort, s.req.Data.PeerGID
	}
	attr, mask, err := s.rtrAttr(c.far.t, num, gidIndex, c.mtu, c.near.info)
	if err != nil {
		return err
	}
	if _, err := rdma.IbvModifyQpAttr(c.far.qp, attr, mask); err != nil {
		return err
	}
	attr, mask = rtsAttr(c.far.t, c.far.info.PSN)
	_, err = rdma.IbvModifyQpAttr(c.far.qp, attr, mask)
	return err
}
