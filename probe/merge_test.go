package probe

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

var mergeClock = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// doc is a document of one host with one device, begun hours after the clock.
func mergeDoc(host, build string, hours int, rows ...Observation) *Document {
	at := mergeClock.Add(time.Duration(hours) * time.Hour)
	d := NewDocument(Tool{Name: "rdmaprobe"}, nil)
	d.Run.ID, d.Run.StartedAt = at.Format("20060102T150405")+"-00000000000"+string(rune('a'+hours)), at
	d.Host = &hostfacts.Host{Name: host, OS: "macos", OSBuild: build, Arch: "arm64"}
	d.Provider.Library = Library{Loaded: true, Path: "/usr/lib/librdma.dylib", ID: "lib-1", Symbols: map[string]bool{}}
	d.Devices = []Device{{Name: "rdma_en3", NodeGUID: "0000:5eff:fe00:53" + host[len(host)-2:], Transport: "thunderbolt", Listed: true, Ports: []Port{{Num: 1, State: "active"}}}}
	for i, o := range rows {
		o.Run, o.Seq = d.Run.ID, int64(i+1)
		if o.Device == "" && o.ID != "lib.load" {
			o.Device = "rdma_en3"
		}
		started := at.Add(time.Duration(i) * time.Second)
		o.StartedAt = &started
		d.Observations = append(d.Observations, o)
	}
	d.Devices[0].Capabilities = &Capabilities{}
	for key, s := range d.Devices[0].Capabilities.each() {
		s.State, s.Documented = rdma.CapabilityUnknown, documented[key]
	}
	for i := range d.Observations {
		o := &d.Observations[i]
		if o.ID == "qp.rc.create" && conclusive(o.Level) {
			d.Devices[0].Capabilities.QueuePairRC.State = o.Level
			d.Devices[0].Capabilities.QueuePairRC.ObservedAt = o.StartedAt
			d.Devices[0].Capabilities.QueuePairRC.Observation = &ObservationRef{Run: o.Run, Seq: o.Seq, ID: o.ID}
		} else if o.ID == "qp.rc.create" && o.tried() {
			d.Devices[0].Capabilities.QueuePairRC.LastAttempt = &Attempt{Level: o.Level, Reason: o.Reason, At: *o.StartedAt}
		}
	}
	return d
}

func level(id string, l rdma.Capability) Observation {
	return Observation{ID: id, Level: l, Probe: "rc"}
}

func unknown(id string, r Reason) Observation {
	return Observation{ID: id, Level: rdma.CapabilityUnknown, Reason: r, Probe: "rc"}
}

func merged(t *testing.T, all bool, docs ...*Document) *Document {
	t.Helper()
	var in []MergeInput
	for i, d := range docs {
		in = append(in, MergeInput{File: string(rune('a'+i)) + ".json", Document: d})
	}
	into := NewDocument(Tool{Name: "rdmaprobe"}, []string{"rdmaprobe", "report"})
	if err := Merge(into, in, all); err != nil {
		t.Fatal(err)
	}
	return into
}

