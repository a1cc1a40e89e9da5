//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// deviceListHead is the first element of a NULL-terminated array of devices.
type deviceListHead struct{ first *abi.Device }

type deviceList struct {
	p    *Provider
	size uintptr
}

// listDevices is ibv_get_device_list. p is nil when the provider was closed.
func (p *Provider) listDevices(n *int32) unsafe.Pointer {
	if p == nil {
		return unsafe.Pointer(failNull[*byte](errEINVAL))
	}
	for _, line := range p.profile.Library.Stderr {
		writeRaw(2, line+"\n", 1)
	}
	if l := p.profile.DeviceList; l != nil && l.Errno != nil {
		return unsafe.Pointer(failNull[*byte](l.number))
	}
	var listed []*device
	var said verdict // of the first device whose rule sets the number: it is about the whole list
	for _, d := range p.devices {
		if !d.facts.IsListed() {
			continue
		}
		v := d.consult(verbGetDeviceList, newRequest())
		if v.done {
			return nil
		}
		listed = append(listed, d)
		if said.rule == nil && v.rule != nil && len(v.rule.set) > 0 {
			said = v
		}
	}
	size := uintptr(len(listed)+1) * unsafe.Sizeof(uintptr(0))
	memory := allocate(size)
	if memory == nil {
		return unsafe.Pointer(failNull[*byte](errENOMEM))
	}
	for i, d := range listed {
		unsafe.Slice((**abi.Device)(memory), len(listed))[i] = d.h
	}
	lists.add((*deviceListHead)(memory), &deviceList{p, size})
	if n != nil {
		*n = int32(len(listed))
		said.fill(unsafe.Slice((*byte)(unsafe.Pointer(n)), unsafe.Sizeof(*n)))
	}
	return memory
}

// freeDeviceList is ibv_free_device_list. The devices themselves live as long as
// the provider.
func freeDeviceList(h *deviceListHead) {
	l := lists.find(h)
	if l == nil {
		return
	}
	for _, d := range l.p.devices {
		if d.facts.IsListed() {
			d.consult(verbFreeDeviceList, newRequest())
		}
	}
	if lists.remove(h) {
		release(unsafe.Pointer(h), l.size)
	}
}
