//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"rdmaprobe/rdma/internal/abi"
)

// argErrno makes the fake's ibv_reg_mr fail with errno in the low bits.
const argErrno = 1 << 20

// errno belongs to a thread, and goroutines change threads.
func TestErrnoUnderLoad(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	const goroutines, rounds = 8, 5000
	var wrong atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				want := (g*31 + i) % 130 // 0: NULL with errno left alone
				_, err := IbvRegMr(o.pd, o.buffer.Addr(), 1, argErrno|want)
				var e *ProviderError
				if !errors.As(err, &e) || e.Errno != want || e.ErrnoSet != (want != 0) {
					wrong.Add(1)
				}
				if i%16 == 0 { // a success that leaves errno behind on this thread
					IbvQueryPortAttr(o.context, 1, new(IbvPortAttr))
				}
				if i%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
	if n := wrong.Load(); n != 0 {
		t.Errorf("%d of %d calls reported another errno", n, goroutines*rounds)
	}
}

// growStack makes the goroutine's stack move.
//
//go:noinline
func growStack(depth int) byte {
	var frame [1024]byte
	frame[depth%len(frame)] = byte(depth)
	if depth == 0 {
		return frame[0]
	}
	return growStack(depth-1) + frame[depth%len(frame)]
}

// callbackLibrary is a library of Go callbacks, as a simulated provider is.
func callbackLibrary(t *testing.T, cell *int32, context *abi.Context) *Library {
	t.Helper()
	if !canCall {
		missing(t, "this system cannot call C")
	}
	poll := purego.NewCallback(func(cq *abi.CQ, n int32, wc *IbvWC) int32 {
		growStack(200)
		wc.WRID = uint64(n)
		return n
	})
	context.Ops[abi.OpPollCQ] = poll
	return NewLibrary(LibraryConfig{
		Path: "callbacks", Platform: PlatformDarwin, CallsBack: true,
		ErrnoLocation: purego.NewCallback(func() *int32 { return cell }),
		Symbols: map[string]uintptr{
			"ibv_query_gid": purego.NewCallback(func(c *abi.Context, port uint8, index int32, gid *IbvGID) int32 {
				growStack(200)
				*cell = 60
				gid[15] = byte(index)
				return -1
			}),
			"ibv_query_port": purego.NewCallback(func(c *abi.Context, port uint8, attr *IbvPortAttr) int32 {
				growStack(200)
				attr.State = int32(port)
				return 0
			}),
		},
	})
}

func TestCallbackLibrary(t *testing.T) {
	b, err := MapBuffer(4096)
	check(t, err)
	defer b.Unmap()
	o := fakeObjects{buffer: b}
	cell, context, cq := at[int32](o, 0), at[abi.Context](o, 64), at[abi.CQ](o, 1024)
	cq.Context = context
	defer Use(callbackLibrary(t, cell, context))()
	handle := uintptr(unsafe.Pointer(context))
	for i := range 200 {
		done := make(chan struct{})
		go func() { // a fresh goroutine has a small stack
			defer close(done)
			var gid IbvGID
			r, err := IbvQueryGidInto(handle, 1, i, &gid)
			var e *ProviderError
			if r != -1 || !errors.As(err, &e) || e.Errno != 60 || gid[15] != byte(i) {
				t.Errorf("call %d: %d, %v, gid %x", i, r, err, gid)
			}
			var attr IbvPortAttr
			if _, err := IbvQueryPortAttr(handle, uint8(i), &attr); err != nil || attr.State != int32(uint8(i)) {
				t.Errorf("call %d: %v, state %d", i, err, attr.State)
			}
			var wc IbvWC
			p, err := NewIbvCQPoller(uintptr(unsafe.Pointer(cq)))
			if n := p.Poll(i, &wc); err != nil || n != i || wc.WRID != uint64(i) {
				t.Errorf("poll %d: %d, %v, wr_id %d", i, n, err, wc.WRID)
			}
		}()
		<-done
	}
	if _, err := IbvQueryGidInto(handle, 1, 0, new(IbvGID)); !errorIs(err, "ETIMEDOUT") {
		t.Errorf("%v: errno 60 of a Darwin library must read ETIMEDOUT", err)
	}
}

// errorIs looks for a name in an error's text.
func errorIs(err error, name string) bool {
	return err != nil && containsWord(err.Error(), name)
}

func TestMarkAndOnCall(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	b, err := MapBuffer(4096)
	check(t, err)
	defer b.Unmap()
	mark := (*CallMark)(unsafe.Pointer(&b.Bytes()[0]))
	f.lib.SetMark(mark)
	defer f.lib.SetMark(nil)
	purego.SyscallN(f.symbols["fake_watch"], b.Addr())
	defer purego.SyscallN(f.symbols["fake_watch"], 0)
	var seen []string
	f.lib.OnCall(func(verb string) { seen = append(seen, verb) })
	defer f.lib.OnCall(nil)

	var attr IbvDeviceAttr
	_, err = IbvQueryDeviceAttr(o.context, &attr)
	check(t, err)
	if inside := attr.HWVer; inside == 0 || Verbs()[inside-1] != "ibv_query_device" {
		t.Errorf("inside the call the mark was %d", inside)
	}
	poller, err := NewIbvCQPoller(o.cq)
	check(t, err)
	for range 5 {
		poller.Poll(1, at[IbvWC](o, 512))
	}
	poster, err := NewIbvQPPoster(o.qp)
	check(t, err)
	poster.PostRecv(at[IbvRecvWR](o, 0), at[*IbvRecvWR](o, 64))
	if v := mark.Verb.Load(); v != 0 {
		t.Errorf("after the calls the mark is %d", v)
	}
	want := map[string]uint64{"ibv_query_device": 1, "ibv_poll_cq": 5, "ibv_post_recv": 1}
	for i, name := range Verbs() {
		if n := mark.Counts[i].Load(); n != want[name] {
			t.Errorf("%s was counted %d times, want %d", name, n, want[name])
		}
	}
	if len(seen) != 1 || seen[0] != "ibv_query_device" {
		t.Errorf("OnCall saw %v, want ibv_query_device alone", seen)
	}
}
