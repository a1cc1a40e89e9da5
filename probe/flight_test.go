package probe

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// The calls of messages are not announced: what was announced before them is not
// what the child was in.
func TestCallInFlight(t *testing.T) {
	killed := guard.Result{Outcome: guard.Crashed, Killed: true, Signal: "SIGKILL: killed", PID: 7}
	for _, c := range []struct {
		name   string
		mark   func(*guard.Result)
		call   string
		says   string
		closes bool // Thunderbolt
	}{
		{"none", func(*guard.Result) {}, "", "outside a provider call", false},
		{"a poll", func(r *guard.Result) { r.InCall, r.Verb, r.Calls = true, "ibv_poll_cq", 740000 }, "ibv_poll_cq", "in ibv_poll_cq", true},
		{"not known", func(r *guard.Result) { r.InCall = true }, "ibv_modify_qp", "in ibv_modify_qp", true},
	} {
		a := &attempt{result: killed, last: callMessage{Verb: "ibv_modify_qp", ID: "qp.rc.rts", Device: "rdma_en3"}}
		a.rows = []Observation{{ID: "qp.rc.rts", Device: "rdma_en3", Level: rdma.CapabilityConfirmed}}
		c.mark(&a.result)
		o := a.lost("rdma_en3", "pingpong", 1, []string{"qp.rc.rts", "pingpong.rc"})[0]
		if o.ID != "pingpong.rc" || o.Call != c.call || o.Reason != Interrupted || !strings.Contains(o.Detail, c.says) {
			t.Errorf("%s: %s in %q: %q, %s", c.name, o.ID, o.Call, o.Reason, o.Detail)
		}
		if _, ok := closureOf(&o, true); ok != c.closes {
			t.Errorf("%s: closes the Thunderbolt device: %v, want %v", c.name, ok, c.closes)
		}
		if _, ok := closureOf(&o, false); ok {
			t.Errorf("%s: closes another device", c.name)
		}
	}
}

// A hang among the messages of the second size is of that row, and not of the
// teardown because there is a row of that id already.
func TestRowInFlightOfSeveralSizes(t *testing.T) {
	a := &attempt{result: guard.Result{Outcome: guard.TimedOut, PID: 7, InCall: true, Verb: "ibv_poll_cq", Calls: 9}}
	send := func(typ string, body any) {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		a.take(guard.Message{Type: typ, Body: b})
	}
	begin := func(size int) {
		send(msgCall, callMessage{ID: "pingpong.rc", Device: "mlx5_0", Port: 1, Params: map[string]any{"size": size}, StartedAt: time.Now()})
	}
	lost := func() Observation {
		return a.lost("mlx5_0", "pingpong", 1, []string{"pingpong.rc", teardownID})[0]
	}
	row := Observation{ID: "pingpong.rc", Device: "mlx5_0", Port: 1, Level: rdma.CapabilityConfirmed}
	begin(64)
	send(msgObservation, row)
	if o := lost(); o.ID != teardownID {
		t.Errorf("after the first size: %s", o.ID)
	}
	begin(4096)
	send(msgObservation, Observation{ID: "port.state", Device: "mlx5_0", Port: 1, Level: rdma.CapabilityConfirmed})
	if o := lost(); o.ID != "pingpong.rc" || o.Data["phase"] != "data" || !strings.Contains(o.Detail, "ibv_poll_cq") {
		t.Errorf("in the second size: %s, %v, %s", o.ID, o.Data, o.Detail)
	} else if n, _ := dataInt(o.Params, "size"); n != 4096 {
		t.Errorf("in the second size: %v", o.Params)
	}
	send(msgObservation, row)
	if o := lost(); o.ID != teardownID {
		t.Errorf("after the second size: %s", o.ID)
	}
}

// A library's constructor runs while it is loaded, before there is a page that tells
// of calls: the call is known by what was announced, until its row is there.
func TestLoadInFlight(t *testing.T) {
	for _, id := range []string{"lib.load", "dev.open"} {
		a := &attempt{result: guard.Result{Outcome: guard.TimedOut, PID: 7}, last: callMessage{Verb: loading, ID: id, Device: "mlx5_0"}}
		if o := a.lost("mlx5_0", "mr", 1, []string{id, "mr.register"})[0]; o.ID != id || o.Call != loading || !strings.Contains(o.Detail, "in dlopen, which had not returned") {
			t.Errorf("%s in %q: %s", o.ID, o.Call, o.Detail)
		}
		a.rows = []Observation{{ID: id, Device: "mlx5_0", Level: rdma.CapabilityConfirmed}}
		if o := a.lost("mlx5_0", "mr", 1, []string{id, "mr.register"})[0]; o.Call != "" {
			t.Errorf("after %s: in %q", id, o.Call)
		}
	}
}
