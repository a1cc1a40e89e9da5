//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/leaktest"
	"rdmaprobe/rdma"
)

// panicEnv makes the children of a test fail in our own code.
const panicEnv = "RDMAPROBE_TEST_PANIC"

// The children of these tests are this binary. This runs before any test's own
// dispatch to Main.
func init() {
	if word := os.Getenv(panicEnv); word != "" {
		for i := range table {
			if table[i].word == word {
				table[i].run = func(*session) { panic("a mistake of ours") }
			}
		}
	}
}

func TestMain(m *testing.M) {
	Main()
	code := m.Run()
	if code == 0 {
		if err := leaktest.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

type object = map[string]any

// machine is a simulated machine with a ledger, as the tests change it.
type machine struct {
	t       *testing.T
	profile object
	store   string
	timeout time.Duration
}

// short is the deadline of children that are meant to hang, long that of all
// others. Healthy ones beside those that hang have the short one too, and must
// keep it on a machine that is busy.
const (
	short = 2 * time.Second
	long  = 20 * time.Second
)

// newMac is a Mac with two Thunderbolt devices, both ACTIVE and connected, whose
// boot and build stay the same.
func newMac(t *testing.T) *machine {
	port := func(mapped string) []object {
		return []object{{
			"num": 1, "state": "active", "link_layer": "thunderbolt", "max_mtu": 4096, "active_mtu": 4096,
			"gids": []object{{"index": 0, "gid": "fe80::200:5eff:fe00:5301", "type": "none"}, {"index": 1, "gid": mapped, "type": "none"}},
		}}
	}
	return newMachine(t, object{
		"host": object{"name": "studio", "os": "macos", "os_version": "26.5.1", "os_build": "25F80", "arch": "arm64", "rdma_ctl": "enabled"},
		"devices": []object{
			{"name": "rdma_en3", "node_guid": "0000:5eff:fe00:5301", "transport": "thunderbolt", "ports": port("::ffff:192.0.2.1")},
			{"name": "rdma_en4", "node_guid": "0000:5eff:fe00:5302", "transport": "thunderbolt", "ports": port("::ffff:192.0.2.5")},
		},
	})
}

// newLinux is a Linux machine with two RoCE devices.
func newLinux(t *testing.T) *machine {
	port := func(mapped string) []object {
		return []object{{
			"num": 1, "state": "active", "link_layer": "ethernet", "max_mtu": 4096, "active_mtu": 1024,
			"gids": []object{{"index": 0, "gid": mapped, "type": "roce_v2"}},
		}}
	}
	return newMachine(t, object{
		"host": object{"name": "node1", "os": "linux", "kernel": "6.8.0-1", "arch": "x86_64"},
		"devices": []object{
			{"name": "mlx5_0", "node_guid": "0000:5eff:fe00:5301", "transport": "infiniband", "ports": port("::ffff:192.0.2.1")},
			{"name": "mlx5_1", "node_guid": "0000:5eff:fe00:5302", "transport": "infiniband", "ports": port("::ffff:192.0.2.5")},
		},
	})
}

func newMachine(t *testing.T, profile object) *machine {
	profile["profile"], profile["id"], profile["boot_id"] = 1, "machine", "boot-1"
	return &machine{t: t, profile: profile, store: filepath.Join(t.TempDir(), "evidence.jsonl"), timeout: long}
}

func (m *machine) host() object { return m.profile["host"].(object) }

func (m *machine) dev(i int) object { return m.profile["devices"].([]object)[i] }

// rules makes a verb of a device misbehave; no rules mend it.
func (m *machine) rules(dev int, verb string, rules ...object) {
	calls, _ := m.dev(dev)["calls"].(object)
	if calls == nil {
		calls = object{}
		m.dev(dev)["calls"] = calls
	}
	if calls[verb] = rules; len(rules) == 0 {
		delete(calls, verb)
	}
}

// options are those of a run on the machine.
func (m *machine) options(change func(*Options)) Options {
	data, err := json.Marshal(m.profile)
	if err != nil {
		m.t.Fatal(err)
	}
	o := Options{Provider: ProviderOptions{Profile: data, Name: "machine"}, Store: m.store, Timeout: m.timeout}
	if change != nil {
		change(&o)
	}
	return o
}

// probe runs a probe whose document must be in order.
func (m *machine) probe(change func(*Options)) *Document {
	m.t.Helper()
	return m.checked(Run(m.t.Context(), m.options(change)))
}

// devices lists.
func (m *machine) devices(change func(*Options)) *Document {
	m.t.Helper()
	return m.checked(ListDevices(m.t.Context(), m.options(change)))
}

// A peer that is named in a simulation is nobody who could be dialled, and the
// document says so.
func TestPeerOfASimulation(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	dialled := func(d *Document) bool {
		return !slices.Contains(d.Notes, "--peer node-b: not checked: the simulated provider has its own peer; nothing was dialled")
	}
	if d := m.probe(func(o *Options) { o.Peer = "node-b" }); dialled(d) {
		t.Errorf("probe: notes %q", d.Notes)
	}
	if d := m.checked(Doctor(t.Context(), DoctorOptions{Options: m.options(func(o *Options) { o.Peer = "node-b" })})); dialled(d) {
		t.Errorf("doctor: notes %q", d.Notes)
	}
	refused := newLinux(t)
	refused.profile["control_channel"] = object{"errno": "ECONNREFUSED", "peer": "192.0.2.2"}
	d := refused.checked(Doctor(t.Context(), DoctorOptions{Options: refused.options(func(o *Options) { o.Peer = "node-b" })}))
	if !slices.Contains(d.Notes, "--peer node-b: answered as the profile says; nothing was dialled") || !strings.Contains(d.Verdict.Text, "the peer was not reached (ECONNREFUSED)") {
		t.Errorf("a channel of the profile: notes %q, verdict %q", d.Notes, d.Verdict.Text)
	}
	if d := m.probe(nil); len(d.Notes) > 0 {
		t.Errorf("without --peer: notes %q", d.Notes)
	}
}

// report rebuilds.
func (m *machine) report(change func(*ReportOptions)) *Document {
	m.t.Helper()
	o := ReportOptions{Options: m.options(nil)}
	if change != nil {
		change(&o)
	}
	return m.checked(Report(o))
}

// checked looks at what holds for every document, and ends children that were
// left when the test does.
func (m *machine) checked(d *Document, err error) *Document {
	m.t.Helper()
	if (err != nil) != (d.Error != "") {
		m.t.Errorf("error %v, in the document %q", err, d.Error)
	}
	names := map[ObservationRef]bool{}
	for _, o := range d.Observations {
		if !Sound(o) {
			m.t.Errorf("%s is %q for %q: not of the vocabulary", o.Key(), o.Level, o.Reason)
		}
		ref := ObservationRef{o.Run, o.Seq, o.Device + "/" + o.ID}
		if names[ref] || o.Seq < 1 {
			m.t.Errorf("%s is row %d of run %s, and so is another", o.Key(), o.Seq, o.Run)
		}
		names[ref] = true
		if c := o.Child; c != nil && (c.Outcome == guard.Left || c.Outcome == guard.Stuck) {
			m.t.Cleanup(func() { end(m.t, c.PID) })
		}
	}
	return d
}

// end kills a child that was left, and waits for its end.
func end(t *testing.T, pid int) {
	t.Helper()
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for limit := time.Now().Add(long); guard.ProcessAlive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("process %d does not end", pid)
		}
	}
}

