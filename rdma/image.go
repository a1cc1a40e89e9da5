package rdma

import (
	"encoding/binary"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// cString copies a C string, at most limit bytes of it. 0 gives "".
func cString(addr uintptr, limit int) string {
	if addr == 0 {
		return ""
	}
	p := abi.Ptr(addr)
	n := 0
	for n < limit && *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// gnuBuildID finds the build id in a segment of ELF notes: name size,
// descriptor size, type, then name and descriptor, each padded to 4 bytes.
func gnuBuildID(notes []byte) []byte {
	const (
		ntGNUBuildID = 3
		headerLen    = 12
	)
	align := func(n uint32) int { return int((uint64(n) + 3) &^ 3) }
	for len(notes) >= headerLen {
		nameSize, descSize := binary.NativeEndian.Uint32(notes), binary.NativeEndian.Uint32(notes[4:])
		kind := binary.NativeEndian.Uint32(notes[8:])
		notes = notes[headerLen:]
		if align(nameSize) > len(notes) || align(nameSize)+int(descSize) > len(notes) {
			return nil
		}
		name, desc := notes[:nameSize], notes[align(nameSize):][:descSize]
		if kind == ntGNUBuildID && string(name) == "GNU\x00" && descSize <= maxBuildIDLen {
			return append([]byte(nil), desc...)
		}
		notes = notes[min(align(nameSize)+align(descSize), len(notes)):]
	}
	return nil
}

// maxBuildIDLen bounds an id; they have 16 or 20 bytes.
const maxBuildIDLen = 64
