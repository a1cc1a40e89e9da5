//go:build darwin || freebsd

package guard

import (
	"errors"
	"os"
	"syscall"
)

// lockHolder does not know: flock(2) does not tell.
func lockHolder(*os.File) int { return 0 }

// ProcessAlive reports whether the process exists and has not ended. One that
// has ended and was not reaped yet is dead: it holds nothing any more.
func ProcessAlive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return (err == nil || errors.Is(err, syscall.EPERM)) && !zombie(pid)
}
