package rdma

import (
	"sync"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// contextNames maps the open contexts to the names of their devices.
var contextNames sync.Map

// objectContexts maps what was made on a context, by this package, to it. An error
// looks a handle up here where it must not look into it: beside a nil pointer, or
// for a library without the symbol, any number may have been passed.
var objectContexts sync.Map

// contextDevice is the name of the device that a context was opened from, "" when
// this package did not open it.
func contextDevice(context RDMAContext) string {
	name, _ := contextNames.Load(context)
	s, _ := name.(string)
	return s
}

// knownContext is the context that an object was made on; 0 when this package did
// not make it.
func knownContext(object uintptr) RDMAContext {
	context, _ := objectContexts.Load(object)
	c, _ := context.(RDMAContext)
	return c
}

// forgetContext drops a context that was closed, and what is left of its objects.
func forgetContext(context RDMAContext) {
	contextNames.Delete(context)
	objectContexts.Range(func(object, on any) bool {
		if on == context {
			objectContexts.Delete(object)
		}
		return true
	})
}

// contextOf is the context that an object of the provider belongs to: the first
// word of struct ibv_pd, ibv_mr, ibv_cq, ibv_qp and ibv_comp_channel.
func contextOf(object uintptr) RDMAContext {
	if object == 0 || !canCall {
		return 0
	}
	return *abi.At[uintptr](object)
}

// deviceNameAt copies the name out of a struct ibv_device.
func deviceNameAt(device RDMADevice) string {
	if nowhere(device) {
		return ""
	}
	return cString(device+unsafe.Offsetof(abi.Device{}.Name), maxDeviceName)
}
