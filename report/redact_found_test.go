package report

import (
	"encoding/json"
	"strings"
	"testing"

	"rdmaprobe/report/secrettest"
)

// What is shown to be a server's name in one place is gone from all, whichever that
// one is, and has one stand-in.
func TestRedactFoundServer(t *testing.T) {
	const name = "filer3"
	forms := secrettest.Server(name)
	telling := forms[:11] // the others do not show that it is one
	for _, first := range telling {
		r := NewRedactor("k")
		v, err := r.Value(map[string]any{"notes": append([]string{"see " + first + " for it"}, forms...)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(v)
		if err != nil || strings.Contains(strings.ToLower(string(got)), name) {
			t.Errorf("%s: %s, %v", first, got, err)
		}
		if !strings.Contains(first, "//filer3/share/x") && strings.Count(string(got), r.host(name)[:13]) < len(forms) {
			t.Errorf("%s: it has several stand-ins: %s", first, got)
		}
	}
	for _, form := range telling {
		if got := NewRedactor("k").Text(form); strings.Contains(got, name) {
			t.Errorf("%s alone became %s", form, got)
		}
	}
}

// So is a user's name, and a folder's that is no word of everybody's.
func TestRedactFoundNames(t *testing.T) {
	for _, c := range []struct {
		first, then string
		gone        []string
		kept        []string
	}{
		{"/opt/acme/lib/libacme.so", "acme wrote it; see the lib", []string{"acme "}, []string{"the lib", "wrote it"}},
		{"/srv/zeppelin/results/x.json", "zeppelin: no results", []string{"zeppelin"}, []string{"no results"}},
		{"jane@build-7:x", "JANE asked", []string{"JANE"}, []string{"asked"}},
		{"/nfs/device/port/x", "the device has a port", nil, []string{"the device has a port"}},
		{"00:11:22:33:44", "00:11:22:33:44 and 2026-01-02 03:04:05", []string{"00:11:22"}, []string{"2026-01-02 03:04:05"}},
		{"/opt/homebrew/lib/x", "homebrew", nil, []string{"homebrew"}},
		{"open:/etc/hosts and std::x", "at 11:59:40/x", nil, []string{"at 11:59:40/"}},
	} {
		v, err := NewRedactor("k").Value(map[string]any{"notes": []string{c.then, c.first}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got := string(b)
		for _, g := range c.gone {
			if strings.Contains(got, g) {
				t.Errorf("%s: %q is left in %s", c.first, g, got)
			}
		}
		for _, k := range c.kept {
			if !strings.Contains(got, k) {
				t.Errorf("%s: %q is gone from %s", c.first, k, got)
			}
		}
	}
}

// Two readings of one document give the same, and its keys change nothing of it.
func TestRedactFoundIsStable(t *testing.T) {
	doc := map[string]any{"a": "see smb://filer3/x", "b": "/data/filer3/zeppelin", "c": "zeppelin on filer3", "d": []string{"jane@filer3", "jane"}}
	var want string
	for i := range 20 {
		v, err := NewRedactor("k").Value(doc)
		b, _ := json.Marshal(v)
		if i == 0 {
			want = string(b)
		}
		if err != nil || string(b) != want {
			t.Fatalf("%s, then %s: %v", want, b, err)
		}
	}
}
