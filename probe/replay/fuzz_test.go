//go:build (linux || darwin) && (amd64 || arm64)

package replay_test

import (
	"encoding/json"
	"errors"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/replay"
	"rdmaprobe/rdma/sim"
)

// FuzzDerive: whatever a document says, there is a profile that the simulator
// takes, or a word for why not; and a document is always the same as itself.
func FuzzDerive(f *testing.F) {
	for _, profile := range [][]byte{
		machine("macos", calls(`"ibv_reg_mr": [{"when": {"after": 1}, "errno": "EACCES"}, {"lkey": 7}], "ibv_create_qp": [{"when": {"qp_type": "RC"}, "errno": "EOPNOTSUPP"}]`), ""),
		machine("linux", calls(`"ibv_query_device": [{"errno": "EIO"}], "ibv_poll_cq": [{"when": {"qp_type": "UC"}, "lose_every": 9}]`), `, "library": {"stderr": ["a"]}`),
	} {
		d, err := play(f.Context(), profile)
		if err != nil {
			f.Fatal(err)
		}
		data, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"host": {"os": "linux"}, "devices": [{"name": "a", "listed": true, "ports": [{"num": 1, "attr": {}}]}],
		"observations": [{"id": "pingpong.uc", "device": "a", "level": "unknown", "reason": "no_completion", "data": {"lost": 3, "count": -1}},
		{"id": "mr.register.local", "device": "a", "level": "confirmed", "call": "ibv_reg_mr", "return": "non-null"},
		{"id": "dev.enumerate", "level": "unknown", "reason": "crash", "call": "ibv_get_device_list", "child": {"outcome": "crashed"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &probe.Document{}
		if json.Unmarshal(data, d) != nil {
			return
		}
		profile, err := replay.Derive(d)
		var no *replay.CannotError
		if err != nil && !errors.As(err, &no) {
			t.Fatalf("%v is no CannotError", err)
		}
		if err == nil {
			if _, err := sim.Parse(profile, &hostfacts.Host{}); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := replay.Compare(d, d); err != nil || len(found) > 0 {
			t.Errorf("it differs from itself: %v, %v", found, err)
		}
	})
}
