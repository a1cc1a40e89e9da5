//go:build linux || darwin || freebsd

package guard

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is a clock that parent and child share and that nobody sets.
func uptime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// left is what remains of the child's own time. It counts from the start of the
// process, as the parent's ladder does: a child that was slow to begin would else
// be told to end before its time was up.
func (h header) left() time.Duration {
	return h.Soft - min(max(uptime()-h.Began, 0), h.Soft)
}
