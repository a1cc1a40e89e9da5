package rdma

import (
	"encoding/binary"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// Limits on what is walked in an image's header. Real images have about ten
// program headers, dozens of load commands, notes of some hundred bytes and ids
// of 16 or 20.
const (
	maxProgramHeaders = 64
	maxLoadCommands   = 4096
	maxNoteBytes      = 4096
	maxBuildIDLen     = 64
)

// imageField reads a T at offset bytes from base.
func imageField[T any](base, offset uintptr) T { return *abi.At[T](base + offset) }

// headerID finds the build identity in the header of a 64-bit image that the
// loader has mapped at base: the GNU build id of ELF, the UUID of Mach-O; nil when
// there is none.
func headerID(base uintptr) []byte {
	const machO64 = 0xfeedfacf
	switch {
	case imageField[[4]byte](base, 0) == [4]byte{0x7f, 'E', 'L', 'F'}:
		return elfBuildID(base)
	case imageField[uint32](base, 0) == machO64:
		return machOUUID(base)
	}
	return nil
}

// elfBuildID walks the program headers to the notes; elf(5).
func elfBuildID(base uintptr) []byte {
	const (
		ptNote     = 4
		headerSize = 56 // sizeof(Elf64_Phdr)
	)
	table := base + uintptr(imageField[uint64](base, 32))
	size, count := uintptr(imageField[uint16](base, 54)), imageField[uint16](base, 56)
	if count > maxProgramHeaders || size < headerSize {
		return nil
	}
	for i := range uintptr(count) {
		header := table + i*size
		address, length := imageField[uint64](header, 16), imageField[uint64](header, 40)
		if imageField[uint32](header, 0) != ptNote || length > maxNoteBytes {
			continue
		}
		if id := gnuBuildID(unsafe.Slice(abi.At[byte](base+uintptr(address)), length)); id != nil {
			return id
		}
	}
	return nil
}

// gnuBuildID finds NT_GNU_BUILD_ID in a segment of notes: name size, descriptor
// size, type, then name and descriptor, each padded to 4 bytes.
func gnuBuildID(notes []byte) []byte {
	const (
		ntGNUBuildID = 3
		headerSize   = 12
	)
	align := func(n uint32) int { return int((uint64(n) + 3) &^ 3) }
	for len(notes) >= headerSize {
		nameSize, descSize := binary.NativeEndian.Uint32(notes), binary.NativeEndian.Uint32(notes[4:])
		kind := binary.NativeEndian.Uint32(notes[8:])
		notes = notes[headerSize:]
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

// machOUUID finds LC_UUID among the load commands; <mach-o/loader.h>.
func machOUUID(base uintptr) []byte {
	const (
		lcUUID     = 0x1b
		headerSize = 32 // sizeof(struct mach_header_64)
		uuidSize   = 24 // sizeof(struct uuid_command)
	)
	count, end := imageField[uint32](base, 16), headerSize+uintptr(imageField[uint32](base, 20))
	offset := uintptr(headerSize)
	for i := uint32(0); i < min(count, maxLoadCommands) && offset+uuidSize <= end; i++ {
		command, length := imageField[uint32](base, offset), imageField[uint32](base, offset+4)
		if command == lcUUID {
			uuid := imageField[[16]byte](base, offset+8)
			return uuid[:]
		}
		if length < 8 {
			return nil
		}
		offset += uintptr(length)
	}
	return nil
}

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
