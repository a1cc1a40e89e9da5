//go:build (linux || darwin) && (amd64 || arm64)

package cmd

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rdmaprobe/fixtures"
	"rdmaprobe/report"
	"rdmaprobe/report/bundle"
)

// told16 is the simulated Mac mini with the facts that were read on a machine of
// macOS 26.5 whose sysctl says 16.0: hostfacts proves that its archive gives them.
func told16(t *testing.T) string {
	t.Helper()
	read := func(data []byte, err error, into any) {
		t.Helper()
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var facts struct{ Host json.RawMessage }
	data, err := os.ReadFile("../probe/hostfacts/testdata/macos/told-16.json")
	read(data, err, &facts)
	var profile map[string]json.RawMessage
	data, _ = fixtures.Profile("mac-mini-m4pro")
	read(data, nil, &profile)
	profile["host"] = facts.Host
	text, err := json.Marshal(profile)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "told16.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// namesNoSystem are the outputs that name no operating system at all.
var namesNoSystem = regexp.MustCompile(`^(table of devices$|prometheus of |junit of )`)

// Every command says in every format that names a system which macOS it is, and
// none repeats what the sysctl said.
func TestEveryOutputSaysTheVersion(t *testing.T) {
	profile, store := told16(t), filepath.Join(t.TempDir(), "evidence.jsonl")
	document := filepath.Join(t.TempDir(), "probe.json")
	say := func(name string, args ...string) string {
		var out, errs bytes.Buffer
		s := streams{out: &out, err: &errs, terminal: terminal, env: func(string) string { return "" }}
		exit := run(t.Context(), s, append([]string{"--provider", "sim:" + profile, "--store", store}, args...))
		if exit != 0 && exit != 1 {
			t.Errorf("%s: exit %d, %s", name, exit, errs.String())
		}
		return out.String()
	}
	check := func(name, text string) {
		if text == "" || !namesNoSystem.MatchString(name) && !strings.Contains(text, "26.5") || strings.Contains(text, "16.0") {
			t.Errorf("%s does not say macOS 26.5, or says 16.0:\n%s", name, text)
		}
	}
	if err := os.WriteFile(document, []byte(say("document", "probe", "--json")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Formats {
		for _, line := range [][]string{{"devices"}, {"doctor"}, {"report"}, {"report", document}} {
			name := f.Name + " of " + strings.Join(line, " ")
			check(name, say(name, append([]string{"-o", f.Name}, line...)...))
		}
	}
	packed := filepath.Join(t.TempDir(), "bundle.tar.gz")
	say("bundle", "report", "--bundle", packed)
	f, err := os.Open(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := bundle.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for name, data := range b.Files {
		all += name + "\n" + string(data)
	}
	check("the bundle", all)
}
