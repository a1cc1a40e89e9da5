package ledger

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lockWait is how long a writer waits for the others. They hold the lock for
// one write, or for one Prune.
const lockWait = 8 * time.Second

// lockWriters takes the writers' lock of the ledger at path, while ctx lasts.
func lockWriters(ctx context.Context, path string, in *invoker) (unlock func(), err error) {
	name := path + ".lock"
	l, err := hold(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err = ensure(name, in); err == nil {
			l, err = hold(ctx, name)
		}
	}
	if err == nil && ctx.Err() != nil { // nobody waits any more for what would be written
		err = errors.Join(ErrBusy, l.Unlock())
	}
	if isSymlink(err) {
		err = errSymlink
	}
	if info, failed := os.Lstat(name); err == nil && failed == nil && !info.Mode().IsRegular() {
		err = errors.Join(errNotRegular, l.Unlock())
	}
	if err != nil {
		return nil, notWritable("lock", name, err)
	}
	return func() { _ = l.Unlock() }, nil // closing the descriptor unlocks in any case
}

// hold takes an exclusive lock on an existing file, or fails with ErrBusy.
func hold(ctx context.Context, name string) (*flock.Flock, error) {
	l := flock.New(name, flock.SetFlag(os.O_RDWR|noFollow|noWait))
	if ok, err := l.TryLock(); ok || err != nil {
		return l, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	_, err := l.TryLockContext(ctx, time.Millisecond)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = ErrBusy
	}
	return l, err
}

// runsFolder holds one lock file for each run that lives, and the ones of runs
// that were killed until the next run begins.
func runsFolder(path string) string { return path + ".runs" }

// makeRunsFolder makes that folder. A link in its place is not followed: the locks
// are told to be beside the ledger, and are removed by name.
func makeRunsFolder(path string, in *invoker) error {
	name := runsFolder(path)
	if err := makeFolders(name, in); err != nil {
		return err
	}
	switch info, err := os.Lstat(name); {
	case err != nil:
		return notWritable("create", name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return notWritable("create", name, errSymlink)
	case !info.IsDir():
		return notWritable("create", name, errNotFolder)
	}
	return nil
}

func runLock(path, runID string) string {
	return filepath.Join(runsFolder(path), runID+".lock")
}

// RunLive tells whether a run of the ledger at path is still going on: its lock
// is held by a living process, in any way this one included. Nothing is changed
// for anybody. A lock that exists and may not be looked at counts as held: only
// what is known to be over is over.
func RunLive(path, runID string) bool {
	return validRunID(runID) && held(runLock(path, runID))
}

func held(name string) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	if !info.Mode().IsRegular() {
		return false
	}
	l := flock.New(name, flock.SetFlag(os.O_RDONLY|noFollow|noWait))
	ok, err := l.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_ = l.Close()
	return !ok
}

// runLocks lists the runs that have a lock file, held or not.
func runLocks(path string) ([]string, error) {
	entries, err := os.ReadDir(runsFolder(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".lock"); ok && validRunID(id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// liveRuns lists the runs whose lock is held, oldest first.
func liveRuns(path string) ([]string, error) {
	ids, err := runLocks(path)
	var live []string
	for _, id := range ids {
		if RunLive(path, id) {
			live = append(live, id)
		}
	}
	return live, err
}

// sweep removes the locks of runs that are over. The writers' lock is held, so
// no run is just beginning.
func sweep(path string) {
	ids, _ := runLocks(path) // what cannot be listed stays: it does no harm
	for _, id := range ids {
		if !RunLive(path, id) {
			_ = os.Remove(runLock(path, id))
		}
	}
}
