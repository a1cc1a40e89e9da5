//go:build amd64 || arm64

package rdma

// maxLoadCommands bounds the walk; images have some dozens.
const maxLoadCommands = 4096

// headerID finds LC_UUID in the load commands of a Mach-O image in memory;
// <mach-o/loader.h>.
func headerID(base uintptr) []byte {
	const (
		magic64   = 0xfeedfacf
		lcUUID    = 0x1b
		headerLen = 32
	)
	if imageField[uint32](base, 0) != magic64 {
		return nil
	}
	count, size := imageField[uint32](base, 16), uintptr(imageField[uint32](base, 20))
	offset := uintptr(headerLen)
	for i := uint32(0); i < count && i < maxLoadCommands && offset+24 <= headerLen+size; i++ {
		cmd, length := imageField[uint32](base, offset), uintptr(imageField[uint32](base, offset+4))
		if cmd == lcUUID {
			uuid := imageField[[16]byte](base, offset+8)
			return uuid[:]
		}
		if length < 8 {
			return nil
		}
		offset += length
	}
	return nil
}
