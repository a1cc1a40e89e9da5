//go:build !linux && !darwin

package rdma

func mapAnonymous(int) ([]byte, error) { return nil, ErrSymbolUnavailable }

func unmap([]byte) error { return nil }

func addressOf([]byte) uintptr { return 0 }

func roundToPage(n int) int { return n }
