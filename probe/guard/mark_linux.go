package guard

import (
	"os"

	"golang.org/x/sys/unix"
)

// pageFile prefers memory to a temporary directory, which may be missing or
// full. Kernels before 6.3 do not know MFD_NOEXEC_SEAL; later ones may insist.
func pageFile() (*os.File, error) {
	for _, flags := range []int{unix.MFD_CLOEXEC | unix.MFD_NOEXEC_SEAL, unix.MFD_CLOEXEC} {
		if fd, err := unix.MemfdCreate("rdmaprobe-call", flags); err == nil {
			return os.NewFile(uintptr(fd), "call mark"), nil
		}
	}
	return unlinkedFile()
}
