//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/ledger"
)

// What one event closes, in the run that had it and in those after it. The
// device with the event is the first of the machine.
func TestWhatClosesWhat(t *testing.T) {
	t.Parallel()
	nothing := map[string]string{"port.state": "confirmed", "gid.usable": "confirmed", "mr.register": "confirmed", "qp.uc.create": "confirmed"}
	create := map[string]string{"port.state": "confirmed", "gid.usable": "confirmed", "mr.register": "guarded", "qp.uc.create": "guarded"}
	for _, tt := range []struct {
		name    string
		machine func(*testing.T) *machine
		ruin    func(*machine)
		change  func(*Options)
		exit    int
		first   map[string]string // the broken device, in the run
		other   map[string]string // the other one, in the run
		next    map[string]string // the broken device, mended, in the next run of the boot
		event   string            // which that run names
		finding string            // and raises
	}{
		{
			name: "a crash closes creation, and nothing in its own run", machine: newMac, exit: ExitContained,
			ruin:  func(m *machine) { m.rules(0, "ibv_reg_mr", object{"fault": "crash"}) },
			first: map[string]string{"mr.register": "crash", "mr.rkey": "precondition", "qp.uc.create": "confirmed"},
			other: nothing, next: create, event: "crashed", finding: "provider_crashed",
		},
		{
			name: "an exit without a word is a crash", machine: newLinux, exit: ExitContained,
			ruin:  func(m *machine) { m.rules(0, "ibv_create_cq", object{"fault": "exit"}) },
			first: map[string]string{"mr.register": "confirmed", "cq.create": "crash", "qp.uc.create": "precondition"},
			other: nothing, next: create, event: "crashed", finding: "provider_crashed",
		},
		{
			name: "a crash in a query closes creation too", machine: newLinux, exit: ExitContained,
			ruin:  func(m *machine) { m.rules(0, "ibv_query_gid", object{"fault": "crash"}) },
			first: map[string]string{"port.state": "confirmed", "gid.usable": "crash", "gid.ipv4_mapped": "precondition", "qp.uc.create": "confirmed"},
			other: nothing, next: create, event: "crashed", finding: "provider_crashed",
		},
		{
			name: "a hang in creation closes creation", machine: newLinux, exit: ExitContained,
			ruin:  func(m *machine) { m.timeout = short; m.rules(0, "ibv_reg_mr", object{"fault": "hang"}) },
			first: map[string]string{"mr.register": "timeout", "mr.rkey": "precondition", "qp.uc.create": "guarded", "gid.usable": "confirmed"},
			other: nothing, next: create, event: "timed_out", finding: "provider_wedged",
		},
		{
			name: "a hang in a query closes creation in its own run only", machine: newLinux, exit: ExitContained,
			ruin:  func(m *machine) { m.timeout = short; m.rules(0, "ibv_query_gid", object{"fault": "hang_term"}) },
			first: map[string]string{"port.state": "confirmed", "gid.usable": "timeout", "qp.uc.create": "guarded"},
			other: nothing, next: nothing,
		},
		{
			name: "a hang on Thunderbolt with --kill", machine: newMac, exit: ExitContained, change: func(o *Options) { o.Kill = true },
			ruin:  func(m *machine) { m.timeout = short; m.rules(0, "ibv_create_qp", object{"fault": "hang"}) },
			first: map[string]string{"mr.register": "confirmed", "qp.uc.create": "timeout"},
			other: nothing, next: create, event: "timed_out", finding: "provider_wedged",
		},
		{
			name: "a transition that failed elsewhere than on Thunderbolt", machine: newLinux, change: func(o *Options) { o.AllowRTR = true },
			ruin: func(m *machine) {
				m.rules(0, "ibv_modify_qp", object{"when": object{"to": "RTR"}, "errno": "ETIMEDOUT"})
			},
			exit:  ExitFinding,
			first: map[string]string{"qp.uc.rtr": "unreachable", "qp.uc.rts": "precondition"},
			other: map[string]string{"qp.uc.rtr": "confirmed"}, next: map[string]string{"qp.uc.rtr": "confirmed"},
		},
		{
			name: "a transition that failed on Thunderbolt closes transitions there", machine: newMac, change: func(o *Options) { o.AllowRTR, o.More = true, []string{"pingpong"} },
			ruin:  func(m *machine) { m.rules(0, "ibv_modify_qp", object{"when": object{"to": "RTR"}, "errno": "ENODATA"}) },
			exit:  ExitFinding,
			first: map[string]string{"qp.uc.rtr": "provider_error", "pingpong.uc": "precondition"},
			other: map[string]string{"qp.uc.create": "confirmed", "qp.uc.rtr": "guarded", "pingpong.uc": "guarded"},
			next:  map[string]string{"qp.uc.create": "confirmed", "qp.uc.rtr": "guarded", "pingpong.uc": "guarded"}, event: "rtr_failed", finding: "provider_degraded",
		},
		{
			name: "a loop that ends at its own deadline closes nothing", machine: newLinux, exit: ExitFinding, change: func(o *Options) { o.More = []string{"pingpong"} },
			ruin:  func(m *machine) { m.rules(0, "ibv_post_send", object{"deliver": false}) },
			first: map[string]string{"pingpong.uc": "no_completion"},
			other: map[string]string{"pingpong.uc": "confirmed"}, next: map[string]string{"pingpong.uc": "confirmed"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := tt.machine(t)
			names := []string{m.dev(0)["name"].(string), m.dev(1)["name"].(string)}
			tt.ruin(m)
			if tt.change == nil {
				tt.change = func(*Options) {}
			}
			d := m.patient(func(o *Options) {
				tt.change(o)
				if o.More != nil {
					o.Iterations, o.Timeout = 5, 3*time.Second
				}
			})
			if d.Exit != tt.exit {
				t.Errorf("exit %d, want %d: %+v", d.Exit, tt.exit, d.Findings)
			}
			levels(t, d, names[0], tt.first)
			levels(t, d, names[1], tt.other)
			delete(m.dev(0), "calls")
			m.timeout = long
			change := func(o *Options) { tt.change(o); o.Kill = false; o.Iterations = 5 }

			next := m.probe(change)
			levels(t, next, names[0], tt.next)
			refusal(t, next, names[0], tt.event, d.Run.ID)
			if tt.finding != "" && !hasFinding(next, tt.finding, names[0]) {
				t.Errorf("%s is not raised again: %+v", tt.finding, next.Findings)
			}
			if tt.event == "" && len(next.Findings) > 0 {
				t.Errorf("findings of a mended device: %+v", next.Findings)
			}
			if tt.event == "" {
				return
			}
			m.profile["boot_id"] = "boot-2"
			refusal(t, m.probe(change), names[0], "", "")
			m.profile["boot_id"] = "boot-1"
			forced := m.probe(func(o *Options) { change(o); o.Force = true })
			refusal(t, forced, names[0], "", "")
			if !slices.Contains(forced.Run.Gates, "force") {
				t.Errorf("gates %v", forced.Run.Gates)
			}
		})
	}
}

