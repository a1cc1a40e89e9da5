//go:build darwin || freebsd

package guard

// memoryKills is not known here.
func memoryKills() int64 { return -1 }
