//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"syscall"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// channel is a completion channel: a pipe of addresses of completion queues.
type channel struct {
	p     *Provider
	ctx   *deviceContext
	h     *abi.CompChannel
	write int
	users int
}

// createCompChannel is ibv_create_comp_channel.
func createCompChannel(h *abi.Context) *abi.CompChannel {
	c := contexts.find(h)
	if c == nil {
		return failNull[*abi.CompChannel](errEINVAL)
	}
	if c.dev.consult(verbCreateCompChannel, newRequest()).done {
		return nil
	}
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		return failNull[*abi.CompChannel](errEMFILE)
	}
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	o := newObject[abi.CompChannel]()
	if o == nil || syscall.SetNonblock(fds[1], true) != nil {
		syscall.Close(fds[0])
		syscall.Close(fds[1])
		return failNull[*abi.CompChannel](errENOMEM)
	}
	*o = abi.CompChannel{Context: h, FD: int32(fds[0])}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	channels.add(o, &channel{p: c.p, ctx: c, h: o, write: fds[1]})
	c.users++
	return o
}

// announce writes the queue's address. A full pipe loses it, as a program that
// never reads deserves. p.mu is held.
func (c *channel) announce(cq *abi.CQ) {
	address := uintptr(unsafe.Pointer(cq))
	writeAll(c.write, (*[unsafe.Sizeof(address)]byte)(unsafe.Pointer(&address))[:])
}

func (c *channel) closePipe() {
	syscall.Close(int(c.h.FD))
	syscall.Close(c.write)
}

// destroyCompChannel is ibv_destroy_comp_channel.
func destroyCompChannel(h *abi.CompChannel) int32 {
	c := channels.find(h)
	if c == nil {
		return errEINVAL
	}
	if v := c.ctx.dev.consult(verbDestroyCompChannel, newRequest()); v.done {
		return v.ret
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.users > 0 {
		return errEBUSY
	}
	if !channels.remove(h) {
		return errEINVAL
	}
	c.ctx.users--
	c.closePipe()
	freeObject(h)
	return 0
}

// getCQEvent is ibv_get_cq_event. It blocks, unless the caller made the
// descriptor non-blocking.
func getCQEvent(h *abi.CompChannel, out **abi.CQ, cqContext *uintptr) int32 {
	c := channels.find(h)
	if c == nil || out == nil || cqContext == nil {
		return verbGetCQEvent.fail(errEINVAL)
	}
	if v := c.ctx.dev.consult(verbGetCQEvent, newRequest()); v.done {
		return v.ret
	}
	var address uintptr
	n, err := syscall.Read(int(h.FD), (*[unsafe.Sizeof(address)]byte)(unsafe.Pointer(&address))[:])
	if errno, ok := err.(syscall.Errno); ok {
		return verbGetCQEvent.fail(int32(errno))
	}
	if n != int(unsafe.Sizeof(address)) {
		return verbGetCQEvent.fail(errEINVAL)
	}
	cq := abi.At[abi.CQ](address)
	q := cqs.find(cq)
	if q == nil {
		return verbGetCQEvent.fail(errEINVAL)
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	q.events++
	*out, *cqContext = cq, cq.CQContext
	return 0
}

// ackCQEvents is ibv_ack_cq_events.
func ackCQEvents(h *abi.CQ, n uint32) {
	c := cqs.find(h)
	if c == nil {
		return
	}
	c.consult(verbAckCQEvents)
	c.p.mu.Lock()
	c.acked += n
	h.CompEventsCompleted = c.acked
	c.p.mu.Unlock()
	c.p.acked.Broadcast()
}
