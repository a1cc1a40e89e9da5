//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"sync"
	"unsafe"

	_ "github.com/ebitengine/purego" // the runtime's C support in a program without cgo
)

// canCall says that this system can call C.
const canCall = true

// errnoBlock is the argument of callErrno. The assembly knows its offsets.
type errnoBlock struct {
	fn, loc uintptr
	args    [maxArgs]uintptr
	result  uintptr
	errno   int32
	_       int32
}

// hotBlock is the argument of callHot3. The assembly knows its offsets.
type hotBlock struct {
	fn, a, b, c, result uintptr
}

// callErrno clears errno, calls, and reads errno in one excursion to C, so that
// neither the scheduler nor the Go runtime's own C calls come between. On macOS
// the Go runtime makes all its system calls through C.
//
//lint:ignore U1000 entered through callErrnoABI0
func callErrno()

// callHot3 calls with three arguments and leaves errno alone.
//
//lint:ignore U1000 entered through callHot3ABI0
func callHot3()

// callTurn posts and polls as its turnBlock says.
//
//lint:ignore U1000 entered through callTurnABI0
func callTurn()

// Entry points of those above, for runtime.cgocall; set by the assembly.
var callErrnoABI0, callHot3ABI0, callTurnABI0 uintptr

// runtimeCgocall runs fn(arg) on the system stack, outside the scheduler's
// reach. The name is kept linkable by the Go runtime for purego.
//
//go:linkname runtimeCgocall runtime.cgocall
//go:noescape
func runtimeCgocall(fn uintptr, arg unsafe.Pointer) int32

// Blocks are pooled, not on the goroutine's stack: a Go callback may grow that
// stack, and C would write its result into the old copy.
var (
	errnoBlocks = sync.Pool{New: func() any { return new(errnoBlock) }}
	hotBlocks   = sync.Pool{New: func() any { return new(hotBlock) }}
	turnBlocks  = sync.Pool{New: func() any { return new(turnBlock) }}
)

// rawCall calls fn. errno is that of this call, 0 when C did not set it.
func (l *Library) rawCall(fn uintptr, args ...uintptr) (result uintptr, errno int) {
	if callsByPurego {
		return l.puregoCall(fn, args...)
	}
	b := errnoBlocks.Get().(*errnoBlock)
	*b = errnoBlock{fn: fn, loc: l.errnoLoc}
	copy(b.args[:], args)
	runtimeCgocall(callErrnoABI0, unsafe.Pointer(b))
	result, errno = b.result, int(b.errno)
	errnoBlocks.Put(b)
	return result, errno
}

// rawHot calls an entry of struct ibv_context_ops; all of them return int. A
// library that cannot call back gets its block on the stack, which the runtime
// does not move during a C call.
func (l *Library) rawHot(fn, a, b, c uintptr) int32 {
	if callsByPurego {
		return puregoHot(fn, a, b, c)
	}
	if !l.callsBack {
		k := hotBlock{fn: fn, a: a, b: b, c: c}
		runtimeCgocall(callHot3ABI0, unsafe.Pointer(&k))
		return int32(k.result)
	}
	k := hotBlocks.Get().(*hotBlock)
	*k = hotBlock{fn: fn, a: a, b: b, c: c}
	runtimeCgocall(callHot3ABI0, unsafe.Pointer(k))
	r := int32(k.result)
	hotBlocks.Put(k)
	return r
}

// rawTurn does b's work in one excursion. As with rawHot, b may stay on the stack
// where the library cannot call back.
func (l *Library) rawTurn(b *turnBlock) {
	switch {
	case callsByPurego:
		l.turnByCalls(b)
	case !l.callsBack:
		runtimeCgocall(callTurnABI0, unsafe.Pointer(b))
	default:
		k := turnBlocks.Get().(*turnBlock)
		*k = *b
		runtimeCgocall(callTurnABI0, unsafe.Pointer(k))
		*b = *k
		*k = turnBlock{}
		turnBlocks.Put(k)
	}
}