// rowFor is the newest row of an id on a device; the test fails without one.
func rowFor(t *testing.T, d *Document, device, id string) Observation {
	t.Helper()
	var found *Observation
	for i := range d.Observations {
		if o := &d.Observations[i]; o.Device == device && o.ID == id && (found == nil || o.Seq > found.Seq) {
			found = o
		}
	}
	if found == nil {
		t.Fatalf("no row %s of %q", id, device)
	}
	return *found
}

// levels checks rows: "confirmed", "rejected", "observed_zero" or a reason.
func levels(t *testing.T, d *Document, device string, want map[string]string) {
	t.Helper()
	for id, w := range want {
		o := rowFor(t, d, device, id)
		if got := cmp.Or(string(o.Reason), string(o.Level)); got != w {
			t.Errorf("%s/%s is %s (%s), want %s", device, id, got, o.Detail, w)
		}
	}
}

// eventOf is the event for which a row was refused.
func eventOf(o Observation) string {
	by, _ := o.Data["closed_by"].(map[string]any)
	return dataText(by, "event")
}

func hasFinding(d *Document, code, scope string) bool {
	return slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Code == code && f.Scope == scope })
}

func TestRunOfAHealthyMachine(t *testing.T) {
	t.Parallel()
	m := newMac(t)
	d := m.probe(func(o *Options) { o.More = []string{"rc", "events"}; o.Devices = []string{"rdma_en4", "rdma_en9"} })
	if d.Exit != ExitOK || len(d.Devices) != 1 || len(d.Notes) != 1 || d.Run.Seq != 1 {
		t.Errorf("exit %d, %d devices, notes %q, run %d", d.Exit, len(d.Devices), d.Notes, d.Run.Seq)
	}
	levels(t, d, "rdma_en4", map[string]string{
		"dev.open": "confirmed", "port.state": "confirmed", "gid.ipv4_mapped": "confirmed", "mr.register": "confirmed", "mr.rkey": "observed_zero",
		"qp.uc.init": "confirmed", "cq.notify": "confirmed", "teardown": "confirmed", "qp.uc.rtr": "not_tried", "op.rdma_read": "not_tried",
	})
	for _, e := range EvidenceIDs {
		if !e.Host && !slices.ContainsFunc(d.Observations, func(o Observation) bool { return o.ID == e.ID }) {
			t.Errorf("no row of %s", e.ID)
		}
	}
	if want := []string{"rc"}; !slices.Equal(d.Run.Gates, want) {
		t.Errorf("gates %v, want %v", d.Run.Gates, want)
	}
	if s := d.Devices[0].Capabilities.QueuePairUC; s.State != rdma.CapabilityConfirmed || s.Observation.Run != d.Run.ID || s.LastAttempt != nil {
		t.Errorf("queue_pair_uc: %+v", s)
	}
}

