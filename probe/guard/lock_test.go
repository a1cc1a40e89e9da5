//go:build linux || darwin || freebsd

package guard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// over is a context that has ended: one try and no wait.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// mustLock takes a lock that has to be free.
func mustLock(t *testing.T, dir, key string, shared bool) *Lock {
	t.Helper()
	l, err := LockDevice(over(), dir, key, shared)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Unlock)
	return l
}

func TestLockWithinProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	for _, tc := range []struct{ first, second, free bool }{ // shared or not
		{false, false, false}, {false, true, false}, {true, false, false}, {true, true, true},
	} {
		l := mustLock(t, dir, "rdma_en2", tc.first)
		second, err := LockDevice(over(), dir, "rdma_en2", tc.second)
		second.Unlock()
		if free := err == nil; free != tc.free || err != nil && (!errors.Is(err, ErrBusy) || !errors.Is(err, context.Canceled)) {
			t.Errorf("%+v: %v", tc, err)
		}
		mustLock(t, dir, "rdma_en3", false).Unlock() // another device is free
		l.Unlock()
		l.Unlock()
	}
}

func TestLockBetweenProcesses(t *testing.T) {
	for _, shared := range []bool{false, true} {
		dir := t.TempDir()
		env := []string{"LOCK_DIR=" + dir}
		if shared {
			env = append(env, "LOCK_SHARED=1")
		}
		holder, line := program(t, "locker", env...)
		if line != "locked" {
			t.Fatal(line)
		}
		_, err := LockDevice(over(), dir, "dev", false)
		var busy *BusyError
		if !errors.As(err, &busy) || busy.Key != "dev" {
			t.Fatalf("not busy: %v", err)
		}
		if runtime.GOOS == "linux" && busy.PID != holder.Process.Pid {
			t.Errorf("held by %d, not %d", busy.PID, holder.Process.Pid)
		}
		if shared {
			mustLock(t, dir, "dev", true)
			continue
		}
		// A waiting process gets it when the holder ends, however it ends.
		got := make(chan error, 1)
		go func() {
			l, err := LockDevice(context.Background(), dir, "dev", false)
			l.Unlock()
			got <- err
		}()
		if err := holder.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
}

// ending is a context that ends between two looks at it.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks++; e.looks == 1 {
		return nil
	}
	return context.Canceled
}

// Whenever the wait ends, the holder is asked for: found by a loaded machine,
// where the wait ended in the middle of a try and the answer named nobody.
func TestLockNamesHolderWheneverTheWaitEnds(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT CHECKED: holders are found on Linux only")
	}
	dir := t.TempDir()
	mustLock(t, dir, "dev", false)
	_, err := LockDevice(&ending{Context: over()}, dir, "dev", false)
	var busy *BusyError
	if !errors.As(err, &busy) || busy.PID != os.Getpid() {
		t.Errorf("%v (%+v), want a busy device that this process holds", err, busy)
	}
}

func TestLockFile(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	dir := t.TempDir()
	mustLock(t, dir, "mlx5_0", false)
	fi, err := os.Stat(filepath.Join(dir, lockName("mlx5_0")))
	if err != nil || fi.Mode() != 0o444 || fi.Size() != 0 {
		t.Errorf("%v %v", fi, err)
	}
}

func TestLockRefuses(t *testing.T) {
	for name, obstacle := range map[string]func(path string) error{
		"symbolic link": func(p string) error { return os.Symlink("target", p) },
		"link to file": func(p string) error {
			target := p + ".target"
			return errors.Join(os.WriteFile(target, nil, 0o644), os.Symlink(target, p))
		},
		"directory": func(p string) error { return os.Mkdir(p, 0o755) },
		"FIFO":      func(p string) error { return unix.Mkfifo(p, 0o644) },
	} {
		dir := t.TempDir()
		if err := obstacle(filepath.Join(dir, lockName("dev"))); err != nil {
			t.Fatal(err)
		}
		if _, err := LockDevice(context.Background(), dir, "dev", false); err == nil || errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "target")); err == nil {
			t.Errorf("%s: its target was made", name)
		}
	}
	real, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if _, err := LockDevice(context.Background(), link, "dev", false); err == nil {
		t.Error("a directory that is a symbolic link")
	}
}

