//go:build (linux || darwin) && (amd64 || arm64)

package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
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
func (m machineRun) record(ctx context.Context, dir string) (own, rebuilt *probe.Document, err error) {
	file := filepath.Join(dir, "profile.json")
	if err := os.WriteFile(file, m.profile, 0o600); err != nil {
		return nil, nil, err
	}
	globals := []string{"--provider", "sim:" + file, "--store", filepath.Join(dir, "evidence.jsonl"), "--json"}
	own, err = playLine(ctx, slices.Concat(globals, m.line))
	if err == nil {
		rebuilt, err = playLine(ctx, append(globals, "report"))
	}
	if err == nil && (len(own.Observations) < 3 || len(rebuilt.Observations) < 3) {
		err = fmt.Errorf("%d and %d rows: there is nothing to replay", len(own.Observations), len(rebuilt.Observations))
	}
	return own, rebuilt, err
}

// replayed records, derives and plays: the document of a run, and the redacted one
// of a report, which is what a bundle holds.
func (m machineRun) replayed(ctx context.Context, dir string) error {
	own, rebuilt, err := m.record(ctx, dir)
	if err != nil {
		return err
	}
	redacted, err := report.NewRedactor("key").Document(rebuilt)
	if err != nil {
		return err
	}
	for _, d := range []*probe.Document{own, redacted} {
		play, err := (&app{}).player([][]string{d.Run.Command}, d.Redacted)
		if err != nil {
			return err
		}
		if _, err := replay.Import(ctx, d, play); err != nil {
			return fmt.Errorf("redacted %v: %w", d.Redacted, err)
		}
	}
	return nil
}

// TestEveryMachineIsReplayed: a document's profile gives the same document again.
// Most of the time is waiting for calls that never return, so that many run at once.
func TestEveryMachineIsReplayed(t *testing.T) {
	runs := allRuns(t)
	if os.Getenv("RDMAPROBE_MUST_RUN") != "1" {
		runs = everyThird(runs) // a plain go test is to be quick
	}
	errs := make([]error, len(runs))
	slots := make(chan struct{}, 12)
	var wg sync.WaitGroup
	for i, m := range runs {
		dir := t.TempDir()
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = m.replayed(t.Context(), dir)
		})
	}
	wg.Wait()
	for i, m := range runs {
		if errs[i] == nil {
			continue
		}
		// Among so many others it may have missed a deadline.
		t.Logf("%s: once more, alone: %v", m.name, errs[i])
		if err := m.replayed(t.Context(), t.TempDir()); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func everyThird[R any](runs []R) (some []R) {
	for i := 0; i < len(runs); i += 3 {
		some = append(some, runs[i])
	}
	return some
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A command line that this program would not take, or that gives no document, is
// the recording's fault.
func TestPlayRefusesWhatIsNoAsking(t *testing.T) {
	profile, _ := fixtures.Profile(fixtures.Profiles()[0].Name)
	for _, line := range [][]string{{"rdmaprobe", "probe", "--timeout", "99999h"}, {"rdmaprobe", "devices", "--timeout", "-1s"}} {
		play, err := (&app{}).player([][]string{line}, false)
		if err == nil {
			_, err = play(t.Context(), profile)
		}
		var no *replay.CannotError
		if !errors.As(err, &no) || no.Where != "run.command" {
			t.Errorf("%v: %v", line, err)
		}
	}
}
