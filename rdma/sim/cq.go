//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/internal/abi"
)

// completionQueue holds completions until they are polled.
type completionQueue struct {
	p        *Provider
	ctx      *deviceContext
	ch       *channel
	h        *abi.CQ
	queue    []completion
	capacity int
	qps      map[*queuePair]bool

	overrun       bool // a completion was lost: the queue is broken from then on
	armed         bool
	solicitedOnly bool
	leaving       bool   // it is being destroyed, and takes no queue pair
	events, acked uint32 // read by ibv_get_cq_event, acknowledged
}

// completion is an entry and the send slots that it frees when it is polled.
type completion struct {
	wc        rdma.IbvWC
	of        *queuePair
	slots     int
	solicited bool
}

// createCQ is ibv_create_cq.
func createCQ(h *abi.Context, cqe int32, cqContext uintptr, ch *abi.CompChannel, vector int32) *abi.CQ {
	c := contexts.find(h)
	if c == nil {
		return failNull[*abi.CQ](errEINVAL)
	}
	v := c.dev.consult(verbCreateCQ, newRequest())
	if v.done {
		return nil
	}
	var events *channel
	if ch != nil {
		if events = channels.find(ch); events == nil || events.ctx != c {
			return failNull[*abi.CQ](errEINVAL)
		}
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	switch {
	case c.dev.dead():
		return failNull[*abi.CQ](errESRCH)
	case cqe < 1 || int64(cqe) > c.dev.limit("max_cqe") || vector < 0 || vector >= h.NumCompVectors:
		return failNull[*abi.CQ](errEINVAL)
	case c.dev.full("live_cq", "max_cq"):
		return failNull[*abi.CQ](c.dev.exhausted())
	}
	o := newObject[abi.CQ]()
	if o == nil {
		return failNull[*abi.CQ](errENOMEM)
	}
	*o = abi.CQ{Context: h, Channel: ch, CQContext: cqContext, Handle: c.p.nextHandle(), CQE: cqe}
	v.fill(unsafe.Slice((*byte)(unsafe.Pointer(&o.CQE)), unsafe.Sizeof(o.CQE)))
	cqs.add(o, &completionQueue{p: c.p, ctx: c, ch: events, h: o, capacity: int(cqe), qps: map[*queuePair]bool{}})
	c.users++
	c.dev.held["live_cq"]++
	if events != nil {
		events.users++
		ch.Refcnt++
	}
	return o
}

// destroyCQ is ibv_destroy_cq. It waits until every event that was taken from
// the channel is acknowledged, as rdma-core's does.
func destroyCQ(h *abi.CQ) int32 {
	c := cqs.find(h)
	if c == nil {
		return errEINVAL
	}
	if v := c.consult(verbDestroyCQ); v.done {
		return v.ret
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	switch {
	case len(c.qps) > 0:
		return errEBUSY
	case c.leaving:
		return errEINVAL
	}
	// The handle stays valid while its destroyer waits: acknowledging needs it.
	c.leaving = true
	for c.events != c.acked && !c.p.closed {
		c.p.acked.Wait()
	}
	if !cqs.remove(h) {
		return errEINVAL
	}
	c.ctx.users--
	c.ctx.dev.held["live_cq"]--
	if c.ch != nil {
		c.ch.users--
		c.ch.h.Refcnt--
	}
	freeObject(h)
	return 0
}

// consult asks the rules about a queue: they may name any of its queue pairs.
func (c *completionQueue) consult(v verb) verdict {
	if len(c.ctx.dev.rules[v]) == 0 {
		return verdict{}
	}
	c.p.mu.Lock()
	requests := []request{newRequest()}
	for q := range c.qps {
		requests = append(requests, q.request())
	}
	c.p.mu.Unlock()
	return c.ctx.dev.consult(v, requests...)
}

// pollCQ is the poll_cq entry of struct ibv_context_ops.
func pollCQ(h *abi.CQ, n int32, out *rdma.IbvWC) int32 {
	c := cqs.find(h)
	if c == nil || n < 0 || out == nil && n > 0 {
		return verbPollCQ.fail(errEINVAL)
	}
	if v := c.consult(verbPollCQ); v.done {
		return v.ret
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.overrun && len(c.queue) == 0 {
		return verbPollCQ.fail(0)
	}
	k := min(int(n), len(c.queue))
	if k == 0 {
		return 0
	}
	entries := unsafe.Slice(out, k)
	for i := range k {
		entries[i] = c.queue[i].wc
		c.queue[i].of.inSend -= c.queue[i].slots
	}
	c.queue = c.queue[:copy(c.queue, c.queue[k:])]
	return int32(k)
}

// push adds a completion and announces it. p.mu is held.
func (c *completionQueue) push(e completion) {
	if len(c.queue) >= c.capacity {
		c.overrun = true
		return
	}
	c.queue = append(c.queue, e)
	if c.armed && (!c.solicitedOnly || e.solicited || e.wc.Status != wcSuccess) {
		c.armed = false
		if c.ch != nil {
			c.ch.announce(c.h)
		}
	}
}

// drop removes the completions of a queue pair that is gone. p.mu is held.
func (c *completionQueue) drop(q *queuePair) {
	kept := c.queue[:0]
	for _, e := range c.queue {
		if e.of != q {
			kept = append(kept, e)
		}
	}
	c.queue = kept
}

// reqNotifyCQ is the req_notify_cq entry of struct ibv_context_ops.
func reqNotifyCQ(h *abi.CQ, solicitedOnly int32) int32 {
	c := cqs.find(h)
	if c == nil {
		return errEINVAL
	}
	if v := c.consult(verbReqNotifyCQ); v.done {
		return v.ret
	}
	c.p.mu.Lock()
	c.solicitedOnly = solicitedOnly != 0 && (!c.armed || c.solicitedOnly)
	c.armed = true
	c.p.mu.Unlock()
	return 0
}
