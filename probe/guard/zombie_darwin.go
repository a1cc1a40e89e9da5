package guard

import "golang.org/x/sys/unix"

// stopped reports whether the process is stopped: SSTOP of sys/proc.h.
func stopped(pid int) bool {
	const sstop = 4
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && k.Proc.P_stat == sstop
}

// zombie reports whether the process has ended and was not reaped: SZOMB of
// sys/proc.h.
func zombie(pid int) bool {
	const szomb = 5
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && k.Proc.P_stat == szomb
}
