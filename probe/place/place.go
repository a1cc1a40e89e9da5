// Package place looks at where a path leads before a file is read or written there,
// so that another user of the machine does not choose the file.
//
// For what is written it has the rules of Linux's fs.protected_symlinks,
// fs.protected_regular and fs.protected_fifos (proc_sys_fs(5)), on every system and
// whatever is set there. In a sticky folder that others can write to, as /tmp is, a
// symbolic link leads on only if it belongs to whoever follows it or to the owner of
// the folder, and so what lies there is written to.
package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ErrNotRegular says that what was to be read or written is no regular file.
var ErrNotRegular = errors.New("is not a regular file")

// OthersError says that another user has put something into a path.
type OthersError struct {
	Path string // of that
	What string // a symbolic link, or a file
	UID  int
}

// Error names the path, the user and the way out.
func (e *OthersError) Error() string {
	return fmt.Sprintf("%s is %s of another user (uid %d) in a folder that everybody can write to: remove it, or name a file in a folder of your own", e.Path, e.What, e.UID)
}

// Writable is the path without symbolic links of a file that is to be written, which
// need not exist. It is an *OthersError where the path is not to be followed, or
// where the file is not to be overwritten.
func Writable(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if !hasOwners {
		if at, err := filepath.EvalSymlinks(abs); err == nil {
			return at, nil
		}
		return abs, nil
	}
	w := walk{at: "/", rest: abs}
	for w.rest != "" {
		if err := w.step(); err != nil {
			return "", err
		}
	}
	return w.at, nil
}

// walk goes along an absolute path.
type walk struct {
	at, rest string
	links    int
}

// maxLinks is how many links the kernel follows in one path.
const maxLinks = 40

// step takes the next name of the path.
func (w *walk) step() error {
	var name string
	name, w.rest, _ = strings.Cut(strings.TrimLeft(w.rest, "/"), "/")
	next := filepath.Join(w.at, name) // knows "." and ".."
	info, err := os.Lstat(next)
	switch {
	case errors.Is(err, fs.ErrNotExist): // nor is there anything below it
		w.at, w.rest = filepath.Join(next, w.rest), ""
		return nil
	case err != nil:
		return err
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if link || strings.Trim(w.rest, "/") == "" && !info.IsDir() {
		if err := ours(next, info); err != nil {
			return err
		}
	}
	if !link {
		w.at = next
		return nil
	}
	target, err := os.Readlink(next)
	if w.links++; err == nil && w.links > maxLinks {
		err = &fs.PathError{Op: "open", Path: next, Err: syscall.ELOOP}
	}
	if filepath.IsAbs(target) {
		w.at = "/"
	}
	w.rest = target + "/" + w.rest
	return err
}

// ours tells whether what lies at path may be followed or overwritten.
func ours(path string, info fs.FileInfo) error {
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	kind, what := fs.FileMode(0o022), "a file"
	if info.Mode()&fs.ModeSymlink != 0 {
		kind, what = 0o002, "a symbolic link"
	}
	owner := uidOf(info)
	if trusted(folder.Mode(), kind, uidOf(folder), owner, os.Geteuid()) {
		return nil
	}
	return &OthersError{Path: path, What: what, UID: owner}
}

// trusted is the rule: writers are the bits of the folder's mode that make it one of
// many users.
func trusted(folder, writers fs.FileMode, folderOwner, owner, me int) bool {
	shared := folder&fs.ModeSticky != 0 && folder&writers != 0
	return !shared || owner == me || owner == folderOwner
}

// Folder is like Writable for a folder of the program's own: it is not another user's
// where it exists.
func Folder(path string) error {
	info, err := os.Lstat(path)
	if err != nil || !hasOwners {
		return err
	}
	return ours(path, info)
}

// Open opens a regular file for reading. Anything else is ErrNotRegular, and found
// out before it is opened: opening a pipe may wait for ever, and opening a device may
// do something. It is looked at again once it is open, for the name may have been
// given to something else meanwhile. What can be waited for and has no size, as the
// kernel's files /proc/kmsg and trace_pipe, is no regular file, whatever it says. A
// file of FUSE can be waited for too, and has a size.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	info, err = f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() == 0 && f.SetReadDeadline(time.Time{}) == nil) {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
