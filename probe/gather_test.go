//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"slices"
	"strings"
	"testing"

	"rdmaprobe/rdma"
)

// gather is Gather on the machine.
func (m *machine) gather(change func(*ReportOptions)) *Gathered {
	m.t.Helper()
	o := ReportOptions{Options: m.options(nil)}
	if change != nil {
		change(&o)
	}
	g, err := Gather(m.t.Context(), o)
	m.checked(g.Document, err)
	return g
}

// levelOf is what a document says of a device's id.
func levelOf(d *Document, device, id string) rdma.Capability {
	i := slices.IndexFunc(d.Observations, func(o Observation) bool { return o.Device == device && o.ID == id })
	if i < 0 {
		return ""
	}
	return d.Observations[i].Level
}

// What earlier runs saw is in the document beside what is seen now, and nothing
// is created for it.
func TestGatherHasWhatIsOnRecord(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.rules(0, "ibv_create_qp", object{"when": object{"qp_type": "RC"}, "errno": "EOPNOTSUPP"})
	m.probe(func(o *Options) { o.More = []string{"rc"} })
	m.rules(0, "ibv_create_qp", object{"errno": "EIO"})
	m.rules(0, "ibv_alloc_pd", object{"fault": "crash"})
	m.dev(0)["ports"].([]object)[0]["state"] = "down"
	g := m.gather(nil)
	d := g.Document
	if got := levelOf(d, "mlx5_0", "qp.rc.create"); got != rdma.CapabilityRejected {
		t.Errorf("qp.rc.create is %q", got)
	}
	if len(d.Devices) != 2 || d.Devices[0].Ports[0].State != "down" || d.Host == nil || d.Host.Name != "node1" {
		t.Errorf("devices %+v of %+v", d.Devices, d.Host)
	}
	if g.Partly != "" || g.Ledger != "" || g.LeftOut != 0 {
		t.Errorf("left out: %q, %q, %d", g.Partly, g.Ledger, g.LeftOut)
	}
	runs := map[string]bool{}
	for i, rec := range g.Records {
		runs[rec.Run] = true
		if i > 0 && g.Records[i-1].N > rec.N {
			t.Errorf("record %d of run %d comes after run %d", i, rec.N, g.Records[i-1].N)
		}
	}
	if len(runs) != 2 {
		t.Errorf("records of %d runs", len(runs))
	}
	if len(g.Sources) != 1 || !strings.Contains(g.Sources[0].Text, `"name": "node1"`) {
		t.Errorf("sources %+v", g.Sources)
	}
}

// A ledger may lie in a home folder that several machines share, and a machine may
// get another name.
func TestGatherIsAboutOneMachine(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.host()["name"] = "before"
	m.probe(nil)
	other := newLinux(t)
	other.store = m.store
	other.host()["name"] = "elsewhere"
	for i, guid := range []string{"0000:5eff:fe00:5311", "0000:5eff:fe00:5312"} {
		other.dev(i)["node_guid"] = guid
	}
	other.probe(nil)
	m.host()["name"] = "node1"
	g := m.gather(nil)
	if g.LeftOut != 1 {
		t.Errorf("%d runs left out", g.LeftOut)
	}
	if d := g.Document; d.Host == nil || d.Host.Name != "node1" || len(d.Hosts) > 0 || len(d.Devices) != 2 || levelOf(d, "mlx5_0", "qp.uc.create") != rdma.CapabilityConfirmed {
		t.Errorf("host %+v, hosts %v, %d devices", d.Host, d.Hosts, len(d.Devices))
	}
	for _, rec := range g.Records {
		if strings.Contains(string(rec.Body), "elsewhere") || strings.Contains(string(rec.Body), "fe00:5311") {
			t.Fatalf("of another machine: %s", rec.Body)
		}
	}
}

// Without a ledger the document is that of the listing, and says so.
func TestGatherWithoutALedger(t *testing.T) {
	t.Parallel()
	m := newMac(t)
	m.store = noStore
	g := m.gather(nil)
	if len(g.Document.Devices) != 2 || len(g.Document.Devices[0].Ports) != 1 || len(g.Records) > 0 || g.Partly == "" || g.Ledger == "" {
		t.Errorf("%+v", g)
	}
}

// A wrong option is an error before anything is asked.
func TestGatherRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	g, err := Gather(t.Context(), ReportOptions{Options: Options{Provider: ProviderOptions{Profile: []byte("{}")}, Store: noStore}})
	if err == nil || g.Document.Exit != ExitUsage {
		t.Errorf("exit %d, %v", g.Document.Exit, err)
	}
}
