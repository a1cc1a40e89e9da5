//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// past writes a native ledger by hand.
type past struct {
	t    testing.TB
	path string
	run  *ledger.Run
}

func newPast(t testing.TB) *past {
	p := &past{t: t, path: filepath.Join(t.TempDir(), "evidence.jsonl")}
	// Tests must not meet a device or a name of the machine that they run on.
	return p
}

// begin starts a run on a host under an OS build, with devices by name and GUID.
func (p *past) begin(host, build, lib string, devices ...string) *past {
	p.t.Helper()
	if p.run != nil {
		p.end()
	}
	store, err := ledger.Open(p.path, Native)
	if err != nil {
		p.t.Fatal(err)
	}
	p.run, err = store.Begin(runBody{
		Tool: Tool{Name: "rdmaprobe"}, Run: RunInfo{BootID: "boot", Command: []string{"rdmaprobe", "probe"}, StartedAt: time.Unix(1, 0).UTC()},
		Provider: Provider{Kind: Native, Library: Library{ID: lib, Loaded: true}},
		Host:     &hostfacts.Host{Name: host, OS: "linux", OSBuild: build},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i+1 < len(devices); i += 2 {
		_, err := p.run.Append(ledger.KindDevice, Device{
			Name: devices[i], NodeGUID: devices[i+1], Transport: "infiniband", Listed: true, Ports: []Port{{Num: 1, State: "active", GIDs: []GID{}}},
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
	return p
}

// row writes a row: level is one of the four, or a reason.
func (p *past) row(device, probe, id string, port int, level string) *past {
	p.t.Helper()
	at := time.Unix(2, 0).UTC()
	o := Observation{ID: id, Probe: probe, Device: device, Port: port, Level: rdma.Capability(level), StartedAt: &at, Child: &Child{Outcome: "completed", PID: 1}}
	if slices.Contains(Reasons, Reason(level)) {
		o.Level, o.Reason = rdma.CapabilityUnknown, Reason(level)
	}
	if _, err := p.run.Append(ledger.KindObservation, o); err != nil {
		p.t.Fatal(err)
	}
	return p
}

func (p *past) end() {
	p.t.Helper()
	if err := p.run.End(endBody{DurationNS: 7}); err != nil {
		p.t.Fatal(err)
	}
	p.run = nil
}

// report ends the last run and rebuilds.
func (p *past) report(change func(*ReportOptions)) *Document {
	p.t.Helper()
	if p.run != nil {
		p.end()
	}
	o := ReportOptions{Options: Options{Store: p.path}}
	if change != nil {
		change(&o)
	}
	d, err := Report(o)
	if err != nil || d.Exit != ExitOK {
		p.t.Fatalf("exit %d, %v", d.Exit, err)
	}
	return d
}

const (
	guidA = "0000:5eff:fe00:5301"
	guidB = "0000:5eff:fe00:5302"
)

// The newest answer wins; a later try without one stands beside it, and what was
// not tried does not count at all.
func TestSummaryOfRuns(t *testing.T) {
	const id = "qp.rc.create"
	type step struct{ build, lib, level string }
	for _, tt := range []struct {
		name  string
		steps []step
		state string
		stale bool
		run   int // which run the evidence is from, from 1; 0: none
		last  string
	}{
		{"never", nil, "unknown", false, 0, ""},
		{"once", []step{{"1", "x", "rejected"}}, "rejected", false, 1, ""},
		{"newer answer", []step{{"1", "x", "confirmed"}, {"1", "x", "rejected"}}, "rejected", false, 2, ""},
		{"inconclusive since", []step{{"1", "x", "rejected"}, {"1", "x", "timeout"}}, "rejected", false, 1, "timeout"},
		{"inconclusive before", []step{{"1", "x", "timeout"}, {"1", "x", "rejected"}}, "rejected", false, 2, ""},
		{"only inconclusive", []step{{"1", "x", "crash"}, {"1", "x", "exhausted"}}, "unknown", false, 0, "exhausted"},
		{"guarded since", []step{{"1", "x", "confirmed"}, {"1", "x", "guarded"}}, "confirmed", false, 1, ""},
		{"precondition since", []step{{"1", "x", "confirmed"}, {"1", "x", "timeout"}, {"1", "x", "precondition"}}, "confirmed", false, 1, "timeout"},
		{"another build", []step{{"0", "x", "confirmed"}}, "confirmed", true, 1, ""},
		{"another library", []step{{"1", "y", "confirmed"}, {"1", "x", "timeout"}}, "confirmed", true, 1, "timeout"},
		{"fresh beats newer stale", []step{{"1", "x", "rejected"}, {"0", "x", "confirmed"}, {"1", "x", "not_tried"}}, "rejected", false, 1, ""},
		{"zero is an answer", []step{{"1", "x", "confirmed"}, {"1", "x", "observed_zero"}}, "observed_zero", false, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPast(t)
			var runs []string
			for _, s := range tt.steps {
				p.begin("node1", s.build, s.lib, "a", guidA).row("a", "rc", id, 0, s.level)
				runs = append(runs, p.run.ID)
			}
			if p.run != nil {
				p.end()
			}
			h := newHistory()
			h.path = p.path
			if _, err := h.read(func(string) bool { return false }); err != nil {
				t.Fatal(err)
			}
			s := h.summarise(guidA, "1", "x", false).QueuePairRC
			if string(s.State) != tt.state || s.Stale != tt.stale {
				t.Errorf("%s (stale %v), want %s (%v)", s.State, s.Stale, tt.state, tt.stale)
			}
			if (s.Observation != nil) != (tt.run > 0) || tt.run > 0 && s.Observation.Run != runs[tt.run-1] {
				t.Errorf("from %+v, want run %d of %v", s.Observation, tt.run, runs)
			}
			if (s.LastAttempt != nil) != (tt.last != "") || tt.last != "" && (string(s.LastAttempt.Reason) != tt.last || s.LastAttempt.At.IsZero()) {
				t.Errorf("last attempt %+v, want %q", s.LastAttempt, tt.last)
			}
		})
	}
}

// Several ports and types: the best, and where it was.
func TestSummaryIsTheBestPlace(t *testing.T) {
	p := newPast(t).begin("node1", "1", "x", "a", guidA)
	p.row("a", "pingpong.uc", "pingpong.uc", 1, "confirmed").row("a", "pingpong.rc", "pingpong.rc", 2, "confirmed")
	p.begin("node1", "1", "x", "a", guidA).row("a", "pingpong.rc", "pingpong.rc", 2, "rejected").row("a", "pingpong.uc", "pingpong.uc", 3, "observed_zero")
	d := p.report(nil)
	if s := d.Devices[0].Capabilities.SendRecv; s.State != rdma.CapabilityConfirmed || s.Port != 1 || s.Observation.ID != "pingpong.uc" {
		t.Errorf("%+v", s)
	}
}

// A report shows the newest row of each key, under the name that the device has
// now, and the last run.
func TestReport(t *testing.T) {
	p := newPast(t)
	p.begin("node1", "1", "x", "old", guidA, "other", guidB).row("", "", "lib.load", 0, "confirmed")
	p.row("old", "uc", "qp.uc.create", 0, "rejected").row("old", "uc", "qp.uc.init", 1, "confirmed").row("old", "uc", "qp.uc.init", 2, "confirmed")
	p.row("old", "pingpong.uc", "qp.uc.create", 0, "confirmed").row("other", "mr", "mr.rkey", 0, "observed_zero")
	// It was renamed, and the other device got its name.
	p.begin("node1", "1", "y", "new", guidA, "old", guidB).row("new", "uc", "qp.uc.create", 0, "confirmed").row("new", "uc", "qp.uc.init", 1, "guarded")
	p.row("old", "mr", "mr.register", 0, "timeout")
	last := p.run

	d := p.report(nil)
	if d.Run.ID != last.ID || d.Run.Seq != last.N || d.Run.DurationNS != 7 || d.Run.BootID != "boot" || d.Provider.Library.ID != "y" || d.Host.Name != "node1" {
		t.Errorf("run %+v, provider %+v, host %+v", d.Run, d.Provider, d.Host)
	}
	if names := deviceNames(d.Devices); names != "new, old" {
		t.Errorf("devices %s", names)
	}
	var got []string
	for _, o := range d.Observations {
		if o.tried() {
			got = append(got, fmt.Sprintf("%s/%s %s:%d %s%s", o.Device, o.ID, o.Probe, o.Port, o.Level, o.Reason))
		}
	}
	want := []string{
		"/lib.load :0 confirmed",
		"new/qp.uc.create pingpong.uc:0 confirmed", "new/qp.uc.create uc:0 confirmed", "new/qp.uc.init uc:1 confirmed", "new/qp.uc.init uc:2 confirmed",
		"old/mr.register mr:0 unknowntimeout", "old/mr.rkey mr:0 observed_zero",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%q, want\n%q", got, want)
	}
	for _, dev := range d.Devices {
		for _, e := range EvidenceIDs {
			if !e.Host && !e.Extra {
				rowFor(t, d, dev.Name, e.ID)
			}
		}
	}
	if one := p.report(func(o *ReportOptions) { o.Devices = []string{"new"} }); deviceNames(one.Devices) != "new" || len(one.Observations) >= len(d.Observations) {
		t.Errorf("-d new: %s, %d rows", deviceNames(one.Devices), len(one.Observations))
	}
	all := p.report(func(o *ReportOptions) { o.AllRows = true })
	levels(t, all, "new", map[string]string{"qp.uc.create": "confirmed"})
	if n := len(slices.DeleteFunc(all.Observations, func(o Observation) bool { return !o.tried() })); n != 8 {
		t.Errorf("%d rows of all, want 8", n)
	}
}

func TestReportOfBuilds(t *testing.T) {
	p := newPast(t)
	p.begin("node1", "1", "x", "a", guidA).row("a", "uc", "qp.uc.create", 0, "rejected")
	p.begin("node1", "2", "x", "a", guidA).row("a", "mr", "mr.rkey", 0, "observed_zero")
	d := p.report(nil)
	levels(t, d, "a", map[string]string{"mr.rkey": "observed_zero", "qp.uc.create": "not_tried"})
	if c := d.Devices[0].Capabilities; c.QueuePairUC.State != rdma.CapabilityRejected || !c.QueuePairUC.Stale || c.RemoteKey.Stale {
		t.Errorf("%+v", c)
	}
	d = p.report(func(o *ReportOptions) { o.AllBuilds = true })
	levels(t, d, "a", map[string]string{"mr.rkey": "observed_zero", "qp.uc.create": "rejected"})
}

// A ledger in a home folder that hosts share, and a host that got another name.
func TestReportOfHosts(t *testing.T) {
	p := newPast(t)
	p.begin("node1", "1", "x", "mlx5_0", guidA).row("mlx5_0", "uc", "qp.uc.create", 0, "confirmed").row("", "", "lib.load", 0, "confirmed")
	p.begin("node2", "2", "x", "mlx5_0", guidB).row("mlx5_0", "uc", "qp.uc.create", 0, "rejected").row("", "", "lib.load", 0, "confirmed")
	d := p.report(nil)
	if len(d.Hosts) != 2 || d.Host != nil || len(d.Devices) != 2 {
		t.Fatalf("%d hosts, %d devices", len(d.Hosts), len(d.Devices))
	}
	for i, want := range []struct{ host, level string }{{"node1", "confirmed"}, {"node2", "rejected"}} {
		dev := d.Devices[i]
		if dev.Host != want.host || string(dev.Capabilities.QueuePairUC.State) != want.level {
			t.Errorf("%s has %+v", dev.Host, dev.Capabilities.QueuePairUC)
		}
		if !slices.ContainsFunc(d.Observations, func(o Observation) bool {
			return o.Host == want.host && o.ID == "qp.uc.create" && string(o.Level) == want.level
		}) {
			t.Errorf("no row of %s", want.host)
		}
		if n := len(slices.DeleteFunc(slices.Clone(d.Observations), func(o Observation) bool { return o.Host != want.host || o.ID != "cq.create" })); n != 1 {
			t.Errorf("%s: %d rows of what was not tried", want.host, n)
		}
	}
	p = newPast(t)
	p.begin("node1", "1", "x", "mlx5_0", guidA).row("mlx5_0", "uc", "qp.uc.create", 0, "confirmed")
	p.begin("renamed", "1", "x", "mlx5_0", guidA)
	d = p.report(nil)
	if len(d.Hosts) != 0 || d.Host == nil || d.Host.Name != "renamed" || len(d.Devices) != 1 {
		t.Fatalf("%d hosts, host %+v", len(d.Hosts), d.Host)
	}
	levels(t, d, "mlx5_0", map[string]string{"qp.uc.create": "confirmed"})
}

func TestReportOfNothing(t *testing.T) {
	for _, store := range []string{"none", filepath.Join(t.TempDir(), "evidence.jsonl")} {
		d, err := Report(ReportOptions{Options: Options{Store: store}})
		if err != nil || d.Exit != ExitOK || d.Devices == nil || d.Observations == nil || len(d.Devices)+len(d.Observations)+len(d.Findings) != 0 {
			t.Errorf("%s: exit %d, %v, %d devices", store, d.Exit, err, len(d.Devices))
		}
	}
}

// The order is that of runs and numbers; the clock may say anything.
func TestOrderIsNotTheClock(t *testing.T) {
	p := &pastRow{n: 2, seq: 1}
	for _, tt := range []struct {
		q    *pastRow
		want bool
	}{
		{nil, true}, {&pastRow{n: 1, seq: 9}, true}, {&pastRow{n: 2, seq: 1}, true}, {&pastRow{n: 2, seq: 2}, false}, {&pastRow{n: 3, seq: 1}, false},
	} {
		if got := p.newer(tt.q); got != tt.want {
			t.Errorf("newer than %+v: %v", tt.q, got)
		}
	}
}
