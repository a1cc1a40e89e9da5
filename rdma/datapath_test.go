//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"errors"
	"testing"
	"unsafe"
)

func TestOpsTable(t *testing.T) {
	f := newFake(t)
	full, null := f.open(t, 0), f.open(t, 2)
	for _, tt := range []struct {
		context RDMAContext
		want    bool
	}{{full.context, true}, {null.context, false}} {
		ops, err := IbvOps(tt.context)
		if err != nil || len(ops) != 4 {
			t.Fatalf("IbvOps = %v, %v", ops, err)
		}
		for name, present := range ops {
			if present != tt.want {
				t.Errorf("%s: %v, want %v", name, present, tt.want)
			}
		}
	}
	wc := at[IbvWC](null, 512)
	for name, call := range map[string]func() (int, error){
		"poll":   func() (int, error) { return Ibv_poll_cq(null.cq, 1, wc) },
		"notify": func() (int, error) { return IbvReqNotifyCq(null.cq, 0) },
		"send":   func() (int, error) { return Ibv_post_send(null.qp, at[IbvSendWR](null, 0), at[*IbvSendWR](null, 256)) },
		"recv":   func() (int, error) { return Ibv_post_recv(null.qp, at[IbvRecvWR](null, 0), at[*IbvRecvWR](null, 256)) },
	} {
		r, err := call()
		var e *ProviderError
		if r != 0 || !errors.Is(err, ErrSymbolUnavailable) || !errors.As(err, &e) || e.Context != null.context {
			t.Errorf("%s through a NULL entry = %d, %v", name, r, err)
		}
	}
	if p, err := NewIbvCQPoller(null.cq); !errors.Is(err, ErrSymbolUnavailable) || p.Poll(1, wc) != -1 {
		t.Errorf("a poller on a NULL entry: %v", err)
	}
	if p, err := NewIbvQPPoster(null.qp); !errors.Is(err, ErrSymbolUnavailable) ||
		p.PostSend(at[IbvSendWR](null, 0), at[*IbvSendWR](null, 256)) != -1 {
		t.Errorf("a poster on a NULL entry: %v", err)
	}
}

func TestZeroValuesAreSafe(t *testing.T) {
	var poller IbvCQPoller
	var poster IbvQPPoster
	var bad *IbvSendWR
	var rbad *IbvRecvWR
	if poller.Poll(1, new(IbvWC)) != -1 || poster.PostSend(new(IbvSendWR), &bad) != -1 || poster.PostRecv(new(IbvRecvWR), &rbad) != -1 {
		t.Error("a zero value called something")
	}
	f := newFake(t)
	o := f.open(t, 0)
	poller, err := NewIbvCQPoller(o.cq)
	check(t, err)
	poster, err = NewIbvQPPoster(o.qp)
	check(t, err)
	if poller.Poll(1, nil) != -1 || poster.PostSend(nil, &bad) != -1 || poster.PostSend(new(IbvSendWR), nil) != -1 ||
		poster.PostRecv(nil, &rbad) != -1 || poster.PostRecv(new(IbvRecvWR), nil) != -1 {
		t.Error("a nil pointer was passed on")
	}
}

func TestPoll(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	wc := at[IbvWC](o, 512)
	n, err := Ibv_poll_cq(o.cq, 4, wc)
	if n != 1 || err != nil || wc.WRID != 0x1122334455667788 || wc.Status != IBV_WC_RETRY_EXC_ERR {
		t.Errorf("poll = %d, %v, %+v", n, err, *wc)
	}
	if n, err := Ibv_poll_cq(o.cq, 0, wc); n != 0 || err != nil {
		t.Errorf("poll for 0 = %d, %v", n, err)
	}
	f.script("ibv_poll_cq", 5, 0)
	if n, err := Ibv_poll_cq(o.cq, 4, wc); n != 5 || !errors.Is(err, ErrProviderStatus) {
		t.Errorf("5 completions for 4 places = %d, %v", n, err)
	}
	poller, err := NewIbvCQPoller(o.cq)
	check(t, err)
	f.script("ibv_poll_cq", -12, 0)
	if n := poller.Poll(4, wc); n != -12 {
		t.Errorf("Poll = %d, want the provider's -12", n)
	}
}

