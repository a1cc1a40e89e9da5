//go:build !unix

package probe

// mendTempDir does nothing: nothing is probed on this system.
func mendTempDir() {}
