//go:build amd64 || arm64

package sim

import "syscall"

// threadID names the OS thread.
func threadID() uint64 { return uint64(syscall.Gettid()) }