func TestPostReportsTheRefusedRequest(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	first, second, bad := at[IbvSendWR](o, 0), at[IbvSendWR](o, 128), at[*IbvSendWR](o, 256)
	first.Next, second.WRID = second, 0xbad
	r, err := Ibv_post_send(o.qp, first, bad)
	var e *ProviderError
	if r != 12 || !errors.As(err, &e) || e.Errno != 12 || *bad != second {
		t.Errorf("post = %d, %v, bad %p, want 12 and %p", r, err, *bad, second)
	}
	second.WRID = 1
	if r, err := Ibv_post_send(o.qp, first, bad); r != 0 || err != nil {
		t.Errorf("post = %d, %v", r, err)
	}
	recv, rbad := at[IbvRecvWR](o, 1024), at[*IbvRecvWR](o, 2048)
	poster, err := NewIbvQPPoster(o.qp)
	check(t, err)
	if r := poster.PostRecv(recv, rbad); r != 0 {
		t.Errorf("PostRecv = %d", r)
	}
	recv.WRID = 0xbad
	f.script("ibv_post_recv", -12, 0)
	if r := poster.PostRecv(recv, rbad); r != -12 || *rbad != recv {
		t.Errorf("PostRecv = %d, bad %p", r, *rbad)
	}
}

func TestHotCallsDoNotAllocate(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	poller, err := NewIbvCQPoller(o.cq)
	check(t, err)
	poster, err := NewIbvQPPoster(o.qp)
	check(t, err)
	wc := at[IbvWC](o, 512)
	send, sbad := at[IbvSendWR](o, 0), at[*IbvSendWR](o, 256)
	recv, rbad := at[IbvRecvWR](o, 1024), at[*IbvRecvWR](o, 2048)
	turn, err := NewIbvTurn(o.qp, o.cq)
	check(t, err)
	completions := unsafe.Slice(wc, 1)
	awaited, answer, _, _ := awaiting(t, f)
	for name, call := range map[string]func(){
		"Turn": func() {
			turn.Run(&IbvTurnWork{Recv: recv, BadRecv: rbad, Send: send, BadSend: sbad, WC: completions, Polls: 1})
		},
		"Turn that answers": func() { awaited.Run(answer) },
		"Poll":              func() { poller.Poll(16, wc) },
		"PostSend":          func() { poster.PostSend(send, sbad) },
		"PostRecv":          func() { poster.PostRecv(recv, rbad) },
		"Ibv_poll_cq":       func() { Ibv_poll_cq(o.cq, 16, wc) },
		"Ibv_post_send":     func() { Ibv_post_send(o.qp, send, sbad) },
		"Ibv_post_recv":     func() { Ibv_post_recv(o.qp, recv, rbad) },
	} {
		if n := testing.AllocsPerRun(1000, call); n != 0 {
			t.Errorf("%s allocates %v times a call", name, n)
		}
	}
}

func BenchmarkPoll(b *testing.B) {
	f := newFake(b)
	o := f.open(b, 0)
	poller, err := NewIbvCQPoller(o.cq)
	check(b, err)
	wc := at[IbvWC](o, 512)
	f.script("ibv_poll_cq", 0, 0)
	b.ReportAllocs()
	for b.Loop() {
		poller.Poll(16, wc)
	}
}

func BenchmarkPostSend(b *testing.B) {
	f := newFake(b)
	o := f.open(b, 0)
	poster, err := NewIbvQPPoster(o.qp)
	check(b, err)
	wr, bad := at[IbvSendWR](o, 0), at[*IbvSendWR](o, 256)
	b.ReportAllocs()
	for b.Loop() {
		poster.PostSend(wr, bad)
	}
}

func BenchmarkPostRecv(b *testing.B) {
	f := newFake(b)
	o := f.open(b, 0)
	poster, err := NewIbvQPPoster(o.qp)
	check(b, err)
	wr, bad := at[IbvRecvWR](o, 0), at[*IbvRecvWR](o, 64)
	b.ReportAllocs()
	for b.Loop() {
		poster.PostRecv(wr, bad)
	}
}

func BenchmarkQueryPort(b *testing.B) {
	f := newFake(b)
	o := f.open(b, 0)
	attr := new(IbvPortAttr)
	b.ReportAllocs()
	for b.Loop() {
		IbvQueryPortAttr(o.context, 1, attr)
	}
}
