//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"sync"
	"syscall"
	"unsafe"
)

// The objects of all providers lie in mapped memory that is never given back: a
// stale handle then reads old bytes, not a hole.
var arena = struct {
	sync.Mutex
	rest []byte
	free map[uintptr][]unsafe.Pointer // by rounded size
}{free: map[uintptr][]unsafe.Pointer{}}

const (
	arenaChunk = 1 << 18
	arenaAlign = 64
)

// allocate returns n zero bytes, or nil when the system has no memory.
func allocate(n uintptr) unsafe.Pointer {
	n = (n + arenaAlign - 1) &^ (arenaAlign - 1)
	arena.Lock()
	defer arena.Unlock()
	if f := arena.free[n]; len(f) > 0 {
		p := f[len(f)-1]
		arena.free[n] = f[:len(f)-1]
		clear(unsafe.Slice((*byte)(p), n))
		return p
	}
	if uintptr(len(arena.rest)) < n {
		chunk, err := syscall.Mmap(-1, 0, arenaChunk, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil || n > arenaChunk {
			return nil
		}
		arena.rest = chunk
	}
	p := unsafe.Pointer(&arena.rest[0])
	arena.rest = arena.rest[n:]
	return p
}

// release gives n bytes back for reuse.
func release(p unsafe.Pointer, n uintptr) {
	n = (n + arenaAlign - 1) &^ (arenaAlign - 1)
	arena.Lock()
	arena.free[n] = append(arena.free[n], p)
	arena.Unlock()
}

// newObject returns a zero object in mapped memory, or nil.
func newObject[T any]() *T { return (*T)(allocate(unsafe.Sizeof(*new(T)))) }

func freeObject[T any](p *T) { release(unsafe.Pointer(p), unsafe.Sizeof(*p)) }
