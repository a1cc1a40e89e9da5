package rdma

import "sync"

// maxArgs is the most arguments a verb takes: _ibv_query_gid_ex.
const maxArgs = 6

// notCalled is what a poller, poster or turn gives for what it did not call. A verb
// that was not called gives 0 beside its error.
const notCalled = -1

// control keeps the control verbs of Mac libraries apart, in the whole process:
// public reports say that calls which overlap wedge Apple's provider, and then its
// port until the next restart. It is not held for the data path, nor for the two
// verbs of events: one waits for what another goroutine does, and that may be a
// control verb; a queue is not destroyed before its events are acknowledged.
//
// Who waits here for a call that never returns waits as long as it does: the next
// call into a wedged provider would be no better off. Nothing that has to go on then
// may call a verb; a process can always exit.
var control sync.Mutex

// alone tells whether v must not overlap another control verb.
func (l *Library) alone(v verb) bool {
	return l.platform == PlatformDarwin && !verbTable[v].event
}

// call calls the exported symbol of v, which the library has. errno is that of
// this call, 0 when C did not set it.
func (l *Library) call(v verb, args ...uintptr) (result uintptr, errno int) {
	if l.alone(v) {
		control.Lock()
		defer control.Unlock()
	}
	if f := l.onCall.Load(); f != nil { // after waiting: what is announced is what is in flight
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
		return outcome{}, nilInput(v, 0, subjectNames[row.on]+" handle")
	}
	l, err := Current()
	if err != nil || l.addr[v] == 0 || !canCall {
		handle := uintptr(0)
		if row.on != noSubject {
			handle = args[0]
		}
		return outcome{}, unavailable(v, handle, err)
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
	if row.frees {
		objectContexts.Delete(args[0]) // before: another object may get its place at once
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
	object, err := o.pointer()
	if err == nil && o.context != 0 {
		objectContexts.Store(object, o.context)
	}
	return object, err
}

// intCall performs a verb that returns a C int; 0 is success.
//
//go:uintptrescapes
func intCall(v verb, args ...uintptr) (int, error) {
	o, err := perform(v, args...)
	if err != nil {
		return 0, err
	}
	r := int(int32(o.result)) // C leaves the upper half of the register undefined
	if class, errno := verbTable[v].fails.read(r, o.errno); class != "" {
		if verbTable[v].frees {
			objectContexts.Store(args[0], o.context) // it is still there
		}
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
