package probe

import "golang.org/x/sys/unix"

// yield lets another process of this processor run. Two ends that both poll share
// one where there are few, and each would wait for the other's time slice to end.
// Where nobody waits it costs a fraction of a microsecond.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
