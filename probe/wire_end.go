package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/rdma"
)

// wireEnd is one end of a connection in this process: a queue pair, its
// completion queue and registered memory. One message is in flight at a time.
// Work requests and completions lie in mapped memory, since C reads them.
type wireEnd struct {
	t      qpType
	qp     rdma.RDMAQP
	poster rdma.IbvQPPoster
	turn   rdma.IbvTurn
	lkey   uint32 // of data's registration
	data   []byte // send slot, two receive slots, write target, second send slot
	size   int    // bytes of a slot
	work   *workArea
	info   endpoint
	gbps   float64 // speed of the port's link; 0: not known

	sending bool   // a send has not completed
	held    bool   // a completion has been taken off the queue and not been looked at: wc[1]
	posted  bool   // a receive is posted
	length  int    // of that receive, or of the last one
	slot    int    // which receive slot is next
	sends   uint64 // of work requests, in order
	recvs   uint64
}

// workArea is what C reads and writes.
type workArea struct {
	send    rdma.IbvSendWR
	sendSGE rdma.IbvSGE
	recv    rdma.IbvRecvWR
	recvSGE rdma.IbvSGE
	badSend *rdma.IbvSendWR
	badRecv *rdma.IbvRecvWR
	wc      [4]rdma.IbvWC
}

// Work request ids say what completed: receives are even, sends are odd.
const sendID = 1

// slots of wireEnd.data.
const (
	slotSend = iota
	slotRecv0
	slotRecv1
	slotTarget
	slotSend1 // for the message after the one that is on its way
	slotCount
)

// newWireEnd registers memory for messages of up to size bytes.
func (s *session) newWireEnd(t qpType, qp rdma.RDMAQP, cq rdma.RDMACQ, pd rdma.RDMAPD, size int) (*wireEnd, error) {
	e := &wireEnd{t: t, qp: qp, size: (size + 63) &^ 63}
	var err error
	if e.poster, err = rdma.NewIbvQPPoster(qp); err != nil {
		return nil, err
	}
	if e.turn, err = rdma.NewIbvTurn(qp, cq); err != nil {
		return nil, err
	}
	work, err := rdma.MapBuffer(int(unsafe.Sizeof(workArea{})))
	if err != nil {
		return nil, err
	}
	e.work = (*workArea)(unsafe.Pointer(&work.Bytes()[0]))
	buf, err := rdma.MapBuffer(slotCount * e.size)
	if err != nil {
		return nil, err
	}
	e.data = buf.Bytes()
	mr, err := rdma.IbvRegMr(pd, buf.Addr(), uintptr(len(e.data)), s.dataAccess())
	if err != nil {
		return nil, err
	}
	e.lkey = rdma.Ibv_mr_lkey(mr)
	s.push("ibv_dereg_mr", func() (int, error) { return rdma.IbvDeregMr(mr) })
	target := e.slotBytes(slotTarget)
	e.info = endpoint{
		QPN: rdma.Ibv_qp_num(qp), PSN: newPSN(), RKey: rdma.Ibv_mr_rkey(mr),
		Addr: uint64(uintptr(unsafe.Pointer(&target[0]))), Length: len(target),
	}
	return e, nil
}

// dataAccess are the access flags of message memory: all that are known to be
// taken. Where registering for remote access failed, local write is enough for
// SEND and RECV; and no other host gets access that was not consented to.
func (s *session) dataAccess() int {
	if s.failed["mr.register"] || s.sealed() && !s.thunderbolt() {
		return rdma.IBV_ACCESS_LOCAL_WRITE
	}
	return fullAccess
}

// sealed tells whether the other end has no business in this end's memory.
func (s *session) sealed() bool {
	d := s.req.Data
	return d != nil && d.Remote != "" && !(d.Server && d.Task == taskWrite)
}

// slotBytes is the memory of a slot.
func (e *wireEnd) slotBytes(slot int) []byte { return e.data[slot*e.size : (slot+1)*e.size] }

// postRecv posts the one receive that the next message needs.
func (e *wireEnd) postRecv(length int) error {
	e.aimRecv(0, length)
	return e.postedRecv(e.poster.PostRecv(&e.work.recv, &e.work.badRecv), length)
}

