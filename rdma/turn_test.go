//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// newTurn is a turn on a fake's queues, work for it, and its mark.
func newTurn(t testing.TB, f *fake) (IbvTurn, *IbvTurnWork, *CallMark) {
	t.Helper()
	o := f.open(t, 0)
	b, err := MapBuffer(4096)
	check(t, err)
	mark := (*CallMark)(unsafe.Pointer(&b.Bytes()[0]))
	f.lib.SetMark(mark)
	f.tell("fake_watch", b.Addr())
	t.Cleanup(func() { f.lib.SetMark(nil); f.tell("fake_watch", 0); b.Unmap() })
	turn, err := NewIbvTurn(o.qp, o.cq)
	check(t, err)
	return turn, &IbvTurnWork{
		Recv: at[IbvRecvWR](o, 1024), BadRecv: at[*IbvRecvWR](o, 2048), Send: at[IbvSendWR](o, 0), BadSend: at[*IbvSendWR](o, 256),
		WC: unsafe.Slice(at[IbvWC](o, 512), 4), Polls: 64,
	}, mark
}

// counts are the calls that a mark has of the verbs of a turn.
func (m *CallMark) counts() [3]uint64 {
	return [3]uint64{m.Counts[verbPostRecv].Load(), m.Counts[verbPostSend].Load(), m.Counts[verbPollCQ].Load()}
}

func TestTurn(t *testing.T) {
	f := newFake(t)
	turn, w, mark := newTurn(t, f)
	f.tell("fake_empty", 9)
	if r := turn.Run(w); r != (IbvTurnResult{Polled: 1}) || w.WC[0].WRID != 0x1122334455667788 {
		t.Errorf("%+v, completion %+v", r, w.WC[0])
	}
	if got := mark.counts(); got != [3]uint64{1, 1, 10} || mark.Verb.Load() != 0 {
		t.Errorf("counted %v, and the mark is %d afterwards", got, mark.Verb.Load())
	}
	for op, v := range map[uintptr]verb{abi.OpPostRecv: verbPostRecv, abi.OpPostSend: verbPostSend, abi.OpPollCQ: verbPollCQ} {
		if got := f.tell("fake_seen", op); got != int(v)+1 {
			t.Errorf("inside %s the mark was %d", v, got)
		}
	}
	f.lib.SetMark(nil)
	if r := turn.Run(&IbvTurnWork{WC: w.WC, Polls: 1}); r != (IbvTurnResult{Polled: 1}) || mark.counts() != [3]uint64{1, 1, 10} {
		t.Errorf("without a mark: %+v, counted %v", r, mark.counts())
	}
}

// awaiting is a turn that answers what the fake's polls find, and the word that the
// message begins with.
func awaiting(t testing.TB, f *fake) (IbvTurn, *IbvTurnWork, *CallMark, *uint64) {
	t.Helper()
	turn, w, mark := newTurn(t, f)
	f.tell("fake_wc", IBV_WC_SUCCESS, 64)
	begins := (*uint64)(unsafe.Add(unsafe.Pointer(&w.WC[0]), 1024)) // behind the completions
	*begins = 0x1111_2222_3333_4444
	w.Await = &IbvTurnAwait{WRID: 0x1122334455667788, Length: 64, At: begins, Mask: ^uint64(0), Word: *begins, Then: 8}
	return turn, w, mark, begins
}

// What is awaited is answered in the same excursion, and one more completion is
// looked for.
func TestTurnAnswers(t *testing.T) {
	f := newFake(t)
	turn, w, mark, _ := awaiting(t, f)
	f.tell("fake_empty", 9)
	if r := turn.Run(w); r != (IbvTurnResult{Polled: 1, Answered: true, Then: 1}) || w.WC[1] != w.WC[0] || w.WC[0].ByteLen != 64 {
		t.Errorf("%+v, completions %+v", r, w.WC)
	}
	if got := mark.counts(); got != [3]uint64{1, 1, 11} || mark.Verb.Load() != 0 {
		t.Errorf("counted %v, and the mark is %d afterwards", got, mark.Verb.Load())
	}
	w.Recv, w.Await.Then = nil, 0
	if r := turn.Run(w); r != (IbvTurnResult{Polled: 1, Answered: true}) || mark.counts() != [3]uint64{1, 2, 12} {
		t.Errorf("a send alone: %+v, counted %v", r, mark.counts())
	}
	w.Await.Then, w.WC = 1<<40, w.WC[:1]
	if r := turn.Run(w); r != (IbvTurnResult{Polled: 1, Answered: true}) || mark.counts() != [3]uint64{1, 3, 13} {
		t.Errorf("no place for a second completion: %+v, counted %v", r, mark.counts())
	}
}

