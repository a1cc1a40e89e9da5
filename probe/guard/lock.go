package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// ErrBusy is what a *BusyError is: another process holds the device.
var ErrBusy = errors.New("device is busy")

// BusyError says that a device's lock was not free in time.
type BusyError struct {
	Key string
	PID int   // who holds it; 0 = not known
	Err error // why the wait ended
}

// Error names the device and its holder.
func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("lock %q: %v: another process holds it", e.Key, ErrBusy)
	}
	return fmt.Sprintf("lock %q: %v: process %d holds it", e.Key, ErrBusy, e.PID)
}

// Unwrap gives ErrBusy and why the wait ended.
func (e *BusyError) Unwrap() []error { return []error{ErrBusy, e.Err} }

// Lock is a device's lock, held by this process and by every child that
// inherited it through Spec.Lock.
type Lock struct {
	file *os.File
	lent atomic.Int32 // to children that have not ended
}

// lend counts a child that is about to inherit the lock, back its end.
func (l *Lock) lend() {
	if l != nil {
		l.lent.Add(1)
	}
}

func (l *Lock) back() {
	if l != nil {
		l.lent.Add(-1)
	}
}

// Unlock ends this process's hold. A child that inherited the lock keeps it to
// its own end: that is how a child that was left running keeps others off its
// device. A nil lock, and one that was unlocked before, are left alone.
func (l *Lock) Unlock() {
	if l == nil {
		return
	}
	if l.lent.Load() == 0 {
		// A child of another device holds a copy from its fork to its exec, and
		// closing ours alone would leave the device busy for that long.
		unlock(l.file)
	}
	l.file.Close()
}

// lockName is the file's name for a key: readable, of bounded length, without
// any character that means something to a path, and one per key.
func lockName(key string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '-'
	}, key)
	sum := sha256.Sum256([]byte(key))
	return clean[:min(len(clean), 64)] + "." + hex.EncodeToString(sum[:6]) + ".lock"
}
