//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"fmt"
	"testing"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// wired are two connected ends in this process, of a machine whose calls answer as
// the rules say.
func wired(t *testing.T, calls string) (a, b *wireEnd) {
	t.Helper()
	profile, err := sim.Parse(fmt.Appendf(nil, `{"profile": 1, "id": "t", "host": {"os": "linux"}, "devices": [{"name": "d0",
		"node_guid": "0000:5eff:fe00:5301", "transport": "infiniband", "calls": {%s}, "ports": [{"num": 1, "state": "active",
		"link_layer": "infiniband", "lid": 3}]}]}`, calls), nil)
	must(t, err)
	p, err := sim.New(profile, sim.Options{})
	must(t, err)
	restore := rdma.Use(p.Library())
	t.Cleanup(func() { restore(); p.Close() })
	list, err := rdma.OpenDeviceList()
	must(t, err)
	ctx, err := list.Devices()[0].Open()
	must(t, err)
	pd, err := rdma.IbvAllocPd(ctx)
	must(t, err)
	a, b = newEnd(t, ctx, pd), newEnd(t, ctx, pd)
	connectEnds(t, a, b)
	connectEnds(t, b, a)
	a.speak(pattern.Asks, b.info.Salt)
	b.speak(pattern.Answers, a.info.Salt)
	return a, b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newEnd(t *testing.T, ctx rdma.RDMAContext, pd rdma.RDMAPD) *wireEnd {
	t.Helper()
	cq, err := rdma.IbvCreateCq(ctx, 16, 0, 0, 0)
	must(t, err)
	qp, err := rdma.IbvCreateQpAttr(pd, &rdma.IbvQPInitAttr{
		SendCQ: cq, RecvCQ: cq, QPType: rdma.IBV_QPT_UC, Cap: rdma.IbvQPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	must(t, err)
	s := &session{req: &request{}, failed: map[string]bool{}}
	e, err := s.newWireEnd("uc", qp, cq, pd, 4096)
	must(t, err)
	return e
}

// connectEnds makes e ready to receive from and to send to another end.
func connectEnds(t *testing.T, e, to *wireEnd) {
	t.Helper()
	for _, step := range []struct {
		attr rdma.IbvQPAttr
		mask int
	}{
		{rdma.IbvQPAttr{QPState: rdma.IBV_QPS_INIT, PortNum: 1}, rdma.IBV_QP_PKEY_INDEX | rdma.IBV_QP_PORT | rdma.IBV_QP_ACCESS_FLAGS},
		{rdma.IbvQPAttr{QPState: rdma.IBV_QPS_RTR, PathMTU: rdma.IBV_MTU_1024, DestQPNum: to.info.QPN, AHAttr: rdma.IbvAHAttr{DLID: 3, PortNum: 1}},
			rdma.IBV_QP_AV | rdma.IBV_QP_PATH_MTU | rdma.IBV_QP_DEST_QPN | rdma.IBV_QP_RQ_PSN},
		{rdma.IbvQPAttr{QPState: rdma.IBV_QPS_RTS}, rdma.IBV_QP_SQ_PSN},
	} {
		_, err := rdma.IbvModifyQpAttr(e.qp, &step.attr, step.mask|rdma.IBV_QP_STATE)
		must(t, err)
	}
}

// state is what an end waits for.
func (e *wireEnd) state() string {
	return fmt.Sprintf("sending %v, held %v, posted %v", e.sending, e.held, e.posted)
}

// send sends message seq, with a receive for its answer.
func (e *wireEnd) send(t *testing.T, seq uint64, size int) {
	t.Helper()
	e.out.Fill(e.slotBytes(slotSend)[:size], seq)
	must(t, e.postBoth(slotSend, size, size))
}

// answered is the answer to message seq.
func (e *wireEnd) answered(seq uint64, size int) answer {
	e.out.Fill(e.slotBytes(slotSend)[:size], seq)
	return answer{to: seq, size: size, slot: slotSend, length: size, recvLength: size}
}

// check takes the message that arrived and looks at every byte of it.
func (e *wireEnd) check(t *testing.T, seq uint64, size int) {
	t.Helper()
	if at := e.in.Mismatch(e.slotBytes(e.taken())[:size], seq); at >= 0 {
		t.Fatalf("%d bytes: byte %d of message %d is wrong", size, at, seq)
	}
}

// Both ends answer from within C, message for message, whatever its size, and see
// their own send complete there.
func TestAnswers(t *testing.T) {
	for _, size := range []int{1, 7, 8, 9, 64, 4096} {
		a, b := wired(t, "")
		must(t, b.postRecv(size))
		a.send(t, 1, size)
		if n, err := a.poll(1); n >= 0 || err != nil || a.sending {
			t.Fatalf("%d bytes: the first send: %d, %v, sending %v", size, n, err, a.sending)
		}
		for seq := uint64(1); seq < 20; seq++ {
			n, answered, err := b.pollAnswer(1, b.answered(seq, size))
			if n != size || !answered || err != nil || !b.canAnswer() {
				t.Fatalf("%d bytes: %d, %v, %v, %s", size, n, answered, err, b.state())
			}
			b.check(t, seq, size)
			slot := slotSend
			if seq%2 == 1 {
				slot = slotSend1
			}
			a.out.Fill(a.slotBytes(slot)[:size], seq+1)
			n, answered, err = a.pollAnswer(1, answer{to: seq, size: size, slot: slot, length: size, recvLength: size})
			if n != size || !answered || err != nil || !a.canAnswer() {
				t.Fatalf("%d bytes: %d, %v, %v, %s", size, n, answered, err, a.state())
			}
			a.check(t, seq, size)
		}
		last := b.answered(20, size)
		last.recvLength = 0
		if n, answered, err := b.pollAnswer(1, last); n != size || !answered || err != nil || b.posted || b.sending {
			t.Errorf("%d bytes: the last: %d, %v, %v, %s", size, n, answered, err, b.state())
		}
	}
}

// A message that comes again, into the receive that is posted with the answer, is
// there before the answer has completed: it is kept for the next poll.
func TestAnswerHoldsBackWhatCame(t *testing.T) {
	const size = 64
	a, b := wired(t, `"ibv_poll_cq": [{"repeat_every": 1}]`)
	must(t, b.postRecv(size))
	a.send(t, 1, size)
	n, answered, err := b.pollAnswer(1, b.answered(1, size))
	if n != size || !answered || err != nil || !b.held || b.canAnswer() {
		t.Fatalf("%d, %v, %v, %s", n, answered, err, b.state())
	}
	b.check(t, 1, size)
	if n, err := b.poll(1); n != size || err != nil || b.held || b.posted || !b.sending {
		t.Fatalf("what was kept: %d, %v, %s", n, err, b.state())
	}
	b.check(t, 1, size)
	if n, err := b.poll(1); n != -1 || err != nil || b.sending {
		t.Errorf("the answer's own completion: %d, %v, %s", n, err, b.state())
	}
}

// Whatever else arrives is not answered and nothing is posted; an answer that
// fails says how.
func TestAnswerRefused(t *testing.T) {
	for _, c := range []struct {
		name, calls  string
		size, posted int // bytes of the message, and of the receive that it meets
		to           uint64
		want         string
	}{
		{"another message", ``, 64, 64, 2, ""},
		{"another message, too short for a number", ``, 4, 4, 2, ""},
		{"no receive", `"ibv_post_recv": [{"when": {"after": 2}, "errno": "ENOMEM"}]`, 64, 64, 1, "ibv_post_recv returned 12 for work request 2"},
		{"no send", `"ibv_post_send": [{"when": {"after": 1}, "errno": "ENOMEM"}]`, 64, 64, 1, "ibv_post_send returned 12 for work request 1"},
		{"a failed send", `"ibv_post_send": [{"when": {"after": 1}, "wc_status": "GENERAL_ERR"}]`, 64, 64, 1, "the send completed with status GENERAL_ERR (vendor error 0x0)"},
		{"a failed receive", ``, 64, 32, 1, "the receive completed with status LOC_LEN_ERR (vendor error 0x0)"},
	} {
		a, b := wired(t, c.calls)
		must(t, b.postRecv(c.posted))
		a.send(t, 1, c.size)
		n, answered, err := b.pollAnswer(1, b.answered(c.to, c.size))
		if c.want == "" {
			if n != c.size || answered || err != nil || b.sending || b.posted {
				t.Errorf("%s: %d, %v, %v, %s", c.name, n, answered, err, b.state())
			}
			continue
		}
		if err == nil && b.held { // told by the next poll
			_, err = b.poll(1)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