// patient probes with a short deadline, and where the machine was too slow for what
// does not hang, as the rows then say, once more with a longer one.
func (m *machine) patient(change func(*Options)) *Document {
	m.t.Helper()
	for {
		d := m.probe(change)
		late := slices.ContainsFunc(d.Observations, func(o Observation) bool {
			return o.Reason == Timeout && (o.Child == nil || o.Child.Outcome == guard.Completed)
		})
		if !late || m.timeout >= long {
			return d
		}
		m.timeout *= 4
		if err := os.Remove(m.store); err != nil {
			m.t.Fatal(err)
		}
	}
}

// refusal checks that a device's refused rows name an event of a run with its
// time and the ways out, or with event "" that none was refused.
func refusal(t *testing.T, d *Document, device, event, run string) {
	t.Helper()
	found := false
	for _, o := range d.Observations {
		if o.Device != device || o.Reason != Guarded {
			continue
		}
		found = true
		by, _ := o.Data["closed_by"].(map[string]any)
		if eventOf(o) != event || dataText(by, "run") != run {
			t.Errorf("%s is refused for %v, want %s of run %s", o.ID, by, event, run)
		}
		for _, text := range []string{eventWords[event], dataText(by, "at"), "--force"} {
			if text == "" || !strings.Contains(o.Detail, text) {
				t.Errorf("%s does not name %q: %s", o.ID, text, o.Detail)
			}
		}
		if o.Child != nil || o.Call != "" || o.Errno != nil {
			t.Errorf("%s was refused, and yet has %v %q %v", o.ID, o.Child, o.Call, o.Errno)
		}
	}
	if found != (event != "") {
		t.Errorf("%s: refused %v, want %q", device, found, event)
	}
}

