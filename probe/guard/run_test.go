//go:build linux || darwin || freebsd

package guard

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/rdma"
)

// patient is a ladder that a well-behaved child never climbs.
var patient = Spec{Soft: time.Minute, Ladder: Ladder{Term: time.Minute, Kill: time.Minute, GiveUp: time.Minute}}

// brisk is one for children that have to be ended, and that do end.
var brisk = Spec{Soft: 300 * time.Millisecond, Ladder: Ladder{Term: 100 * time.Millisecond, Kill: 200 * time.Millisecond, GiveUp: time.Minute}}

// as makes s start a helper.
func (s Spec) as(helper string) Spec {
	used.Store(helper, true)
	s.Exe = os.Args[0]
	s.Env = append(slices.Clone(s.Env), helperEnv+"="+helper)
	return s
}

// runChild runs a helper and returns its messages, each as "type body".
func runChild(t *testing.T, s Spec) (Result, []string) {
	t.Helper()
	var got []string
	res, err := Run(context.Background(), s, func(m Message) { got = append(got, m.Type+" "+string(m.Body)) })
	if err != nil {
		t.Fatal(err)
	}
	if res.PID <= 0 || res.Duration <= 0 {
		t.Errorf("pid %d, duration %v", res.PID, res.Duration)
	}
	return res, got
}

