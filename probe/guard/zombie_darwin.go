package guard

import "golang.org/x/sys/unix"

// zombie reports whether the process has ended and was not reaped: SZOMB of
// sys/proc.h.
func zombie(pid int) bool {
	const szomb = 5
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && k.Proc.P_stat == szomb
}
