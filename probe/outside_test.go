package probe

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
)

// What somebody else does to a child is no fault of the provider, and closes
// nothing: but on Thunderbolt, where a killed child leaks what it held.
func TestEndsFromOutside(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		result      guard.Result
		reason      Reason
		says        string
		plain, inTB string // the event that closes the device, "" for none
	}{
		{"killed", guard.Result{Outcome: guard.Crashed, Killed: true, Signal: "SIGKILL: killed"}, Interrupted, "killed from outside (SIGKILL) in ibv_reg_mr", "", "killed"},
		{"memory", guard.Result{Outcome: guard.Crashed, Killed: true, OutOfMemory: true}, Exhausted, "memory ran out", "", "killed"},
		{"stopped", guard.Result{Outcome: guard.TimedOut, Stopped: true}, Timeout, "found stopped (SIGSTOP)", "timed_out", "timed_out"},
		{"crash", guard.Result{Outcome: guard.Crashed, Signal: "SIGSEGV: segmentation violation"}, Crash, "SIGSEGV", "crashed", "crashed"},
		{"hang", guard.Result{Outcome: guard.TimedOut}, Timeout, "in ibv_reg_mr, which had not returned", "timed_out", "timed_out"},
		{"interrupted", guard.Result{Outcome: guard.TimedOut, Interrupted: true}, Interrupted, "the run was interrupted in ibv_reg_mr", "", ""},
		{"crash when interrupted", guard.Result{Outcome: guard.Crashed, Interrupted: true, Signal: "SIGSEGV: segmentation violation"}, Crash, "SIGSEGV", "crashed", "crashed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.result.PID, tt.result.InCall, tt.result.Verb = 7, true, "ibv_reg_mr"
			a := &attempt{result: tt.result, last: callMessage{Verb: "ibv_reg_mr", ID: "mr.register", Device: "d"}}
			o := a.lost("d", "mr", 1, []string{"mr.register", "mr.rkey"})[0]
			if o.ID != "mr.register" || o.Reason != tt.reason || !strings.Contains(o.Detail, tt.says) || !Sound(o) {
				t.Errorf("%s: %q, %s; want %q and %q", o.ID, o.Reason, o.Detail, tt.reason, tt.says)
			}
			if got, want := o.Child.contained(), tt.name != "interrupted"; got != want {
				t.Errorf("contained: %v, want %v", got, want)
			}
			for tb, want := range map[bool]string{false: tt.plain, true: tt.inTB} {
				c, _ := closureOf(&o, tb)
				if c.Event != want {
					t.Errorf("Thunderbolt %v: closed by %q, want %q", tb, c.Event, want)
				}
				if got := recorded(t, o, tb); got != want {
					t.Errorf("Thunderbolt %v: a later run finds it closed by %q, want %q", tb, got, want)
				}
			}
		})
	}
}

// recorded is the event that closes a device for whoever reads a row in a ledger.
func recorded(t *testing.T, o Observation, tb bool) string {
	t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	h := newHistory()
	h.runs["r"] = &pastRun{id: "r", n: 1, boot: "b", devices: map[string]pastDevice{o.Device: {tb: tb}}}
	if err := h.add(&ledger.Record{Kind: ledger.KindObservation, Run: "r", N: 1, Seq: 1, Body: body}); err != nil || h.damaged > 0 {
		t.Fatal(err, h.damaged)
	}
	c := append(h.closed(identity("", o.Device, "b"), o.Device, tb, now{boot: "b", alive: guard.ProcessAlive}), closure{})
	return c[0].Event
}

// A child that was killed outside any provider call waited for no provider: the
// machine was too slow for it.
func TestEndsOutsideACall(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"mr.register", "pingpong.rc"} {
		a := &attempt{result: guard.Result{Outcome: guard.TimedOut, PID: 7}}
		o := a.lost("mlx5_0", "mr", 1, []string{id})[0]
		if o.ID != id || o.Reason != Timeout || !strings.Contains(o.Detail, "outside a provider call") {
			t.Errorf("%s: %q, %s", o.ID, o.Reason, o.Detail)
		}
		if c, ok := closureOf(&o, false); ok {
			t.Errorf("%s closes the device: %s", id, c.text())
		}
		dr := &deviceRun{run: &run{}}
		dr.doc = &Document{}
		if dr.containHang(a); len(dr.closures) > 0 {
			t.Errorf("%s closes the device in its run: %s", id, dr.closures[0].text())
		}
		d := &Document{Devices: []Device{{Name: "mlx5_0", Listed: true}}, Observations: []Observation{o}, Host: &hostfacts.Host{OS: "linux"}}
		for _, f := range Findings(d, FindingContext{Command: "probe"}) {
			if f.Code == "provider_wedged" || f.Code == "pingpong_timeout" {
				t.Errorf("%s: %s: %s", id, f.Code, f.Message)
			}
		}
	}
}

// Where this process did not run itself, that is what a child waited for.
func TestEndsOfALateParent(t *testing.T) {
	t.Parallel()
	late := guard.Result{Outcome: guard.TimedOut, PID: 7, Late: 3 * time.Second}
	o := (&attempt{result: late}).lost("", "", 0, hostIDs)[0]
	if o.Reason != Timeout || !strings.Contains(o.Detail, "rdmaprobe itself came back to it 3s late") || !o.Child.contained() {
		t.Errorf("%q, %s", o.Reason, o.Detail)
	}
	late.InCall, late.Verb = true, "ibv_reg_mr"
	if o := (&attempt{result: late}).lost("d", "mr", 1, []string{"mr.register"})[0]; !strings.Contains(o.Detail, "in ibv_reg_mr, which had not returned") {
		t.Errorf("in a call: %s", o.Detail)
	}
}

// A child of ours that the system denied memory or descriptors is short of them,
// and no provider has to do with it.
func TestStarvedChild(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"runtime: out of memory: cannot allocate 4194304-byte block (3735552 in use)", "fatal error: out of memory allocating heap arena map",
		"fatal error: failed to reserve page summary memory", "runtime: eventfd failed with 24", "fakecgo: pthread_create failed: 11",
	} {
		if !starvedText(text) {
			t.Errorf("%q is not taken for want of something", text)
		}
	}
	if starvedText("panic: runtime error: index out of range [3] with length 3") {
		t.Error("a panic of ours is no want of anything")
	}
	if got := reasonOfMapping(fmt.Errorf("map: %w", syscall.ENOMEM)); got != Exhausted {
		t.Errorf("no memory is %q", got)
	}
	if got := reasonOfMapping(fmt.Errorf("the size must be from 1")); got != Invalid {
		t.Errorf("a wrong size is %q", got)
	}
}