// A child that is left in a call keeps everything off its device while it lives,
// and creation off all Thunderbolt devices for the boot.
func TestLeftChild(t *testing.T) {
	t.Parallel()
	m := newMac(t)
	m.timeout = short
	m.rules(0, "ibv_create_qp", object{"fault": "hang"})
	d := m.probe(func(o *Options) { o.More = []string{"ud"} })
	levels(t, d, "rdma_en3", map[string]string{"mr.register": "confirmed", "qp.uc.create": "stuck", "qp.ud.create": "guarded"})
	levels(t, d, "rdma_en4", map[string]string{"port.state": "confirmed", "gid.usable": "confirmed", "mr.register": "guarded", "qp.uc.create": "guarded"})
	child := rowFor(t, d, "rdma_en3", "qp.uc.create").Child
	if d.Exit != ExitContained || child.Outcome != guard.Left || !guard.ProcessAlive(child.PID) {
		t.Fatalf("exit %d, child %+v", d.Exit, child)
	}
	m.rules(0, "ibv_create_qp")
	m.timeout = long

	next := m.probe(nil)
	levels(t, next, "rdma_en3", map[string]string{"port.query": "guarded", "gid.usable": "guarded", "mr.register": "guarded"})
	levels(t, next, "rdma_en4", map[string]string{"port.query": "confirmed", "mr.register": "guarded"})
	if o := rowFor(t, next, "rdma_en3", "port.query"); eventOf(o) != "left" || !strings.Contains(o.Detail, "while process") {
		t.Errorf("the refusal says %q", o.Detail)
	}
	if !hasFinding(next, "provider_wedged", "rdma_en3") || hasFinding(next, "device_busy", "rdma_en3") {
		t.Errorf("findings %+v", next.Findings)
	}
	listed := m.devices(nil)
	levels(t, listed, "rdma_en3", map[string]string{"port.query": "guarded"})
	levels(t, listed, "rdma_en4", map[string]string{"port.query": "confirmed"})

	forced := m.probe(func(o *Options) { o.Force, o.Timeout = true, 2*time.Second })
	levels(t, forced, "rdma_en3", map[string]string{"port.query": "confirmed", "qp.uc.create": "confirmed"})

	end(t, child.PID)
	after := m.probe(nil)
	levels(t, after, "rdma_en3", map[string]string{"port.query": "confirmed", "mr.register": "guarded"})
	levels(t, after, "rdma_en4", map[string]string{"port.query": "confirmed", "mr.register": "guarded"})
	m.profile["boot_id"] = "boot-2"
	levels(t, m.probe(nil), "rdma_en3", map[string]string{"mr.register": "confirmed"})
}

