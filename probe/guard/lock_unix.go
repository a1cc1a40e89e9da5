//go:build linux || darwin || freebsd

package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Waits between two tries of a lock.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 100 * time.Millisecond
)

// sharedMode lets every user make files and nobody remove another's.
const sharedMode = fs.ModeSticky | 0o777

// NativeLockDir is the directory for the locks of real devices. It depends on
// the machine alone, not on the user or the environment, so that root and
// others meet in it.
func NativeLockDir() string {
	parents := []string{"/run/lock", "/var/lock", "/tmp"}
	if runtime.GOOS == "darwin" {
		parents = []string{"/private/tmp"} // TMPDIR is each user's own there
	}
	for _, parent := range parents {
		if fi, err := os.Stat(parent); err == nil && fi.IsDir() && fi.Mode()&(fs.ModeSticky|0o002) == fs.ModeSticky|0o002 {
			return filepath.Join(parent, "rdmaprobe-locks")
		}
	}
	return filepath.Join(parents[len(parents)-1], "rdmaprobe-locks")
}

// LockDevice takes the lock of one device, exclusively or shared, and waits for
// it until ctx ends; then the error is a *BusyError. dir is made when missing.
// key may be any text.
//
// The lock is flock(2) on an empty file that is never removed. It works across
// users, containers only as far as they share dir.
func LockDevice(ctx context.Context, dir, key string, shared bool) (*Lock, error) {
	if err := makeLockDir(dir, dir == NativeLockDir()); err != nil {
		return nil, fmt.Errorf("lock %q: %w", key, err)
	}
	path := filepath.Join(dir, lockName(key))
	how := unix.LOCK_EX | unix.LOCK_NB
	if shared {
		how = unix.LOCK_SH | unix.LOCK_NB
	}
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		f, err := openLock(path)
		if err != nil {
			return nil, fmt.Errorf("lock %q: %w", key, err)
		}
		last := ctx.Err() != nil // looked at once: the last try is the one that asks who holds it
		err = flock(f, how)
		if err == nil && names(path, f) {
			return &Lock{file: f}, nil
		}
		holder := 0
		if errors.Is(err, unix.EWOULDBLOCK) && last {
			holder = lockHolder(f)
		}
		f.Close()
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %q: %w", key, err)
		}
		if last {
			return nil, &BusyError{Key: key, PID: holder, Err: context.Cause(ctx)}
		}
		select {
		case <-ctx.Done(): // one more try, which also asks who holds it
		case <-time.After(wait):
		}
	}
}

// flock locks f unless a signal interrupts it, which is no answer.
func flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// unlock frees f for every process; one that is closed already is left alone.
func unlock(f *os.File) { _ = flock(f, unix.LOCK_UN) }

// names reports whether path still leads to f: whoever cleans the directory may
// have removed the file before it was locked.
func names(path string, f *os.File) bool {
	a, errA := os.Lstat(path)
	b, errB := f.Stat()
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// makeLockDir makes the directory: open to all users where it is common to them,
// else the user's own.
func makeLockDir(dir string, common bool) error {
	var err error
	if common {
		if err = os.Mkdir(dir, 0o777); err == nil {
			err = os.Chmod(dir, sharedMode) // Mkdir minds the umask
		}
	} else {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	fi, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}

// openTries bounds how often openLock meets a file that appears or disappears
// between its steps, or that another user has made but not opened to all yet.
const openTries = 20

// openLock opens the lock file, made when missing. It never follows a symbolic
// link and never opens an existing file with O_CREAT, which the kernel refuses
// for another user's file in a sticky directory (fs.protected_regular).
func openLock(path string) (*os.File, error) {
	const common = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK // a FIFO must not block
	var err error
	for range openTries {
		var f *os.File
		if f, err = os.OpenFile(path, common, 0); err == nil {
			return regular(f)
		}
		if errors.Is(err, fs.ErrNotExist) {
			if f, err = os.OpenFile(path, common|unix.O_CREAT|unix.O_EXCL, 0o444); err == nil {
				return opened(f, f.Chmod(0o444)) // the umask may have closed it to others
			}
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
	return nil, err
}

// regular refuses anything but a regular file.
func regular(f *os.File) (*os.File, error) {
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", f.Name())
	}
	return opened(f, err)
}

// opened is f, or the error for which it is of no use.
func opened(f *os.File, err error) (*os.File, error) {
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
