package cmd

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// nameless makes a file without a name in a folder, for reading too; nil where the
// file system has none or where it could not be given a name later.
func nameless(dir string, mode fs.FileMode) *os.File {
	f, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE, mode)
	if err != nil {
		return nil
	}
	if _, err := os.Lstat(descriptor(f)); err != nil { // no /proc
		f.Close()
		return nil
	}
	return f
}

// link gives a file without a name one that no other file has.
func link(f *os.File, name string) error {
	return unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
}

// descriptor is the path by which an open file can be linked without privileges:
// open(2), O_TMPFILE.
func descriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }
