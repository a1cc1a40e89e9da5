package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// A write that failed never replaces the old file, also when later ones would
// have room.
func TestFailedWriteKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "kept.txt")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := openOut(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	whole := o.file
	if o.file, err = os.Open(whole.Name()); err != nil { // which cannot be written to
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("lost")); err == nil {
		t.Fatal("the write did not fail")
	}
	o.file.Close()
	o.file = whole
	if _, err := o.Write([]byte("fits")); err == nil {
		t.Error("a piece was taken after one that was lost")
	}
	var errs bytes.Buffer
	a := &app{streams: streams{err: &errs}, file: o}
	if got := a.endOut(probe.ExitOK); got != probe.ExitOwn || errs.Len() == 0 {
		t.Errorf("status %d, %q", got, &errs)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("the old file has %q, %v", b, err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("left in the folder: %v, %v", names, err)
	}
}

// A file has its place and its mode, new or in an old one's place, whether it had a
// name before or not; and nobody finds anything but that, before something was
// written and after.
func TestOutFileComesIntoItsPlace(t *testing.T) {
	for name, c := range map[string]struct{ old, nameless bool }{
		"new": {false, true}, "old": {true, true}, "new, named": {false, false}, "old, named": {true, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path, want := filepath.Join(dir, "result.txt"), 0
			if c.old {
				want = 1
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			o, err := openOut(path)
			if err != nil {
				t.Fatal(err)
			}
			if !c.nameless {
				o.discard()
			}
			if names, err := os.ReadDir(dir); err != nil || len(names) != want {
				t.Errorf("in the folder before anything is written: %v, %v", names, err)
			}
			for _, piece := range []string{"the ", "new"} {
				if _, err := o.Write([]byte(piece)); err != nil {
					t.Fatal(err)
				}
			}
			if err := o.commit(); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != "the new" {
				t.Errorf("it has %q, %v", b, err)
			}
			if s, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && (s.Mode().Perm() == 0o600) != c.old {
				t.Errorf("its mode: %v, %v", s.Mode(), err)
			}
			if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
				t.Errorf("left in the folder: %v, %v", names, err)
			}
		})
	}
}

// A file that has a name is removed before a second signal ends the process.
func TestUnfinishedIsRemoved(t *testing.T) {
	dir := t.TempDir()
	o := &outFile{path: filepath.Join(dir, "result.txt"), mode: 0o644}
	if _, err := o.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Fatalf("in the folder: %v, %v", names, err)
	}
	o.file.Close() // some systems remove no open file
	removeUnfinished()
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("left in the folder: %v, %v", names, err)
	}
	o.discard()
}

// full takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// What is asked for and cannot be written is a failure.
func TestHelpThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{}, probe.ExitOwn}, {[]string{"--help"}, probe.ExitOwn}, {[]string{"help"}, probe.ExitOwn},
		{[]string{"help", "probe"}, probe.ExitOwn}, {[]string{"probe", "-h"}, probe.ExitOwn},
		{[]string{"completion"}, probe.ExitOwn}, {[]string{"completion", "bash"}, probe.ExitOwn},
		{[]string{"completion", "zzz"}, probe.ExitUsage},
	} {
		var errs bytes.Buffer
		s := streams{in: &bytes.Buffer{}, out: full{}, err: &errs, terminal: func(io.Writer) (int, bool) { return 0, false }, env: func(string) string { return "" }}
		if got := run(context.Background(), s, c.args); got != c.want || errs.Len() == 0 {
			t.Errorf("%v: status %d, want %d: %q", c.args, got, c.want, &errs)
		}
	}
}

// No command takes a result that nobody got for one that was told: it says so on
// stderr, in every format.
func TestFullOutputIsTold(t *testing.T) {
	store := filepath.Join(t.TempDir(), "evidence.jsonl")
	commands := [][]string{
		{"devices"}, {"probe"}, {"probe", "--plan"}, {"doctor"}, {"report"}, {"report", "--bundle", "x.tar.gz", "--dry-run"}, {"report", "no-such-file"},
		{"explain"}, {"explain", "port_down"}, {"profiles"}, {"profiles", "show", "rxe"}, {"profiles", "check", "rxe"}, {"schema"}, {"selftest"}, {"version"}, {"no-such-command"},
	}
	var formats [][]string
	for _, f := range report.Formats {
		formats = append(formats, []string{"-o", f.Name})
	}
	for _, words := range commands {
		for _, format := range append(formats, []string{"--redact", "--json"}) {
			args := slices.Concat(words, format, []string{"--provider", "sim:rxe", "--store", store})
			var errs bytes.Buffer
			s := streams{in: bytes.NewReader(nil), out: full{}, err: &errs, terminal: terminal, env: func(string) string { return "" }}
			got := run(context.Background(), s, args)
			if got != probe.ExitOwn && got != probe.ExitUsage || errs.Len() == 0 {
				t.Errorf("%v: status %d, and stderr says %q", args, got, &errs)
			}
		}
	}
}
