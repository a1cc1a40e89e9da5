//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// A probe that a run tries twice is open until its second attempt has an outcome
// too: what the first one left on record is none of it.
func TestEachIntentNeedsItsOutcome(t *testing.T) {
	intent := intentBody{Device: "mlx5_0", Probe: "serve.rtr.uc", IDs: []string{"qp.uc.rtr"}, BootID: "boot-1"}
	row := Observation{ID: "qp.uc.rtr", Probe: "serve.rtr.uc", Device: "mlx5_0", Level: rdma.CapabilityConfirmed}
	for _, tt := range []struct {
		name  string
		after []any // bodies of records after the run's first
		open  bool
	}{
		{"outcome", []any{intent, row}, false},
		{"none", []any{intent}, true},
		{"again, and none", []any{intent, row, intent}, true},
		{"again, with one", []any{intent, row, intent, row}, false},
	} {
		h := newHistory()
		for i, b := range append([]any{runBody{}}, tt.after...) {
			body, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			kind := ledger.KindObservation
			switch b.(type) {
			case runBody:
				kind = ledger.KindRun
			case intentBody:
				kind = ledger.KindIntent
			}
			if err := h.add(&ledger.Record{Kind: kind, Run: "r", N: 1, Seq: int64(i + 1), At: time.Unix(int64(i), 0), Body: body}); err != nil {
				t.Fatal(err)
			}
		}
		h.openIntents(h.runs["r"], func(string) bool { return false })
		open := false
		for _, c := range h.closures {
			open = open || slices.ContainsFunc(c, func(c closure) bool { return c.Event == "interrupted" })
		}
		if open != tt.open {
			t.Errorf("%s: open %v", tt.name, open)
		}
	}
}

// Where it is not known what earlier runs have closed nothing is created, and the
// plan says so.
func TestUnreadableLedgerLeavesClassRead(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	if err := os.Mkdir(m.store, 0o700); err != nil { // opens, and cannot be read
		t.Fatal(err)
	}
	p, err := MakePlan(t.Context(), m.options(nil))
	if err != nil || len(p.Devices) == 0 || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "could not be read") {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, s := range p.Devices[0].Steps {
		if (s.Refused != "") != (s.Class != ClassRead.String()) {
			t.Errorf("%s of class %s: %q", s.Probe, s.Class, s.Refused)
		}
	}
	d := m.probe(nil)
	levels(t, d, "mlx5_0", map[string]string{"port.state": "confirmed", "mr.register": "guarded", "qp.uc.create": "guarded"})
	if d.Exit != ExitOwn || len(d.Notes) != 1 {
		t.Errorf("exit %d, %q", d.Exit, d.Notes)
	}
}

func TestDamageIsCounted(t *testing.T) {
	for want, stats := range map[string]ledger.Stats{
		"skipped in the ledger: 1 damaged line":             {Skipped: 1},
		"skipped in the ledger: 2 damaged lines":            {Skipped: 2},
		"skipped in the ledger: 1 line of a newer version":  {Newer: 1},
		"skipped in the ledger: 3 lines of a newer version": {Newer: 3},
	} {
		r := &run{}
		r.doc = &Document{}
		r.noteDamage(stats)
		if !slices.Equal(r.doc.Notes, []string{want}) {
			t.Errorf("%+v: %q, want %q", stats, r.doc.Notes, want)
		}
	}
}
