//go:build !linux && !darwin

package peer

import "syscall"

// bindTo leaves the binding to the address on this system.
func bindTo(string) func(network, address string, c syscall.RawConn) error { return nil }
