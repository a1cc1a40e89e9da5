//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// sameEvidence checks that a report has what the run before it saw. What decides
// must not be the order of a map, so that it is asked several times.
func sameEvidence(t *testing.T, m *machine, d *Document) {
	t.Helper()
	for range 8 {
		rep := m.report(nil)
		for _, dev := range d.Devices {
			i := slices.IndexFunc(rep.Devices, func(o Device) bool { return o.Name == dev.Name })
			if i < 0 || rep.Devices[i].NodeGUID != dev.NodeGUID || len(rep.Devices[i].Ports) != len(dev.Ports) {
				t.Fatalf("%s: the report has %+v", dev.Name, rep.Devices)
			}
			if dev.Capabilities == nil {
				continue // of a listing
			}
			if got, want := rep.Devices[i].Capabilities.RDMA(), dev.Capabilities.RDMA(); got != want {
				t.Fatalf("%s: the report has %+v, the run %+v", dev.Name, got, want)
			}
		}
		for _, o := range d.Observations {
			if o.tried() && !slices.ContainsFunc(rep.Observations, func(p Observation) bool { return p.Run == o.Run && p.Seq == o.Seq && p.Device == o.Device }) {
				t.Fatalf("the report lacks %s by %s", o.Key(), o.Probe)
			}
		}
	}
}

// A library may not tell a GUID before the device is open: Apple's is not known to
// have that symbol. What is recorded before and after is of one device.
func TestGUIDThatIsLearnedLater(t *testing.T) {
	t.Parallel()
	for _, newMachine := range []func(*testing.T) *machine{newMac, newLinux} {
		m := newMachine(t)
		m.profile["library"] = object{"missing_symbols": []string{"ibv_get_device_guid"}}
		for range 2 {
			sameEvidence(t, m, m.probe(nil))
		}
		sameEvidence(t, m, m.devices(nil))
	}
}

// A GUID that two devices share is of neither, which the run knows only when it has
// listed the second one.
func TestSharedGUIDInAReport(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.dev(1)["node_guid"] = m.dev(0)["node_guid"]
	m.rules(0, "ibv_create_qp", object{"when": object{"qp_type": "UC"}, "errno": "EOPNOTSUPP"})
	for range 2 {
		d := m.probe(nil)
		sameEvidence(t, m, d)
	}
}

// A GUID that two devices share, and that is told only once they are open, is theirs
// for a moment in each run: what earlier runs saw and closed stays with each.
func TestSharedGUIDThatIsLearnedLater(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.dev(1)["node_guid"] = m.dev(0)["node_guid"]
	m.profile["library"] = object{"missing_symbols": []string{"ibv_get_device_guid"}}
	for i := range 2 {
		m.rules(i, "ibv_reg_mr", object{"fault": "crash"})
	}
	m.probe(func(o *Options) { o.More = []string{"rc"} })
	for i := range 2 {
		m.rules(i, "ibv_reg_mr")
	}
	for range 3 {
		d := m.probe(nil)
		for _, dev := range d.Devices {
			levels(t, d, dev.Name, map[string]string{"mr.register": "guarded"})
			if s := dev.Capabilities.QueuePairRC.State; s != "confirmed" {
				t.Errorf("%s: RC is %s, and was confirmed", dev.Name, s)
			}
		}
		sameEvidence(t, m, d)
	}
}

// A device is kept closed by what is known of it under another identity: by its name
// where an earlier run knew no GUID, and by its GUID where this one knows none.
func TestClosureUnderAnotherIdentity(t *testing.T) {
	t.Parallel()
	t.Run("not known before", func(t *testing.T) {
		t.Parallel()
		m := newLinux(t)
		m.announce("mlx5_0", "", "mr", true)
		for range 2 {
			levels(t, m.probe(nil), "mlx5_0", map[string]string{"mr.register": "guarded", "qp.uc.create": "confirmed"})
		}
	})
	t.Run("not known now", func(t *testing.T) {
		t.Parallel()
		m := newLinux(t)
		m.rules(0, "ibv_reg_mr", object{"fault": "crash"})
		m.probe(nil)
		m.rules(0, "ibv_reg_mr")
		m.profile["library"] = object{"missing_symbols": []string{"ibv_get_device_guid"}}
		m.rules(0, "ibv_query_device", object{"errno": "EIO"})
		for range 2 {
			d := m.probe(nil)
			levels(t, d, "mlx5_0", map[string]string{"mr.register": "guarded", "qp.uc.create": "guarded"})
			levels(t, d, "mlx5_1", map[string]string{"mr.register": "confirmed"})
		}
	})
}

