//go:build darwin && (amd64 || arm64)

package rdma

import (
	"runtime"
	"sync"

	"github.com/ebitengine/purego"

	"rdmaprobe/rdma/internal/abi"
)

// canCall says that this system can call C.
const canCall = true

// errnoSymbol is the C library's accessor of errno.
const errnoSymbol = "__error"

// argLists holds argument lists for rawHot: purego's variadic parameter would
// be allocated for each call.
var argLists = sync.Pool{New: func() any { return new([3]uintptr) }}

// rawCall calls fn. errno is that of this call, 0 when C did not set it.
//
// purego reads errno on the way back from C, in the same excursion. It does not
// clear it before, so that is done here, on the same thread. A simulated library
// has a cell of its own, which nothing but its own functions touches.
func (l *Library) rawCall(fn uintptr, args ...uintptr) (result uintptr, errno int) {
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
	case l.callsBack:
		return result, int(*abi.At[int32](cell))
	default:
		return result, int(int32(e)) // purego stores 64 bits of a 32-bit int
	}
}

// rawHot calls an entry of struct ibv_context_ops; all of them return int.
func (l *Library) rawHot(fn, a, b, c uintptr) int32 {
	args := argLists.Get().(*[3]uintptr)
	*args = [3]uintptr{a, b, c}
	r, _, _ := purego.SyscallN(fn, args[:]...)
	argLists.Put(args)
	return int32(r)
}

// rawTurn does b's work.
func (l *Library) rawTurn(b *turnBlock) { l.turnByCalls(b) }
