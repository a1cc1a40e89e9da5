package rdma

import "unsafe"

// turnByCalls does b's work call by call, for where no assembly does it in one
// excursion. Both are held to the same.
func (l *Library) turnByCalls(b *turnBlock) {
	if b.wantAt == nil {
		l.turnPosts(b)
	}
	l.turnPolls(b)
	if !b.awaited() {
		return
	}
	b.answered, b.pollValue, b.polls = 1, 0, b.then
	if b.then > 0 { // else there may be no second completion to point to
		b.entries, b.wc = 1, (*IbvWC)(unsafe.Add(unsafe.Pointer(b.wc), unsafe.Sizeof(*b.wc)))
	}
	l.turnPosts(b)
	l.turnPolls(b)
}

// awaited tells whether what is awaited is what came.
func (b *turnBlock) awaited() bool {
	return b.wantAt != nil && int32(b.pollValue) == 1 && b.wc.WRID == b.wantID && b.wc.Status == IBV_WC_SUCCESS &&
		uintptr(b.wc.ByteLen) == b.wantLength && *b.wantAt&b.wantMask == b.wantWord
}

// turnPosts posts b's receive, then its send.
func (l *Library) turnPosts(b *turnBlock) {
	if b.recvFn != 0 {
		b.recvValue = uintptr(l.hot(verbPostRecv, b.recvFn, b.qp, uintptr(unsafe.Pointer(b.recv)), uintptr(unsafe.Pointer(b.badRecv))))
	}
	if int32(b.recvValue) == 0 && b.sendFn != 0 {
		b.sendValue = uintptr(l.hot(verbPostSend, b.sendFn, b.qp, uintptr(unsafe.Pointer(b.send)), uintptr(unsafe.Pointer(b.badSend))))
	}
}

// turnPolls polls until something comes, unless a post was refused.
func (l *Library) turnPolls(b *turnBlock) {
	if int32(b.recvValue) != 0 || int32(b.sendValue) != 0 {
		return
	}
	for ; b.polls > 0 && int32(b.pollValue) == 0; b.polls-- {
		b.pollValue = uintptr(l.hot(verbPollCQ, b.pollFn, b.cq, b.entries, uintptr(unsafe.Pointer(b.wc))))
	}
}
