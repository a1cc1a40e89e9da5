package guard

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// stopped reports whether all of the process is stopped, by SIGSTOP or a debugger.
func stopped(pid int) bool {
	s := stateOf(pid)
	return s == 'T' || s == 't'
}

// stateOf is the state of a process, 0 when it does not exist.
func stateOf(pid int) byte {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// It follows the name, which stands in brackets and may hold any.
	rest := bytes.TrimSpace(b[bytes.LastIndexByte(b, ')')+1:])
	if len(rest) == 0 {
		return 0
	}
	return rest[0]
}

// memoryKills is how many processes this system has ended for want of memory, in
// any control group; -1 when that is not known.
func memoryKills() int64 {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return -1
	}
	_, rest, ok := bytes.Cut(b, []byte("\noom_kill "))
	if !ok {
		return -1
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.ParseInt(string(line), 10, 64)
	if err != nil {
		return -1
	}
	return n
}
