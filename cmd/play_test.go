//go:build (linux || darwin) && (amd64 || arm64)

package cmd

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"rdmaprobe/fixtures"
	"rdmaprobe/probe"
	"rdmaprobe/probe/replay"
	"rdmaprobe/report"
)

// machineRun is a simulated machine and what is asked of it.
type machineRun struct {
	name    string
	profile []byte
	line    []string
}

// allRuns are every case with its own command, and every built-in profile with
// all that can be asked.
func allRuns(t *testing.T) []machineRun {
	t.Helper()
	var runs []machineRun
	files, err := fs.Glob(fixtures.Cases, "cases/*.json")
	if err != nil || len(files) < 48 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		data, err := fs.ReadFile(fixtures.Cases, file)
		if err != nil {
			t.Fatal(err)
		}
		var c reportedCase
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, machineRun{c.ID, c.Profile, c.Run})
	}
	for _, info := range fixtures.Profiles() {
		data, _ := fixtures.Profile(info.Name)
		for _, line := range [][]string{{"devices"}, {"probe", "--all", "--pingpong", "--write", "--timeout", "2s"}, {"doctor", "--timeout", "2s"}} {
			runs = append(runs, machineRun{info.Name + " " + line[0], data, line})
		}
	}
	return runs
}

// record is the document of a run, and that of a report about it.
func (m machineRun) record(t *testing.T) (own, rebuilt *probe.Document) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "profile.json")
	writeFile(t, file, m.profile)
	globals := []string{"--provider", "sim:" + file, "--store", filepath.Join(dir, "evidence.jsonl"), "--json"}
	own, err := playLine(t.Context(), slices.Concat(globals, m.line))
	if err == nil {
		rebuilt, err = playLine(t.Context(), append(globals, "report"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(own.Observations) < 3 || len(rebuilt.Observations) < 3 {
		t.Fatalf("%d and %d rows: there is nothing to replay", len(own.Observations), len(rebuilt.Observations))
	}
	return own, rebuilt
}

// TestEveryMachineIsReplayed: a document's profile gives the same document again,
// that of a run as well as what a redacted bundle holds.
func TestEveryMachineIsReplayed(t *testing.T) {
	for _, m := range allRuns(t) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			own, rebuilt := m.record(t)
			redacted, err := report.NewRedactor("key").Document(rebuilt)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range []*probe.Document{own, redacted} {
				play, err := (&app{}).player([][]string{d.Run.Command}, d.Redacted)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := replay.Import(t.Context(), d, play); err != nil {
					t.Errorf("redacted %v: %v", d.Redacted, err)
				}
			}
		})
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