func find(t *testing.T, d *Document, host, id string) Observation {
	t.Helper()
	var found []Observation
	for _, o := range d.Observations {
		if o.Host == host && o.ID == id {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d rows of %s on %q: %+v", len(found), id, host, found)
	}
	return found[0]
}

func TestMergeOneHost(t *testing.T) {
	const confirmed, rejected = rdma.CapabilityConfirmed, rdma.CapabilityRejected
	old, new := mergeDoc("mac-01", "25F84", 0, level("qp.rc.create", rejected)), mergeDoc("mac-01", "25F84", 1, level("qp.rc.create", confirmed))
	notTried := mergeDoc("mac-01", "25F84", 2, unknown("qp.rc.create", NotTried))
	crashed := mergeDoc("mac-01", "25F84", 2, unknown("qp.rc.create", Crash))
	newBuild := mergeDoc("mac-01", "25G10", 3, unknown("qp.rc.create", NotTried))
	for _, tt := range []struct {
		name      string
		all       bool
		docs      []*Document
		level     rdma.Capability
		state     rdma.Capability
		stale     bool
		attempt   Reason
		conflicts int
	}{
		{"newest wins", false, []*Document{old, new}, confirmed, confirmed, false, "", 1},
		{"whatever the order of the files", false, []*Document{new, old}, confirmed, confirmed, false, "", 1},
		{"the same file twice", false, []*Document{old, old}, rejected, rejected, false, "", 0},
		{"what was not tried replaces nothing", false, []*Document{old, notTried}, rejected, rejected, false, "", 0},
		{"a try that failed stands beside the answer", false, []*Document{new, crashed}, rdma.CapabilityUnknown, confirmed, false, Crash, 0},
		{"another build is stale", false, []*Document{new, newBuild}, rdma.CapabilityUnknown, confirmed, true, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := merged(t, tt.all, tt.docs...)
			if d.Host == nil || d.Hosts != nil || len(d.Devices) != 1 || len(d.Sources) != len(tt.docs) {
				t.Fatalf("host %v, hosts %v, %d devices, %d sources", d.Host, d.Hosts, len(d.Devices), len(d.Sources))
			}
			if o := find(t, d, "", "qp.rc.create"); o.Level != tt.level {
				t.Errorf("the row says %s", o.Level)
			}
			s := d.Devices[0].Capabilities.QueuePairRC
			if s.State != tt.state || s.Stale != tt.stale {
				t.Errorf("the capability is %s, stale %v", s.State, s.Stale)
			}
			if (s.LastAttempt == nil) != (tt.attempt == "") || s.LastAttempt != nil && s.LastAttempt.Reason != tt.attempt {
				t.Errorf("last attempt %+v", s.LastAttempt)
			}
			if s.Contradicts != (s.State == confirmed) {
				t.Errorf("contradicts is %v for %s", s.Contradicts, s.State)
			}
			if len(d.Conflicts) != tt.conflicts {
				t.Errorf("%d conflicts: %+v", len(d.Conflicts), d.Conflicts)
			}
		})
	}
}

func TestMergeKeepsOtherBuildsWhenAsked(t *testing.T) {
	a := mergeDoc("mac-01", "25F84", 0, level("qp.rc.create", rdma.CapabilityRejected))
	b := mergeDoc("mac-01", "25G10", 1, level("qp.rc.create", rdma.CapabilityConfirmed))
	if d := merged(t, false, a, b); len(d.Observations) != 1 || len(d.Conflicts) != 0 {
		t.Errorf("%d rows, %d conflicts: two builds may differ", len(d.Observations), len(d.Conflicts))
	}
	if d := merged(t, true, a, b); len(d.Observations) != 2 {
		t.Errorf("%d rows with all builds", len(d.Observations))
	}
}

func TestMergeShowsBothSidesOfAConflict(t *testing.T) {
	a := mergeDoc("mac-01", "25F84", 0, level("qp.rc.create", rdma.CapabilityRejected))
	b := mergeDoc("mac-01", "25F84", 1, level("qp.rc.create", rdma.CapabilityConfirmed))
	d := merged(t, false, a, b)
	c := d.Conflicts[0]
	if c.Device != "rdma_en3" || c.ID != "qp.rc.create" || c.OSBuild != "25F84" || len(c.Seen) != 2 {
		t.Fatalf("%+v", c)
	}
	if c.Seen[0].Level != rdma.CapabilityConfirmed || c.Seen[0].File != "b.json" || c.Seen[1].Level != rdma.CapabilityRejected || c.Seen[1].File != "a.json" {
		t.Errorf("want the newest first: %+v", c.Seen)
	}
	// A conflict is handed on by a report that is merged again.
	again := merged(t, false, d, mergeDoc("mac-02", "25F84", 2))
	if len(again.Conflicts) != 1 || again.Conflicts[0].Host != "mac-01" {
		t.Errorf("handed on: %+v", again.Conflicts)
	}
}