func TestNothingToProbe(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(m *machine, o *Options){
		"no library":       func(m *machine, _ *Options) { m.profile["library"] = object{"present": false} },
		"no device":        func(m *machine, _ *Options) { m.profile["devices"] = []object{} },
		"none listed":      func(m *machine, _ *Options) { m.dev(0)["listed"], m.dev(1)["listed"] = false, false },
		"the listing dies": func(m *machine, _ *Options) { m.profile["device_list"] = object{"errno": "ENOSYS"} },
		"not that one":     func(_ *machine, o *Options) { o.Devices = []string{"mlx5_7"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newLinux(t)
			o := m.options(nil)
			change(m, &o)
			o.Provider = m.options(nil).Provider
			if d := m.checked(Run(t.Context(), o)); d.Exit != ExitNothing || d.Error != "" {
				t.Errorf("exit %d, error %q", d.Exit, d.Error)
			}
			if d := m.checked(ListDevices(t.Context(), o)); d.Exit != ExitNothing {
				t.Errorf("devices: exit %d", d.Exit)
			}
		})
	}
}

// A device that only the kernel has gets its rows too.
func TestUnlistedDevice(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.dev(1)["listed"] = false
	d := m.probe(nil)
	for _, e := range EvidenceIDs {
		if !e.Host && !e.Extra {
			levels(t, d, "mlx5_1", map[string]string{e.ID: "precondition"})
		}
	}
	if d.Exit == ExitNothing {
		t.Error("the other device was not probed")
	}
}

