//go:build linux || darwin || freebsd

package guard

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Descriptors of a child beside the standard ones.
const (
	fdMessages = 3
	fdLifeline = 4
	fdPage     = 5
	fdLock     = 6
	fdConn     = 7
)

// ours are this side's ends of a child's channels.
type ours struct{ stdin, stdout, messages, lifeline *os.File }

// files collects the two sides of a child's channels, and the first error.
type files struct {
	theirs, ours []*os.File
	mapped       *page
	err          error
}

// pipeIn is a pipe that the child reads.
func (f *files) pipeIn() (theirs, ours *os.File) {
	r, w := f.pipe()
	f.theirs, f.ours = append(f.theirs, r), append(f.ours, w)
	return r, w
}

// pipeOut is a pipe that the child writes.
func (f *files) pipeOut() (theirs, ours *os.File) {
	r, w := f.pipe()
	f.theirs, f.ours = append(f.theirs, w), append(f.ours, r)
	return w, r
}

func (f *files) pipe() (r, w *os.File) {
	if f.err != nil {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		f.err = fmt.Errorf("make child's channels: %w", err)
	}
	return r, w
}

func (f *files) page() *os.File {
	if f.err != nil {
		return nil
	}
	var file *os.File
	f.mapped, file, f.err = newPage()
	f.theirs = append(f.theirs, file)
	return file
}

// closeTheirs closes the ends that only the child keeps.
func (f *files) closeTheirs() {
	for _, file := range f.theirs {
		file.Close() // a nil file only returns an error
	}
}

// closeOurs gives up a child that was not started.
func (f *files) closeOurs() {
	for _, file := range f.ours {
		file.Close()
	}
	if f.mapped != nil {
		f.mapped.close()
	}
}

// readable tells whether a read of f would give something at once.
func readable(f *os.File) (yes bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	_ = conn.Control(func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		yes = err == nil && n == 1 && p[0].Revents&unix.POLLIN != 0
	})
	return yes
}
