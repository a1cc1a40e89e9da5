package probe

import (
	"encoding/binary"
	"errors"
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
	out    pattern.Sender // of what this end sends
	in     pattern.Key    // of what the other end sends
	gbps   float64        // speed of the port's link; 0: not known

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
	if err := freeable("ibv_dereg_mr"); err != nil {
		return nil, err
	}
	mr, err := rdma.IbvRegMr(pd, buf.Addr(), uintptr(len(e.data)), s.dataAccess())
	if err != nil {
		return nil, err
	}
	e.lkey = rdma.Ibv_mr_lkey(mr)
	s.push("ibv_dereg_mr", func() (int, error) { return rdma.IbvDeregMr(mr) })
	target := e.slotBytes(slotTarget)
	e.info = endpoint{
		QPN: rdma.Ibv_qp_num(qp), PSN: newPSN(), Salt: pattern.NewSalt(), RKey: rdma.Ibv_mr_rkey(mr),
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
		return &callError{"ibv_post_recv", rc, e.recvs}
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
		return &callError{"ibv_post_send", rc, e.sends}
	}
	e.sending = true
	return nil
}

// taken is the slot of the message that just arrived; the next receive goes to
// the other one.
func (e *wireEnd) taken() int {
	slot := slotRecv0 + e.slot
	e.slot = 1 - e.slot
	return slot
}
