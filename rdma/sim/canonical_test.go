package sim_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"rdmaprobe/fixtures"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma/sim"
)

// TestCanonicalKeepsContents: the canonical form says the same, and is its own
// canonical form.
func TestCanonicalKeepsContents(t *testing.T) {
	for _, info := range fixtures.Profiles() {
		data, _ := fixtures.Profile(info.Name)
		once, err := sim.Canonical(data, &hostfacts.Host{})
		if err != nil {
			t.Fatal(err)
		}
		twice, err := sim.Canonical(once, &hostfacts.Host{})
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s: a second time it differs (%v)", info.Name, err)
		}
		var before, after any
		if json.Unmarshal(data, &before) != nil || json.Unmarshal(once, &after) != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: the canonical form says something else", info.Name)
		}
	}
}

func TestCanonicalOrderAndEscapes(t *testing.T) {
	in := `{"devices": [{"transport": "infiniband", "name": "a\u009b\u001b\ud834\udd73\"\\é"}], "id": "x",
		"host": {"kernel": "k", "os": "linux", "routes": {"b": "1", "a": "2"}}, "profile": 1}`
	got, err := sim.Canonical([]byte(in), &hostfacts.Host{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`"profile": 1`, `"id"`, `"host"`, `"os"`, `"kernel"`, `"routes"`, `"a": "2"`, `"b": "1"`, `"devices"`,
		`"name": "a\u009b\u001b\ud834\udd73\"\\é"`, `"transport"`}
	rest := string(got)
	for _, w := range want {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Fatalf("no %s in its place in:\n%s", w, got)
		}
		rest = after
	}
}

func TestCanonicalRefusesWhatParseRefuses(t *testing.T) {
	_, err := sim.Canonical([]byte(`{"profile": 1, "id": "x", "host": {"zz": 1}}`), &hostfacts.Host{})
	var pe *sim.ParseError
	if !errors.As(err, &pe) || pe.Key != "host.zz" {
		t.Errorf("%v, want a ParseError at host.zz", err)
	}
}