// aimRecv makes the work request of the next receive, or of the one that is ahead
// of that. The number of the message that was in its memory is struck out, so that
// a receive which completes and brings nothing never looks like that message come
// again.
func (e *wireEnd) aimRecv(ahead, length int) {
	b := e.slotBytes(slotRecv0 + (e.slot+ahead)%2)
	clear(b[:min(length, pattern.NumberSize)])
	w := e.work
	w.recvSGE = rdma.IbvSGE{Addr: uint64(uintptr(unsafe.Pointer(&b[0]))), Length: uint32(length), LKey: e.lkey}
	w.recv = rdma.IbvRecvWR{WRID: (e.recvs + uint64(ahead)) << 1, SGList: &w.recvSGE, NumSGE: 1}
}

func (e *wireEnd) postedRecv(rc, length int) error {
	if rc != 0 {
		return &postError{"ibv_post_recv", rc, e.recvs}
	}
	e.posted, e.length = true, length
	return nil
}

// errLeftover says that a receive for another size cannot be used, nor taken
// back.
var errLeftover = errors.New("a receive of another size is still posted, for an earlier message that has not come")

// fits tells whether messages of a size can go on: a lost message leaves its
// receive behind. On Thunderbolt both ends must post the same number of frames.
func (e *wireEnd) fits(size int, thunderbolt bool) bool {
	if !e.posted || e.length == size {
		return true
	}
	if thunderbolt {
		return frames(e.length) == frames(size)
	}
	return e.length >= size
}

// frames is how many frames of 4096 bytes a Thunderbolt message takes (TN3205).
func frames(size int) int { return (size + 4095) / 4096 }

// postSend sends length bytes of a slot.
func (e *wireEnd) postSend(slot, length int) error {
	e.aimSend(slot, length)
	return e.post()
}

// postBoth posts a receive, then a send, in one excursion to the provider.
func (e *wireEnd) postBoth(slot, length, recvLength int) error {
	e.aimRecv(0, recvLength)
	e.aimSend(slot, length)
	w := e.work
	r := e.turn.Run(&rdma.IbvTurnWork{Recv: &w.recv, BadRecv: &w.badRecv, Send: &w.send, BadSend: &w.badSend})
	if err := e.postedRecv(r.Recv, recvLength); err != nil {
		return err
	}
	return e.postedSend(r.Send)
}

func (e *wireEnd) aimSend(slot, length int) {
	b := e.slotBytes(slot)
	w := e.work
	w.sendSGE = rdma.IbvSGE{Addr: uint64(uintptr(unsafe.Pointer(&b[0]))), Length: uint32(length), LKey: e.lkey}
	w.send = rdma.IbvSendWR{WRID: e.sends<<1 | sendID, SGList: &w.sendSGE, NumSGE: 1, Opcode: rdma.IBV_WR_SEND, SendFlags: rdma.IBV_SEND_SIGNALED}
}

// postWrite writes length bytes of the send slot to the peer's memory.
func (e *wireEnd) postWrite(length int, peer endpoint) error {
	b := e.slotBytes(slotSend)
	w := e.work
	w.sendSGE = rdma.IbvSGE{Addr: uint64(uintptr(unsafe.Pointer(&b[0]))), Length: uint32(length), LKey: e.lkey}
	w.send = rdma.IbvSendWR{WRID: e.sends<<1 | sendID, SGList: &w.sendSGE, NumSGE: 1, Opcode: rdma.IBV_WR_RDMA_WRITE, SendFlags: rdma.IBV_SEND_SIGNALED}
	// union wr: rdma.remote_addr, rdma.rkey
	binary.LittleEndian.PutUint64(w.send.WR[0:], peer.Addr)
	binary.LittleEndian.PutUint32(w.send.WR[8:], peer.RKey)
	return e.post()
}

func (e *wireEnd) post() error { return e.postedSend(e.poster.PostSend(&e.work.send, &e.work.badSend)) }

func (e *wireEnd) postedSend(rc int) error {
	if rc != 0 {
		return &postError{"ibv_post_send", rc, e.sends}
	}
	e.sending = true
	return nil
}

