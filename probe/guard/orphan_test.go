//go:build linux || darwin || freebsd

package guard

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/rdma"
)

// program starts a helper that is no child and returns its first line.
func program(t *testing.T, helper string, env ...string) (*exec.Cmd, string) {
	t.Helper()
	used.Store(helper, true)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), helperEnv+"="+helper), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s says nothing: %v", helper, err)
	}
	return cmd, strings.TrimSpace(line)
}

// orphan starts a parent with a child, kills the parent and returns the child.
func orphan(t *testing.T, helper string, env ...string) int {
	t.Helper()
	return orphans(t, helper, 1, env...)[0]
}

// orphans returns what the child tells of too.
func orphans(t *testing.T, helper string, n int, env ...string) (pids []int) {
	t.Helper()
	used.Store(helper, true)
	parent, lines := program(t, "parent", append(env, "PARENT_OF="+helper, "PARENT_TELLS="+strconv.Itoa(n))...)
	for line := range strings.FieldsSeq(lines) {
		pid, err := strconv.Atoi(line)
		if err != nil || !ProcessAlive(pid) {
			t.Fatalf("child %q is not alive: %v", line, err)
		}
		pids = append(pids, pid)
	}
	if len(pids) != n {
		t.Fatalf("%d processes, want %d: %q", len(pids), n, lines)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	return pids
}

// An orphan ends with what its library has started: in order, and inside a call when
// its parent would have ended it.
func TestOrphanEndsWithItsGroup(t *testing.T) {
	for _, helper := range []string{"inside a call with another", "ends in order with another"} {
		for _, pid := range orphans(t, helper, 2, "PARENT_KILLS=1") {
			waitUntil(t, helper+": the orphan and what it started have ended", func() bool { return !ProcessAlive(pid) })
		}
	}
}

func TestOrphanOutsideCallEnds(t *testing.T) {
	pid := orphan(t, "outside a call")
	waitUntil(t, "the orphan has ended", func() bool { return !ProcessAlive(pid) })
}

func TestOrphanInsideCallIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	pid := orphan(t, "inside a call", "LOCK_DIR="+dir)
	// It can only be shown that it outlives its grace, by another orphan's end.
	other := orphan(t, "outside a call")
	waitUntil(t, "the other orphan has ended", func() bool { return !ProcessAlive(other) })
	if !ProcessAlive(pid) {
		t.Fatal("it was ended inside a call")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LockDevice(ctx, dir, "dev", true); err == nil {
		t.Error("it does not hold its device's lock")
	} else if !strings.Contains(err.Error(), strconv.Itoa(pid)) && hasProcLocks() {
		t.Errorf("process %d is not named: %v", pid, err)
	}
	if err := syscall.Kill(pid, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the call has returned and the orphan ended", func() bool { return !ProcessAlive(pid) })
}

func TestOrphanLimit(t *testing.T) {
	pid := orphan(t, "limited orphan")
	waitUntil(t, "the orphan has ended", func() bool { return !ProcessAlive(pid) })
}

func hasProcLocks() bool {
	_, err := os.Stat("/proc/locks")
	return err == nil
}

func TestOrphanGrace(t *testing.T) {
	c := &Child{mark: new(rdma.CallMark)}
	c.clock = newClock(time.Hour, time.Hour)
	exited := 0
	c.orphaned(func() { exited++ })
	if exited != 1 || context.Cause(c.Context()) != ErrOrphaned {
		t.Errorf("exited %d times, cause %v", exited, context.Cause(c.Context()))
	}
}

func TestEnterOutsideAGuard(t *testing.T) {
	used.Store("before", true)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperEnv+"=before")
	cmd.Stdin = strings.NewReader("{}\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "not started by a guard") {
		t.Errorf("%v: %s", err, out)
	}
}
