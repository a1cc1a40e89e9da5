//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"bytes"

	"rdmaprobe/rdma"
)

// effects is what rules do to one message at one end.
type effects struct {
	status    *wcStatus // instead of what would come
	undeliver bool      // completed, but the bytes are not written
	lost      bool      // vanishes without a trace
	again     bool      // comes once more, into the next receive
	wrong     bool      // arrives with other bytes than were sent
	wrID      *number
	duplicate bool
}

// push adds a completion as the rules want it.
func (f effects) push(c *completionQueue, e completion) {
	if f.wrID != nil {
		e.wc.WRID = f.wrID.bits
	}
	c.push(e)
	if f.duplicate {
		e.slots = 0
		c.push(e)
	}
}

// onMessages reports whether a rule acts on messages.
func (r *activeRule) onMessages() bool {
	return r != nil && (r.WC != nil || r.WCStatus != nil || r.Deliver != nil || r.LoseEvery != nil || r.RepeatEvery != nil || r.WrongEvery != nil)
}

// effectsOn finds what rules do to a message: that of the post verb when it acts
// on messages, else the first of ibv_poll_cq that fits. A rule of ibv_poll_cq
// that names no opcode loses and withholds what arrives, and its status is that
// of sends. p.mu is held.
func (q *queuePair) effectsOn(posted *activeRule, op int32) effects {
	r, polled := posted, false
	if !r.onMessages() {
		request := q.request()
		request.opcode = op
		r, polled = pick(q.dev().rules[verbPollCQ], byMessage, request), true
	}
	if !r.onMessages() {
		return effects{}
	}
	anyOpcode := polled && r.When.Opcode == nil
	arriving := op == opRecv
	f := effects{}
	if r.WCStatus != nil && (!anyOpcode || !arriving) {
		f.status = r.WCStatus
	}
	if !anyOpcode || arriving {
		f.undeliver = r.Deliver != nil && !*r.Deliver
		f.lost = nth(&r.lossy, r.LoseEvery)
		f.again = nth(&r.repeats, r.RepeatEvery)
		f.wrong = nth(&r.wrongs, r.WrongEvery)
	}
	if r.WC != nil {
		f.wrID, f.duplicate = r.WC.WRID, r.WC.Duplicate
	}
	return f
}

// nth counts a message and tells whether it is one of those that are meant.
func nth(counter *int64, every *int) bool {
	if every == nil {
		return false
	}
	*counter++
	return *counter%int64(*every) == 0
}

// damage inverts the last byte of a message. What it was made from stays: it may
// be elsewhere too.
func (m *message) damage() {
	if n := len(m.data); n > 0 {
		m.data = bytes.Clone(m.data)
		m.data[n-1] ^= 0xff
	}
}

// launch sends a message on its way. p.mu is held.
func (q *queuePair) launch(m *message, posted *activeRule) {
	m.effects = q.effectsOn(posted, m.opcode)
	switch {
	case m.effects.status != nil:
		q.complete(m, int32(*m.effects.status))
		return
	case m.effects.lost, m.effects.undeliver:
		q.complete(m, wcSuccess)
		return
	}
	if m.effects.wrong {
		m.damage()
	}
	if !q.portActive() {
		q.stall(m)
		return
	}
	if peer := q.p.peerQPs[q.attr.DestQPNum]; peer != nil {
		peer.receive(q, m)
		return
	}
	to := q.p.qps[q.attr.DestQPNum]
	if to == nil || !to.expects(q) {
		q.stall(m)
		return
	}
	if m.opcode == opWrite {
		m.done(to.takeWrite(m))
		return
	}
	to.arrive(m)
}

// stall ends a message that reaches nobody. On Thunderbolt it never completes:
// a send waits for the credit of a receive at the other end. p.mu is held.
func (q *queuePair) stall(m *message) {
	if q.dev().thunderbolt() {
		q.stalled = append(q.stalled, m)
		return
	}
	m.done(wcRetryExc)
}

func (q *queuePair) portActive() bool {
	port := q.dev().port(int(q.attr.PortNum))
	return port != nil && port.active()
}

// expects reports whether q is connected to from: same type, each the other's
// destination, addresses that meet, and for RC the agreed sequence number.
func (q *queuePair) expects(from *queuePair) bool {
	port := q.dev().port(int(q.attr.PortNum))
	if port == nil || q.qpType != from.qpType || q.state != qpsRTR && q.state != qpsRTS && q.state != qpsSQD || q.attr.DestQPNum != from.num {
		return false
	}
	if q.qpType == qptRC && q.attr.RQPSN != from.attr.SQPSN {
		return false
	}
	return from.reaches(port.facts.GIDs, port.facts.LID, port.facts.ActiveMTU)
}

