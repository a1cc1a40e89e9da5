//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"
)

// pids are the children of a document's rows.
func pids(d *Document) []int {
	var all []int
	for _, o := range d.Observations {
		if o.Child != nil && !slices.Contains(all, o.Child.PID) {
			all = append(all, o.Child.PID)
		}
	}
	return all
}

var healthy = map[string]string{"dev.open": "confirmed", "port.query": "confirmed", "port.state": "confirmed", "gid.usable": "observed_zero"}

// A listing and all reading is one child, where nothing goes wrong.
func TestSurveyIsOneChild(t *testing.T) {
	t.Parallel()
	m := newMany(t, 3)
	d := m.devices(nil)
	levels(t, d, "", map[string]string{"lib.load": "confirmed", "dev.enumerate": "confirmed"})
	for _, name := range []string{"mlx5_0", "mlx5_1", "mlx5_2"} {
		levels(t, d, name, healthy)
	}
	if p := pids(d); len(p) != 1 {
		t.Errorf("children %v, want one", p)
	}
}

// A listing that used up much of its child's time leaves the devices to another.
func TestSlowSurvey(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	o := m.options(nil)
	r, err := newAsker(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	s := r.startSurvey(time.Now().Add(-o.Timeout / listingShare))
	if err := r.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := s.finish(); err != nil {
		t.Fatal(err)
	}
	d := m.checked(r.finish("devices"))
	for _, name := range []string{"mlx5_0", "mlx5_1"} {
		levels(t, d, name, healthy)
	}
	if p := pids(d); len(p) != 2 {
		t.Errorf("children %v, want one that listed and one that read", p)
	}
}

// A run that turns out not to begin ends the child that it has started, and keeps
// nothing of it.
func TestAbandonedSurvey(t *testing.T) {
	t.Parallel()
	m := newMany(t, 2)
	letter := []byte("Dear all,\n")
	if err := os.WriteFile(m.store, letter, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(o Options) (*Document, error){
		"devices": func(o Options) (*Document, error) { return ListDevices(t.Context(), o) },
		"probe":   func(o Options) (*Document, error) { return Run(t.Context(), o) },
	} {
		d, err := ask(m.options(nil))
		if err == nil || d.Exit != ExitUsage || len(d.Observations) > 0 || len(d.Devices) > 0 {
			t.Errorf("%s: exit %d, %d rows, %d devices, error %v", name, d.Exit, len(d.Observations), len(d.Devices), err)
		}
	}
	if b, err := os.ReadFile(m.store); err != nil || string(b) != string(letter) {
		t.Errorf("the file that is no ledger: %q, %v", b, err)
	}

	o := m.options(func(o *Options) { o.Store = noStore })
	r, err := newAsker(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	s := r.startSurvey(time.Now())
	s.abandon()
	if a := s.child.a; a.result.Alive || !a.result.Interrupted {
		t.Errorf("the child of an abandoned run: %+v", a.result)
	}
}

// A child that dies when it has read all devices, or was given none, has a row that
// says where.
func TestSurveyDiesAfterReading(t *testing.T) {
	t.Parallel()
	for name, began := range map[string]time.Duration{"all read": 0, "none given": time.Hour} {
		m := newMany(t, 2)
		m.rules(0, "ibv_free_device_list", object{"fault": "crash"})
		o := m.options(nil)
		r, err := newAsker(t.Context(), &o)
		if err != nil {
			t.Fatal(err)
		}
		s := r.startSurvey(time.Now().Add(-began))
		if err := r.prepare(); err != nil {
			t.Fatal(err)
		}
		if err := s.finish(); err != nil {
			t.Fatal(err)
		}
		d := m.checked(r.finish("devices"))
		levels(t, d, "", map[string]string{"lib.load": "confirmed", "dev.enumerate": "confirmed", "teardown": "crash"})
		levels(t, d, "mlx5_1", healthy)
		if d.Exit != ExitContained || !slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Code == "provider_crashed" }) {
			t.Errorf("%s: exit %d, findings %v", name, d.Exit, d.Findings)
		}
	}
}

// A listing that is interrupted says so of each device that it did not come to, and
// keeps what it saw of the others.
func TestInterruptedSurvey(t *testing.T) {
	t.Parallel()
	m := newMany(t, 3)
	m.rules(0, "ibv_query_port", object{"fault": "crash"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := m.checked(ListDevices(ctx, m.options(func(o *Options) {
		o.OnObservation = func(o Observation) {
			if o.Device == "mlx5_0" {
				cancel() // before another child is started
			}
		}
	})))
	levels(t, d, "mlx5_0", map[string]string{"dev.open": "confirmed", "port.query": "crash"})
	for _, name := range []string{"mlx5_1", "mlx5_2"} {
		levels(t, d, name, map[string]string{"dev.open": "interrupted"})
		for _, id := range readIDs {
			i := slices.IndexFunc(d.Observations, func(o Observation) bool { return o.Device == name && o.ID == id })
			if i < 0 {
				t.Errorf("%s has no row %s", name, id)
			} else if port := d.Observations[i].Port; evidence(id).Ports != (port == 1) {
				t.Errorf("%s %s is of port %d", name, id, port)
			}
		}
	}
	if d.Exit != ExitInterrupted {
		t.Errorf("exit %d", d.Exit)
	}
}
