package peer

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// BindTo keeps a socket on one interface. A kernel that asks for a privilege for
// that (before 5.7) leaves the binding to the address.
func BindTo(iface string) func(network, address string, c syscall.RawConn) error {
	if iface == "" {
		return nil
	}
	return func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.BindToDevice(int(fd), iface) })
	}
}
