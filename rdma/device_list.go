package rdma

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// MaxDevices bounds how far a list is read. The largest Mac has six ports, the
// largest Linux hosts some hundred virtual functions.
const MaxDevices = 4096

// DeviceList owns the result of ibv_get_device_list. Handles of its devices are
// valid until Close; contexts opened from them stay. The zero value is an empty,
// closed list.
type DeviceList struct {
	list    *ownedList
	devices []Device
	invalid []*ProviderError
	claimed int
	entries int
}

// ownedList is a provider's list and what frees it. Devices refer to it, so that
// it lives as long as they do.
type ownedList struct {
	mu     sync.RWMutex
	handle RDMADeviceList // 0: closed
	lib    *Library       // the list's own, whatever is installed later
}

// OpenDeviceList reads the provider's device list. Names are copied at once. An
// empty list is no error. Close it when its devices are open.
func OpenDeviceList() (*DeviceList, error) {
	lib, err := Current()
	if err != nil {
		return nil, unavailable(verbGetDeviceList, 0, err)
	}
	count := new(int32)
	handle, err := ptrCall(verbGetDeviceList, uintptr(unsafe.Pointer(count)))
	if err != nil {
		return nil, err
	}
	l := &DeviceList{list: &ownedList{handle: handle, lib: lib}, claimed: int(*count)}
	entries, err := listEntries(handle, l.claimed)
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	l.entries = len(entries)
	for i, device := range entries {
		if nowhere(device) {
			l.invalid = append(l.invalid, invalidPointer(verbGetDeviceList, fmt.Sprintf("device list's entry %d", i), device))
			continue
		}
		name, err := listedName(device)
		if e := (*ProviderError)(nil); errors.As(err, &e) && e.Failure == FailureInvalidProviderResult {
			l.invalid = append(l.invalid, e)
		}
		l.devices = append(l.devices, Device{Handle: device, Name: name, list: l.list})
	}
	return l, nil
}

// Invalid are the addresses in the list at which nothing can lie: its own entries,
// which are left out of Devices, and names, whose devices have "" for them.
func (l *DeviceList) Invalid() []*ProviderError {
	if l == nil {
		return nil
	}
	return slices.Clone(l.invalid)
}

// Counts are how many devices the provider said that it lists, 0 also where it did
// not say, and how many entries were read: up to the NULL at the list's end, or as
// many as it said.
func (l *DeviceList) Counts() (claimed, read int) {
	if l == nil {
		return 0, 0
	}
	return l.claimed, l.entries
}

// listEntries reads a list up to its NULL. The count is a second bound, as a
// provider that forgets the NULL must not lead us on; one of 0 was not reported, and
// a negative one is none. Without either bound the list has no end.
func listEntries(list RDMADeviceList, count int) ([]RDMADevice, error) {
	var devices []RDMADevice
	for i := range MaxDevices {
		device := *abi.At[uintptr](list + uintptr(i)*unsafe.Sizeof(list))
		if device == 0 {
			return devices, nil
		}
		if devices = append(devices, device); len(devices) == count {
			return devices, nil
		}
	}
	return nil, &ProviderError{
		Operation: verbGetDeviceList.String(), Failure: FailureInvalidProviderResult, Return: int64(list), ReturnSet: true,
		Cause: fmt.Errorf("the device list has no end: %d entries without a NULL, and a count of %d", MaxDevices, count),
	}
}

// listedName asks the provider for a name; a device without one stays in the
// list with "".
func listedName(device RDMADevice) (string, error) {
	name, err := IbvGetDeviceName(device)
	if err != nil {
		return "", err
	}
	return cString(name, maxDeviceName), nil
}

// Close frees the list, which is empty from then on. Devices that were taken from it
// before keep their names. It may be called more than once.
func (l *DeviceList) Close() error {
	if l == nil || l.list == nil {
		return nil
	}
	o := l.list
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.handle == 0 {
		return nil
	}
	handle := o.handle
	o.handle, l.devices = 0, nil
	if o.lib.addr[verbFreeDeviceList] == 0 {
		return unavailable(verbFreeDeviceList, 0, nil)
	}
	o.lib.call(verbFreeDeviceList, handle)
	return nil
}

// Devices returns the devices of the list, in the provider's order; none once it is
// closed. The slice is the caller's.
func (l *DeviceList) Devices() []Device {
	if l == nil || l.list == nil {
		return nil
	}
	l.list.mu.RLock()
	defer l.list.mu.RUnlock()
	return slices.Clone(l.devices)
}

// Devices lists the provider's devices. Their handles stay valid as long as any
// of the Devices is referred to; the list is freed some time after that, without
// a report to OnCall or the mark. Where the order of calls matters use
// OpenDeviceList.
//
// It enables nothing: where RDMA over Thunderbolt is off the slice is empty.
func Devices() ([]Device, error) {
	l, err := OpenDeviceList()
	if err != nil {
		return nil, err
	}
	runtime.AddCleanup(l.list, freeUnreported, listToFree{l.list.lib, l.list.handle})
	return l.devices, nil
}

// listToFree is a list that nothing refers to any more.
type listToFree struct {
	lib    *Library
	handle RDMADeviceList
}

// freeUnreported frees a list at a moment that only the collector knows: it must
// not look like a call that the program is making, and what it may have to wait for
// must not hold up the collector.
func freeUnreported(l listToFree) {
	free := l.lib.addr[verbFreeDeviceList]
	if free == 0 {
		return
	}
	go func() {
		if l.lib.alone(verbFreeDeviceList) {
			control.Lock()
			defer control.Unlock()
		}
		l.lib.rawCall(free, l.handle)
	}()
}
