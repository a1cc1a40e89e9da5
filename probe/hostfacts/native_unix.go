//go:build linux || darwin

package hostfacts

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

func unameMachine() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Machine[:])
}

func memlock() (int64, error) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r); err != nil {
		return 0, os.NewSyscallError("getrlimit", err)
	}
	return memlockKiB(r.Cur), nil
}

// memlockKiB knows RLIM_INFINITY of both systems: all bits on Linux, all but the
// highest on Darwin (sys/resource.h).
func memlockKiB(cur uint64) int64 {
	if cur >= 1<<63-1 {
		return -1
	}
	return int64(cur / 1024)
}

func native32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }
