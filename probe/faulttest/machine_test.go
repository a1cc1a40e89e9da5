//go:build linux

package faulttest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rdmaprobe/fixtures"
)

// machine is a simulated machine with two devices, of which the first is the
// faulty one. All that is here is healthy.
type machine struct {
	name        string
	bad, good   string // devices
	thunderbolt bool
	profile     map[string]any
}

// machines are the variants that every fault is tried on: RoCE, where a child
// that hangs is killed, and Thunderbolt, where it must not be.
func machines(t testing.TB) []*machine {
	return []*machine{
		newMachine(t, "linux", "rxe", "rxe0", "rxe1"),
		newMachine(t, "thunderbolt", "mac-studio", "rdma_en3", "rdma_en4"),
	}
}

// newMachine takes two devices out of a built-in profile and heals them.
func newMachine(t testing.TB, name, from, bad, good string) *machine {
	t.Helper()
	data, ok := fixtures.Profile(from)
	if !ok {
		t.Fatalf("no profile %s", from)
	}
	m := &machine{name: name, bad: bad, good: good, thunderbolt: name == "thunderbolt", profile: map[string]any{}}
	if err := json.Unmarshal(data, &m.profile); err != nil {
		t.Fatal(err)
	}
	m.profile["id"], m.profile["boot_id"] = "faulttest-"+name, "boot-1"
	m.profile["peer"] = map[string]any{"rkey": 4660}
	var kept []any
	for _, want := range []string{bad, good} {
		for _, d := range m.profile["devices"].([]any) {
			if d := d.(map[string]any); d["name"] == want {
				delete(d, "calls")
				kept = append(kept, d)
			}
		}
	}
	if len(kept) != 2 {
		t.Fatalf("profile %s has not both %s and %s", from, bad, good)
	}
	m.profile["devices"] = kept
	return m
}

// edit is a change of a machine.
type edit func(m map[string]any)

// write saves the machine, changed, as a profile in dir.
func (m *machine) write(t testing.TB, dir, name string, edits ...edit) string {
	t.Helper()
	p := clone(t, m.profile)
	for _, e := range edits {
		e(p)
	}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name+".json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func clone(t testing.TB, in map[string]any) map[string]any {
	t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// withRules gives the faulty device rules for some calls.
func withRules(calls map[string]any) edit {
	return func(p map[string]any) { p["devices"].([]any)[0].(map[string]any)["calls"] = calls }
}

// withRulesEverywhere gives them to all devices: a child knows the rules of those
// alone that it works on.
func withRulesEverywhere(calls map[string]any) edit {
	return func(p map[string]any) {
		for _, d := range p["devices"].([]any) {
			d.(map[string]any)["calls"] = calls
		}
	}
}

// rebooted is the same machine after another boot; updated has another system.
func rebooted(p map[string]any) { p["boot_id"] = "boot-2" }

func updated(p map[string]any) {
	rebooted(p)
	h := p["host"].(map[string]any)
	h["os_build"], h["kernel"] = "99Z99", "99.0.0"
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