// A child that cannot be killed closes its device, in a listing too.
func TestStuckChild(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.timeout = short
	m.rules(0, "ibv_query_port", object{"fault": "stuck"})
	d := m.devices(nil)
	levels(t, d, "mlx5_0", map[string]string{"dev.open": "confirmed", "port.query": "stuck", "gid.usable": "precondition"})
	levels(t, d, "mlx5_1", map[string]string{"port.query": "confirmed"})
	if !hasFinding(d, "child_unkillable", "mlx5_0") || d.Exit != ExitContained {
		t.Errorf("exit %d, %+v", d.Exit, d.Findings)
	}
	m.rules(0, "ibv_query_port")
	m.timeout = long
	next := m.probe(nil)
	levels(t, next, "mlx5_0", map[string]string{"port.query": "guarded", "mr.register": "guarded"})
	levels(t, next, "mlx5_1", map[string]string{"mr.register": "confirmed"})
	if !hasFinding(next, "child_unkillable", "mlx5_0") {
		t.Errorf("%+v", next.Findings)
	}
	end(t, rowFor(t, d, "mlx5_0", "port.query").Child.PID)
	levels(t, m.probe(nil), "mlx5_0", map[string]string{"port.query": "confirmed", "mr.register": "guarded"})
}

// A lock that a child of an earlier run of this boot has kept is told as that
// child's, and any other as somebody else's.
func TestLockOfAChildLeftBehind(t *testing.T) {
	h := newHistory()
	h.runs["before"] = &pastRun{id: "before", boot: "boot-1"}
	h.closures["guid"] = []closure{
		{Event: "timed_out", PID: 41, Run: "before"}, {Event: "stuck", PID: 42, Run: "before", Call: "ibv_create_cq"}, {Event: "left", PID: 43, Run: "gone"},
	}
	for _, c := range []struct {
		boot, event string
		pid         int
	}{{"boot-1", "stuck", 42}, {"boot-2", "busy", 42}, {"boot-1", "busy", 41}, {"boot-1", "busy", 43}, {"boot-1", "busy", 44}, {"boot-1", "busy", 0}} {
		r := &run{recorder: recorder{doc: &Document{Run: RunInfo{BootID: c.boot}}}, past: h}
		detail, data := (&deviceRun{run: r}).busy(&guard.BusyError{Key: "mlx5_1", PID: c.pid})
		by, _ := data["closed_by"].(map[string]any)
		if dataText(by, "event") != c.event || (detail == busyText) != (c.event == "busy") {
			t.Errorf("%+v: %q, %v", c, detail, data)
		}
	}
}

// Another process that holds a Thunderbolt device keeps transitions off it.
func TestHolder(t *testing.T) {
	t.Parallel()
	m := newMac(t)
	m.host()["rdma_processes"] = []object{
		{"pid": 4242, "command": "python3", "devices": []string{"rdma_en3"}},
		{"pid": 4243, "command": "gone", "leaked": true, "devices": []string{"rdma_en4"}},
	}
	change := func(o *Options) { o.AllowRTR = true }
	d := m.probe(change)
	levels(t, d, "rdma_en3", map[string]string{"qp.uc.create": "confirmed", "qp.uc.rtr": "guarded"})
	levels(t, d, "rdma_en4", map[string]string{"qp.uc.rtr": "confirmed"})
	if o := rowFor(t, d, "rdma_en3", "qp.uc.rtr"); eventOf(o) != "holder" || !strings.Contains(o.Detail, "4242") {
		t.Errorf("%q, %v", o.Detail, o.Data)
	}
	levels(t, m.probe(func(o *Options) { change(o); o.Force = true }), "rdma_en3", map[string]string{"qp.uc.rtr": "confirmed"})
	l := newLinux(t)
	l.host()["rdma_processes"] = []object{{"pid": 4242, "command": "python3"}}
	levels(t, l.probe(change), "mlx5_0", map[string]string{"qp.uc.rtr": "confirmed"})
}

