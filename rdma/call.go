package rdma

import "rdmaprobe/rdma/internal/abi"

// maxArgs is the most arguments a verb takes: _ibv_query_gid_ex.
const maxArgs = 6

// notCalled is the int result of a verb that was not called.
const notCalled = -1

// call calls the exported symbol of v, which the library has. errno is that of
// this call, 0 when C did not set it.
func (l *Library) call(v verb, args ...uintptr) (result uintptr, errno int) {
	if f := l.onCall.Load(); f != nil {
		(*f)(v.String())
	}
	m := l.mark.Load()
	if m != nil {
		m.begin(v)
	}
	result, errno = l.rawCall(l.addr[v], args...)
	if m != nil {
		m.end()
	}
	return result, errno
}

// hot calls an entry of struct ibv_context_ops, which the caller has found not
// to be NULL.
//
//go:uintptrescapes
func (l *Library) hot(v verb, fn, a, b, c uintptr) int {
	m := l.mark.Load()
	if m == nil {
		return int(l.rawHot(fn, a, b, c))
	}
	m.begin(v)
	r := l.rawHot(fn, a, b, c)
	m.end()
	return int(r)
}

// outcome is what one call of an exported symbol gave, and about what.
type outcome struct {
	lib     *Library
	verb    verb
	device  string
	context RDMAContext
	result  uintptr
	errno   int
}

// perform is the path of every exported verb: it refuses a nil subject, finds
// library and symbol, and calls. The context is noted before the call, which may
// free the object that names it.
func perform(v verb, args ...uintptr) (outcome, error) {
	row := &verbTable[v]
	if row.on != noSubject && args[0] == 0 {
		return outcome{}, nilInput(v, subjectNames[row.on]+" handle")
	}
	l, err := Current()
	if err != nil {
		return outcome{}, &ProviderError{Operation: row.name, Failure: FailureSymbolUnavailable, Cause: err}
	}
	if l.addr[v] == 0 || !canCall {
		e := &ProviderError{Operation: row.name, Failure: FailureSymbolUnavailable, platform: l.platform}
		if row.on == onContext {
			e.Device, e.Context, e.ContextOpen = contextDevice(args[0]), args[0], true
		}
		return outcome{}, e
	}
	o := outcome{lib: l, verb: v}
	switch {
	case row.on == onDevice:
		o.device = deviceNameAt(args[0])
	case row.on == onContext:
		o.context = args[0]
	case row.on > onContext:
		o.context = contextOf(args[0])
	}
	if o.context != 0 {
		o.device = contextDevice(o.context)
	}
	o.result, o.errno = l.call(v, args...)
	return o, nil
}

// ptrCall performs a verb that returns a pointer.
//
//go:uintptrescapes
func ptrCall(v verb, args ...uintptr) (uintptr, error) {
	o, err := perform(v, args...)
	if err != nil {
		return 0, err
	}
	return o.pointer()
}

// intCall performs a verb that returns a C int; 0 is success.
//
//go:uintptrescapes
func intCall(v verb, args ...uintptr) (int, error) {
	o, err := perform(v, args...)
	if err != nil {
		return notCalled, err
	}
	r := int(int32(o.result)) // C leaves the upper half of the register undefined
	if class, errno := verbTable[v].fails.read(r, o.errno); class != "" {
		return r, o.failure(class, r, errno)
	}
	return r, nil
}

// voidCall performs a verb that cannot report a failure.
//
//go:uintptrescapes
func voidCall(v verb, args ...uintptr) error {
	_, err := perform(v, args...)
	return err
}

// maxErrno is the largest errno value a kernel returns, MAX_ERRNO in Linux.
// Beyond it a number is no errno: providers on macOS may pass IOKit codes.
const maxErrno = 4095

// read finds in an int result what happened: "" is success. errno is 0 where the
// provider gave none; captured is that of the call.
func (c convention) read(r, captured int) (class FailureClass, errno int) {
	switch {
	case r == 0 || c == failsNever || c == failsNegative && r > 0:
		return "", 0
	case r > 0:
		if r <= maxErrno {
			errno = r
		}
		return FailureProviderStatus, errno
	case r == -1 && c != failsNegative:
		return FailureNegativeProviderReturn, captured
	case c == failsMinusOne && captured != 0:
		return FailureNegativeProviderReturn, captured
	case r < -1 && r >= -maxErrno:
		return FailureNegativeProviderReturn, -r
	}
	return FailureNegativeProviderReturn, 0
}

// contextOf is the context that an object of the provider belongs to: the first
// word of struct ibv_pd, ibv_mr, ibv_cq, ibv_qp and ibv_comp_channel.
func contextOf(object uintptr) RDMAContext {
	if object == 0 || !canCall {
		return 0
	}
	return *abi.At[uintptr](object)
}
