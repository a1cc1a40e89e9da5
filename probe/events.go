package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rdmaprobe/rdma"
)

// probeEvents creates a completion channel and a completion queue on it, asks
// for a notification and waits for its event where one can be raised without
// sending anything.
func probeEvents(s *session) {
	if !s.openDevice() {
		s.skip(Precondition, "the device could not be opened", 0, "cq.channel", "cq.notify")
		return
	}
	s.own()
	defer s.teardown()
	r := s.begin("cq.channel", 0, nil)
	call, err := "ibv_destroy_comp_channel", freeable("ibv_destroy_comp_channel")
	var ch rdma.RDMACompChannel
	if err == nil {
		call = "ibv_create_comp_channel"
		ch, err = rdma.IbvCreateCompChannel(s.ctx)
	}
	if err != nil {
		r.fail(call, err)
		s.skip(Precondition, "there is no completion channel", 0, "cq.notify")
		return
	}
	s.push("ibv_destroy_comp_channel", func() (int, error) { return rdma.IbvDestroyCompChannel(ch) })
	r.confirmed("ibv_create_comp_channel", nonNull, nil)
	cq := s.createCQ(ch)
	if cq == 0 {
		s.skip(Precondition, "there is no completion queue on the channel", 0, "cq.notify")
		return
	}
	s.notify(ch, cq)
}

// notify is the row cq.notify.
func (s *session) notify(ch rdma.RDMACompChannel, cq rdma.RDMACQ) {
	r := s.begin("cq.notify", 0, map[string]any{"solicited_only": 0})
	rc, err := rdma.IbvReqNotifyCq(cq, 0)
	if err != nil {
		r.fail("ibv_req_notify_cq", err)
		return
	}
	if s.thunderbolt() {
		// The only completion without a peer is a flushed receive, and a queue
		// pair that went through ERR has made later calls fail there.
		r.set("event", "not tried on Thunderbolt without a peer")
		r.confirmed("ibv_req_notify_cq", Return{Number: int64(rc)}, nil)
		return
	}
	const ack = "ibv_ack_cq_events"
	if !s.lib.Has(ack) { // a queue whose event was taken is not destroyed before that
		r.o.Call, r.o.FailureClass = ack, rdma.FailureSymbolUnavailable
		r.unknown(SymbolMissing, "the library has no "+ack+": no event was raised, since none could be acknowledged")
		return
	}
	if err := s.flush(cq); err != nil {
		r.set("event", "not tried: "+err.Error())
		r.confirmed("ibv_req_notify_cq", Return{Number: int64(rc)}, nil)
		return
	}
	r.set("event", "expected from a flushed receive")
	if err := waitReadable(s.child.Context(), rdma.IbvCompChannelFD(ch)); err != nil {
		r.o.Call = "ibv_get_cq_event"
		r.unknown(Timeout, "no event: "+err.Error())
		return
	}
	var got rdma.RDMACQ
	var cookie uintptr
	if _, err := rdma.IbvGetCqEvent(ch, &got, &cookie); err != nil {
		r.fail("ibv_get_cq_event", err)
		return
	}
	if got != cq {
		r.unknown(Invalid, "the event names another completion queue")
		return
	}
	if err := rdma.IbvAckCqEvents(cq, 1); err != nil {
		r.fail(ack, err)
		return
	}
	r.set("event", "arrived")
	r.confirmed("ibv_get_cq_event", Return{}, nil)
}

// flush makes a completion without a peer: a receive that is flushed when its
// queue pair goes to ERR.
func (s *session) flush(cq rdma.RDMACQ) error {
	for _, stage := range []string{"pd.alloc", qpUC.id("create"), qpUC.id("init")} {
		if !s.usable(stage) {
			return fmt.Errorf("%s failed earlier in this run", stage)
		}
	}
	for _, verb := range []string{"ibv_dealloc_pd", "ibv_destroy_qp", "ibv_dereg_mr"} {
		if err := freeable(verb); err != nil {
			return err
		}
	}
	pd, err := rdma.IbvAllocPd(s.ctx)
	if err != nil {
		return err
	}
	s.push("ibv_dealloc_pd", func() (int, error) { return rdma.IbvDeallocPd(pd) })
	qp, err := qpUC.create(pd, &rdma.IbvQPInitAttr{SendCQ: cq, RecvCQ: cq, Cap: rdma.IbvQPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}})
	if err != nil {
		return err
	}
	s.push("ibv_destroy_qp", func() (int, error) { return rdma.IbvDestroyQp(qp) })
	attr := &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_INIT, PortNum: uint8(s.req.Port)}
	if _, err := rdma.IbvModifyQpAttr(qp, attr, rdma.IBV_QP_STATE|rdma.IBV_QP_PKEY_INDEX|rdma.IBV_QP_PORT|rdma.IBV_QP_ACCESS_FLAGS); err != nil {
		return err
	}
	e, err := s.newWireEnd(qpUC, qp, cq, pd, pageSize)
	if err != nil {
		return err
	}
	if err := e.postRecv(pageSize); err != nil {
		return err
	}
	return rdma.IbvModifyQpToErr(qp)
}

// errSilent says that a descriptor did not become readable.
var errSilent = errors.New("the channel's descriptor did not become readable")

// waitReadable waits until fd has something to read or the context ends.
func waitReadable(ctx context.Context, fd int) error {
	const step = 20 * time.Millisecond
	for ctx.Err() == nil {
		ready, err := readable(fd, step)
		if err != nil {
			return fmt.Errorf("poll descriptor %d: %w", fd, err)
		}
		if ready {
			return nil
		}
	}
	return errSilent
}
