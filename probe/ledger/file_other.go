//go:build !unix

package ledger

import "io/fs"

// Where there are no such flags, the check of the opened file has to do.
const (
	noFollow = 0
	noWait   = 0
)

func isSymlink(error) bool { return false }

func ownerOf(fs.FileInfo) (uid, gid int, links uint64, ok bool) { return 0, 0, 0, false }

// syncFolder does nothing: a folder cannot be opened for it here.
func syncFolder(string) error { return nil }