// announce writes an intent of a run that records no outcome. over says whether
// the run is.
func (m *machine) announce(device, guid, word string, over bool) *ledger.Run {
	m.t.Helper()
	store, err := ledger.Open(m.store, "simulated:machine")
	if err != nil {
		m.t.Fatal(err)
	}
	host := m.host()
	r, err := store.Begin(object{"run": object{"boot_id": "boot-0"}, "host": host, "provider": object{"kind": "simulated"}})
	if err != nil {
		m.t.Fatal(err)
	}
	row, _ := rowOf(word)
	build, _ := host["os_build"].(string)
	_, err = r.Append(ledger.KindDevice, object{"name": device, "node_guid": guid, "transport": "infiniband", "ports": []object{}})
	if err == nil {
		_, err = r.Intent(intentBody{Device: device, NodeGUID: guid, Port: 1, Probe: word, IDs: row.ids(&request{}), BootID: "boot-0", OSBuild: build})
	}
	if err == nil && over {
		err = r.Close()
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return r
}

// An announced probe without outcome stays closed, by itself and across boots,
// until the OS build changes.
func TestOpenIntent(t *testing.T) {
	t.Parallel()
	for name, guid := range map[string]string{"by GUID": "0000:5eff:fe00:5301", "by name": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newLinux(t)
			if guid == "" {
				m.dev(0)["node_guid"] = "0000:0000:0000:0000"
			}
			run := m.announce("mlx5_0", guid, "mr", true)

			seen := m.report(nil)
			levels(t, seen, "mlx5_0", map[string]string{"mr.register": "interrupted", "mr.rkey": "interrupted"})
			if !hasFinding(seen, "probe_interrupted", "mlx5_0") || seen.Devices[0].Capabilities.RemoteKey.LastAttempt == nil {
				t.Errorf("the report tells nothing of it: %+v", seen.Findings)
			}
			d := m.probe(nil)
			levels(t, d, "mlx5_0", map[string]string{"port.query": "confirmed", "mr.register": "guarded", "qp.uc.create": "confirmed"})
			levels(t, d, "mlx5_1", map[string]string{"mr.register": "confirmed"})
			refusal(t, d, "mlx5_0", "interrupted", run.ID)
			if !hasFinding(d, "probe_interrupted", "mlx5_0") {
				t.Errorf("findings %+v", d.Findings)
			}
			forced := m.probe(func(o *Options) { o.Force = true })
			levels(t, forced, "mlx5_0", map[string]string{"mr.register": "confirmed"})
			m.host()["kernel"] = "6.8.0-2"
			levels(t, m.probe(nil), "mlx5_0", map[string]string{"mr.register": "confirmed"})
		})
	}
	t.Run("of a run that goes on", func(t *testing.T) {
		t.Parallel()
		m := newLinux(t)
		run := m.announce("mlx5_0", "0000:5eff:fe00:5301", "mr", false)
		defer run.Close()
		levels(t, m.probe(nil), "mlx5_0", map[string]string{"mr.register": "confirmed"})
	})
}

// A GUID that two devices share, or a zero one, identifies within one boot only,
// by name.
func TestIdentityWithoutGUID(t *testing.T) {
	t.Parallel()
	for name, guid := range map[string]string{"zero": "0000:0000:0000:0000", "shared": "0000:5eff:fe00:5301"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newLinux(t)
			m.dev(0)["node_guid"], m.dev(1)["node_guid"] = guid, guid
			m.rules(0, "ibv_reg_mr", object{"fault": "crash"})
			m.probe(nil)
			delete(m.dev(0), "calls")
			d := m.probe(nil)
			levels(t, d, "mlx5_0", map[string]string{"mr.register": "guarded"})
			levels(t, d, "mlx5_1", map[string]string{"mr.register": "confirmed"})
			m.profile["boot_id"] = "boot-2"
			d = m.probe(nil)
			levels(t, d, "mlx5_0", map[string]string{"mr.register": "confirmed"})
			if s := d.Devices[0].Capabilities.RemoteKey; s.Observation == nil || s.Observation.Run != d.Run.ID {
				t.Errorf("remote_key: %+v", s)
			}
		})
	}
}

// Without a ledger to write to, class read still runs.
func TestStoreNotWritable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Log("root writes everywhere: the folder is a file here")
	}
	m := newLinux(t)
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.store = filepath.Join(blocked, "evidence.jsonl")
	d := m.probe(nil)
	levels(t, d, "mlx5_0", map[string]string{"port.state": "confirmed", "gid.usable": "confirmed", "mr.register": "guarded", "qp.uc.create": "guarded"})
	if d.Exit != ExitOwn || len(d.Notes) == 0 || !strings.Contains(rowFor(t, d, "mlx5_0", "mr.register").Detail, "--store none") {
		t.Errorf("exit %d, notes %q", d.Exit, d.Notes)
	}
	if d := m.devices(nil); d.Exit != ExitOK || len(d.Notes) == 0 {
		t.Errorf("devices: exit %d, notes %q", d.Exit, d.Notes)
	}
	m.store = "none"
	if d := m.probe(nil); d.Exit != ExitOK || len(d.Notes) != 0 {
		t.Errorf("without a store: exit %d, notes %q", d.Exit, d.Notes)
	}
}

// A simulated machine never gets near the native ledger, whatever it would do
// there.
func TestForeignStore(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	t.Setenv("HOME", home)
	m := newMac(t)
	native, err := ledger.DefaultPath(Native)
	if err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{native, filepath.Join(t.TempDir(), "other.jsonl")} {
		m.store = store
		if store != native {
			if s, err := ledger.Open(store, Native); err != nil {
				t.Fatal(err)
			} else if r, err := s.Begin(object{}); err != nil {
				t.Fatal(err)
			} else if err := r.End(nil); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.ReadFile(store)
		plan, planErr := MakePlan(t.Context(), m.options(nil))
		d, runErr := Run(t.Context(), m.options(nil))
		rep, repErr := Report(ReportOptions{Options: m.options(nil)})
		for name, got := range map[string]struct {
			exit int
			err  error
		}{"plan": {plan.Exit, planErr}, "probe": {d.Exit, runErr}, "report": {rep.Exit, repErr}} {
			var usage *UsageError
			if got.exit != ExitUsage || !errors.As(got.err, &usage) {
				t.Errorf("%s on %s: exit %d, %v", name, store, got.exit, got.err)
			}
		}
		if after, _ := os.ReadFile(store); string(after) != string(before) {
			t.Errorf("%s was written to", store)
		}
	}
}

// Whoever holds a device is waited for, then the rows say so; the other device
// is probed, and a listing shares.
func TestBusyDevice(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.probe(nil)
	locks := filepath.Join(filepath.Dir(m.store), "locks")
	lock, err := guard.LockDevice(t.Context(), locks, "machine mlx5_0", false)
	if err != nil {
		t.Fatal(err)
	}
	d := m.probe(func(o *Options) { o.Timeout = 3 * time.Second })
	levels(t, d, "mlx5_0", map[string]string{"port.query": "guarded", "mr.register": "guarded"})
	levels(t, d, "mlx5_1", map[string]string{"mr.register": "confirmed"})
	if d.Exit != ExitOK || !hasFinding(d, "device_busy", "mlx5_0") {
		t.Errorf("exit %d, %+v", d.Exit, d.Findings)
	}
	alone := m.probe(func(o *Options) { o.Timeout, o.Devices = time.Second, []string{"mlx5_0"} })
	if alone.Exit != ExitNothing || !hasFinding(alone, "device_busy", "mlx5_0") {
		t.Errorf("the only one is busy: exit %d, %+v", alone.Exit, alone.Findings)
	}
	listed := m.devices(func(o *Options) { o.Timeout = 3 * time.Second })
	levels(t, listed, "mlx5_0", map[string]string{"port.query": "guarded"})
	levels(t, listed, "mlx5_1", map[string]string{"port.query": "confirmed"})
	if listed.Exit != ExitOK || len(listed.Devices) != 2 || !hasFinding(listed, "device_busy", "mlx5_0") {
		t.Errorf("devices: exit %d, %+v", listed.Exit, listed.Findings)
	}
	lock.Unlock()
	shared, err := guard.LockDevice(t.Context(), locks, "machine mlx5_0", true)
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Unlock()
	levels(t, m.devices(nil), "mlx5_0", map[string]string{"port.query": "confirmed"})
	// What was not tried replaced nothing.
	r := m.report(nil)
	levels(t, r, "mlx5_0", map[string]string{"mr.register": "confirmed"})
}
