//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// A row of a ledger that says what no row can is a damaged line: it is counted, is
// no evidence, and replaces none.
func TestLedgerRowsOutsideTheVocabulary(t *testing.T) {
	t.Parallel()
	m := newMac(t)
	m.rules(0, "ibv_create_qp", object{"when": object{"qp_type": "RC"}, "errno": "EOPNOTSUPP"})
	m.probe(func(o *Options) { o.Devices, o.More = []string{"rdma_en3"}, []string{"rc"} })
	whole, err := os.ReadFile(m.store)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"no such level":            {`"id":"qp.rc.create"§"level":"rejected"`, `"level":"refused"`},
		"an answer with a reason":  {`"id":"qp.rc.create"§"level":"rejected"`, `"level":"rejected","reason":"crash"`},
		"an unknown one without":   {`"id":"qp.rc.create"§"level":"rejected"`, `"level":"unknown"`},
		"an errno that cannot be":  {`"id":"qp.rc.create"§"number":102`, `"number":0`},
		"a value of parts":         {`"id":"qp.rc.create"§"level":"rejected"`, `"level":"rejected","value":[1]`},
		"a child that did nothing": {`"id":"qp.rc.create"§"outcome":"completed"`, `"outcome":"vanished"`},
	} {
		where, old, _ := strings.Cut(change[0], "§")
		lines := bytes.SplitAfter(slices.Clone(whole), []byte("\n"))
		done := false
		for i, l := range lines {
			if bytes.Contains(l, []byte(where)) && bytes.Contains(l, []byte(old)) && bytes.Contains(l, []byte(`"kind":"observation"`)) {
				lines[i], done = bytes.Replace(l, []byte(old), []byte(change[1]), 1), true
			}
		}
		if !done {
			t.Fatalf("%s: nothing to change", name)
		}
		if err := os.WriteFile(m.store, bytes.Join(lines, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		d := m.report(nil)
		if o := rowFor(t, d, "rdma_en3", "qp.rc.create"); o.Reason != NotTried || d.Devices[0].Capabilities.QueuePairRC.State != "unknown" {
			t.Errorf("%s: %s %s, %+v", name, o.Level, o.Reason, d.Devices[0].Capabilities.QueuePairRC)
		}
		if !slices.Contains(d.Notes, "skipped in the ledger: 1 damaged line") {
			t.Errorf("%s: notes %q", name, d.Notes)
		}
	}
}
