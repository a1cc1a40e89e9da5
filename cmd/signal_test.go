//go:build linux || darwin

package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/probe"
)

// A hangup ends a run in good order, with its document, unless it was ignored
// when the run began.
func TestHangup(t *testing.T) {
	for name, c := range map[string]struct {
		before string
		then   syscall.Signal
		want   int
	}{
		"hangup":         {"", syscall.SIGHUP, probe.ExitInterrupted},
		"ignored hangup": {"trap '' HUP; ", syscall.SIGTERM, probe.ExitOK},
	} {
		t.Run(name, func(t *testing.T) {
			// A handler here gives the child the default back where this test itself
			// runs under nohup.
			hangup := make(chan os.Signal, 1)
			signal.Notify(hangup, syscall.SIGHUP)
			defer signal.Stop(hangup)
			var out bytes.Buffer
			cmd := startServe(t, c.before, &out)
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			if c.then != syscall.SIGHUP {
				if err := cmd.Process.Signal(c.then); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait() // the status tells
			var d probe.Document
			if err := json.Unmarshal(out.Bytes(), &d); err != nil {
				t.Errorf("no document: %v, %s", err, &out)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.want || d.Exit != c.want {
				t.Errorf("status %d, in the document %d, want %d", got, d.Exit, c.want)
			}
		})
	}
}

// startServe runs serve, after a shell's commands, until it listens. An address
// that was free when it was chosen may be somebody else's by then: it is started
// on another one.
func startServe(t *testing.T, before string, out *bytes.Buffer) *exec.Cmd {
	t.Helper()
	for range 5 {
		cmd := exec.Command("sh", "-c", before+`exec "$0" serve --provider sim --store none --json --listen "$1"`, programLink(t), freeAddress(t))
		out.Reset()
		cmd.Stdout = out
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		t.Cleanup(func() { late.Stop() })
		told := ""
		for piece := make([]byte, 4096); err == nil; {
			var n int
			n, err = errs.Read(piece)
			if told += string(piece[:n]); strings.Contains(told, "listening on") {
				return cmd
			}
		}
		_ = cmd.Wait()
		if !strings.Contains(told+out.String(), syscall.EADDRINUSE.Error()) {
			t.Fatalf("it never listened: %s%s", told, out)
		}
	}
	t.Fatal("every free address was taken by somebody else")
	return nil
}

// programLink is this program under the name by which it is the real one.
func programLink(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "rdmaprobe")
	if err := os.Symlink(exe, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// Whoever does not wait for the end in good order finds no half-written file, and
// the signal is what ended the process.
func TestSecondSignalLeavesNoFile(t *testing.T) {
	link := programLink(t)
	// It has an end in good order too, as long as no call hangs yet, and none before
	// it can catch a signal: then it is asked again, later.
	for wait := 100 * time.Millisecond; wait < 30*time.Second; wait *= 2 {
		dir := t.TempDir()
		status := endedTwice(t, wait, link, "probe", "--provider", "sim:faulty", "--store", "none", "--json", "--out", filepath.Join(dir, "result.json"))
		whole, _ := os.ReadFile(filepath.Join(dir, "result.json"))
		if !status.Signaled() || json.Valid(whole) { // at the very end it came too late
			continue
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 || status.Signal() != syscall.SIGTERM {
			t.Errorf("left in the folder: %v, %v; ended by %v", names, err, status.Signal())
		}
		return
	}
	t.Error("it always ended in good order: no second signal has come in time")
}

// endedTwice runs a program, and from some time after its start on asks it to end
// until it does.
func endedTwice(t *testing.T, wait time.Duration, args ...string) syscall.WaitStatus {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the status tells
		close(ended)
	}()
	defer time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }).Stop()
	for {
		select {
		case <-ended:
			return cmd.ProcessState.Sys().(syscall.WaitStatus)
		case <-time.After(wait):
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
			wait = 20 * time.Millisecond
		}
	}
}

// freeAddress is one of loopback that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Whoever sees that a signal has come can see which: serve ends with status 0 at
// one of them only.
func TestUntilSignalSaysWhich(t *testing.T) {
	for range 200 {
		ctx, stop := untilSignal()
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		if cause := context.Cause(ctx); !errors.Is(cause, endedBy{syscall.SIGTERM}) {
			t.Fatalf("the cause is %v", cause)
		}
		stop()
	}
}
