package cmd

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"rdmaprobe/probe"
	"rdmaprobe/probe/place"
	"rdmaprobe/report"
)

// outFile is what --out names. It appears whole or not at all, once the command is
// done: until then what is written has no name, or where that cannot be a name
// beside it (see nameless). A new file has mode 0644 as far as the umask lets it, so
// that a collector may read it; an old one keeps its mode.
type outFile struct {
	asked    string // as the flag names it
	path     string // without symbolic links
	mode     fs.FileMode
	replaces bool     // a file that is there: the mode is the new one's whatever the umask says
	file     *os.File // not embedded: each of its own ways to write would bypass Write. May be nil until then
	beside   string   // its name, "" while it has none
	wrote    bool
	failed   error // the first failed write: what is in the file is then not whole
	told     bool  // that it was written is said on stderr
}

// openOut prepares the file of --out.
func openOut(path string) (*outFile, error) { return openFile("--out", path, 0o644, true) }

// openFile prepares a file that a flag names. It fails before anything is probed
// where the result could not be written. An old file may keep its mode.
func openFile(flag, path string, mode fs.FileMode, keepMode bool) (*outFile, error) {
	asked := path
	path, err := place.Writable(asked)
	if err != nil {
		return nil, cannotOpen(flag, asked, err)
	}
	old, err := os.Stat(asked) // which knows what the kernel's own links lead to, as /dev/stdout does
	switch {
	case err == nil && !old.Mode().IsRegular():
		return nil, &probe.UsageError{Text: fmt.Sprintf("%s %s: it is not a regular file", flag, asked)}
	case err == nil && keepMode:
		mode = old.Mode().Perm()
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, cannotOpen(flag, asked, err)
	}
	o := &outFile{asked: asked, path: path, mode: mode, replaces: old != nil}
	if o.file = nameless(filepath.Dir(path), mode); o.file != nil {
		o.keepMode()
		return o, nil
	}
	if err := o.begin(); err != nil {
		return nil, cannotOpen(flag, asked, err)
	}
	o.discard() // it can be made; whoever ends this process before there is something to write finds none
	return o, nil
}

// begin makes the file beside the named one.
func (o *outFile) begin() error {
	name := besides(o.path)
	unfinished.Store(name, true)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, o.mode)
	if err != nil {
		unfinished.Delete(name)
		return err
	}
	o.file, o.beside = f, name
	o.keepMode()
	return nil
}

// keepMode gives back what the umask has taken from the mode of an old file.
func (o *outFile) keepMode() {
	if o.replaces {
		_ = o.file.Chmod(o.mode) // where modes do not exist it does not matter
	}
}

// discard gives up the file, unless it has come into its place.
func (o *outFile) discard() {
	if o.file != nil {
		_ = o.file.Close() // done already where it was of use
	}
	if o.beside != "" {
		_ = os.Remove(o.beside) // gone already when it was renamed
		unfinished.Delete(o.beside)
	}
	o.file, o.beside = nil, ""
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

// Write writes to what will be the named file. After a failed write it takes no
// more: a later piece may fit where an earlier one did not.
func (o *outFile) Write(b []byte) (n int, err error) {
	if o.failed == nil && o.file == nil {
		o.failed = o.begin()
	}
	if o.failed != nil {
		return 0, o.failed
	}
	o.wrote = true
	n, o.failed = o.file.Write(b)
	return n, o.failed
}

// commit puts what was written in the place of the named file, durably. Where
// nothing was written, or not all of it, the old file stays.
func (o *outFile) commit() error {
	defer o.discard()
	err := o.failed // the first failure is the one to tell
	if err == nil && !o.wrote {
		return nil
	}
	if err == nil {
		err = o.stays()
	}
	if err == nil {
		err = o.land()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", o.asked, bare(err))
	}
	return syncFolder(filepath.Dir(o.path))
}

// stays tells whether the path leads where it led when the file was prepared.
func (o *outFile) stays() error {
	path, err := place.Writable(o.path)
	if err == nil && path != o.path {
		err = errors.New("somebody has put a symbolic link into its path")
	}
	return err
}

// land is commit's way of a whole file into its place.
func (o *outFile) land() error {
	if err := o.file.Sync(); err != nil {
		return err
	}
	if o.beside == "" {
		if !o.replaces && link(o.file, o.path) == nil {
			return o.file.Close()
		}
		if err := o.show(); err != nil {
			return err
		}
	}
	if err := o.file.Close(); err != nil {
		return err
	}
	return os.Rename(o.beside, o.path)
}

// show gives a file without a name one beside the named file, whose place it can
// take then. Where that is forbidden, as a security module can, its copy has it.
func (o *outFile) show() error {
	name := besides(o.path)
	unfinished.Store(name, true)
	if link(o.file, name) == nil {
		o.beside = name
		return nil
	}
	unfinished.Delete(name)
	unseen := o.file
	defer unseen.Close()
	if err := o.begin(); err != nil {
		return err
	}
	if _, err := unseen.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(o.file, unseen); err != nil {
		return err
	}
	return o.file.Sync()
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
		fmt.Fprintln(a.err, "rdmaprobe: wrote", report.Clean(a.file.asked))
	}
	return status
}
