//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"rdmaprobe/rdma/internal/abi"
)

// overlapLibrary is a library whose control verb ibv_query_gid stays in C until
// stay returns, whose queue is polled and whose events are waited for.
func overlapLibrary(t *testing.T, p Platform, context *abi.Context, stay, event func()) *Library {
	t.Helper()
	context.Ops[abi.OpPollCQ] = purego.NewCallback(func(*abi.CQ, int32, *IbvWC) int32 { return 0 })
	return NewLibrary(LibraryConfig{Platform: p, CallsBack: true, Symbols: map[string]uintptr{
		"ibv_query_gid":    purego.NewCallback(func(*abi.Context, uint8, int32, *IbvGID) int32 { stay(); return 0 }),
		"ibv_get_cq_event": purego.NewCallback(func(_ *abi.CompChannel, cq **abi.CQ, _ **byte) int32 { event(); return 0 }),
	}})
}

// overlapScene is a context with a queue and a channel, in mapped memory.
func overlapScene(t *testing.T) (context *abi.Context, cq *abi.CQ, channel *abi.CompChannel) {
	t.Helper()
	b, err := MapBuffer(4096)
	check(t, err)
	t.Cleanup(func() { check(t, b.Unmap()) })
	o := fakeObjects{buffer: b}
	context, cq, channel = at[abi.Context](o, 0), at[abi.CQ](o, 1024), at[abi.CompChannel](o, 2048)
	cq.Context, channel.Context = context, context
	return context, cq, channel
}

func handleOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// Control verbs of a Mac's library do not overlap, in all libraries of the process;
// those of other libraries do.
func TestControlVerbsGoOneAtATime(t *testing.T) {
	for _, p := range []Platform{PlatformDarwin, PlatformLinux} {
		context, _, _ := overlapScene(t)
		var inside, most atomic.Int32
		both := make(chan struct{}) // the other is inside too
		var once sync.Once
		stay := func() {
			n := inside.Add(1)
			defer inside.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if p == PlatformLinux { // both must be able to be here
				if n == 2 {
					once.Do(func() { close(both) })
				}
				<-both
				return
			}
			for range 100 { // time for any other to come in
				runtime.Gosched()
			}
		}
		var calls sync.WaitGroup
		libraries := []*Library{overlapLibrary(t, p, context, stay, nil), overlapLibrary(t, p, context, stay, nil)}
		for i := range 2 {
			calls.Go(func() {
				rounds := map[Platform]int{PlatformDarwin: 200, PlatformLinux: 1}[p]
				for range rounds {
					libraries[i].call(verbQueryGID, handleOf(context), 1, 0, handleOf(context))
				}
			})
		}
		calls.Wait()
		if got, want := most.Load(), map[Platform]int32{PlatformDarwin: 1, PlatformLinux: 2}[p]; got != want {
			t.Errorf("%s: %d control verbs at once, want %d", p, got, want)
		}
	}
}

// While a control verb is in C the data path goes on, and so do the verbs of events;
// a control verb goes on while an event is waited for.
func TestTheDataPathIsNotSerialised(t *testing.T) {
	context, cq, channel := overlapScene(t)
	entered, leave, waiting, arrived := make(chan bool), make(chan bool), make(chan bool), make(chan bool)
	lib := overlapLibrary(t, PlatformDarwin, context,
		func() { entered <- true; <-leave }, func() { waiting <- true; <-arrived })
	defer Use(lib)()
	var calls sync.WaitGroup
	calls.Go(func() { lib.call(verbGetCQEvent, handleOf(channel), handleOf(context), handleOf(context)) })
	<-waiting
	calls.Go(func() { lib.call(verbQueryGID, handleOf(context), 1, 0, handleOf(context)) })
	<-entered
	if n, err := Ibv_poll_cq(handleOf(cq), 1, new(IbvWC)); n != 0 || err != nil {
		t.Errorf("poll %d, %v", n, err)
	}
	arrived <- true
	calls.Go(func() { lib.call(verbGetCQEvent, handleOf(channel), handleOf(context), handleOf(context)) })
	<-waiting
	arrived <- true
	leave <- true
	calls.Wait()
}

// A verb that waits for its turn announces itself when it is called, so that what
// was announced last is what is in flight.
func TestAnnouncedWhenCalled(t *testing.T) {
	context, _, _ := overlapScene(t)
	entered, leave := make(chan bool), make(chan bool)
	lib := overlapLibrary(t, PlatformDarwin, context, func() { entered <- true; <-leave }, nil)
	var announced atomic.Int32
	lib.OnCall(func(string) { announced.Add(1) })
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() { lib.call(verbQueryGID, handleOf(context), 1, 0, handleOf(context)) })
	}
	<-entered
	for range 100 {
		runtime.Gosched()
	}
	if n := announced.Load(); n != 1 {
		t.Errorf("%d are announced while one is in flight", n)
	}
	leave <- true
	<-entered
	leave <- true
	calls.Wait()
}
