package rdma

// maxArgs is the most arguments a verb takes: _ibv_query_gid_ex.
const maxArgs = 6

// call calls the exported symbol of v. ok is false when the library lacks it,
// and nothing was called. errno is that of this call, 0 when C did not set it.
//
//go:uintptrescapes
func (l *Library) call(v verb, args ...uintptr) (result uintptr, errno int, ok bool) {
	fn := l.addr[v]
	if fn == 0 || !canCall {
		return 0, 0, false
	}
	if f := l.onCall.Load(); f != nil {
		(*f)(v.String())
	}
	m := l.mark.Load()
	if m != nil {
		m.begin(v)
	}
	result, errno = l.rawCall(fn, args...)
	if m != nil {
		m.end()
	}
	return result, errno, true
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
