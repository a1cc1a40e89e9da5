//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"encoding/json"
	"testing"

	"rdmaprobe/probe/ledger"
)

// A run's record names the run that it is of, within as without.
func TestRunRecordNamesItsRun(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	docs := []*Document{m.probe(nil), m.devices(nil)}
	runs := 0
	_, err := ledger.Scan(m.store, func(rec *ledger.Record) error {
		if rec.Kind != ledger.KindRun {
			return nil
		}
		var body runBody
		if err := json.Unmarshal(rec.Body, &body); err != nil {
			return err
		}
		if body.Run.ID != rec.Run || body.Run.Seq != rec.N || rec.Run != docs[runs].Run.ID {
			t.Errorf("record of run %s, number %d, speaks of %s, %d; the document of %s", rec.Run, rec.N, body.Run.ID, body.Run.Seq, docs[runs].Run.ID)
		}
		runs++
		return nil
	})
	if err != nil || runs != 2 {
		t.Errorf("%d runs, %v", runs, err)
	}
}
