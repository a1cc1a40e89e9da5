//go:build bench && cgo && linux

package callcost

import (
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/internal/abi"
)

// objects are one queue of each kind, whose verbs do nothing.
type objects struct {
	poller rdma.IbvCQPoller
	poster rdma.IbvQPPoster
	turn   rdma.IbvTurn
	buffer *rdma.Buffer
}

func at[T any](b *rdma.Buffer, offset int) *T { return (*T)(unsafe.Pointer(&b.Bytes()[offset])) }

func newObjects(tb testing.TB) *objects {
	tb.Helper()
	b, err := rdma.MapBuffer(8192)
	if err != nil {
		tb.Fatal(err)
	}
	context, cq, qp := at[abi.Context](b, 0), at[abi.CQ](b, 2048), at[abi.QP](b, 3072)
	cq.Context, qp.Context = context, context
	for _, op := range []int{abi.OpPollCQ, abi.OpPostSend, abi.OpPostRecv} {
		context.Ops[op] = quiet
	}
	restore := rdma.Use(rdma.NewLibrary(rdma.LibraryConfig{Path: "quiet"}))
	tb.Cleanup(func() { restore(); b.Unmap() })
	o := &objects{buffer: b}
	cqHandle, qpHandle := uintptr(unsafe.Pointer(cq)), uintptr(unsafe.Pointer(qp))
	if o.poller, err = rdma.NewIbvCQPoller(cqHandle); err != nil {
		tb.Fatal(err)
	}
	if o.poster, err = rdma.NewIbvQPPoster(qpHandle); err != nil {
		tb.Fatal(err)
	}
	if o.turn, err = rdma.NewIbvTurn(qpHandle, cqHandle); err != nil {
		tb.Fatal(err)
	}
	return o
}

// BenchmarkCall is one call of C by each way. All but ours are the same for every
// verb: three words in, an int out.
func BenchmarkCall(b *testing.B) {
	o := newObjects(b)
	wc, send, recv := at[rdma.IbvWC](o.buffer, 4096), at[rdma.IbvSendWR](o.buffer, 5120), at[rdma.IbvRecvWR](o.buffer, 6144)
	badSend, badRecv := at[*rdma.IbvSendWR](o.buffer, 7168), at[*rdma.IbvRecvWR](o.buffer, 7176)
	a, c := o.buffer.Addr(), uintptr(unsafe.Pointer(wc))
	var registered func(a uintptr, n int32, c uintptr) int32
	purego.RegisterFunc(&registered, quiet)
	ffi := newFFI(b)
	run := func(name string, call func() int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if call() != 0 {
					b.Fatal("the function that returns 0 did not")
				}
			}
		})
	}
	run("poll", func() int { return o.poller.Poll(16, wc) })
	run("post_send", func() int { return o.poster.PostSend(send, badSend) })
	run("post_recv", func() int { return o.poster.PostRecv(recv, badRecv) })
	run("cgo", func() int { return cgoCall(quiet, a, 16, c) })
	run("purego.SyscallN", func() int { r, _, _ := purego.SyscallN(quiet, a, 16, c); return int(int32(r)) })
	run("purego.RegisterFunc", func() int { return int(registered(a, 16, c)) })
	run("libffi", func() int { return ffi.call(quiet, a, 16, c) })
	work := rdma.IbvTurnWork{Recv: recv, BadRecv: badRecv, Send: send, BadSend: badSend, WC: unsafe.Slice(wc, 1), Polls: 1}
	run("turn", func() int { return o.turn.Run(&work).Polled })
}

// BenchmarkPolls is a wait of 128 polls in vain: in one excursion, and one by one.
func BenchmarkPolls(b *testing.B) {
	o := newObjects(b)
	wc := at[rdma.IbvWC](o.buffer, 4096)
	work := rdma.IbvTurnWork{WC: unsafe.Slice(wc, 1), Polls: 128}
	b.Run("turn", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			o.turn.Run(&work)
		}
	})
	b.Run("cgo", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for range 128 {
				cgoCall(quiet, o.buffer.Addr(), 1, uintptr(unsafe.Pointer(wc)))
			}
		}
	})
}
