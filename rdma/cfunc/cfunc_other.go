//go:build !((linux || darwin) && (amd64 || arm64))

package cfunc

import "rdmaprobe/rdma"

// Supported says that this system can call C, and be called by it.
const Supported = false

// Symbol fails on this system.
func Symbol(string) (uintptr, error) { return 0, rdma.ErrSymbolUnavailable }

// ErrnoLocation fails on this system.
func ErrnoLocation() (uintptr, error) { return 0, rdma.ErrSymbolUnavailable }

// Callback is 0 on this system.
func Callback(any) uintptr { return 0 }