// A file of another user in a sticky directory can be locked by all.
func TestLockOtherUsersFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: it takes root to make another user's file")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, sharedMode); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, lockName("dev"))
	if err := errors.Join(os.WriteFile(path, nil, 0o444), os.Chown(path, 12345, 12345)); err != nil {
		t.Fatal(err)
	}
	mustLock(t, dir, "dev", false)
	if _, err := LockDevice(over(), dir, "dev", false); !errors.Is(err, ErrBusy) {
		t.Error(err)
	}
}

// A file that was removed while it was waited for is no lock any more.
func TestLockRemovedFile(t *testing.T) {
	dir := t.TempDir()
	mustLock(t, dir, "dev", false)
	if err := os.Remove(filepath.Join(dir, lockName("dev"))); err != nil {
		t.Fatal(err)
	}
	l := mustLock(t, dir, "dev", false)
	if !names(filepath.Join(dir, lockName("dev")), l.file) {
		t.Error("the lock is on a file without a name")
	}
}

func TestLockDirectoryIsOpenToAll(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	dir := filepath.Join(t.TempDir(), "locks")
	for range 2 {
		if err := makeLockDir(dir, true); err != nil {
			t.Fatal(err)
		}
		fi, err := os.Lstat(dir)
		if err != nil || !fi.IsDir() || fi.Mode().Perm() != 0o777 || fi.Mode()&fs.ModeSticky == 0 {
			t.Errorf("%v %v", fi.Mode(), err)
		}
	}
	if err := makeLockDir(filepath.Join(dir, "a", "b"), true); err == nil {
		t.Error("the common directory has its place: nothing above it is made")
	}
}

func TestNativeLockDir(t *testing.T) {
	dir := NativeLockDir()
	if !filepath.IsAbs(dir) || filepath.Base(dir) != "rdmaprobe-locks" {
		t.Error(dir)
	}
	t.Setenv("TMPDIR", t.TempDir())
	if again := NativeLockDir(); again != dir {
		t.Errorf("%s here, %s there", dir, again)
	}
}

func TestBusyErrorText(t *testing.T) {
	known, unknown := &BusyError{Key: "a\x1bb", PID: 42}, &BusyError{Key: "dev"}
	if got := known.Error(); got != `lock "a\x1bb": device is busy: process 42 holds it` {
		t.Error(got)
	}
	if got := unknown.Error(); !strings.Contains(got, "another process") {
		t.Error(got)
	}
}

func TestProcessAlive(t *testing.T) {
	if !ProcessAlive(os.Getpid()) || !ProcessAlive(1) {
		t.Error("the living are dead")
	}
	if ProcessAlive(0) || ProcessAlive(-1) || ProcessAlive(1<<30) {
		t.Error("nobody is alive")
	}
	cmd, _ := program(t, "locker", "LOCK_DIR="+t.TempDir())
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the unreaped process counts as dead", func() bool { return !ProcessAlive(cmd.Process.Pid) })
}

func TestLockWaitEnds(t *testing.T) {
	dir := t.TempDir()
	mustLock(t, dir, "dev", false)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := LockDevice(ctx, dir, "dev", false); !errors.Is(err, ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A lock that ended is free at once, also while other goroutines of the process
// are starting children, which hold a copy of it from their fork to their exec.
func TestUnlockFreesAmidForks(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var forks sync.WaitGroup
	for range 4 {
		forks.Go(func() {
			for ctx.Err() == nil {
				_ = exec.Command("/nowhere/nothing").Run() // forks, and fails at its exec
			}
		})
	}
	dir := t.TempDir()
	for range 300 {
		l, err := LockDevice(over(), dir, "dev", false)
		if err != nil {
			t.Error(err)
			break
		}
		l.Unlock()
	}
	cancel()
	forks.Wait()
}