// What closes a device whose GUID could not be asked for closes it also where it can.
func TestClosureOfADeviceWithoutGUID(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	name := m.dev(0)["name"].(string)
	m.profile["library"] = object{"missing_symbols": []string{"ibv_get_device_guid"}}
	m.rules(0, "ibv_query_device", object{"fault": "crash"})
	d := m.probe(func(o *Options) { o.Devices = []string{name} })
	if d.Exit != ExitContained || d.Devices[0].NodeGUID != "" {
		t.Fatalf("exit %d, GUID %q", d.Exit, d.Devices[0].NodeGUID)
	}
	m.rules(0, "ibv_query_device")
	for range 2 {
		d = m.probe(func(o *Options) { o.Devices = []string{name} })
		levels(t, d, name, map[string]string{"port.state": "confirmed", "mr.register": "guarded", "qp.uc.create": "guarded"})
	}
}

// Whatever a run learns of its devices, each has its GUID unless another has the same,
// and only those whose identity may have changed are looked at.
func TestLearningOfDevices(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	r := &pastRun{id: "r", boot: "b"}
	guids := map[string]string{}
	want := func(name string) string {
		for other, guid := range guids {
			if other != name && guid == guids[name] {
				return identity("", name, r.boot)
			}
		}
		return identity(guids[name], name, r.boot)
	}
	for range 5000 {
		name, guid := fmt.Sprintf("d%d", random.IntN(6)), []string{"", "0000:0000:0000:0000", "0000:5eff:fe00:5301", "0000:5eff:fe00:5302"}[random.IntN(4)]
		was := map[string]string{}
		for n := range guids {
			was[n] = want(n)
		}
		before := r.learn(name, pastDevice{guid: guid})
		guids[name] = guid
		for n := range guids {
			if got := r.identity(n); got != want(n) {
				t.Fatalf("%v: %s is %s, want %s", guids, n, got, want(n))
			}
			if from, told := before[n]; (told || was[n] != want(n)) && from != was[n] {
				t.Fatalf("%v: %s was %s, and is said to have been %q", guids, n, was[n], from)
			}
		}
	}
	many := &pastRun{id: "many"}
	for i := range 4096 {
		name, guid := fmt.Sprintf("d%d", i), fmt.Sprintf("0000:5eff:fe00:%04x", i+1)
		many.learn(name, pastDevice{})
		if before := many.learn(name, pastDevice{guid: guid}); len(before) != 1 {
			t.Fatalf("a GUID of %s alone is looked up with %d devices", name, len(before))
		}
	}
}

// Rows that were filed before the GUID was known move with it, all of them.
func TestRefiling(t *testing.T) {
	for _, every := range []bool{false, true} {
		h := newHistory()
		h.every = every
		r := &pastRun{id: "r1", n: 1, boot: "b", devices: map[string]pastDevice{}}
		h.runs["r1"] = r
		body := func(id, level string) []byte {
			return fmt.Appendf(nil, `{"id": %q, "device": "d0", "probe": "port", "level": %q}`, id, level)
		}
		from := identity("", "d0", "b")
		for i, id := range []string{"dev.open", "dev.open", "port.query"} {
			h.keep(rowKey{from, id, "port", 0, "", ""}, pastRow{run: "r1", n: 1, seq: int64(i + 1), level: "confirmed", body: body(id, "confirmed")})
		}
		h.closures[from] = []closure{{Run: "r1"}, {Run: "r0"}}
		h.refile(r, "d0", from, "guid")
		want := 2
		if len(h.newest["guid"]) != want || len(h.newest[from]) != 0 || len(h.closures["guid"]) != 2 || len(h.closures[from]) != 0 {
			t.Errorf("%d keys, closures %+v", len(h.newest["guid"]), h.closures)
		}
		for k, rows := range h.newest["guid"] {
			if k.identity != "guid" || rows.answer.identity != "guid" {
				t.Errorf("%+v stays", k)
			}
		}
		for _, p := range h.rows {
			if p.identity != "guid" {
				t.Errorf("row %d stays", p.seq)
			}
		}
		if every && len(h.rows) != 3 {
			t.Errorf("%d rows", len(h.rows))
		}
	}
}
