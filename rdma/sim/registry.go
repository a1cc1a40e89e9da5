//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"sync"

	"rdmaprobe/rdma/internal/abi"
)

// registry finds the object behind a handle. It is one for the process, since
// callbacks are. Handle and object are pointers: their code is compiled once.
type registry[H, T comparable] struct {
	mu sync.RWMutex
	m  map[H]T
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
	if h == *new(H) {
		crash()
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.m[h]
}

func (r *registry[H, T]) add(h H, object T) {
	r.mu.Lock()
	if r.m == nil {
		r.m = map[H]T{}
	}
	r.m[h] = object
	r.mu.Unlock()
}

// remove forgets a handle and frees its memory. It reports false when somebody
// else did: two threads may release one object.
func (r *registry[H, T]) remove(h H) bool {
	r.mu.Lock()
	_, ok := r.m[h]
	delete(r.m, h)
	r.mu.Unlock()
	return ok
}

// removeOf forgets all handles of a provider.
func (r *registry[H, T]) removeOf(mine func(T) bool, discard func(H, T)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for h, object := range r.m {
		if mine(object) {
			delete(r.m, h)
			discard(h, object)
		}
	}
}
