package guard

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockHolder finds a process that holds the lock of f: the one that took it, by
// /proc/locks, or when that is gone one that inherited it. 0 = not known.
func lockHolder(f *os.File) int {
	fi, err := f.Stat()
	if err != nil {
		return 0
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer locks.Close()
	self := false
	for _, pid := range takersOf(locks, fi) {
		if pid == os.Getpid() {
			self = true // perhaps only on behalf of a child
		} else if ProcessAlive(pid) {
			return pid
		}
	}
	if heir := heirOf(fi); heir != 0 || !self {
		return heir
	}
	return os.Getpid()
}

// takersOf lists who took the flock(2) locks of a file, by proc_locks(5):
//
//	1: FLOCK  ADVISORY  WRITE 4242 00:1a:1234 0 EOF
//
// Waiting ones have "->" behind the number and so one field more. Overlay file
// systems show another device there than in stat(2); then nobody is found.
func takersOf(locks io.Reader, file os.FileInfo) []int {
	st, ok := file.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	dev := uint64(st.Dev)
	place := fmt.Sprintf("%02x:%02x:%d", unix.Major(dev), unix.Minor(dev), st.Ino)
	var pids []int
	lines := bufio.NewScanner(locks)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != place {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// heirOf finds another process with a descriptor through which it holds the
// lock. Other users' processes are readable for root only.
func heirOf(lock os.FileInfo) int {
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0
	}
	for _, fd := range fds {
		fi, err := os.Stat(fd)
		if err != nil || !os.SameFile(fi, lock) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(fd, "/")[2])
		if err != nil || pid == os.Getpid() {
			continue
		}
		info, err := os.ReadFile(strings.Replace(fd, "/fd/", "/fdinfo/", 1))
		if err == nil && bytes.Contains(info, []byte("\nlock:")) {
			return pid
		}
	}
	return 0
}

// ProcessAlive reports whether the process exists and has not ended. One that
// has ended and was not reaped yet is dead: it holds nothing any more.
func ProcessAlive(pid int) bool {
	s := stateOf(pid)
	return s != 0 && s != 'Z' && s != 'X'
}
