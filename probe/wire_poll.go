package probe

import (
	"fmt"
	"unsafe"

	"rdmaprobe/rdma"
)

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
// before has completed, and so nothing is held back either.
func (e *wireEnd) canAnswer() bool { return e.posted && !e.sending }

// pollAnswer, which canAnswer allows, polls, and posts the answer in the same excursion to the provider if
// what came begins as the awaited message does. The rest of it is not looked at.
func (e *wireEnd) pollAnswer(times int, a answer) (received int, answered bool, err error) {
	w := e.work
	begin, mask := e.in.Begin(a.to, a.size)
	work := rdma.IbvTurnWork{Send: &w.send, BadSend: &w.badSend, WC: w.wc[:], Polls: times, Await: &rdma.IbvTurnAwait{
		WRID: e.recvs << 1, Length: uint32(a.size), Word: begin, Mask: mask,
		At:   (*uint64)(unsafe.Pointer(&e.slotBytes(slotRecv0 + e.slot)[0])), // a slot has 64 bytes or more
		Then: pollsForSend,
	}}
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
	if n < 0 {
		return e.pollError(n)
	}
	if n != 1 {
		return &impossibleError{fmt.Sprintf("ibv_poll_cq returned %d for 1 entry", n), n}
	}
	e.sending = false
	e.sends++
	return nil
}

// pollError is a queue that cannot be polled.
func (e *wireEnd) pollError(rc int) error { return &callError{pollCall, rc, e.sends + e.recvs} }

// complete takes n completions that a poll has brought. One that belongs to nothing
// is an error: whatever it is evidence of, it is not of this message.
func (e *wireEnd) complete(n int) (received int, err error) {
	received = -1
	if n == 0 {
		return received, nil
	}
	if n < 0 {
		return received, e.pollError(n)
	}
	if n > len(e.work.wc) {
		return received, &impossibleError{fmt.Sprintf("ibv_poll_cq returned %d for %d entries", n, len(e.work.wc)), n}
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
				return -1, &impossibleError{text: fmt.Sprintf("a completion of %d bytes for a receive of %d", wc.ByteLen, e.size)}
			}
		default:
			return received, &impossibleError{text: fmt.Sprintf("a completion with wr_id %#x, which nothing outstanding has", wc.WRID)}
		}
	}
	return received, nil
}