// poll looks up to times times for completions and takes those that come first.
// received is the length of a message that arrived, -1 when none did.
func (e *wireEnd) poll(times int) (received int, err error) {
	if e.held {
		return e.take()
	}
	return e.complete(e.turn.Run(&rdma.IbvTurnWork{WC: e.work.wc[:], Polls: times}).Polled)
}

// take is the poll that finds what is held back.
func (e *wireEnd) take() (received int, err error) {
	e.held = false
	e.work.wc[0] = e.work.wc[1]
	return e.complete(1)
}

// answer is a message to be sent at once when the awaited one has arrived.
type answer struct {
	to           uint64 // number of the awaited message
	size         int    // its bytes
	slot, length int    // what is sent
	recvLength   int    // of the receive that is posted before; 0: none
}

// canAnswer tells whether the queue pair is free for an answer: the one send of
// before has completed.
func (e *wireEnd) canAnswer() bool { return e.posted && !e.sending }

// pollAnswer polls, and posts the answer in the same excursion to the provider if
// what came begins as the awaited message does. The rest of it is not looked at.
func (e *wireEnd) pollAnswer(times int, a answer) (received int, answered bool, err error) {
	if e.held {
		received, err = e.take()
		return received, false, err
	}
	w := e.work
	work := rdma.IbvTurnWork{Send: &w.send, BadSend: &w.badSend, WC: w.wc[:], Polls: times, Await: &rdma.IbvTurnAwait{
		WRID: e.recvs << 1, Length: uint32(a.size), Mask: ^uint64(0), Word: pattern.Word(a.to, 0),
		At:   (*uint64)(unsafe.Pointer(&e.slotBytes(slotRecv0 + e.slot)[0])), // a slot has 64 bytes or more
		Then: pollsForSend,
	}}
	if a.size < pattern.NumberSize {
		work.Await.Mask >>= 8 * (pattern.NumberSize - a.size)
		work.Await.Word &= work.Await.Mask
	}
	e.aimSend(a.slot, a.length)
	if a.recvLength > 0 {
		e.aimRecv(1, a.recvLength)
		work.Recv, work.BadRecv = &w.recv, &w.badRecv
	}
	r := e.turn.Run(&work)
	if received, err = e.complete(r.Polled); err != nil || !r.Answered {
		return received, false, err
	}
	if a.recvLength > 0 {
		if err := e.postedRecv(r.Recv, a.recvLength); err != nil {
			return received, false, err
		}
	}
	if err := e.postedSend(r.Send); err != nil || r.Then == 0 {
		return received, true, err
	}
	return received, true, e.sent(r.Then)
}

// pollsForSend is how often the completion of an answer is looked for before the
// message that it answers: most providers give it at once.
const pollsForSend = 16

// sent takes the completion that followed an answer. One that is not the answer's
// own is held back for the next poll.
func (e *wireEnd) sent(n int) error {
	if wc := &e.work.wc[1]; n == 1 && (wc.WRID != e.sends<<1|sendID || wc.Status != rdma.IBV_WC_SUCCESS) {
		e.held = true
		return nil
	}
	if n != 1 {
		return &impossibleError{fmt.Sprintf("ibv_poll_cq returned %d for 1 entry", n)}
	}
	e.sending = false
	e.sends++
	return nil
}

// complete takes n completions that a poll has brought. One that belongs to nothing
// is an error: whatever it is evidence of, it is not of this message.
func (e *wireEnd) complete(n int) (received int, err error) {
	received = -1
	if n == 0 {
		return received, nil
	}
	if n < 0 || n > len(e.work.wc) {
		return received, &impossibleError{fmt.Sprintf("ibv_poll_cq returned %d for %d entries", n, len(e.work.wc))}
	}
	for i := range n {
		wc := &e.work.wc[i]
		switch {
		case wc.Status != rdma.IBV_WC_SUCCESS:
			return received, &completionError{wc.Status, wc.VendorErr, wc.WRID&sendID != 0}
		case wc.WRID == e.sends<<1|sendID && e.sending:
			e.sending = false
			e.sends++
		case wc.WRID == e.recvs<<1 && e.posted:
			e.posted = false
			e.recvs++
			received = int(wc.ByteLen)
			if received > e.size {
				return -1, &impossibleError{fmt.Sprintf("a completion of %d bytes for a receive of %d", wc.ByteLen, e.size)}
			}
		default:
			return received, &impossibleError{fmt.Sprintf("a completion with wr_id %#x, which nothing outstanding has", wc.WRID)}
		}
	}
	return received, nil
}

