//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/internal/abi"
)

// queuePair is a queue pair of this process. attr holds what ibv_modify_qp set;
// the state of a handle (h.State) is only what its owner was told.
type queuePair struct {
	p           *Provider
	pd          *domain
	send, recv  *completionQueue
	h           *abi.QP
	num         uint32
	qpType      int32
	sigAll      bool
	cap         rdma.IbvQPCap
	attr        rdma.IbvQPAttr
	state       int32
	addressed   bool // attr.AHAttr is set
	inSend      int  // send slots in use, until their completion is polled
	unsignaled  int  // of them, those without a completion of their own
	posted      []receive
	waiting     []*message // arrived before a receive was posted
	stalled     []*message // sent, and nobody gives credit
	initContext uintptr
}

// receive is a posted receive.
type receive struct {
	id   uint64
	sges []rdma.IbvSGE
	rule *activeRule // of ibv_post_recv, when it acts on messages
}

func (q *queuePair) dev() *device { return q.pd.ctx.dev }

// request is what rules can ask of a queue pair. p.mu is held.
func (q *queuePair) request() request {
	r := newRequest()
	r.qpType = q.qpType
	if q.addressed {
		r.sgidIndex, r.isGlobal, r.pathMTU = int32(q.attr.AHAttr.GRH.SGIDIndex), int32(q.attr.AHAttr.IsGlobal), q.attr.PathMTU
	}
	return r
}

// createQP is ibv_create_qp.
func createQP(h *abi.PD, init *rdma.IbvQPInitAttr) *abi.QP {
	r := newRequest()
	if init != nil {
		r.qpType, r.inline = init.QPType, int64(init.Cap.MaxInlineData)
	}
	if h == nil {
		r.nullPD = true
		return nullDomain[abi.QP](verbCreateQP, r)
	}
	o := domains.find(h)
	if o == nil || init == nil {
		return failNull[*abi.QP](errEINVAL)
	}
	v := o.ctx.dev.consult(verbCreateQP, r)
	if v.done {
		return nil
	}
	send, recv := cqs.find(abi.At[abi.CQ](init.SendCQ)), cqs.find(abi.At[abi.CQ](init.RecvCQ))
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	d := o.ctx.dev
	switch {
	case d.dead():
		return failNull[*abi.QP](errESRCH)
	case send == nil || recv == nil || send.ctx != o.ctx || recv.ctx != o.ctx || send.leaving || recv.leaving || init.SRQ != 0 || !d.grants(init):
		return failNull[*abi.QP](errEINVAL)
	case d.full("live_qp", "max_qp"):
		return failNull[*abi.QP](errEBUSY)
	}
	q := &queuePair{p: o.p, pd: o, send: send, recv: recv, qpType: init.QPType, sigAll: init.SQSigAll != 0, initContext: init.QPContext}
	q.h = newObject[abi.QP]()
	if q.h == nil {
		return failNull[*abi.QP](errENOMEM)
	}
	v.fill(unsafe.Slice((*byte)(unsafe.Pointer(&init.Cap)), unsafe.Sizeof(init.Cap)))
	q.cap = init.Cap
	q.register(h)
	return q.h
}

// grants reports whether a queue pair of this type and size exists. p.mu is held.
func (d *device) grants(init *rdma.IbvQPInitAttr) bool {
	c := init.Cap
	return (init.QPType == qptRC || init.QPType == qptUC || init.QPType == qptUD) &&
		int64(max(c.MaxSendWR, c.MaxRecvWR)) <= d.limit("max_qp_wr") &&
		int64(max(c.MaxSendSGE, c.MaxRecvSGE)) <= d.limit("max_sge") && c.MaxInlineData <= maxInline
}

// maxInline is what a send may carry without a region; Soft-RoCE's limit.
const maxInline = 512

// register gives the queue pair its number and place. p.mu is held.
func (q *queuePair) register(pd *abi.PD) {
	q.p.qpn++
	q.num = q.p.qpn
	*q.h = abi.QP{
		Context: q.pd.ctx.h, QPContext: q.initContext, PD: pd, SendCQ: q.send.h, RecvCQ: q.recv.h,
		Handle: q.p.nextHandle(), Num: q.num, State: qpsReset, Type: q.qpType,
	}
	qps.add(q.h, q)
	q.p.qps[q.num] = q
	q.send.qps[q], q.recv.qps[q] = true, true
	q.pd.users++
	q.dev().held["live_qp"]++
}

// destroyQP is ibv_destroy_qp.
func destroyQP(h *abi.QP) int32 {
	q := qps.find(h)
	if q == nil {
		return errEINVAL
	}
	if v := q.consult(verbDestroyQP, nil); v.done {
		return v.ret
	}
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	if !qps.remove(h) {
		return errEINVAL
	}
	q.forget()
	delete(q.p.qps, q.num)
	delete(q.send.qps, q)
	delete(q.recv.qps, q)
	q.pd.users--
	q.dev().held["live_qp"]--
	freeObject(h)
	return 0
}

// consult asks the rules about a call on the queue pair; add completes the
// request with what the call says.
func (q *queuePair) consult(v verb, add func(*request)) verdict {
	if len(q.dev().rules[v]) == 0 {
		return verdict{}
	}
	q.p.mu.Lock()
	r := q.request()
	if add != nil {
		add(&r)
	}
	q.p.mu.Unlock()
	return q.dev().consult(v, r)
}

// queryQP is ibv_query_qp.
func queryQP(h *abi.QP, a *rdma.IbvQPAttr, _ int32, init *rdma.IbvQPInitAttr) int32 {
	q := qps.find(h)
	if q == nil || a == nil || init == nil {
		return errEINVAL
	}
	v := q.consult(verbQueryQP, nil)
	if v.done {
		return v.ret
	}
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	*a = q.attr
	a.QPState, a.CurQPState, a.Cap = q.state, q.state, q.cap
	v.fill(unsafe.Slice((*byte)(unsafe.Pointer(&a.Cap)), unsafe.Sizeof(a.Cap)))
	*init = rdma.IbvQPInitAttr{QPContext: q.initContext, SendCQ: uintptr(unsafe.Pointer(h.SendCQ)), RecvCQ: uintptr(unsafe.Pointer(h.RecvCQ)), Cap: a.Cap, QPType: q.qpType}
	if q.sigAll {
		init.SQSigAll = 1
	}
	h.State = q.state
	return 0
}
