//go:build linux || darwin

package rdma

import (
	"os"
	"syscall"
	"unsafe"
)

func mapAnonymous(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func unmap(mapping []byte) error { return syscall.Munmap(mapping) }

// addressOf is the address of memory outside the Go heap; it does not move.
func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// roundToPage is n rounded up to whole pages: 16 KiB on Apple silicon.
func roundToPage(n int) int {
	page := os.Getpagesize()
	return (n + page - 1) / page * page
}
