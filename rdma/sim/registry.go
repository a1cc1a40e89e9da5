//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"sync"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// registry finds the object behind a handle. It is one for the process, since
// callbacks are. H and T are pointers. They are no more than any, and the key is an
// address, so that the code is compiled once for all: the compiler has one form for
// all pointers, but not of those that must be comparable.
type registry[H, T any] struct {
	mu sync.RWMutex
	m  map[unsafe.Pointer]T
}

var (
	devices  registry[*abi.Device, *device]
	contexts registry[*abi.Context, *deviceContext]
	domains  registry[*abi.PD, *domain]
	regions  registry[*abi.MR, *region]
	cqs      registry[*abi.CQ, *completionQueue]
	qps      registry[*abi.QP, *queuePair]
	channels registry[*abi.CompChannel, *channel]
	lists    registry[*deviceListHead, *deviceList]
)

// find returns the object of a handle, nil when there is none. A NULL handle
// crashes as it would in C, where the caller reads through it.
func (r *registry[H, T]) find(h H) T {
	at := address(&h)
	if at == nil {
		crash()
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.m[at]
}

// address is the pointer that a handle is.
func address[H any](h *H) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(h)) }

func (r *registry[H, T]) add(h H, object T) {
	r.mu.Lock()
	if r.m == nil {
		r.m = map[unsafe.Pointer]T{}
	}
	r.m[address(&h)] = object
	r.mu.Unlock()
}

// remove forgets a handle and frees its memory. It reports false when somebody
// else did: two threads may release one object.
func (r *registry[H, T]) remove(h H) bool {
	r.mu.Lock()
	_, ok := r.m[address(&h)]
	delete(r.m, address(&h))
	r.mu.Unlock()
	return ok
}

// removeOf forgets all handles of a provider.
func (r *registry[H, T]) removeOf(mine func(T) bool, discard func(H, T)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at, object := range r.m {
		if mine(object) {
			delete(r.m, at)
			discard(*(*H)(unsafe.Pointer(&at)), object)
		}
	}
}
