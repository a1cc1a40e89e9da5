package selftest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/ledger"
)

// keepLedger: what a run writes is read again, and its end is known.
func keepLedger(_ context.Context, o *Options) (string, error) {
	path := filepath.Join(o.Dir, "evidence", "evidence.jsonl")
	store, err := ledger.Open(path, "simulated:selftest")
	if err != nil {
		return "", err
	}
	run, err := store.Begin(map[string]string{"boot_id": "selftest"})
	if err != nil {
		return "", err
	}
	defer run.Close()
	if _, err := run.Intent(map[string]string{"id": "qp.uc.create"}); err != nil {
		return "", err
	}
	if _, err := run.Append(ledger.KindObservation, map[string]string{"detail": "two\nlines, \x00 and \u2028"}); err != nil {
		return "", err
	}
	if !ledger.RunLive(path, run.ID) {
		return "", errors.New("a run that goes on counts as over")
	}
	if err := run.End(map[string]int{"exit": 0}); err != nil {
		return "", err
	}
	if ledger.RunLive(path, run.ID) {
		return "", errors.New("a run that is over counts as going on")
	}
	var kinds []string
	stats, err := ledger.Scan(path, func(r *ledger.Record) error {
		kinds = append(kinds, r.Kind)
		return nil
	})
	if err != nil {
		return "", err
	}
	want := []string{ledger.KindRun, ledger.KindIntent, ledger.KindObservation, ledger.KindEnd}
	if !slices.Equal(kinds, want) || stats.Skipped != 0 || stats.TornTail {
		return "", fmt.Errorf("wrote %v, read %v, %+v", want, kinds, stats)
	}
	return fmt.Sprintf("%d records written, synced and read again", len(kinds)), nil
}

// holdLock: a device that is held is busy for others, until it is not.
func holdLock(ctx context.Context, o *Options) (string, error) {
	dir := filepath.Join(o.Dir, "locks")
	now, cancel := context.WithCancel(ctx)
	cancel() // one try, no wait
	lock, err := guard.LockDevice(now, dir, "self0", false)
	switch {
	case errors.Is(err, guard.ErrUnsupported):
		return "", skipf("%v", err)
	case err != nil:
		return "", err
	}
	defer lock.Unlock()
	for _, shared := range []bool{false, true} {
		if second, err := guard.LockDevice(now, dir, "self0", shared); !errors.Is(err, guard.ErrBusy) {
			second.Unlock()
			return "", fmt.Errorf("a device that is held was locked again (shared: %v): %v", shared, err)
		}
	}
	lock.Unlock()
	a, err := guard.LockDevice(now, dir, "self0", true)
	if err != nil {
		return "", fmt.Errorf("a device that is free: %w", err)
	}
	defer a.Unlock()
	b, err := guard.LockDevice(now, dir, "self0", true)
	if err != nil {
		return "", fmt.Errorf("a device that is held shared, shared: %w", err)
	}
	defer b.Unlock()
	if c, err := guard.LockDevice(now, dir, "self0", false); !errors.Is(err, guard.ErrBusy) {
		c.Unlock()
		return "", fmt.Errorf("a device that is held shared was locked alone: %v", err)
	}
	return "alone, shared, busy, free again", nil
}
