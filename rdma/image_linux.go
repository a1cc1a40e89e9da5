//go:build amd64 || arm64

package rdma

import (
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// Limits on what headerID walks; real images have about ten program headers
// and a note segment of some hundred bytes.
const (
	maxProgramHeaders = 64
	maxNoteBytes      = 4096
)

// headerID finds NT_GNU_BUILD_ID in the notes of a loaded ELF64 image; elf(5).
func headerID(base uintptr) []byte {
	const ptNote = 4
	if imageField[[4]byte](base, 0) != [4]byte{0x7f, 'E', 'L', 'F'} {
		return nil
	}
	phoff := uintptr(imageField[uint64](base, 32))
	phentsize := uintptr(imageField[uint16](base, 54))
	phnum := imageField[uint16](base, 56)
	if phnum > maxProgramHeaders || phentsize < 56 {
		return nil
	}
	for i := range uintptr(phnum) {
		ph := base + phoff + i*phentsize
		if imageField[uint32](ph, 0) != ptNote {
			continue
		}
		vaddr, size := uintptr(imageField[uint64](ph, 16)), uintptr(imageField[uint64](ph, 40))
		if size > maxNoteBytes {
			continue
		}
		if id := gnuBuildID(unsafe.Slice(abi.At[byte](base+vaddr), size)); id != nil {
			return id
		}
	}
	return nil
}
