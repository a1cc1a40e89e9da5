package rdma

import (
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// The verbs of this file are inline functions of verbs.h, not symbols: they jump
// through struct ibv_context_ops of the object's context. An entry may be NULL.

// inlineCall is a verb's entry in the ops table of a handle's context, ready to
// be called.
func inlineCall(v verb, handle uintptr) (lib *Library, fn uintptr, err error) {
	row := &verbTable[v]
	if handle == 0 {
		return nil, 0, nilInput(v, 0, subjectNames[row.on]+" handle")
	}
	lib, err = Current()
	if err != nil || !canCall {
		return nil, 0, unavailable(v, handle, err)
	}
	context := contextOf(handle)
	if context == 0 {
		return nil, 0, nilInput(v, 0, "context of the "+subjectNames[row.on])
	}
	if nowhere(context) {
		return nil, 0, invalidPointer(v, "context of the "+subjectNames[row.on], context)
	}
	switch fn = abi.At[abi.Context](context).Ops[row.op]; {
	case fn == 0:
		e := unavailable(v, 0, nil)
		e.Device, e.Context, e.ContextOpen = contextDevice(context), context, true
		return nil, 0, e
	case nowhere(fn):
		e := invalidPointer(v, "entry of ibv_context_ops", fn)
		e.Device, e.Context, e.ContextOpen = contextDevice(context), context, true
		return nil, 0, e
	}
	return lib, fn, nil
}

// inlineResult turns what an inline verb returned into its error. errno is not
// looked at: these verbs are not documented to set it.
func inlineResult(l *Library, v verb, handle uintptr, r int) (int, error) {
	class, errno := verbTable[v].fails.read(r, 0)
	if class == "" {
		return r, nil
	}
	context := contextOf(handle)
	o := outcome{lib: l, verb: v, device: contextDevice(context), context: context}
	return r, o.failure(class, r, errno)
}

// IbvOps tells which of the four inline verbs the provider of an open device
// implements, by their names.
func IbvOps(context RDMAContext) (map[string]bool, error) {
	if context == 0 {
		return nil, &ProviderError{Operation: "ibv_context_ops", Failure: FailureNilInput, Input: "context handle", Cause: ErrNilInput}
	}
	if _, err := Current(); err != nil || !canCall {
		e := unavailable(verbOpenDevice, 0, err)
		e.Operation = "ibv_context_ops"
		return nil, e
	}
	present := map[string]bool{}
	for _, row := range verbTable {
		if row.inline() {
			present[row.name] = !nowhere(abi.At[abi.Context](context).Ops[row.op])
		}
	}
	return present, nil
}

// Ibv_poll_cq takes up to numEntries completions off the queue and returns how
// many. wc is the first of an array of numEntries. A count above numEntries, which
// no provider should give, is an error.
func Ibv_poll_cq(cq RDMACQ, numEntries int, wc *IbvWC) (int, error) {
	if wc == nil {
		return 0, nilInput(verbPollCQ, cq, "work completion pointer")
	}
	l, fn, err := inlineCall(verbPollCQ, cq)
	if err != nil {
		return 0, err
	}
	n := l.hot(verbPollCQ, fn, cq, uintptr(numEntries), uintptr(unsafe.Pointer(wc)))
	if n > numEntries {
		context := contextOf(cq)
		o := outcome{lib: l, verb: verbPollCQ, device: contextDevice(context), context: context}
		return n, o.failure(FailureProviderStatus, n, 0)
	}
	return inlineResult(l, verbPollCQ, cq, n)
}

// IbvReqNotifyCq asks for one event on the queue's channel at the next
// completion; solicitedOnly 1: the next solicited one.
func IbvReqNotifyCq(cq RDMACQ, solicitedOnly int) (int, error) {
	l, fn, err := inlineCall(verbReqNotifyCQ, cq)
	if err != nil {
		return 0, err
	}
	return inlineResult(l, verbReqNotifyCQ, cq, l.hot(verbReqNotifyCQ, fn, cq, uintptr(solicitedOnly), 0))
}

// Ibv_post_send posts a chain of send requests. On failure *badWR is the one that
// was refused; those before it were accepted.
func Ibv_post_send(qp RDMAQP, wr *IbvSendWR, badWR **IbvSendWR) (int, error) {
	if wr == nil || badWR == nil {
		return 0, nilInput(verbPostSend, qp, "work request pointer")
	}
	l, fn, err := inlineCall(verbPostSend, qp)
	if err != nil {
		return 0, err
	}
	r := l.hot(verbPostSend, fn, qp, uintptr(unsafe.Pointer(wr)), uintptr(unsafe.Pointer(badWR)))
	return inlineResult(l, verbPostSend, qp, r)
}

// Ibv_post_recv posts a chain of receive requests, as Ibv_post_send does.
func Ibv_post_recv(qp RDMAQP, wr *IbvRecvWR, badWR **IbvRecvWR) (int, error) {
	if wr == nil || badWR == nil {
		return 0, nilInput(verbPostRecv, qp, "work request pointer")
	}
	l, fn, err := inlineCall(verbPostRecv, qp)
	if err != nil {
		return 0, err
	}
	r := l.hot(verbPostRecv, fn, qp, uintptr(unsafe.Pointer(wr)), uintptr(unsafe.Pointer(badWR)))
	return inlineResult(l, verbPostRecv, qp, r)
}

// IbvCQPoller polls one completion queue without looking anything up and without
// allocating. It is valid as long as the queue. Several goroutines may use it.
type IbvCQPoller struct {
	lib    *Library
	fn, cq uintptr
}

// NewIbvCQPoller looks up what Poll needs. With an error the poller is the zero
// value.
func NewIbvCQPoller(cq RDMACQ) (IbvCQPoller, error) {
	lib, fn, err := inlineCall(verbPollCQ, cq)
	if err != nil {
		return IbvCQPoller{}, err
	}
	return IbvCQPoller{lib: lib, fn: fn, cq: cq}, nil
}

// Poll is Ibv_poll_cq without its checks of the result: the provider's own
// number. The zero value and a nil wc give -1, and the provider is not called.
func (p IbvCQPoller) Poll(numEntries int, wc *IbvWC) int {
	if p.lib == nil || wc == nil {
		return notCalled
	}
	return p.lib.hot(verbPollCQ, p.fn, p.cq, uintptr(numEntries), uintptr(unsafe.Pointer(wc)))
}

// IbvQPPoster posts to one queue pair without looking anything up and without
// allocating. It is valid as long as the queue pair. Several goroutines may use
// it.
type IbvQPPoster struct {
	lib        *Library
	send, recv uintptr
	qp         uintptr
}

// NewIbvQPPoster looks up what PostSend and PostRecv need. With an error the
// poster is the zero value.
func NewIbvQPPoster(qp RDMAQP) (IbvQPPoster, error) {
	lib, send, err := inlineCall(verbPostSend, qp)
	if err != nil {
		return IbvQPPoster{}, err
	}
	_, recv, err := inlineCall(verbPostRecv, qp)
	if err != nil {
		return IbvQPPoster{}, err
	}
	return IbvQPPoster{lib: lib, send: send, recv: recv, qp: qp}, nil
}

// PostRecv is Ibv_post_recv as the provider's own number. The zero value and nil
// pointers give -1, and the provider is not called: it writes through badWR just
// when a post has gone wrong.
func (p IbvQPPoster) PostRecv(wr *IbvRecvWR, badWR **IbvRecvWR) int {
	if p.lib == nil || wr == nil || badWR == nil {
		return notCalled
	}
	return p.lib.hot(verbPostRecv, p.recv, p.qp, uintptr(unsafe.Pointer(wr)), uintptr(unsafe.Pointer(badWR)))
}

// PostSend is Ibv_post_send as the provider's own number, as PostRecv is.
func (p IbvQPPoster) PostSend(wr *IbvSendWR, badWR **IbvSendWR) int {
	if p.lib == nil || wr == nil || badWR == nil {
		return notCalled
	}
	return p.lib.hot(verbPostSend, p.send, p.qp, uintptr(unsafe.Pointer(wr)), uintptr(unsafe.Pointer(badWR)))
}
