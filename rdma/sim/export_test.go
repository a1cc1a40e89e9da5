//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"runtime"

	"rdmaprobe/rdma/internal/abi"
)

// SymbolForTest is the address of a verb, for calls that the binding refuses.
func SymbolForTest(_ *Provider, name string) uintptr { return callbacks().symbols[name] }

// WaitForDestroyer returns once ibv_destroy_cq has begun on a queue.
func WaitForDestroyer(p *Provider, cq uintptr) {
	c := cqs.find(abi.At[abi.CQ](cq))
	for {
		p.mu.Lock()
		leaving := c.leaving
		p.mu.Unlock()
		if leaving {
			return
		}
		runtime.Gosched()
	}
}
