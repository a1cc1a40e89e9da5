//go:build unix && !freebsd

package ledger

func rlimit(n int64) uint64 { return uint64(n) }