func TestMergeSeveralHosts(t *testing.T) {
	a := mergeDoc("mac-01", "25F84", 0, level("qp.rc.create", rdma.CapabilityRejected), Observation{ID: "lib.load", Level: rdma.CapabilityConfirmed})
	b := mergeDoc("mac-02", "25G10", 1, level("qp.rc.create", rdma.CapabilityConfirmed))
	a.Findings = []Finding{{Code: "port_down", Severity: SeverityInfo, Scope: "rdma_en3", Message: "the port is down"}}
	b.NotRead = []NotRead{{Fact: "x", Source: "y", Why: "z"}}
	d := merged(t, false, a, b)
	if d.Host != nil || len(d.Hosts) != 2 || len(d.Devices) != 2 || d.Provider.Kind != Native {
		t.Fatalf("host %v, %d hosts, %d devices", d.Host, len(d.Hosts), len(d.Devices))
	}
	if find(t, d, "mac-01", "qp.rc.create").Level != rdma.CapabilityRejected || find(t, d, "mac-02", "qp.rc.create").Level != rdma.CapabilityConfirmed {
		t.Error("the hosts' rows are mixed up")
	}
	find(t, d, "mac-01", "lib.load")
	codes := map[string]Finding{}
	for _, f := range d.Findings {
		codes[f.Code] = f
	}
	if f := codes["port_down"]; f.Host != "mac-01" || f.Message != "mac-01: the port is down" {
		t.Errorf("port_down: %+v", f)
	}
	if f, ok := codes["os_builds_differ"]; !ok || !strings.Contains(f.Message, "25G10 on mac-02") {
		t.Errorf("os_builds_differ: %+v", f)
	}
	// The merged report can be merged again, and comes out the same.
	again := merged(t, false, d)
	if len(again.Hosts) != 2 || len(again.Devices) != 2 || len(again.Observations) != len(d.Observations) || len(again.Findings) != len(d.Findings) {
		t.Errorf("again: %d hosts, %d devices, %d rows, findings %+v", len(again.Hosts), len(again.Devices), len(again.Observations), again.Findings)
	}
	if a.Devices[0].Host != "" || a.Observations[0].Host != "" || a.Findings[0].Message != "the port is down" {
		t.Error("an input was changed")
	}
}

func TestMergeTellsMachinesApart(t *testing.T) {
	named := func(d *Document, name, arch, boot string) *Document {
		d.Host.Name, d.Host.Arch, d.Run.BootID = name, arch, boot
		return d
	}
	for _, tt := range []struct {
		name  string
		a, b  *Document
		hosts []string // nil: one
	}{
		{"one name, two architectures", named(mergeDoc("mac-01", "1", 0), "localhost", "arm64", ""), named(mergeDoc("mac-02", "1", 1), "localhost", "amd64", ""), []string{"localhost", "localhost (2)"}},
		{"one name, nothing against it", named(mergeDoc("mac-01", "1", 0), "node", "", ""), named(mergeDoc("mac-02", "1", 1), "node", "", ""), nil},
		{"no name, another device", named(mergeDoc("mac-01", "1", 0), "", "", ""), named(mergeDoc("mac-02", "1", 1), "", "", ""), []string{"a.json", "b.json"}},
		{"no name, the same device", named(mergeDoc("mac-01", "1", 0), "", "", ""), named(mergeDoc("mac-01", "1", 1), "", "", ""), nil},
		{"renamed in one boot", named(mergeDoc("mac-01", "1", 0), "old", "", "boot-1"), named(mergeDoc("mac-02", "1", 1), "new", "", "boot-1"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := merged(t, false, tt.a, tt.b)
			var names []string
			for _, h := range d.Hosts {
				names = append(names, h.Name)
			}
			if !slices.Equal(names, tt.hosts) {
				t.Errorf("hosts %q, want %q", names, tt.hosts)
			}
		})
	}
}

func TestMergeFollowsARenamedDevice(t *testing.T) {
	a := mergeDoc("mac-01", "1", 0, level("qp.rc.create", rdma.CapabilityRejected))
	b := mergeDoc("mac-01", "1", 1)
	b.Devices[0].Name = "rdma_en4"
	d := merged(t, false, a, b)
	if len(d.Devices) != 1 || d.Devices[0].Name != "rdma_en4" || find(t, d, "", "qp.rc.create").Device != "rdma_en4" {
		t.Errorf("devices %+v, rows %+v", d.Devices, d.Observations)
	}
	if d.Devices[0].Capabilities.QueuePairRC.State != rdma.CapabilityRejected {
		t.Error("its capability is lost")
	}
}

func TestMergeRefusesToMixProviders(t *testing.T) {
	sim := mergeDoc("mac-02", "1", 0)
	sim.Provider.Kind = Simulated
	in := []MergeInput{{"a.json", mergeDoc("mac-01", "1", 0)}, {"b.json", sim}}
	if err := Merge(NewDocument(Tool{}, nil), in, false); !errors.Is(err, ErrMixedProviders) {
		t.Errorf("got %v", err)
	}
}

func TestMergeOfNothing(t *testing.T) {
	failed := NewDocument(Tool{}, nil)
	failed.Error = "no such profile"
	d := merged(t, false, failed)
	if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "a.json has no evidence; its run failed: no such profile") || len(d.Devices) != 0 {
		t.Errorf("%+v", d)
	}
	if d := merged(t, false); d.Devices == nil || d.Observations == nil || d.Findings == nil {
		t.Error("an array is missing")
	}
}