// Whatever else comes is not answered.
func TestTurnAnswersNothingElse(t *testing.T) {
	for name, change := range map[string]func(*fake, *IbvTurnWork, *uint64){
		"nothing came":       func(f *fake, w *IbvTurnWork, _ *uint64) { f.tell("fake_empty", MaxPolls) },
		"another id":         func(_ *fake, w *IbvTurnWork, _ *uint64) { w.Await.WRID++ },
		"an error":           func(f *fake, w *IbvTurnWork, _ *uint64) { f.tell("fake_wc", 5, 64) },
		"another length":     func(f *fake, _ *IbvTurnWork, _ *uint64) { f.tell("fake_wc", IBV_WC_SUCCESS, 65) },
		"another word":       func(_ *fake, _ *IbvTurnWork, begins *uint64) { *begins ^= 1 << 63 },
		"two completions":    func(f *fake, _ *IbvTurnWork, _ *uint64) { f.script("ibv_poll_cq", 2, 0) },
		"a failed poll":      func(f *fake, _ *IbvTurnWork, _ *uint64) { f.script("ibv_poll_cq", -12, 0) },
		"no place to see it": func(_ *fake, w *IbvTurnWork, _ *uint64) { w.WC = nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			turn, w, mark, begins := awaiting(t, f)
			change(f, w, begins)
			if r := turn.Run(w); r.Answered || r.Then != 0 || mark.counts()[0]+mark.counts()[1] != 0 {
				t.Errorf("%+v, counted %v", r, mark.counts())
			}
		})
	}
}

// The bits that do not count may be any; a refused answer is told.
func TestTurnAnswerDetails(t *testing.T) {
	f := newFake(t)
	turn, w, mark, begins := awaiting(t, f)
	*begins, w.Await.Mask, w.Await.Word = 0xabcd, 0xff, 0xcd
	if r := turn.Run(w); !r.Answered {
		t.Errorf("a byte that does not count differs: %+v", r)
	}
	f.script("ibv_post_send", -12, 0)
	if r := turn.Run(w); r != (IbvTurnResult{Send: -12, Polled: 1, Answered: true}) {
		t.Errorf("the answer is refused: %+v", r)
	}
	before := mark.counts()
	w.Await.At = nil
	if r := turn.Run(w); r != (IbvTurnResult{Polled: -1}) || mark.counts() != before {
		t.Errorf("no message to look at: %+v", r)
	}
}

