//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"runtime"
	"sync"

	"github.com/ebitengine/purego"

	"rdmaprobe/rdma/internal/abi"
)

// argLists holds argument lists for puregoHot: purego's variadic parameter would
// be allocated for each call.
var argLists = sync.Pool{New: func() any { return new([3]uintptr) }}

// puregoCall is rawCall in several excursions, on one thread: one finds errno's
// cell, which is cleared, and one calls. On macOS purego reads errno in the latter;
// on Linux it does not, and the Go runtime, which makes its system calls there
// without C, leaves the cell alone. A simulated library's cell is its own.
func (l *Library) puregoCall(fn uintptr, args ...uintptr) (result uintptr, errno int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cell := uintptr(0)
	if l.errnoLoc != 0 {
		if cell, _, _ = purego.SyscallN(l.errnoLoc); cell != 0 {
			*abi.At[int32](cell) = 0
		}
	}
	result, _, e := purego.SyscallN(fn, args...)
	switch {
	case cell == 0:
		return result, 0
	case l.callsBack || runtime.GOOS == "linux":
		return result, int(*abi.At[int32](cell))
	default:
		return result, int(int32(e)) // purego stores 64 bits of a 32-bit int
	}
}

// puregoHot is rawHot.
func puregoHot(fn, a, b, c uintptr) int32 {
	args := argLists.Get().(*[3]uintptr)
	*args = [3]uintptr{a, b, c}
	r, _, _ := purego.SyscallN(fn, args[:]...)
	argLists.Put(args)
	return int32(r)
}
