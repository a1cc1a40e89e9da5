//go:build unix

package ledger

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open call from following a link in the last place of a
// path and from waiting for the other end of a pipe.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
)

// isSymlink tells whether err is what noFollow gives: ELOOP, on FreeBSD EMLINK.
func isSymlink(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK)
}

// ownerOf returns user, group and number of names of a file.
func ownerOf(info fs.FileInfo) (uid, gid int, links uint64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0, false
	}
	return int(st.Uid), int(st.Gid), uint64(st.Nlink), true
}

// syncFolder makes a new or renamed entry of the folder durable. A file system
// that cannot do it to a folder (EINVAL) does it in its own way.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