func TestPanicOfOurOwn(t *testing.T) {
	t.Setenv(panicEnv, "mr")
	m := newLinux(t)
	d, err := Run(t.Context(), m.options(nil))
	if err == nil || d.Exit != ExitOwn || d.Error == "" {
		t.Errorf("exit %d, %v", d.Exit, err)
	}
	levels(t, d, "mlx5_1", map[string]string{"mr.register": "interrupted", "mr.rkey": "precondition", "qp.uc.create": "confirmed"})
	if len(d.Findings) != 0 {
		t.Errorf("blamed on the provider: %+v", d.Findings)
	}
	// It closes nothing either.
	t.Setenv(panicEnv, "")
	levels(t, m.probe(nil), "mlx5_1", map[string]string{"mr.register": "confirmed"})
}

// An interrupt keeps what was seen and leaves nothing behind.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"port", "uc", "ud"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			m := newMac(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			d, err := Run(ctx, m.options(func(o *Options) {
				o.More = []string{"ud"}
				o.Progress = func(p Progress) {
					if p.Probe == at && p.Device == "rdma_en4" {
						cancel()
					}
				}
			}))
			if d.Exit != ExitInterrupted || err != nil {
				t.Errorf("exit %d, %v", d.Exit, err)
			}
			levels(t, d, "rdma_en3", map[string]string{"qp.uc.create": "confirmed"})
			levels(t, d, "rdma_en4", map[string]string{"qp.ud.create": "interrupted"})
			again := m.probe(nil)
			levels(t, again, "rdma_en4", map[string]string{"qp.uc.create": "confirmed"})
			if hasFinding(again, "probe_interrupted", "rdma_en4") {
				t.Error("an interrupted run left an intent open")
			}
		})
	}
	t.Run("before it began", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		d, err := Run(ctx, newMac(t).options(nil))
		if d.Exit != ExitInterrupted || err != nil {
			t.Errorf("exit %d, %v", d.Exit, err)
		}
	})
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	m := newMac(t)
	home := filepath.Join(t.TempDir(), "letter")
	if err := os.WriteFile(home, []byte("Dear ledger,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Options){
		"word":      func(o *Options) { o.Only = []string{"everything"} },
		"require":   func(o *Options) { o.Require = []string{"world_peace"} },
		"timeout":   func(o *Options) { o.Timeout = -1 },
		"size":      func(o *Options) { o.Sizes = []int{0} },
		"mr size":   func(o *Options) { o.MRSize = -1 },
		"port":      func(o *Options) { o.Port = 256 },
		"gid index": func(o *Options) { i := -1; o.GIDIndex = &i },
		"profile":   func(o *Options) { o.Provider.Profile = []byte(`{"profile": 99}`) },
		"letter":    func(o *Options) { o.Store = home },
	} {
		o := m.options(change)
		d, err := Run(t.Context(), o)
		var usage *UsageError
		if !errors.As(err, &usage) || d.Exit != ExitUsage || d.Error == "" || d.Devices == nil || d.Observations == nil {
			t.Errorf("%s: exit %d, %v", name, d.Exit, err)
		}
	}
	if got, _ := os.ReadFile(home); string(got) != "Dear ledger,\n" {
		t.Errorf("the letter is now %q", got)
	}
}

// The contained child and our own failures come in the promised order.
func TestExitPrecedence(t *testing.T) {
	all := exitState{usage: true, interrupted: true, own: true, contained: true, nothing: true, finding: true}
	for _, want := range []int{ExitUsage, ExitInterrupted, ExitOwn, ExitContained, ExitNothing, ExitFinding, ExitOK} {
		if got := all.code(); got != want {
			t.Errorf("%+v: %d, want %d", all, got, want)
		}
		switch want {
		case ExitUsage:
			all.usage = false
		case ExitInterrupted:
			all.interrupted = false
		case ExitOwn:
			all.own = false
		case ExitContained:
			all.contained = false
		case ExitNothing:
			all.nothing = false
		case ExitFinding:
			all.finding = false
		}
	}
	if len(ExitCodes) != 7 {
		t.Errorf("%d statuses are described", len(ExitCodes))
	}
}
