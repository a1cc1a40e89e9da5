//go:build unix

package probe

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// readable waits for a moment until fd has something to read.
func readable(fd int, wait time.Duration) (bool, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	if errors.Is(err, unix.EINTR) {
		return false, nil
	}
	if n > 0 && fds[0].Revents&unix.POLLNVAL != 0 {
		return false, unix.EBADF
	}
	return n > 0 && fds[0].Revents&unix.POLLIN != 0, err
}
