//go:build linux

package faulttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rdmaprobe/probe"
	"rdmaprobe/report/schematest"
)

var (
	faults = flag.String("faults", "", "how many cases of the matrix, or all; empty: a part that fits a plain go test")
	seed   = flag.Uint64("seed", 1, "what the part is")
	update = flag.Bool("update", false, "write the summary into docs/reliability.md")
)

// part is what of n cases is tried where nobody named a number: all of them in the
// whole test, fewer by a plain go test, which is to be quick.
func part(n int) int {
	if os.Getenv("RDMAPROBE_MUST_RUN") == "1" {
		return n
	}
	return n / 3
}

// program is the path of the binary under test.
var program string

func TestMain(m *testing.M) {
	flag.Parse()
	atOnce := false
	flag.Visit(func(f *flag.Flag) { atOnce = atOnce || f.Name == "test.parallel" })
	if !atOnce { // most of a case is waiting
		if err := flag.Set("test.parallel", "4"); err != nil {
			panic(err)
		}
	}
	dir, err := os.MkdirTemp("", "faulttest")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "rdmaprobe")
	build := exec.Command("go", "build", "-o", program, "rdmaprobe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// place is where a case lives: a store, a directory for temporary files and a
// home of its own.
type place struct{ dir string }

func newPlace(t testing.TB) place {
	p := place{t.TempDir()}
	for _, d := range []string{p.tmp(), p.home(), p.storeDir()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p place) tmp() string      { return filepath.Join(p.dir, "tmp") }
func (p place) home() string     { return filepath.Join(p.dir, "home") }
func (p place) storeDir() string { return filepath.Join(p.dir, "store") }
func (p place) store() string    { return filepath.Join(p.storeDir(), "evidence.jsonl") }

// outcome is one run of the program, and its document.
type outcome struct {
	place
	doc     *probe.Document
	exit    int
	session int // of all its processes
	out     []byte
	err     string
}

// hardLimit ends a run that does not end by itself; it is far beyond any bound.
const hardLimit = 5 * time.Minute

// command prepares a run in a session of its own, so that whatever it leaves
// behind can be found.
func (p place) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+p.home(), "XDG_STATE_HOME="+p.home(), "TMPDIR="+p.tmp())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run runs the program to its end and reads the document. Whatever it does, it
// has to print a valid one, end by itself and not panic.
func (p place) run(t testing.TB, args ...string) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hardLimit)
	defer cancel()
	cmd := p.command(ctx, append(slices.Clone(args), "--json")...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("%v did not end within %v", args, hardLimit)
	case errors.Is(err, exec.ErrWaitDelay):
		t.Fatalf("%v: something that it left behind holds its output open", args)
	case err != nil && !errors.As(err, &exit):
		t.Fatal(err)
	}
	return p.read(t, cmd, out.Bytes(), errs.String())
}

// read reads what a run has said.
func (p place) read(t testing.TB, cmd *exec.Cmd, out []byte, errs string) *outcome {
	t.Helper()
	o := &outcome{place: p, exit: cmd.ProcessState.ExitCode(), session: cmd.Process.Pid, out: out, err: errs, doc: &probe.Document{}}
	args := cmd.Args
	if strings.Contains(o.err, "panic:") || strings.Contains(o.err, "goroutine ") {
		t.Errorf("%v panicked:\n%s", args, o.err)
	}
	if err := json.Unmarshal(out, o.doc); err != nil {
		t.Fatalf("%v: no document: %v\n%.300s\n%s", args, err, out, o.err)
	}
	if err := schematest.Check(out); err != nil {
		t.Errorf("%v: not a valid document: %v", args, err)
	}
	if o.doc.Exit != o.exit {
		t.Errorf("%v: exit status %d, the document says %d", args, o.exit, o.doc.Exit)
	}
	if b := o.doc.Run.BoundNS; b > 0 && o.doc.Run.DurationNS > b {
		t.Errorf("%v took %v, more than its bound of %v", args, time.Duration(o.doc.Run.DurationNS), time.Duration(b))
	}
	return o
}

// living are the processes of a session, without those that only wait to be
// reaped.
func living(t testing.TB, session int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		t.Fatalf("no processes in /proc: %v", err)
	}
	var pids []int
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// pid (comm) state ppid pgrp session, proc(5); comm may hold anything.
		_, rest, _ := strings.Cut(string(b[bytes.LastIndexByte(b, ')')+1:]), " ")
		f := strings.Fields(rest)
		if len(f) > 3 && f[0] != "Z" && f[0] != "X" && f[3] == strconv.Itoa(session) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

// settleLimit is when what lives on counts as left behind.
const settleLimit = 15 * time.Second

// settle waits until only the expected processes of the session live, and
// returns what lived last.
func settle(t testing.TB, session int, want []int, limit time.Duration) []int {
	t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		have := living(t, session)
		if slices.Equal(have, want) || time.Now().After(end) {
			return have
		}
	}
}

// leftovers checks that the run left nothing but its ledger: no process but those
// of alive, no temporary file, no lock but on the devices of held.
func (o *outcome) leftovers(t testing.TB, alive []int, held string) {
	t.Helper()
	if have := settle(t, o.session, alive, settleLimit); !slices.Equal(have, alive) {
		t.Errorf("processes %v live on, want %v", have, alive)
	}
	o.noFiles(t, o.tmp())
	o.noFiles(t, o.store()+".runs")
	locks, _ := filepath.Glob(filepath.Join(o.storeDir(), "locks", "*"))
	for _, name := range append(locks, o.store()+".lock") {
		busy, err := isLocked(name)
		if err != nil {
			t.Error(err)
		}
		if want := strings.HasSuffix(filepath.Dir(name), "locks") && (held == "*" || held != "" && strings.Contains(filepath.Base(name), "-"+held+".")); busy != want {
			t.Errorf("lock %s held: %v, want %v", filepath.Base(name), busy, want)
		}
	}
}

func (o *outcome) noFiles(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left in %s", e.Name(), filepath.Base(dir))
	}
}

// isLocked tells whether anybody holds the lock of a file.
func isLocked(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// readable checks that the ledger can be read without a loss.
func (p place) readable(t testing.TB, provider string) *outcome {
	t.Helper()
	o := p.run(t, "report", "--provider", provider, "--store", p.store(), "--all-builds")
	if o.exit != 0 || len(o.doc.Notes) > 0 {
		t.Errorf("report: exit %d, notes %v: the ledger is damaged", o.exit, o.doc.Notes)
	}
	return o
}

// forget empties the store, for another try.
func (p place) forget(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll(p.storeDir()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(p.storeDir(), 0o700); err != nil {
		t.Fatal(err)
	}
}
