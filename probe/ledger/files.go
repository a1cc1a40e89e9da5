package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"rdmaprobe/probe/place"
)

// owner is the user to whom new files go. The zero value changes nothing.
type owner struct {
	uid, gid int
	set      bool
}

// rightful is the owner for new files in a folder: the invoking user's when
// root works for one by sudo and the folder is that user's, else whoever makes
// them.
func (in *invoker) rightful(folder fs.FileInfo) owner {
	if in == nil {
		return owner{}
	}
	if uid, _, _, ok := ownerOf(folder); !ok || uid != in.uid {
		return owner{}
	}
	return owner{uid: in.uid, gid: in.gid, set: true}
}

// give hands f, which this process has just created, to o. It goes by the
// descriptor: a path could have been exchanged meanwhile.
func (o owner) give(f *os.File) error {
	if !o.set {
		return nil
	}
	return f.Chown(o.uid, o.gid)
}

// makeFolders creates dir and what is missing above it, mode 0700. It works
// below a descriptor of the deepest folder that exists, so that no link that
// appears meanwhile leads it elsewhere.
func makeFolders(dir string, in *invoker) error {
	base, missing := dir, ""
	for {
		_, err := os.Stat(base)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(base) == base {
			return notWritable("create", dir, err)
		}
		missing = filepath.Join(filepath.Base(base), missing)
		base = filepath.Dir(base)
	}
	if missing == "" {
		return nil
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return notWritable("create", dir, err)
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return notWritable("create", dir, err)
	}
	for at := range prefixes(missing) {
		path := filepath.Join(base, at)
		if err := makeFolder(root, at, in.rightful(info)); err != nil {
			return notWritable("create", path, err)
		}
		if err := syncFolder(filepath.Dir(path)); err != nil {
			return notWritable("sync", path, err)
		}
	}
	return nil
}

// prefixes yields a, a/b, a/b/c.
func prefixes(rel string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range rel {
			if os.IsPathSeparator(rel[i]) && !yield(rel[:i]) {
				return
			}
		}
		yield(rel)
	}
}

func makeFolder(root *os.Root, rel string, o owner) error {
	err := root.Mkdir(rel, 0o700)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	if err == nil {
		_ = root.Chmod(rel, 0o700) // Mkdir minds the umask; not every file system has modes
	}
	if err != nil || !o.set {
		return err
	}
	d, err := root.Open(rel)
	if err != nil {
		return err
	}
	defer d.Close()
	return o.give(d)
}

// create makes the file at path with mode 0600 and returns it for writing. What
// is there already, whatever it is, makes it fail with fs.ErrExist.
func create(path string, in *invoker) (*os.File, error) {
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	_ = f.Chmod(0o600) // OpenFile minds the umask; not every file system has modes
	if err := in.rightful(folder).give(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ensure makes the file at path unless something is there.
func ensure(path string, in *invoker) (created bool, err error) {
	f, err := create(path, in)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// ours tells whether the ledger at path, its lock and the folder of its runs lie
// where no other user has put a link or a file of theirs. What is there under the
// ledger's name has to be a file: beside a device nothing is made either.
func ours(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return notWritable("open", path, errNotRegular)
	}
	for _, name := range []string{path, path + ".lock", runsFolder(path)} {
		_, err := place.Writable(name)
		if err == nil {
			err = place.Folder(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return notWritable("open", name, err)
		}
	}
	return nil
}

// openToAppend opens the ledger itself for reading and appending, and makes
// sure that it is a plain file under its own name.
func openToAppend(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|noFollow|noWait, 0)
	if isSymlink(err) {
		err = errSymlink
	}
	if err != nil {
		return nil, notWritable("open", path, err)
	}
	if err := plain(f, path); err != nil {
		f.Close()
		return nil, notWritable("open", path, err)
	}
	return f, nil
}

// plain refuses links, pipes and devices. Root looks closer: in a folder that
// others can write to, a name may be a second one of a file of the system.
func plain(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if named.Mode()&fs.ModeSymlink != 0 {
		return errSymlink
	}
	if !info.Mode().IsRegular() {
		return errNotRegular
	}
	if _, _, links, ok := ownerOf(info); ok && links > 1 && os.Geteuid() == 0 {
		return errLinked
	}
	return nil
}

// openToRead opens a ledger for Scan. Links are followed: reading does no harm.
func openToRead(path string) (*os.File, error) {
	return place.Open(path)
}
