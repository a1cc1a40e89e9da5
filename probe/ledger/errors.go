package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"rdmaprobe/probe/place"
)

// Errors to test for with errors.Is.
var (
	// ErrNotWritable is matched by every StoreError.
	ErrNotWritable = errors.New("the evidence store is not writable")
	// ErrBusy: another process held the writers' lock for too long.
	ErrBusy = errors.New("another process keeps the ledger locked")
	// ErrLive: a run is still writing, so the file cannot be replaced.
	ErrLive = errors.New("a run is still writing to the ledger")
	// ErrEnded: the run has ended and takes no more records.
	ErrEnded = errors.New("the run has ended")
	// ErrNotLedger: the file holds something, and it is not a ledger.
	ErrNotLedger = errors.New("not a ledger")
	// ErrTooLong: the record would be longer than MaxLine.
	ErrTooLong = errors.New("record too long")
)

// Reasons of a StoreError that no errno stands for.
var (
	errSymlink    = errors.New("is a symbolic link")
	errNotRegular = place.ErrNotRegular
	errNotFolder  = errors.New("is not a folder")
	errLinked     = errors.New("has a second name (hard link)")
	errReplaced   = errors.New("was removed or replaced while the run was writing")
)

// StoreError says that the ledger at Path could not be written, and why.
type StoreError struct {
	Op   string // what was tried: create, open, lock, write, sync, replace
	Path string
	Err  error
}

// Error names the operation, the path, the cause and the way out.
func (e *StoreError) Error() string {
	return fmt.Sprintf("%s %s: %v (%s)", e.Op, shown(e.Path), e.Err, e.Remedy())
}

// Unwrap gives the cause: an errno, or one of this package's errors.
func (e *StoreError) Unwrap() error { return e.Err }

// Is makes every StoreError match ErrNotWritable.
func (e *StoreError) Is(target error) bool { return target == ErrNotWritable }

// Remedy is one sentence on what to do.
func (e *StoreError) Remedy() string {
	const other = "name another file with --store FILE"
	switch {
	case errors.Is(e.Err, errSymlink), errors.Is(e.Err, errLinked):
		return "name a file of its own with --store FILE"
	case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
		return "free some space there, or " + other
	case errors.Is(e.Err, syscall.EROFS):
		return "the file system is read-only: " + other
	case errors.Is(e.Err, fs.ErrPermission):
		return "make it writable for this user, or " + other
	case errors.Is(e.Err, ErrBusy):
		return "wait for it to end, or " + other
	case errors.Is(e.Err, errReplaced):
		return "run it again"
	}
	return other
}

// notWritable wraps err for path. The path of an inner fs.PathError is dropped:
// it would be said twice.
func notWritable(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if se := (*StoreError)(nil); errors.As(err, &se) {
		return err
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return &StoreError{Op: op, Path: path, Err: err}
}

// ForeignError: the ledger at Path belongs to the provider Found, and Want
// must not write to it.
type ForeignError struct {
	Path  string
	Want  string
	Found string
}

// Error names both providers. Found comes out of a file, so it is quoted.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("open %s for %s: the ledger belongs to %q (name another file with --store FILE)",
		shown(e.Path), shown(e.Want), e.Found)
}

// shown is s as it can go to a terminal.
func shown(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