// Call by call, as where there is no assembly, a turn does the same.
func TestTurnByCalls(t *testing.T) {
	for name, change := range map[string]func(*fake, *IbvTurnWork, *uint64){
		"answered":        func(*fake, *IbvTurnWork, *uint64) {},
		"late":            func(f *fake, _ *IbvTurnWork, _ *uint64) { f.tell("fake_empty", 9) },
		"nothing came":    func(f *fake, _ *IbvTurnWork, _ *uint64) { f.tell("fake_empty", MaxPolls) },
		"another id":      func(_ *fake, w *IbvTurnWork, _ *uint64) { w.Await.WRID++ },
		"another length":  func(f *fake, _ *IbvTurnWork, _ *uint64) { f.tell("fake_wc", IBV_WC_SUCCESS, 65) },
		"an error":        func(f *fake, _ *IbvTurnWork, _ *uint64) { f.tell("fake_wc", 5, 64) },
		"another word":    func(_ *fake, _ *IbvTurnWork, begins *uint64) { *begins ^= 1 },
		"two completions": func(f *fake, _ *IbvTurnWork, _ *uint64) { f.script("ibv_poll_cq", 2, 0) },
		"refused":         func(f *fake, _ *IbvTurnWork, _ *uint64) { f.script("ibv_post_recv", -12, 0) },
		"send refused":    func(f *fake, _ *IbvTurnWork, _ *uint64) { f.script("ibv_post_send", -12, 0) },
		"nothing to post": func(_ *fake, w *IbvTurnWork, _ *uint64) { w.Recv, w.Send = nil, nil },
		"nothing awaited": func(_ *fake, w *IbvTurnWork, _ *uint64) { w.Await = nil },
		"no polls after":  func(_ *fake, w *IbvTurnWork, _ *uint64) { w.Await.Then = 0 },
	} {
		type outcome struct {
			result IbvTurnResult
			counts [3]uint64
		}
		do := func(how func(IbvTurn, *IbvTurnWork) IbvTurnResult) (o outcome) {
			t.Run(name, func(t *testing.T) {
				f := newFake(t)
				turn, w, mark, begins := awaiting(t, f)
				change(f, w, begins)
				o = outcome{how(turn, w), mark.counts()}
			})
			return o
		}
		want := do(IbvTurn.Run)
		got := do(func(turn IbvTurn, w *IbvTurnWork) IbvTurnResult {
			var b turnBlock
			turn.prepare(&b, w)
			turn.cq.lib.turnByCalls(&b)
			return b.told()
		})
		if got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// What is refused ends the turn.
func TestTurnEndsAtARefusal(t *testing.T) {
	for verb, want := range map[string]struct {
		result IbvTurnResult
		counts [3]uint64
	}{
		"ibv_post_recv": {IbvTurnResult{Recv: -12}, [3]uint64{1, 0, 0}},
		"ibv_post_send": {IbvTurnResult{Send: -12}, [3]uint64{1, 1, 0}},
		"ibv_poll_cq":   {IbvTurnResult{Polled: -12}, [3]uint64{1, 1, 1}},
	} {
		f := newFake(t)
		turn, w, mark := newTurn(t, f)
		f.script(verb, -12, 0)
		if r := turn.Run(w); r != want.result || mark.counts() != want.counts {
			t.Errorf("%s refused: %+v, counted %v; want %+v", verb, r, mark.counts(), want)
		}
	}
}

// C is left after a bounded number of polls, whatever was asked for.
func TestTurnIsBounded(t *testing.T) {
	f := newFake(t)
	turn, w, mark := newTurn(t, f)
	f.tell("fake_empty", 10*MaxPolls)
	w.Recv, w.Send = nil, nil
	for polls, want := range map[int]uint64{1 << 40: MaxPolls, 7: 7, 0: 0, -1: 0} {
		before := mark.counts()[2]
		w.Polls = polls
		if r := turn.Run(w); r != (IbvTurnResult{}) || mark.counts()[2]-before != want {
			t.Errorf("%d polls: %+v after %d", polls, r, mark.counts()[2]-before)
		}
	}
}

func TestTurnRefusesWhatIsMissing(t *testing.T) {
	if r := (IbvTurn{}).Run(&IbvTurnWork{}); r != (IbvTurnResult{Recv: -1, Send: -1, Polled: -1}) {
		t.Errorf("the zero value: %+v", r)
	}
	f := newFake(t)
	turn, w, mark := newTurn(t, f)
	if r := turn.Run(&IbvTurnWork{Recv: w.Recv}); r.Recv != -1 {
		t.Errorf("no place for a bad receive: %+v", r)
	}
	if r := turn.Run(&IbvTurnWork{Send: w.Send}); r.Send != -1 {
		t.Errorf("no place for a bad send: %+v", r)
	}
	if mark.counts() != [3]uint64{} {
		t.Errorf("the provider was called: %v", mark.counts())
	}
	if _, err := NewIbvTurn(0, 0); err == nil {
		t.Error("a turn on nothing")
	}
}

// A Go callback in the middle of a turn may move the goroutine's stack.
func TestTurnCallsBack(t *testing.T) {
	b, err := MapBuffer(4096)
	check(t, err)
	defer b.Unmap()
	o := fakeObjects{buffer: b}
	context, cq, qp := at[abi.Context](o, 64), at[abi.CQ](o, 1024), at[abi.QP](o, 2048)
	cq.Context, qp.Context = context, context
	defer Use(callbackLibrary(t, at[int32](o, 0), context))()
	context.Ops[abi.OpPostSend] = context.Ops[abi.OpPollCQ] // never called: only poll is a callback of the right form
	context.Ops[abi.OpPostRecv] = context.Ops[abi.OpPollCQ]
	for i := range 200 {
		done := make(chan struct{})
		go func() { // a fresh goroutine has a small stack
			defer close(done)
			turn, err := NewIbvTurn(uintptr(unsafe.Pointer(qp)), uintptr(unsafe.Pointer(cq)))
			var wc [3]IbvWC
			if r := turn.Run(&IbvTurnWork{WC: wc[:], Polls: 2}); err != nil || r.Polled != 3 || wc[0].WRID != 3 {
				t.Errorf("turn %d: %v, %+v, %+v", i, err, r, wc[0])
			}
		}()
		<-done
	}
}

// The collector does not wait for a goroutine that polls: the provider returns
// only after two collections have ended.
func TestPollingDoesNotStopTheCollector(t *testing.T) {
	f := newFake(t)
	turn, w, _ := newTurn(t, f)
	b, err := MapBuffer(4096)
	check(t, err)
	defer b.Unmap()
	release := (*atomic.Uint32)(unsafe.Pointer(&b.Bytes()[0]))
	f.tell("fake_hold", b.Addr())
	var inside atomic.Bool
	done := make(chan IbvTurnResult)
	go func() {
		inside.Store(true)
		done <- turn.Run(w)
	}()
	for !inside.Load() {
		runtime.Gosched()
	}
	runtime.GC()
	runtime.GC()
	select {
	case r := <-done:
		t.Errorf("the turn ended before it could: %+v", r)
	default:
	}
	release.Store(1)
	if r := <-done; r.Polled != 1 {
		t.Errorf("%+v", r)
	}
}

func BenchmarkTurn(b *testing.B) {
	f := newFake(b)
	turn, w, _ := newTurn(b, f)
	w.Polls = 1
	f.script("ibv_poll_cq", 0, 0)
	b.ReportAllocs()
	for b.Loop() {
		turn.Run(w)
	}
}

// BenchmarkTurnPolls is one poll of many in one excursion.
func BenchmarkTurnPolls(b *testing.B) {
	f := newFake(b)
	turn, w, _ := newTurn(b, f)
	w.Recv, w.Send, w.Polls = nil, nil, 256
	f.script("ibv_poll_cq", 0, 0)
	b.ReportAllocs()
	for b.Loop() {
		turn.Run(w)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/256, "ns/poll")
}
