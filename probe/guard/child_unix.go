//go:build linux || darwin || freebsd

package guard

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// orphanExit is the status of an orphan that had to be ended. Nobody waits for
// it; it shows in accounting.
const orphanExit = 3

// Enter makes this process the child of the Run that started it. Call it once,
// before anything else, and before the library is loaded. After an error print
// it to stderr and exit: the parent reports it as our own fault.
func Enter() (*Child, error) {
	if err := checkChannels(); err != nil {
		return nil, fmt.Errorf("not started by a guard: %w", err)
	}
	h, request, err := decodeRequest(os.Stdin)
	if err != nil {
		return nil, err
	}
	if h.Lock {
		unix.CloseOnExec(fdLock) // this descriptor is the lock, to our end
	}
	if h.Conn {
		unix.CloseOnExec(fdConn)
	}
	shared, err := mapPage(fdPage)
	if err != nil {
		return nil, err
	}
	c := &Child{pid: os.Getpid(), nonce: h.Nonce, request: request, clock: newClock(h.left(), h.Soft), kill: h.Kill, mark: shared.mark(), write: writeMessage}
	if h.Conn {
		c.conn = os.NewFile(fdConn, "connection")
	}
	c.catchSignals()
	adopt()
	go func() {
		waitForEnd(fdLifeline)
		c.orphaned(endGroup)
	}()
	return c, c.Send(msgHello, os.Getpid())
}

// endGroup ends this process and those of its group, which its library has started.
func endGroup() {
	endChildren()
	if syscall.Getpgrp() == os.Getpid() {
		_ = syscall.Kill(0, syscall.SIGKILL)
	}
	os.Exit(orphanExit)
}

// checkChannels looks at the inherited descriptors and keeps them from programs
// that this process may start.
func checkChannels() error {
	for fd, kind := range map[int]uint32{fdMessages: unix.S_IFIFO, fdLifeline: unix.S_IFIFO, fdPage: unix.S_IFREG} {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return fmt.Errorf("descriptor %d: %w", fd, err)
		}
		if uint32(st.Mode)&unix.S_IFMT != kind {
			return fmt.Errorf("descriptor %d is something else", fd)
		}
		unix.CloseOnExec(fd)
	}
	return nil
}

// catchSignals ignores what a terminal or a closed pipe would end this process
// by, possibly inside a provider call: only the parent's ladder may. Whoever is
// left behind writes to closed pipes.
func (c *Child) catchSignals() {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT)
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	go func() {
		for range terms {
			if !c.ignoreTerm.Load() {
				c.clock.terminate()
			}
		}
	}()
}

// waitForEnd returns when the pipe has no writer any more.
func waitForEnd(fd int) {
	var b [64]byte
	for {
		n, err := unix.Read(fd, b[:])
		if n <= 0 && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// writeMessage writes to the message channel, in one write where the pipe
// allows it.
func writeMessage(b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fdMessages, b)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