// waitUntil waits for what another process does.
func waitUntil(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !cond(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestMessagesArriveInOrder(t *testing.T) {
	s := patient.as("echo")
	s.Request = []byte(strings.Repeat("request ", 100_000)) // more than a pipe holds
	res, got := runChild(t, s)
	body, _ := json.Marshal(string(s.Request))
	want := []string{`observation {"n":1}`, `observation {"n":2}`, "done " + string(body)}
	if !slices.Equal(got, want) {
		t.Errorf("got %.200q", got)
	}
	if res.Outcome != Completed || res.Exit != "exit status 0" || res.Alive || res.InCall || res.Interrupted || len(res.Rungs) > 0 {
		t.Errorf("%+v", res)
	}
}

func TestChildEnvironment(t *testing.T) {
	t.Setenv("GOTRACEBACK", "crash")
	t.Setenv("GORACE", "halt_on_error=1")
	t.Setenv("KEPT", "1")
	s := patient
	s.Env = []string{"ADDED=2"}
	_, got := runChild(t, s.as("environment"))
	want := []string{`done ["single","halt_on_error=1 atexit_sleep_ms=0","1","2"]`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMessageTooLargeIsRefused(t *testing.T) {
	if _, got := runChild(t, patient.as("too large")); !slices.Equal(got, []string{"done true"}) {
		t.Errorf("got %q", got)
	}
}

func TestEndsByItself(t *testing.T) {
	verb := rdma.Verbs()
	for _, tc := range []struct {
		helper string
		want   Result
	}{
		{"no result", Result{Outcome: Crashed, Exit: "exit status 0"}},
		{"exit 2", Result{Outcome: Crashed, Exit: "exit status 2"}},
		{"crash in C", Result{Outcome: Crashed, Exit: "exit status 2", Signal: "SIGSEGV: segmentation violation", InCall: true, Verb: "ibv_get_device_list", Calls: 1}},
		{"crash in noise", Result{Outcome: Crashed, Exit: "exit status 2", Signal: "SIGSEGV: segmentation violation", InCall: true, Verb: verb[2], Calls: 7}},
		{"signal", Result{Outcome: Crashed, Exit: "signal: killed", Signal: "SIGKILL: killed", Killed: true, InCall: true, Verb: verb[0], Calls: 1}},
		{"nil dereference", Result{Outcome: Crashed, Exit: "exit status 2", Panic: "panic: runtime error: invalid memory address or nil pointer dereference"}},
		{"unlock", Result{Outcome: Crashed, Exit: "exit status 2", Panic: "fatal error: sync: unlock of unlocked mutex"}},
		{"bad memory", Result{Outcome: Crashed, Exit: "exit status 2", Signal: "SIGSEGV: segmentation violation"}},
		{"done and exit 7", Result{Outcome: Completed, Exit: "exit status 7"}},
		{"torn page", Result{Outcome: Crashed, Exit: "exit status 0", InCall: true}},
		{"forged page", Result{Outcome: Crashed, Exit: "exit status 0", InCall: true}},
	} {
		t.Run(tc.helper, func(t *testing.T) {
			res, _ := runChild(t, patient.as(tc.helper))
			got := Result{Outcome: res.Outcome, Exit: res.Exit, Signal: res.Signal, Killed: res.Killed, Panic: res.Panic, InCall: res.InCall, Verb: res.Verb, Calls: res.Calls}
			if got.Outcome != tc.want.Outcome || got.Exit != tc.want.Exit || got.Signal != tc.want.Signal || got.Killed != tc.want.Killed || got.Panic != tc.want.Panic ||
				got.InCall != tc.want.InCall || got.Verb != tc.want.Verb || got.Calls != tc.want.Calls {
				t.Errorf("got  %+v\nwant %+v\nstderr %s", got, tc.want, res.Stderr)
			}
		})
	}
}

func TestLadder(t *testing.T) {
	killed := []string{"SIGTERM", "SIGKILL"}
	for _, tc := range []struct {
		helper   string
		leave    bool
		outcome  Outcome
		rungs    []string
		messages []string
	}{
		{"busy loop", false, TimedOut, killed, []string{"out"}},
		{"inside a call", false, TimedOut, killed, []string{"in"}},
		{"outside a call", false, TimedOut, killed, []string{"out"}},
		{"outside a call", true, TimedOut, killed, []string{"out"}},
		{"done and hang", true, Completed, killed[1:], []string{"done"}},
	} {
		t.Run(tc.helper, func(t *testing.T) {
			s := brisk.as(tc.helper)
			s.Soft = time.Minute // the ladder begins once the child has spoken
			s.Leave = tc.leave
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var got []string
			res, err := Run(ctx, s, func(m Message) {
				got = append(got, m.Type)
				cancel()
			})
			if err != nil || res.Outcome != tc.outcome || !slices.Equal(res.Rungs, tc.rungs) || !slices.Equal(got, tc.messages) || res.Alive {
				t.Errorf("%v %+v, messages %q", err, res, got)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	s := patient.as("until asked")
	s.Soft = 50 * time.Millisecond
	res, got := runChild(t, s)
	if res.Outcome != Completed || len(res.Rungs) > 0 || !slices.Equal(got, []string{`done "the deadline has passed"`}) {
		t.Errorf("the child's own: %+v, messages %q", res, got)
	}
	// On a slow machine SIGTERM may end a child that cannot ignore it yet.
	res, err := Run(context.Background(), brisk.as("busy loop"), nil)
	if err != nil || res.Outcome != TimedOut || res.Interrupted || len(res.Rungs) == 0 || res.Rungs[0] != "SIGTERM" {
		t.Errorf("the parent's: %v %+v", err, res)
	}
}

// The child's own time counts from its start, as the ladder's does.
func TestDeadlineOfASlowStart(t *testing.T) {
	s := patient.as("slow to begin")
	s.Soft = slowSoft
	res, got := runChild(t, s)
	if res.Outcome != Completed || !slices.Equal(got, []string{"done true"}) {
		t.Errorf("%+v, messages %q; want a deadline that has passed", res, got)
	}
	for _, tt := range []struct{ began, least, most time.Duration }{
		{uptime(), 0, time.Minute},
		{uptime() - time.Hour, 0, 0},
		{uptime() + time.Hour, time.Minute, time.Minute}, // no clock of this boot
		{uptime() - 40*time.Second, 0, 20 * time.Second},
	} {
		if got := (header{Soft: time.Minute, Began: tt.began}).left(); got < tt.least || got > tt.most {
			t.Errorf("began %v, left %v: want %v to %v", tt.began, got, tt.least, tt.most)
		}
	}
}

// A child that is in another group than it was started in, as a library can bring
// about, is ended all the same.
func TestChildInAnotherGroup(t *testing.T) {
	s := brisk.as("leaves its group")
	s.Soft = 3 * time.Second // it must have begun by then
	res, got := runChild(t, s)
	if len(got) != 1 {
		t.Fatalf("it did not leave: %+v, messages %q", res, got)
	}
	if res.Outcome != TimedOut || res.Alive || ProcessAlive(res.PID) {
		t.Errorf("%+v", res)
	}
}

// A child that somebody stopped is continued when it has to end, and ends in order.
func TestStopped(t *testing.T) {
	if runtime.GOOS == "freebsd" {
		t.Skip("NOT CHECKED: whether a process is stopped is not known here")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var got []string
	res, err := Run(ctx, patient.as("stops itself"), func(m Message) {
		got = append(got, m.Type)
		pid, err := strconv.Atoi(string(m.Body))
		for err == nil && !stopped(pid) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	})
	if err != nil || res.Outcome != Completed || !res.Stopped || !slices.Equal(res.Rungs, []string{"SIGTERM", "SIGCONT"}) || !slices.Equal(got, []string{"stopping", "done"}) {
		t.Errorf("%v %+v, messages %q", err, res, got)
	}
}

func TestBound(t *testing.T) {
	s := Spec{Soft: 5 * time.Second, Ladder: Ladder{Term: time.Second, Kill: 2 * time.Second, GiveUp: 3 * time.Second}}
	if got := s.Bound(); got < 13*time.Second || got > 14*time.Second {
		t.Errorf("bound %v", got)
	}
}

func TestCancelAsksAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var got []string
	s := patient.as("until asked")
	time.AfterFunc(100*time.Millisecond, cancel)
	res, err := Run(ctx, s, func(m Message) { got = append(got, string(m.Body)) })
	if err != nil || !res.Interrupted || !slices.Equal(res.Rungs, []string{"SIGTERM"}) {
		t.Fatalf("%v %+v", err, res)
	}
	// On a slow machine the signal may come before the child can catch it.
	if res.Outcome == Completed && !slices.Equal(got, []string{`"asked to end"`}) || res.Outcome != Completed && res.Outcome != TimedOut {
		t.Errorf("%s with %q", res.Outcome, got)
	}
}

// Who tells all processes at once to end has told the child too, which then may
// not be able to catch it yet.
func TestEndedWithItsParent(t *testing.T) {
	r := &run{p: &process{}}
	ps := endedBy(t, syscall.SIGTERM)
	if r.judge(ps, false); r.res.Outcome != Crashed || r.res.Interrupted {
		t.Errorf("by somebody: %+v", r.res)
	}
	r.res = Result{}
	if r.judge(ps, true); r.res.Outcome != TimedOut || !r.res.Interrupted {
		t.Errorf("when this process was told to end: %+v", r.res)
	}
	r.res = Result{Rungs: []string{"SIGTERM"}} // its time was over before
	if r.judge(ps, true); r.res.Outcome != TimedOut || r.res.Interrupted {
		t.Errorf("after its deadline: %+v", r.res)
	}
}

// endedBy is the state of a process that a signal has ended.
func endedBy(t *testing.T, sig syscall.Signal) *os.ProcessState {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its state tells
	return cmd.ProcessState
}

func TestStuckGivesUp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := brisk.as("plays unkillable")
	s.Soft, s.Ladder.GiveUp = time.Minute, 200*time.Millisecond
	res, err := Run(ctx, s, func(m Message) {
		if m.Type == msgFault {
			cancel()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"SIGTERM (withheld)", "SIGKILL (withheld)", "gave up"}
	if res.Outcome != Stuck || !res.Alive || res.Exit != "still running" || !res.InCall || res.Verb != rdma.Verbs()[3] || !slices.Equal(res.Rungs, want) {
		t.Errorf("%+v", res)
	}
	if !ProcessAlive(res.PID) {
		t.Error("the child is gone")
	}
	endChild(t, res.PID)
}

func TestLeftInsideCall(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := t.TempDir()
	lock, err := LockDevice(ctx, dir, "dev", false)
	if err != nil {
		t.Fatal(err)
	}
	s := brisk.as("inside a call")
	s.Soft, s.Leave, s.Lock = time.Minute, true, lock
	res, err := Run(ctx, s, func(Message) { cancel() })
	if err != nil {
		t.Fatal(err)
	}
	if res.Outcome != Left || !res.Alive || !res.InCall || res.Verb != rdma.Verbs()[4] || res.Calls != 9 || !slices.Equal(res.Rungs, []string{"SIGTERM", "left"}) {
		t.Errorf("%+v", res)
	}
	lock.Unlock()
	_, err = LockDevice(ctx, dir, "dev", false)
	var busy *BusyError
	if !errors.As(err, &busy) || busy.PID != 0 && busy.PID != res.PID {
		t.Errorf("the left child %d does not hold its lock: %v", res.PID, err)
	}
	// The call returns: the child ends by itself, though its pipes are closed.
	if err := syscall.Kill(res.PID, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the child has ended", func() bool { return !ProcessAlive(res.PID) })
	again, err := LockDevice(context.Background(), dir, "dev", false)
	if err != nil {
		t.Fatal(err)
	}
	again.Unlock()
}

// endChild kills a child that a run gave up, and waits until it is gone.
func endChild(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the child has ended", func() bool { return !ProcessAlive(pid) })
}

func TestFloodOnStdout(t *testing.T) {
	res, got := runChild(t, patient.as("flood"))
	if res.Outcome != Completed || !slices.Equal(got, []string{"done null"}) || res.StderrBytes != 64<<20 {
		t.Errorf("%s %q, %d bytes", res.Outcome, got, res.StderrBytes)
	}
	if len(res.Stderr) > 8*keepBytes || strings.Contains(res.Stderr, "\x1b") || !strings.Contains(res.Stderr, "bytes left out") {
		t.Errorf("kept %d bytes: %.300q", len(res.Stderr), res.Stderr)
	}
}

func TestForeignTextOnMessageChannel(t *testing.T) {
	res, got := runChild(t, patient.as("foreign messages"))
	want := []string{"observation 1", "observation 2", `done "real"`}
	if res.Outcome != Completed || !slices.Equal(got, want) || res.Foreign <= 3*MaxMessage {
		t.Errorf("%s %q, %d foreign bytes", res.Outcome, got, res.Foreign)
	}
}

func TestGrandchildrenDoNotHoldTheRun(t *testing.T) {
	used.Store("sleeper", true)
	for helper, outcome := range map[string]Outcome{
		"grandchild": Completed, "escaped grandchild": Completed, "escaped grandchild, then a crash": Crashed, "escaped grandchild, then a hang": TimedOut,
	} {
		t.Run(helper, func(t *testing.T) {
			s := patient.as(helper)
			s.Ladder.Kill = 50 * time.Millisecond // after it was asked to end, which only the hang is
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var got []string
			res, err := Run(ctx, s, func(m Message) {
				if got = append(got, m.Type+" "+string(m.Body)); outcome == TimedOut {
					cancel()
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			var pid int
			if len(got) != 1 || json.Unmarshal([]byte(got[0][strings.IndexByte(got[0], ' ')+1:]), &pid) != nil {
				t.Fatalf("messages %q", got)
			}
			if res.Outcome != outcome {
				t.Errorf("%+v", res)
			}
			if runtime.GOOS != "linux" && helper != "grandchild" {
				if endChild(t, pid); !res.Held {
					t.Errorf("nothing tells of it: %+v", res)
				}
				return
			}
			waitUntil(t, "it is ended", func() bool { return !ProcessAlive(pid) })
			if told := slices.ContainsFunc(res.Left, func(p LeftProcess) bool { return p.PID == pid && p.Ended && p.Name != "" }); !told && runtime.GOOS == "linux" {
				t.Errorf("left behind: %+v", res.Left)
			}
		})
	}
}

func TestOurOwnFaults(t *testing.T) {
	t.Run("no executable", func(t *testing.T) {
		s := patient
		s.Exe = t.TempDir() + "/none"
		if _, err := Run(context.Background(), s, nil); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	t.Run("no deadline", func(t *testing.T) {
		if _, err := Run(context.Background(), Spec{Exe: os.Args[0]}, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("request too large", func(t *testing.T) {
		s := patient.as("echo")
		s.Request = make([]byte, MaxRequest+1)
		if _, err := Run(context.Background(), s, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("context over", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if res, err := Run(ctx, patient.as("echo"), nil); !errors.Is(err, context.Canceled) || !res.Interrupted || res.PID != 0 {
			t.Error(res, err)
		}
	})
	t.Run("unlocked lock", func(t *testing.T) {
		s := patient.as("echo")
		var err error
		if s.Lock, err = LockDevice(context.Background(), t.TempDir(), "dev", false); err != nil {
			t.Fatal(err)
		}
		s.Lock.Unlock()
		if _, err := Run(context.Background(), s, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("never enters", func(t *testing.T) {
		res, err := Run(context.Background(), patient.as("not a child"), nil)
		if err == nil || !strings.Contains(err.Error(), "no such library") || res.Outcome != Crashed || res.PID == 0 {
			t.Errorf("%+v, %v", res, err)
		}
	})
}

// BenchmarkChild is the bare cost of one contained child.
func BenchmarkChild(b *testing.B) {
	s := patient.as("echo")
	for b.Loop() {
		if res, err := Run(context.Background(), s, nil); err != nil || res.Outcome != Completed {
			b.Fatal(res, err)
		}
	}
}
