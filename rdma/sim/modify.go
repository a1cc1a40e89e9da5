//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/internal/abi"
)

// modifyQP is ibv_modify_qp.
func modifyQP(h *abi.QP, a *rdma.IbvQPAttr, mask int32) int32 {
	q := qps.find(h)
	if q == nil || a == nil {
		return errEINVAL
	}
	v := q.consult(verbModifyQP, func(r *request) {
		if mask&maskState != 0 {
			r.to = a.QPState
		}
		if mask&maskAV != 0 {
			r.sgidIndex, r.isGlobal = int32(a.AHAttr.GRH.SGIDIndex), int32(a.AHAttr.IsGlobal)
		}
		if mask&maskPathMTU != 0 {
			r.pathMTU = a.PathMTU
		}
	})
	if v.done {
		return v.ret
	}
	q.p.mu.Lock()
	defer q.p.mu.Unlock()
	return q.modify(a, mask)
}

// modify checks and takes a step. p.mu is held.
func (q *queuePair) modify(a *rdma.IbvQPAttr, mask int32) int32 {
	next := q.state
	if mask&maskState != 0 {
		next = a.QPState
	}
	if mask&maskCurState != 0 && a.CurQPState != q.state || !stepAllowed(q.qpType, q.state, next, mask) {
		return errEINVAL
	}
	if errno := q.checkAttr(a, mask); errno != 0 {
		return errno
	}
	q.copyAttr(a, mask)
	switch next {
	case qpsReset:
		q.forget()
		q.attr, q.addressed = rdma.IbvQPAttr{}, false
	case qpsErr:
		q.toError(qpsErr)
	}
	q.state, q.h.State = next, next
	return 0
}

// checkAttr checks the values of a step that is allowed. p.mu is held.
func (q *queuePair) checkAttr(a *rdma.IbvQPAttr, mask int32) int32 {
	d := q.dev()
	if mask&maskPort != 0 && d.port(int(a.PortNum)) == nil || mask&maskDestQPN != 0 && a.DestQPNum > 0xffffff {
		return errEINVAL
	}
	if mask&maskPKeyIndex != 0 {
		port := d.port(int(q.attr.PortNum))
		if mask&maskPort != 0 {
			port = d.port(int(a.PortNum))
		}
		if port == nil || uint64(a.PKeyIndex) >= portFields.get(port.facts.image, "pkey_tbl_len") {
			return errEINVAL
		}
	}
	if mask&maskAccess != 0 && a.QPAccessFlags&^(accessLocalWrite|accessRemote) != 0 {
		return errEINVAL
	}
	if mask&maskAV == 0 {
		return 0
	}
	return q.checkAddress(a)
}

// checkAddress checks where a queue pair is to send. The errno of an empty slot
// is that of the kernel's GID table. On Thunderbolt a missing global route was
// reported as ETIMEDOUT. p.mu is held.
func (q *queuePair) checkAddress(a *rdma.IbvQPAttr) int32 {
	d, ah := q.dev(), a.AHAttr
	port := d.port(int(ah.PortNum))
	if port == nil || a.PathMTU < 1 || MTU(a.PathMTU) > port.facts.ActiveMTU {
		return errEINVAL
	}
	if ah.IsGlobal == 0 {
		switch {
		case d.thunderbolt():
			return q.p.etimedout
		case port.facts.LinkLayer == layerEthernet:
			return errEINVAL
		}
		return 0
	}
	slot, ok := port.slot(int(ah.GRH.SGIDIndex))
	switch {
	case !ok || ah.GRH.DGID == rdma.IbvGID{}:
		return errEINVAL
	case slot == nil:
		return q.p.enodata
	}
	return 0
}

// copyAttr keeps the attributes that mask names.
func (q *queuePair) copyAttr(a *rdma.IbvQPAttr, mask int32) {
	to := &q.attr
	for _, f := range []struct {
		bit  int32
		take func()
	}{
		{maskAccess, func() { to.QPAccessFlags = a.QPAccessFlags }},
		{maskPKeyIndex, func() { to.PKeyIndex = a.PKeyIndex }},
		{maskPort, func() { to.PortNum = a.PortNum }},
		{maskQKey, func() { to.QKey = a.QKey }},
		{maskAV, func() { to.AHAttr, q.addressed = a.AHAttr, true }},
		{maskPathMTU, func() { to.PathMTU = a.PathMTU }},
		{maskTimeout, func() { to.Timeout = a.Timeout }},
		{maskRetryCnt, func() { to.RetryCnt = a.RetryCnt }},
		{maskRNRRetry, func() { to.RNRetry = a.RNRetry }},
		{maskRQPSN, func() { to.RQPSN = a.RQPSN }},
		{maskMaxRDAtomic, func() { to.MaxRDAtomic = a.MaxRDAtomic }},
		{maskAltPath, func() { to.AltAHAttr, to.AltPortNum, to.AltTimeout = a.AltAHAttr, a.AltPortNum, a.AltTimeout }},
		{maskMinRNRTimer, func() { to.MinRNRTimer = a.MinRNRTimer }},
		{maskSQPSN, func() { to.SQPSN = a.SQPSN }},
		{maskMaxDestAtomic, func() { to.MaxDestRDAtomic = a.MaxDestRDAtomic }},
		{maskPathMigState, func() { to.PathMigState = a.PathMigState }},
		{maskDestQPN, func() { to.DestQPNum = a.DestQPNum }},
	} {
		if mask&f.bit != 0 {
			f.take()
		}
	}
}

// toError flushes what was posted: state is ERR, or SQE for the send side alone.
// p.mu is held.
func (q *queuePair) toError(state int32) {
	q.state = state
	q.recall(func(m *message) { q.complete(m, wcFlush) })
	for _, m := range q.stalled {
		q.complete(m, wcFlush)
	}
	q.stalled = nil
	if state != qpsErr {
		return
	}
	for _, r := range q.posted {
		q.recv.push(completion{of: q, wc: rdma.IbvWC{WRID: r.id, Status: wcFlush, Opcode: opRecv, QPNum: q.num}})
	}
	q.posted = nil
	for _, m := range q.waiting {
		m.done(wcRetryExc)
	}
	q.waiting = nil
}

// forget drops everything without completions, as RESET and destruction do. p.mu
// is held.
func (q *queuePair) forget() {
	q.recall(func(*message) {})
	waiting := q.waiting
	q.posted, q.waiting, q.stalled, q.inSend, q.unsignaled = nil, nil, nil, 0, 0
	q.send.drop(q)
	q.recv.drop(q)
	for _, m := range waiting {
		m.done(wcRetryExc)
	}
}

// recall takes back the messages of q that wait elsewhere for a receive. p.mu is
// held.
func (q *queuePair) recall(each func(*message)) {
	for _, other := range q.p.qps {
		kept := other.waiting[:0:0]
		var mine []*message
		for _, m := range other.waiting {
			if m.from == q {
				mine = append(mine, m)
			} else {
				kept = append(kept, m)
			}
		}
		other.waiting = kept
		for _, m := range mine {
			each(m)
		}
	}
}
