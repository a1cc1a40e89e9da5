package rdma

import "fmt"

// maxBuffer bounds MapBuffer: what public reports call safe to register on
// Apple's provider.
const maxBuffer = 1 << 30

// fourGiB: Apple's provider was reported to keep only the low 32 bits of an
// address, so that a region across such a line is corrupted.
const fourGiB = 1 << 32

// Buffer is mapped memory: zeroed, page aligned, at an address that never
// changes, not across a 4 GiB line. It is what providers may keep pointers into.
type Buffer struct {
	bytes   []byte
	mapping []byte // bytes, and what was mapped to find room for them
}

// MapBuffer maps n bytes, from 1 to 1 GiB, by anonymous mmap.
func MapBuffer(n int) (*Buffer, error) {
	if n < 1 || n > maxBuffer {
		return nil, fmt.Errorf("map a buffer of %d bytes: the size must be from 1 to %d", n, maxBuffer)
	}
	mapping, err := mapAnonymous(n)
	if err != nil {
		return nil, fmt.Errorf("map a buffer of %d bytes: %w", n, err)
	}
	if offset := offsetOffLine(addressOf(mapping), n); offset != 0 {
		if err := unmap(mapping); err != nil {
			return nil, fmt.Errorf("unmap a buffer across a 4 GiB line: %w", err)
		}
		// Twice the room has a half that is clear of the line. The rest is never
		// touched, so it costs addresses, not memory.
		if mapping, err = mapAnonymous(2 * roundToPage(n)); err != nil {
			return nil, fmt.Errorf("map a buffer of %d bytes clear of a 4 GiB line: %w", n, err)
		}
	}
	offset := offsetOffLine(addressOf(mapping), n)
	return &Buffer{bytes: mapping[offset:][:n:n], mapping: mapping}, nil
}

// offsetOffLine is where n bytes fit from address on without a 4 GiB line in
// between: at once, or from the line on.
func offsetOffLine(address uintptr, n int) int {
	line := (uint64(address) + fourGiB) &^ (fourGiB - 1)
	if room := line - uint64(address); uint64(n) > room {
		return int(room)
	}
	return 0
}

// Bytes is the memory; nil after Unmap.
func (b *Buffer) Bytes() []byte { return b.bytes }

// Addr is the address of the first byte; 0 after Unmap.
func (b *Buffer) Addr() uintptr { return addressOf(b.bytes) }

// Unmap gives the memory back; it must not be registered any more, and nothing
// may refer to it. It may be called more than once.
func (b *Buffer) Unmap() error {
	if b.mapping == nil {
		return nil
	}
	if err := unmap(b.mapping); err != nil {
		return fmt.Errorf("unmap a buffer: %w", err)
	}
	b.bytes, b.mapping = nil, nil
	return nil
}