// reaches reports whether the address of q leads to an end with these GIDs, and
// its packets fit there. RoCE v1 and v2 do not understand each other.
func (q *queuePair) reaches(gids []GIDSlot, lid uint16, mtu MTU) bool {
	if MTU(q.attr.PathMTU) > mtu {
		return false
	}
	ah := q.attr.AHAttr
	if ah.IsGlobal == 0 {
		return ah.DLID == lid
	}
	slot, _ := q.dev().port(int(ah.PortNum)).slot(int(ah.GRH.SGIDIndex))
	return slot != nil && holds(gids, ah.GRH.DGID, slot.Type)
}

// holds reports whether a slot holds gid as a type that want can talk to. Where
// a type is none, it is no hindrance.
func holds(slots []GIDSlot, gid rdma.IbvGID, want GIDType) bool {
	for _, s := range slots {
		if rdma.IbvGID(s.GID) == gid && (s.Type == want || s.Type == 0 || want == 0) {
			return true
		}
	}
	return false
}

// maxWaiting bounds what waits for a receive at one queue pair.
const maxWaiting = 8192

// arrive takes a message into the next receive. Without one a reliable sender
// tries again, and Thunderbolt holds it back until there is credit; any other
// unreliable message is lost. p.mu is held.
func (q *queuePair) arrive(m *message) {
	if q.state != qpsRTR && q.state != qpsRTS && q.state != qpsSQD {
		m.done(wcRetryExc)
		return
	}
	if len(q.posted) == 0 {
		patient := q.dev().thunderbolt() || q.qpType == qptRC && (m.from == nil || m.from.attr.RNRetry == 7)
		if patient && len(q.waiting) < maxWaiting {
			q.waiting = append(q.waiting, m)
			return
		}
		m.done(wcRNRRetryExc)
		return
	}
	r := q.posted[0]
	f := q.effectsOn(r.rule, opRecv)
	if f.lost {
		m.done(wcSuccess)
		return
	}
	if f.again && !m.again && len(q.waiting) < maxWaiting {
		copied := *m
		copied.from, copied.again = nil, true
		q.waiting = append(q.waiting, &copied)
	}
	if f.wrong {
		m.damage()
	}
	q.posted = q.posted[1:]
	here, there := q.scatter(m, r, f)
	wc := rdma.IbvWC{WRID: r.id, Status: here, Opcode: opRecv, ByteLen: uint32(len(m.data)), QPNum: q.num, SrcQP: m.srcQPN}
	if m.opcode == opSendWithImm {
		wc.ImmData, wc.WCFlags = m.imm, wcWithImm
	}
	if q.qpType != qptUD {
		wc.SrcQP = 0 // only datagrams say where they come from
	}
	f.push(q.recv, completion{wc: wc, of: q, solicited: m.solicited})
	if here != wcSuccess {
		q.toError(qpsErr)
	}
	m.done(there)
}

// frame is the unit of a Thunderbolt queue: TN3205 wants a receive of as many
// frames as the message has.
const frame = 4096

func frames(n int64) int64 { return (n + frame - 1) / frame }

// scatter writes a message into a receive. It returns the status of the receive
// and that of the sender.
func (q *queuePair) scatter(m *message, r receive, f effects) (here, there int32) {
	if f.status != nil {
		return int32(*f.status), wcSuccess
	}
	room, size := total(r.sges), int64(len(m.data))
	if size > room || q.dev().thunderbolt() && frames(size) != frames(room) {
		return wcLocLen, wcRemInvReq
	}
	left := m.data
	for _, e := range r.sges {
		if !q.pd.covers(byLKey, e.LKey, e.Addr, uint64(e.Length), accessLocalWrite) {
			return wcLocProt, wcRemOp
		}
		n := min(len(left), int(e.Length))
		if !f.undeliver {
			copy(bytesAt(e.Addr, n), left)
		}
		left = left[n:]
	}
	return wcSuccess, wcSuccess
}

// takeWrite plays a remote write into this process. p.mu is held.
func (q *queuePair) takeWrite(m *message) int32 {
	allowed := q.attr.QPAccessFlags&accessRemoteWrite != 0 && m.rkey != 0
	if !allowed || !q.pd.covers(byRKey, m.rkey, m.remote, uint64(len(m.data)), accessRemoteWrite) {
		return wcRemAccess
	}
	copy(bytesAt(m.remote, len(m.data)), m.data)
	return wcSuccess
}
