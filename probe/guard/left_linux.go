package guard

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// markVariable is in the environment of a child and of all that it starts: what a
// child leaves behind when it dies is found by it.
const markVariable = "RDMAPROBE_CHILD"

// endLimit bounds how long processes are ended, which may start others meanwhile.
const endLimit = 300 * time.Millisecond

// adopt makes this process the parent of what its descendants leave, so that it can
// end them: also those that were forked twice, or are in another session.
func adopt() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0) // else it is that of ownImage: exe
}

// endChildren ends all children of this process, and theirs, and names those that
// had not ended by themselves. Without children it is one call.
func endChildren() (left []LeftProcess) {
	self := os.Getpid()
	for end := time.Now().Add(endLimit); ; time.Sleep(2 * time.Millisecond) {
		for reaped := -1; reaped != 0; {
			var err error
			if reaped, err = unix.Wait4(-1, nil, unix.WNOHANG|unix.WALL, nil); err != nil && !errors.Is(err, unix.EINTR) {
				return lookAgain(left) // there is none any more
			}
		}
		late := time.Now().After(end)
		for _, p := range processes() {
			is := func(pid int) bool { return parentOf(pid) == self }
			if is(p) && ProcessAlive(p) {
				left = addLeft(left, LeftProcess{PID: p, Name: nameOf(p)})
				endOne(p, is)
			}
		}
		if late {
			return lookAgain(left)
		}
	}
}

// endMarked ends the processes that have a mark in their environment: those of a
// child that is no more. Processes of other users cannot be looked at.
func endMarked(mark string) (left []LeftProcess) {
	is := func(pid int) bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		return err == nil && bytes.Contains(append([]byte{0}, b...), []byte("\x00"+markVariable+"="+mark+"\x00"))
	}
	for end := time.Now().Add(endLimit); ; time.Sleep(2 * time.Millisecond) {
		found := slices.ContainsFunc(left, func(p LeftProcess) bool { return ProcessAlive(p.PID) }) // it may be dying
		for _, p := range processes() {
			if ProcessAlive(p) && is(p) {
				found = true
				left = addLeft(left, LeftProcess{PID: p, Name: nameOf(p)})
				endOne(p, is)
			}
		}
		if !found || time.Now().After(end) {
			return lookAgain(left)
		}
	}
}

// endOne kills a process if it still is the one that is meant once it is held: its
// number may have been given to another one.
func endOne(pid int, is func(int) bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it has ended, or this kernel is older than 5.3: then nothing is killed by a mere number
	}
	defer unix.Close(fd)
	if is(pid) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // whether it has ended is looked at
	}
}

// processes are the numbers of all that there are.
func processes() (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf is the parent of a process, 0 when it has none or is not there.
func parentOf(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // behind the name: state, parent
	if len(f) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(f[1])
	return parent
}

func nameOf(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return escape(bytes.TrimSpace(b))
}