// taken is the slot of the message that just arrived; the next receive goes to
// the other one.
func (e *wireEnd) taken() int {
	slot := slotRecv0 + e.slot
	e.slot = 1 - e.slot
	return slot
}

// postError is a refused work request.
type postError struct {
	call string
	rc   int
	nth  uint64
}

func (e *postError) Error() string {
	return fmt.Sprintf("%s returned %d for work request %d", e.call, e.rc, e.nth+1)
}

// maxErrno is the largest errno a kernel returns (MAX_ERRNO of Linux).
const maxErrno = 4095

// errno is what the return says, 0 when it says none: -1 only means failure, and
// a number that is too large is something else.
func (e *postError) errno() int {
	n := max(e.rc, -e.rc)
	if e.rc == -1 || n > maxErrno {
		return 0
	}
	return n
}

// completionError is a work completion with an error status.
type completionError struct {
	status int32
	vendor uint32
	send   bool
}

func (e *completionError) Error() string {
	what := "receive"
	if e.send {
		what = "send"
	}
	return fmt.Sprintf("the %s completed with status %s (vendor error %#x)", what, rdma.WCStatusName(e.status), e.vendor)
}

// impossibleError is an answer that no provider can truthfully give.
type impossibleError struct{ text string }

func (e *impossibleError) Error() string { return e.text }

// failData finishes a data row whose message failed. Nothing about a message is
// ever rejected: a status says what went wrong, not what is supported.
func (r *row) failData(err error) {
	var (
		post *postError
		wc   *completionError
		imp  *impossibleError
	)
	r.o.Detail, r.o.Call, r.o.Reason = err.Error(), "ibv_poll_cq", ProviderError
	switch {
	case errors.As(err, &post):
		r.o.Call, r.o.Return = post.call, &Return{Number: int64(post.rc)}
		if n := post.errno(); n != 0 {
			p := r.s.lib.Platform()
			r.o.Errno = &Errno{Number: n, Name: rdma.ErrnoNameOn(p, n), Platform: p}
			if reason, ok := reasonOfErrno[r.o.Errno.Name]; ok {
				r.o.Reason = reason
			}
		}
	case errors.As(err, &wc):
		r.set("wc_status", rdma.WCStatusName(wc.status))
		r.set("wc_class", string(rdma.ClassifyCompletionStatus(wc.status)))
		if wc.status == rdma.IBV_WC_RETRY_EXC_ERR || wc.status == rdma.IBV_WC_RNR_RETRY_EXC_ERR {
			r.o.Reason = Unreachable
		}
	case errors.As(err, &imp):
		r.o.Reason = Invalid
	}
	if st, down := r.o.Data["port_state"]; down {
		r.o.Reason, r.o.Detail = Unreachable, fmt.Sprintf("the port is %v now, and was active when the probe began; %s", st, r.o.Detail)
	}
	r.o.Level = rdma.CapabilityUnknown
	r.send()
}

// noticePort looks at the port again after messages failed: one that went down
// explains it, and is told in a row of its own.
func (s *session) noticePort(r *row) {
	now := s.now
	defer func() { s.now = now }()
	state := s.begin("port.state", s.req.Port, nil)
	p, err := portOf(s.ctx, s.req.Port)
	if err != nil || p.State == stateActive {
		return
	}
	r.set("port_state", p.State)
	state.o.Call, state.o.Data = "ibv_query_port", map[string]any{"samples": []string{stateActive, p.State}}
	state.unknown(Unstable, fmt.Sprintf("the port was active when the probe began, and is %s after messages failed", p.State))
}

// set puts a value into a row's data.
func (r *row) set(key string, v any) {
	if r.o.Data == nil {
		r.o.Data = map[string]any{}
	}
	r.o.Data[key] = v
}
