//go:build (darwin || linux) && (amd64 || arm64)

package sim

import "sync"

// Numbers that Darwin and Linux agree on.
const (
	errESRCH  = 3
	errENOMEM = 12
	errEFAULT = 14
	errEBUSY  = 16
	errEINVAL = 22
	errEMFILE = 24
)

// cells holds errno by OS thread. A callback stays on the thread of its call, and
// so does whoever reads errno after it.
var cells sync.Map // uint64: *int32

// errnoLocation is __errno_location of the simulated library.
func errnoLocation() *int32 {
	id := threadID()
	if c, ok := cells.Load(id); ok {
		return c.(*int32)
	}
	c, _ := cells.LoadOrStore(id, new(int32))
	return c.(*int32)
}

// fail is what a verb returns when it fails with errno; 0 leaves errno unset.
func (v verb) fail(errno int32) int32 {
	switch verbRows[v].fails {
	case failsErrno:
		if errno == 0 {
			return -1
		}
		return errno
	case failsNegative:
		if errno == 0 {
			return -1
		}
		return -errno
	case failsNull, failsMinusOne:
		if errno != 0 {
			*errnoLocation() = errno
		}
	}
	return -1
}

// failNull is NULL with errno, as the pointer P.
func failNull[P any](errno int32) P {
	if errno != 0 {
		*errnoLocation() = errno
	}
	return *new(P)
}
