//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"encoding/binary"
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/internal/abi"
)

// maxSGEs bounds a scatter list, whatever a queue pair was granted.
const maxSGEs = 64

// postSend is the post_send entry of struct ibv_context_ops.
func postSend(h *abi.QP, wr *rdma.IbvSendWR, bad **rdma.IbvSendWR) int32 {
	q := qps.find(h)
	if q == nil {
		return errEINVAL
	}
	for ; wr != nil; wr = wr.Next {
		if errno := q.postOne(wr); errno != 0 {
			if bad != nil {
				*bad = wr
			}
			return errno
		}
	}
	return 0
}

// postRecv is the post_recv entry of struct ibv_context_ops.
func postRecv(h *abi.QP, wr *rdma.IbvRecvWR, bad **rdma.IbvRecvWR) int32 {
	q := qps.find(h)
	if q == nil {
		return errEINVAL
	}
	for ; wr != nil; wr = wr.Next {
		if errno := q.receiveOne(wr); errno != 0 {
			if bad != nil {
				*bad = wr
			}
			return errno
		}
	}
	return 0
}

// sges is the scatter list of a work request; ok is false beyond the limit.
func sges(list *rdma.IbvSGE, n int32, limit uint32) (s []rdma.IbvSGE, ok bool) {
	if n < 0 || n > maxSGEs || uint32(n) > limit || list == nil && n > 0 {
		return nil, false
	}
	return unsafe.Slice(list, n), true
}

func total(s []rdma.IbvSGE) int64 {
	n := int64(0)
	for _, e := range s {
		n += int64(e.Length)
	}
	return n
}

// receiveOne posts one receive.
func (q *queuePair) receiveOne(wr *rdma.IbvRecvWR) int32 {
	list, ok := sges(wr.SGList, wr.NumSGE, q.cap.MaxRecvSGE)
	if !ok {
		return errEINVAL
	}
	v := q.consult(verbPostRecv, func(r *request) {
		r.size, r.outstanding, r.opcode = total(list), int64(len(q.posted))+1, opRecv
	})
	if v.done {
		return v.ret
	}
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	switch {
	case q.state == qpsReset:
		return errEINVAL
	case q.state == qpsErr:
		q.recv.push(completion{of: q, wc: rdma.IbvWC{WRID: wr.WRID, Status: wcFlush, Opcode: opRecv, QPNum: q.num}})
		return 0
	case len(q.posted) >= int(q.cap.MaxRecvWR):
		return errENOMEM
	}
	q.posted = append(q.posted, receive{id: wr.WRID, sges: append([]rdma.IbvSGE(nil), list...), rule: v.rule})
	for len(q.waiting) > 0 && len(q.posted) > 0 {
		m := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.arrive(m)
	}
	return 0
}

// message is a send on its way.
type message struct {
	from      *queuePair // nil: from the other end of the wire
	srcQPN    uint32
	id        uint64
	opcode    int32
	signaled  bool
	solicited bool
	imm       uint32
	data      []byte
	remote    uint64
	rkey      uint32
	effects   effects
	again     bool // it was there before
}

// postOne posts one send and plays what comes of it.
func (q *queuePair) postOne(wr *rdma.IbvSendWR) int32 {
	list, ok := sges(wr.SGList, wr.NumSGE, q.cap.MaxSendSGE)
	if !ok {
		return errEINVAL
	}
	v := q.consult(verbPostSend, func(r *request) {
		r.size, r.outstanding, r.opcode = total(list), int64(q.inSend)+1, wr.Opcode
	})
	if v.done {
		return v.ret
	}
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	switch {
	case q.state == qpsReset || q.state == qpsInit || q.state == qpsRTR:
		return errEINVAL
	case q.inSend >= int(q.cap.MaxSendWR):
		return errENOMEM
	case !q.canPost(wr.Opcode):
		return errEINVAL
	case wr.SendFlags&sendInline != 0 && total(list) > int64(q.cap.MaxInlineData):
		return errEINVAL
	}
	m := &message{
		from: q, srcQPN: q.num, id: wr.WRID, opcode: wr.Opcode, imm: wr.ImmData,
		signaled: q.sigAll || wr.SendFlags&sendSignaled != 0, solicited: wr.SendFlags&sendSolicited != 0,
	}
	if wr.Opcode == opWrite {
		m.remote, m.rkey = binary.LittleEndian.Uint64(wr.WR[0:]), binary.LittleEndian.Uint32(wr.WR[8:])
	}
	q.inSend++
	if q.state != qpsRTS && q.state != qpsSQD {
		q.complete(m, wcFlush)
		return 0
	}
	status := q.gather(m, list, wr.SendFlags&sendInline != 0)
	if status != wcSuccess {
		q.complete(m, status)
		return 0
	}
	q.launch(m, v.rule)
	return 0
}

// canPost says which operations are played. A datagram needs an address handle,
// which this binding cannot make; reads and atomics are not played.
func (q *queuePair) canPost(op int32) bool {
	if q.qpType == qptUD {
		return false
	}
	return op == opSend || op == opSendWithImm || op == opWrite
}

// gather copies the payload out of the caller's regions. p.mu is held.
func (q *queuePair) gather(m *message, list []rdma.IbvSGE, inline bool) int32 {
	port := q.dev().port(int(q.attr.PortNum))
	if port == nil || uint64(total(list)) > portFields.get(port.facts.image, "max_msg_sz") {
		return wcLocLen
	}
	m.data = make([]byte, 0, total(list))
	for _, e := range list {
		if !inline && !q.pd.covers(byLKey, e.LKey, e.Addr, uint64(e.Length), 0) {
			return wcLocProt
		}
		m.data = append(m.data, bytesAt(e.Addr, int(e.Length))...)
	}
	return wcSuccess
}

// wcOpcodes turns a send's opcode into its completion's.
var wcOpcodes = map[int32]int32{opSend: 0, opSendWithImm: 0, opWrite: 1}

// complete ends a send. An error breaks the queue pair, as in the standard: RC
// as a whole, UC its send side. p.mu is held.
func (q *queuePair) complete(m *message, status int32) {
	if status == wcSuccess && !m.signaled {
		q.unsignaled++
		return
	}
	wc := rdma.IbvWC{WRID: m.id, Status: status, Opcode: wcOpcodes[m.opcode], ByteLen: uint32(len(m.data)), QPNum: q.num}
	e := completion{wc: wc, of: q, slots: 1 + q.unsignaled}
	q.unsignaled = 0
	m.effects.push(q.send, e)
	if status == wcSuccess || status == wcFlush || q.state != qpsRTS && q.state != qpsSQD {
		return
	}
	if q.qpType == qptRC {
		q.toError(qpsErr)
	} else {
		q.toError(qpsSQE)
	}
}

// done tells the sender how its message fared.
func (m *message) done(status int32) {
	if m.from == nil {
		return
	}
	if m.from.qpType != qptRC && status != wcFlush && status != wcSuccess {
		status = wcSuccess // an unreliable sender never learns
	}
	m.from.complete(m, status)
}
