package probe

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"rdmaprobe/rdma"
)

// diagnosed is a scene's document as doctor would leave it.
func diagnosed(s scene) *Document {
	s.d.Verdict = judged(s)
	return s.d
}

func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after func(s scene)
		want          []string
	}{
		{"none", func(scene) {}, func(scene) {}, nil},
		{"a port goes down", func(scene) {}, func(s scene) { s.state("rdma_en3", "down") }, []string{
			"verdict : RDMA is ready on 1 of 1 port > RDMA is not ready: cabled, yet down",
			"port rdma_en3 port 1: active, ready > down, not ready (cabled, yet down)",
			"finding_added port_down on rdma_en3:  > ",
		}},
		{"it comes back", func(s scene) { s.state("rdma_en3", "down") }, func(scene) {}, []string{
			"verdict : RDMA is not ready: cabled, yet down > RDMA is ready on 1 of 1 port",
			"port rdma_en3 port 1: down, not ready (cabled, yet down) > active, ready",
			"finding_removed port_down on rdma_en3:  > ",
		}},
		{"a device comes", func(scene) {}, func(s scene) { s.addMac("rdma_en5", 3) }, []string{
			"verdict : RDMA is ready on 1 of 1 port > RDMA is ready on 2 of 2 ports", "port rdma_en5 port 1:  > active, ready",
		}},
		{"a device goes", func(s scene) { s.addMac("rdma_en5", 3) }, func(scene) {}, []string{
			"verdict : RDMA is ready on 2 of 2 ports > RDMA is ready on 1 of 1 port", "port rdma_en5 port 1: active, ready > ",
		}},
		{"other words for the same finding", func(s scene) { s.host().RDMACtl = "disabled" }, func(s scene) { s.host().RDMACtl = "disabled"; s.d.Run.ID = "later" }, nil},
		{"a round fails", func(scene) {}, func(s scene) { s.d.Error = "the disk is full" }, []string{
			"verdict : RDMA is ready on 1 of 1 port > failed: the disk is full",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := macScene(), macScene()
			c.before(a)
			c.after(b)
			var got []string
			for _, ch := range Changes(diagnosed(a), diagnosed(b)) {
				got = append(got, ch.Kind+" "+ch.Subject+": "+ch.Before+" > "+ch.After)
				if (ch.Finding != nil) != (ch.Kind == ChangeFindingAdded || ch.Kind == ChangeFindingRemoved) {
					t.Errorf("%s with finding %+v", ch.Kind, ch.Finding)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q\nwant %q", got, c.want)
			}
		})
	}
}

// What an earlier round created stands in the document of a round that only
// reads, and nothing else of that round does.
func TestEarlierRoundsStand(t *testing.T) {
	before, now := macScene(), macScene()
	before.d.Run.ID = "first"
	for i := range before.d.Observations {
		o := &before.d.Observations[i]
		o.Run = "first"
		switch {
		case slices.Contains([]string{"mr.register", "mr.rkey"}, o.ID):
			o.Probe = "mr"
		case slices.Contains([]string{"qp.uc.create", "qp.uc.init"}, o.ID):
			o.Probe = "uc"
		case slices.Contains([]string{"port.query", "port.state"}, o.ID):
			o.Probe = "port"
		}
	}
	before.row("rdma_en3", "qp.uc.init").Level = rdma.CapabilityUnknown
	before.row("rdma_en3", "qp.uc.init").Reason = Precondition
	for i := range now.d.Observations {
		o := &now.d.Observations[i]
		o.Run, o.Probe = "now", before.row(o.Device, o.ID).Probe
		if o.Probe == "mr" || o.Probe == "uc" {
			o.Level, o.Reason = rdma.CapabilityUnknown, NotTried
		}
	}
	r := &run{earlier: &earlierRounds{doc: before.d}}
	r.doc = now.d
	r.keepEarlier()
	for id, want := range map[string]string{"mr.rkey": "first", "qp.uc.create": "first", "qp.uc.init": "first", "port.state": "now", "dev.open": "now"} {
		if o := now.row("rdma_en3", id); o.Run != want {
			t.Errorf("%s is of run %s, want %s", id, o.Run, want)
		}
	}
	if v := judged(now); v.Ready != 1 {
		t.Errorf("%+v", v)
	}
	now.d.Devices = nil
	n := len(now.d.Observations)
	if r.keepEarlier(); len(now.d.Observations) != n {
		t.Error("rows of a device that is gone were kept")
	}
}

func TestWatchRefusesAShortInterval(t *testing.T) {
	d, err := Watch(context.Background(), DoctorOptions{}, time.Millisecond, func(*Document, time.Time, []Change) error {
		t.Error("a round was told")
		return nil
	})
	var usage *UsageError
	if !errors.As(err, &usage) || d == nil || d.Exit != ExitUsage {
		t.Errorf("%v, %+v", err, d)
	}
}
