package cmd

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// outFile is what --out names. It appears whole or not at all: what is written
// goes to a file beside it, which takes its place once the command is done. A new
// file has mode 0644 as far as the umask lets it, so that a collector may read
// it; an old one keeps its mode.
type outFile struct {
	path   string
	file   *os.File // not embedded: each of its own ways to write would bypass Write
	wrote  bool
	failed error // the first failed write: what is in the file is then not whole
	told   bool  // that it was written is said on stderr
}

// openOut prepares the file of --out.
func openOut(path string) (*outFile, error) { return openFile("--out", path, 0o644, true) }

// openFile prepares a file that a flag names. It fails before anything is probed
// where the result could not be written. An old file may keep its mode.
func openFile(flag, path string, mode fs.FileMode, keepMode bool) (*outFile, error) {
	asked := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	old, err := os.Stat(path)
	switch {
	case err == nil && !old.Mode().IsRegular():
		return nil, &probe.UsageError{Text: fmt.Sprintf("%s %s: it is not a regular file", flag, asked)}
	case err == nil && keepMode:
		mode = old.Mode().Perm()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, cannotOpen(flag, asked, err)
	}
	name := besides(path)
	unfinished.Store(name, true)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		unfinished.Delete(name)
		return nil, cannotOpen(flag, asked, err)
	}
	if old != nil {
		_ = f.Chmod(mode) // the umask may have taken something from it; where modes do not exist it does not matter
	}
	return &outFile{path: path, file: f}, nil
}

// cannotOpen names the file that was asked for, not the one beside it.
func cannotOpen(flag, asked string, err error) error {
	return &probe.UsageError{Text: fmt.Sprintf("%s %s: %v", flag, asked, bare(err))}
}

// bare is an error without the name of the file beside the asked one.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// besides is a name that no other file has, in the folder of another. It is no
// longer than file systems allow where that one's own name is not.
func besides(path string) string {
	const room = 200 // of the 255 bytes that a name may have
	var random [6]byte
	rand.Read(random[:]) // never fails
	base := filepath.Base(path)
	if len(base) > room {
		base = "rdmaprobe"
	}
	return filepath.Join(filepath.Dir(path), "."+base+".tmp-"+hex.EncodeToString(random[:]))
}

// Write writes to the file beside the named one. After a failed write it takes
// no more: a later piece may fit where an earlier one did not.
func (o *outFile) Write(b []byte) (int, error) {
	if o.failed != nil {
		return 0, o.failed
	}
	o.wrote = true
	n, err := o.file.Write(b)
	o.failed = err
	return n, err
}

// commit puts what was written in the place of the named file, durably. Where
// nothing was written, or not all of it, the old file stays.
func (o *outFile) commit() error {
	defer unfinished.Delete(o.file.Name())
	defer os.Remove(o.file.Name()) // gone already when it was renamed
	if o.failed != nil {
		_ = o.file.Close() // the first failure is the one to tell
		return fmt.Errorf("write %s: %w", o.path, bare(o.failed))
	}
	if !o.wrote {
		return o.file.Close()
	}
	if err := errors.Join(o.file.Sync(), o.file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", o.path, bare(err))
	}
	if err := os.Rename(o.file.Name(), o.path); err != nil {
		return fmt.Errorf("write %s: %w", o.path, bare(err))
	}
	return syncFolder(filepath.Dir(o.path))
}

// syncFolder makes a name in a folder durable. Windows has no such call.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return nil // a folder that may be written to and not read: nothing more can be done
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}

// startOut turns the command's output to --out. The ledger may not be the target.
func (a *app) startOut() error {
	if a.outPath == "" || a.outPath == "-" || a.file != nil {
		return nil
	}
	if a.isLedger(a.outPath) {
		return &probe.UsageError{Text: fmt.Sprintf("--out %s: that is the ledger", a.outPath)}
	}
	f, err := openOut(a.outPath)
	if err != nil {
		return err
	}
	a.file, a.out = f, f
	return nil
}

// isLedger tells whether a file is the ledger of this command.
func (a *app) isLedger(path string) bool {
	p, _ := a.providerOptions() // a wrong one is told by the command
	store, err := probe.StorePath(probe.Options{Store: a.store, Provider: p})
	return err == nil && samePath(store, path)
}

func samePath(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// endOut finishes the file of --out and gives the status of the whole command.
func (a *app) endOut(status int) int {
	if a.file == nil {
		return status
	}
	if err := a.file.commit(); err != nil {
		a.complain(err)
		return probe.Worst(status, probe.ExitOwn)
	}
	if a.file.told && a.file.wrote {
		fmt.Fprintln(a.err, "rdmaprobe: wrote", report.Clean(a.file.path))
	}
	return status
}
