//go:build amd64 || arm64

package sim

// threadID names the OS thread.
func threadID() uint64 { return uint64(libc("pthread_self")) }
