//go:build !linux && !darwin

package peer

import "syscall"

// BindTo leaves the binding to the address on this system.
func BindTo(string) func(network, address string, c syscall.RawConn) error { return nil }
