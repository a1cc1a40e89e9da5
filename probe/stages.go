package probe

import (
	"errors"
	"fmt"

	"rdmaprobe/rdma"
)

// Sizes of what the create probes ask for. They are small: Apple's provider has
// few slots, and a probe must not exhaust what it asks about.
const (
	cqDepth    = 64
	qpDepth    = 16
	pageSize   = 4096
	fullAccess = rdma.IBV_ACCESS_LOCAL_WRITE | rdma.IBV_ACCESS_REMOTE_WRITE | rdma.IBV_ACCESS_REMOTE_READ
)

// nonNull is the return of a call that gave an object.
var nonNull = Return{Pointer: true}

// openDevice opens the session's device. Its row is the first of every probe.
func (s *session) openDevice() bool {
	if !s.usable("dev.open") {
		return false
	}
	r := s.begin("dev.open", 0, nil)
	ctx, err := s.dev.Open()
	if err != nil {
		r.fail("ibv_open_device", err)
		return false
	}
	s.ctx = ctx
	if err := s.opened(ctx, s.device); err != nil {
		s.refuseOpen(r, err)
		return false
	}
	if ops, err := rdma.IbvOps(ctx); err == nil {
		r.o.Data = map[string]any{"ops": ops}
	}
	r.confirmed("ibv_open_device", nonNull, nil)
	return true
}

// refuseOpen closes a device that is not known to be the one that was listed.
func (s *session) refuseOpen(r *row, err error) {
	if errors.As(err, &s.lost) {
		r.o.Data = s.lost.data()
	}
	r.unknown(Precondition, err.Error())
	s.guid = ""
	s.closeDevice()
}

// closeDevice closes a device that only was read, and tells when that fails; a
// probe that creates things closes it in its teardown.
func (s *session) closeDevice() {
	r := s.begin(teardownID, 0, nil)
	s.stillSame()
	ctx := s.ctx
	s.ctx = 0
	if _, err := rdma.IbvCloseDevice(ctx); err != nil {
		r.fail("ibv_close_device", err)
	}
}

// own hands the open device to the teardown.
func (s *session) own() {
	s.push("ibv_close_device", func() (int, error) {
		s.stillSame()
		ctx := s.ctx
		s.ctx = 0
		return rdma.IbvCloseDevice(ctx)
	})
}

// allocPD is the stage pd.alloc; 0 when it did not succeed.
func (s *session) allocPD() rdma.RDMAPD {
	if !s.usable("pd.alloc") {
		return 0
	}
	r := s.begin("pd.alloc", 0, nil)
	if err := freeable("ibv_dealloc_pd"); err != nil {
		r.fail("ibv_dealloc_pd", err)
		return 0
	}
	pd, err := rdma.IbvAllocPd(s.ctx)
	if err != nil {
		r.fail("ibv_alloc_pd", err)
		return 0
	}
	s.push("ibv_dealloc_pd", func() (int, error) { return rdma.IbvDeallocPd(pd) })
	r.confirmed("ibv_alloc_pd", nonNull, nil)
	return pd
}

// createCQ is the stage cq.create; 0 when it did not succeed.
func (s *session) createCQ(channel rdma.RDMACompChannel) rdma.RDMACQ {
	if !s.usable("cq.create") {
		return 0
	}
	r := s.begin("cq.create", 0, map[string]any{"cqe": cqDepth})
	if err := freeable("ibv_destroy_cq"); err != nil {
		r.fail("ibv_destroy_cq", err)
		return 0
	}
	cq, err := rdma.IbvCreateCq(s.ctx, cqDepth, 0, channel, 0)
	if err != nil {
		r.fail("ibv_create_cq", err)
		return 0
	}
	s.push("ibv_destroy_cq", func() (int, error) { return rdma.IbvDestroyCq(cq) })
	r.confirmed("ibv_create_cq", nonNull, nil)
	return cq
}

// registerMR registers mapped memory of size bytes as the row id says. The
// region is on the teardown stack when it returns one.
func (s *session) registerMR(id string, pd rdma.RDMAPD, size, access int) (rdma.RDMAMR, *rdma.Buffer) {
	r := s.begin(id, 0, map[string]any{"memory": "mmap", "length": size, "access": accessNames(access)})
	if err := freeable("ibv_dereg_mr"); err != nil {
		r.fail("ibv_dereg_mr", err)
		return 0, nil
	}
	buf, err := rdma.MapBuffer(size)
	if err != nil {
		r.unknown(reasonOfMapping(err), err.Error())
		return 0, nil
	}
	mr, err := rdma.IbvRegMr(pd, buf.Addr(), uintptr(size), access)
	if err != nil {
		r.fail("ibv_reg_mr", err)
		_ = buf.Unmap() // nothing refers to it
		return 0, nil
	}
	s.push("ibv_dereg_mr", func() (int, error) { return rdma.IbvDeregMr(mr) })
	r.o.Data = map[string]any{"lkey": rdma.Ibv_mr_lkey(mr), "rkey": rdma.Ibv_mr_rkey(mr)}
	r.confirmed("ibv_reg_mr", nonNull, nil)
	return mr, buf
}

