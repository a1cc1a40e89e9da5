//go:build unix

package place

import (
	"io/fs"
	"syscall"
)

const (
	hasOwners = true
	noWait    = syscall.O_NONBLOCK
)

// uidOf is the owner of a file.
func uidOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
