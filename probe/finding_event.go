package probe

import (
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// pastEvent is why the guard refused a row: an event of an earlier run, or of
// an earlier probe of this one.
type pastEvent struct {
	event string
	call  string
	at    string
	run   string
	pid   int64
	errno string // rtr_failed: its name
	data  bool   // it happened while messages were sent
}

// dataCalls are the verbs of the data phase.
var dataCalls = []string{"ibv_poll_cq", "ibv_post_send", "ibv_post_recv", "ibv_req_notify_cq", "ibv_get_cq_event"}

// eventBehind reads why a row was refused. An event of the same run has a row of
// its own in the document.
func (v *findingView) eventBehind(o *Observation) (e pastEvent, ok bool) {
	by, ok := o.Data["closed_by"].(map[string]any)
	if !ok || o.Reason != Guarded {
		return e, false
	}
	e = pastEvent{event: dataText(by, "event"), call: dataText(by, "call"), at: dataText(by, "at"), run: dataText(by, "run")}
	e.pid, _ = dataInt(by, "pid")
	e.data = dataText(by, "phase") == "data" || slices.Contains(dataCalls, e.call)
	switch n := by["errno"].(type) {
	case string:
		e.errno = n
	case *Errno:
		e.errno = n.Name
	case Errno:
		e.errno = n.Name
	case map[string]any:
		e.errno = dataText(n, "name")
	}
	return e, e.event != "" && (e.run == "" || e.run != v.d.Run.ID)
}

// when writes where and when an event was: in ibv_reg_mr at TIME, in run R.
func (e *pastEvent) when() string {
	s := ""
	if e.call != "" {
		s += " in " + printable(e.call)
	}
	if e.at != "" {
		s += " at " + printable(e.at)
	}
	if e.run != "" {
		s += " (run " + printable(e.run) + ")"
	}
	return s
}

// lifted ends every remedy after a refusal.
const lifted = "; `--force` lifts the refusal for one run"

// outcomeOf is how the child of a row ended, "" when that is not known.
func outcomeOf(o *Observation) Outcome {
	if o.Child == nil {
		return ""
	}
	return o.Child.Outcome
}

// inFlight tells whether a row is the one in which its child ended so: other
// rows of that child have their own levels and reasons.
func inFlight(o *Observation, outcomes ...Outcome) bool {
	return o.Level == rdma.CapabilityUnknown && slices.Contains(outcomes, outcomeOf(o)) && slices.Contains([]Reason{Crash, Timeout, Stuck}, o.Reason)
}

// inData tells whether a row ended while messages were sent.
func inData(o *Observation) bool { return dataText(o.Data, "phase") == "data" }

// eventHits makes one hit per device from the rows that ended badly, and from
// refusals because of such an event of an earlier run. told writes one row or
// event; the texts are joined.
func (v *findingView) eventHits(
	row func(*Observation) (text string, ok bool), event func(pastEvent) (text string, ok bool), finish func(device string, again bool, h *findingHit),
) []findingHit {
	var hits []findingHit
	for _, name := range append([]string{""}, v.devicesSeen()...) {
		var texts []string
		h, again := findingHit{scope: name}, true
		for _, o := range v.rows[name] {
			text, ok := row(o)
			if ok {
				again = false
			} else if e, refused := v.eventBehind(o); refused {
				text, ok = event(e)
			}
			if ok {
				texts, h.seen = union(texts, []string{text}), union(h.seen, keysOf(o))
			}
		}
		if len(texts) == 0 {
			continue
		}
		h.message = strings.Join(texts, "; ")
		finish(name, again, &h)
		hits = append(hits, h)
	}
	return hits
}

// callText writes a call and how often it had begun: ibv_post_recv (call 41).
func callText(o *Observation) string {
	s := printable(o.Call)
	if s == "" {
		return "outside a provider call"
	}
	if n, ok := dataInt(o.Data, "calls"); ok && n > 0 {
		s += fmt.Sprintf(" (call number %d)", n)
	}
	return "in " + s
}

func providerCrashed(v *findingView) []findingHit {
	return v.eventHits(func(o *Observation) (string, bool) {
		text := "a probe child died " + callText(o) + " while it looked at " + o.ID
		if i := strings.Index(o.Detail, "SIG"); i >= 0 {
			text += ": " + printable(o.Detail[i:])
		} else if o.Child != nil && o.Child.Exit != "" {
			text += ": " + printable(o.Child.Exit)
		}
		return text, o.Level == rdma.CapabilityUnknown && o.Reason == Crash
	}, func(e pastEvent) (string, bool) {
		return "nothing that allocates was tried, because a probe child died" + e.when(), e.event == "crashed"
	}, func(device string, _ bool, h *findingHit) {
		const once = "try once more with `--force`, without which nothing that allocates is tried in this boot; if it dies again, report it with `rdmaprobe report --redact`"
		h.remedy = "check cable and link, end other RDMA programs on the device and " + once
		switch {
		case device == "":
			h.remedy = "take libibverbs and its providers from one release, and look at the kernel log; if it dies again, report it with `rdmaprobe report --redact`"
			h.check = checkDevices
		case v.thunderbolt(device) && v.oldThunderbolt():
			h.remedy = "do not use RDMA on this Mac: its controllers are not made for it, and no probe of them has to succeed"
			h.check = checkDevices
		case !v.thunderbolt(device):
			h.remedy = "make sure that libibverbs, its provider and the kernel driver are of one release, and look at the kernel log; then " + once
		}
	})
}

// resetRemedy is what brings a provider back whose calls no longer return.
func (v *findingView) resetRemedy(device string) string {
	if v.thunderbolt(device) {
		return "unplug the Thunderbolt cable and plug it in again; restart the " + v.machine() + " if the calls still do not return. Do not kill programs that sit in a call: that leaks what they hold"
	}
	return "look at the kernel log, end other RDMA programs on the device, then reload its driver or restart the machine"
}

func providerWedged(v *findingView) []findingHit {
	return v.eventHits(func(o *Observation) (string, bool) {
		text := "a provider call did not return in time, " + callText(o) + ", while the probe looked at " + o.ID
		if outcomeOf(o) == guard.Left {
			text += fmt.Sprintf("; the child (pid %d) was left running, since killing it in the call leaks until the next restart and can wedge the port", o.Child.PID)
		} else {
			text += "; the child was killed"
		}
		return text, inFlight(o, guard.TimedOut, guard.Left) && !inData(o) && o.Call != "" // outside a call it was the machine that was slow
	}, func(e pastEvent) (string, bool) {
		text := "not tried again, because a provider call did not return" + e.when()
		if e.event == "killed" {
			text = "not tried again, because a child was killed from outside" + e.when() + ", which leaks what it held and can wedge the port"
		}
		if e.event == "left" && e.pid > 0 {
			text += fmt.Sprintf("; its child (pid %d) was left running", e.pid)
		}
		return text, e.event == "killed" || (e.event == "timed_out" || e.event == "left") && !e.data
	}, func(device string, again bool, h *findingHit) {
		h.remedy = v.resetRemedy(device)
		if again {
			h.remedy += lifted
		}
	})
}

func childUnkillable(v *findingView) []findingHit {
	return v.eventHits(func(o *Observation) (string, bool) {
		text := "the probe child did not die of SIGKILL " + callText(o)
		if o.Child != nil && o.Child.PID > 0 {
			text += fmt.Sprintf(" (pid %d)", o.Child.PID)
		}
		return text + ": the kernel holds it; nothing more was started on this device", inFlight(o, guard.Stuck)
	}, func(e pastEvent) (string, bool) {
		text := "nothing was started, because a probe child could not be killed" + e.when()
		if e.pid > 0 {
			text += fmt.Sprintf(" (pid %d)", e.pid)
		}
		return text, e.event == "stuck"
	}, func(_ string, again bool, h *findingHit) {
		h.remedy = "restart the machine: nothing else ends such a process"
		if again {
			h.remedy += lifted
		}
	})
}

func deviceBusy(v *findingView) []findingHit {
	return v.eventHits(func(*Observation) (string, bool) { return "", false }, func(e pastEvent) (string, bool) {
		text := "another rdmaprobe holds the device"
		if e.pid > 0 {
			text += fmt.Sprintf(" (pid %d)", e.pid)
		}
		return text + ": it was waited for in vain, and nothing was tried", e.event == "busy"
	}, func(_ string, _ bool, h *findingHit) {
		h.remedy = "wait until the other run has ended, or give this one a longer --timeout"
	})
}

func probeInterrupted(v *findingView) []findingHit {
	const meaning = ", and no outcome was recorded: that run may have been killed, or the machine may have gone down in it"
	return v.eventHits(func(o *Observation) (string, bool) {
		intent, ok := o.Data["intent"].(map[string]any)
		if !ok || o.Reason != Interrupted {
			return "", false
		}
		text := "the probe " + printable(dataText(intent, "probe")) + " was begun"
		if at := dataText(intent, "at"); at != "" {
			text += " at " + printable(at)
		}
		if run := dataText(intent, "run"); run != "" {
			text += " (run " + printable(run) + ")"
		}
		return text + meaning, true
	}, func(e pastEvent) (string, bool) {
		return "a probe was begun" + e.when() + meaning, e.event == "interrupted"
	}, func(_ string, _ bool, h *findingHit) {
		h.remedy = "look for a kernel panic or a restart at that time; if there was none, repeat the probe with `--force`. After an update of the system it is tried again by itself"
	})
}