// reasonOfMapping is why there is no memory to register: no provider was asked.
func reasonOfMapping(err error) Reason {
	if starvedOf(err) {
		return Exhausted
	}
	return Invalid
}

// createQP is the stage qp.TYPE.create; 0 when it did not succeed.
func (s *session) createQP(t qpType, pd rdma.RDMAPD, cq rdma.RDMACQ) rdma.RDMAQP {
	depth := s.depth()
	asked := rdma.IbvQPCap{MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1}
	r := s.begin(t.id("create"), 0, map[string]any{"requested": capMap(asked)})
	if err := freeable("ibv_destroy_qp"); err != nil {
		r.fail("ibv_destroy_qp", err)
		return 0
	}
	init := &rdma.IbvQPInitAttr{SendCQ: cq, RecvCQ: cq, Cap: asked, SQSigAll: 1}
	qp, err := t.create(pd, init)
	s.made = init.QPType
	if err != nil {
		r.fail("ibv_create_qp", err)
		return 0
	}
	s.push("ibv_destroy_qp", func() (int, error) { return rdma.IbvDestroyQp(qp) })
	r.o.Data = map[string]any{"granted": capMap(init.Cap), "qp_num": rdma.Ibv_qp_num(qp)}
	// What the creation wrote back and what a query says can differ; both stay.
	attr, queried := &rdma.IbvQPAttr{}, &rdma.IbvQPInitAttr{}
	_, err = rdma.IbvQueryQp(qp, attr, rdma.IBV_QP_STATE|rdma.IBV_QP_CAP, queried)
	switch {
	case errors.Is(err, rdma.ErrSymbolUnavailable):
		r.o.Data["not_queried"] = "the library has no ibv_query_qp: granted is what ibv_create_qp wrote back"
	case err != nil:
		r.o.Data["query_error"] = err.Error()
	default:
		r.o.Data["queried"] = capMap(queried.Cap)
		r.o.Data["state"] = rdma.QPStateName(attr.QPState)
	}
	r.confirmed("ibv_create_qp", nonNull, nil)
	return qp
}

// maxFrames is the deepest queue that Apple documents, in frames (TN3205).
const maxFrames = 4095

// depth is how deep the queues have to be for one message each way. On Thunderbolt a
// message takes as many places as it has frames (TN3205).
func (s *session) depth() uint32 {
	if d := s.req.Data; d != nil && len(d.Sizes) > 0 && s.thunderbolt() {
		return uint32(min(max(qpDepth, frames(maxOf(d.Sizes))), maxFrames))
	}
	return qpDepth
}

// initQP is the stage qp.TYPE.init.
func (s *session) initQP(t qpType, qp rdma.RDMAQP, port int, access int32) bool {
	attr := &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_INIT, PortNum: uint8(port)}
	mask := rdma.IBV_QP_STATE | rdma.IBV_QP_PKEY_INDEX | rdma.IBV_QP_PORT
	params := map[string]any{"pkey_index": 0, "port": port}
	if t == qpUD {
		attr.QKey = udQKey
		mask |= rdma.IBV_QP_QKEY
		params["qkey"] = udQKey
	} else {
		attr.QPAccessFlags = access
		mask |= rdma.IBV_QP_ACCESS_FLAGS
		params["access"] = accessNames(int(access))
	}
	return s.modify(t.id("init"), port, params, qp, attr, mask)
}

// modify is one transition of a queue pair.
func (s *session) modify(id string, port int, params map[string]any, qp rdma.RDMAQP, attr *rdma.IbvQPAttr, mask int) bool {
	r := s.begin(id, port, params)
	rc, err := rdma.IbvModifyQpAttr(qp, attr, mask)
	if err != nil {
		r.fail("ibv_modify_qp", rdma.NewModifyQPError(qp, attr, mask, rc, err))
		return false
	}
	r.confirmed("ibv_modify_qp", Return{}, nil)
	return true
}

func capMap(c rdma.IbvQPCap) map[string]any {
	return map[string]any{
		"max_send_wr": c.MaxSendWR, "max_recv_wr": c.MaxRecvWR, "max_send_sge": c.MaxSendSGE,
		"max_recv_sge": c.MaxRecvSGE, "max_inline_data": c.MaxInlineData,
	}
}

func accessNames(access int) []string {
	names := []string{}
	for _, f := range []struct {
		bit  int
		name string
	}{
		{rdma.IBV_ACCESS_LOCAL_WRITE, "local_write"}, {rdma.IBV_ACCESS_REMOTE_WRITE, "remote_write"}, {rdma.IBV_ACCESS_REMOTE_READ, "remote_read"},
	} {
		if access&f.bit != 0 {
			names = append(names, f.name)
			access &^= f.bit
		}
	}
	if access != 0 {
		names = append(names, fmt.Sprintf("%#x", access))
	}
	return names
}
