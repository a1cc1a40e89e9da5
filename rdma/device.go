package rdma

import (
	"encoding/binary"
	"errors"
	"runtime"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// maxDeviceName bounds names: IBV_SYSFS_NAME_MAX.
const maxDeviceName = 64

// IbvGetDeviceList calls
//
//	struct ibv_device **ibv_get_device_list(int *num_devices);
//
// num_devices is the address of a C int in memory that does not move, or 0. The
// list ends with NULL. No device is no error: the list is empty. NULL with ENOSYS
// from rdma-core means that the kernel has no uverbs.
func IbvGetDeviceList(num_devices uintptr) (RDMADeviceList, error) {
	return ptrCall(verbGetDeviceList, num_devices)
}

// IbvFreeDeviceList calls
//
//	void ibv_free_device_list(struct ibv_device **list);
//
// Devices that are not open become invalid. A nil list is freed already.
func IbvFreeDeviceList(list RDMADeviceList) error {
	if list == 0 {
		return nil
	}
	return voidCall(verbFreeDeviceList, list)
}

// IbvGetDeviceName calls
//
//	const char *ibv_get_device_name(struct ibv_device *device);
//
// The address is that of a C string inside the device: copy it at once.
func IbvGetDeviceName(device RDMADevice) (uintptr, error) {
	return ptrCall(verbGetDeviceName, device)
}

// IbvGetDeviceGUID calls
//
//	__be64 ibv_get_device_guid(struct ibv_device *device);
//
// The result is in host order; 0 is a device without a GUID. The symbol is
// optional.
func IbvGetDeviceGUID(device RDMADevice) (uint64, error) {
	o, err := perform(verbGetDeviceGUID, device)
	if err != nil {
		return 0, err
	}
	raw := binary.NativeEndian.AppendUint64(nil, uint64(o.result))
	return binary.BigEndian.Uint64(raw), nil
}

// IbvOpenDevice calls
//
//	struct ibv_context *ibv_open_device(struct ibv_device *device);
//
// The package remembers the device's name for errors until IbvCloseDevice.
func IbvOpenDevice(device RDMADevice) (RDMAContext, error) { return openDevice(device, "") }

// openDevice opens a device; name is what it is called where the provider's struct
// has no name.
func openDevice(device RDMADevice, name string) (RDMAContext, error) {
	o, err := perform(verbOpenDevice, device)
	if e := (*ProviderError)(nil); errors.As(err, &e) { // nothing was called
		e.Device = name
		return 0, e
	}
	o.device = orElse(o.device, name)
	context, err := o.pointer()
	if err == nil {
		contextNames.Store(context, o.device)
	}
	return context, err
}

// IbvCloseDevice calls
//
//	int ibv_close_device(struct ibv_context *context);
func IbvCloseDevice(context RDMAContext) (int, error) {
	r, err := intCall(verbCloseDevice, context)
	if err == nil {
		forgetContext(context)
	}
	return r, err
}

// IbvDeviceTransport reads transport_type of a struct ibv_device: TransportName.
// A nil device gives IBV_TRANSPORT_UNKNOWN.
func IbvDeviceTransport(device RDMADevice) int32 {
	if device == 0 || !canCall {
		return IBV_TRANSPORT_UNKNOWN
	}
	return abi.At[abi.Device](device).TransportType
}

// IbvDeviceNodeType reads node_type of a struct ibv_device: NodeTypeName. A nil
// device gives -1, unknown.
func IbvDeviceNodeType(device RDMADevice) int32 {
	if device == 0 || !canCall {
		return -1
	}
	return abi.At[abi.Device](device).NodeType
}

// IbvDeviceNode copies dev_name of a struct ibv_device: the kernel's name of its
// node, uverbs0. A nil device has none.
func IbvDeviceNode(device RDMADevice) string {
	if device == 0 || !canCall {
		return ""
	}
	return cString(device+unsafe.Offsetof(abi.Device{}.DevName), maxDeviceName)
}

// Device is one entry of a device list.
type Device struct {
	Handle RDMADevice
	Name   string // copied when the list was read, at most 64 bytes

	list *ownedList // keeps Handle valid; nil for a Device made by hand
}

// Open opens the device with ibv_open_device. The list it came from stays alive
// during the call; when it was closed before, nothing is called. Errors of the device,
// and of what is opened through it, have Name where the provider's struct has none.
func (d Device) Open() (RDMAContext, error) {
	if d.list == nil {
		return openDevice(d.Handle, d.Name)
	}
	defer runtime.KeepAlive(d.list)
	d.list.mu.RLock()
	defer d.list.mu.RUnlock()
	if d.list.handle == 0 {
		e := nilInput(verbOpenDevice, 0, "device handle: its list is closed")
		e.Device = d.Name
		return 0, e
	}
	return openDevice(d.Handle, d.Name)
}
