package rdma

import (
	"fmt"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// deviceAttrSize is sizeof(struct ibv_device_attr).
const deviceAttrSize = int(unsafe.Sizeof(IbvDeviceAttr{}))

// IbvQueryDevice calls
//
//	int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *device_attr);
//
// device_attr is the address of 232 bytes in memory that does not move.
func IbvQueryDevice(context RDMAContext, device_attr uintptr) (int, error) {
	if device_attr == 0 {
		return 0, nilInput(verbQueryDevice, context, "device attr pointer")
	}
	return intCall(verbQueryDevice, context, device_attr)
}

// IbvQueryDeviceBytes is IbvQueryDevice into a buffer. One that is shorter than
// struct ibv_device_attr, 232 bytes, is ErrShortBuffer and never reaches C; an empty one
// is nil.
func IbvQueryDeviceBytes(context RDMAContext, buf []byte) (int, error) {
	switch {
	case len(buf) == 0:
		return 0, nilInput(verbQueryDevice, context, "device attr pointer")
	case len(buf) < deviceAttrSize:
		what := fmt.Sprintf("device attr buffer of %d bytes, and struct ibv_device_attr has %d", len(buf), deviceAttrSize)
		return 0, notReached(verbQueryDevice, context, FailureShortBuffer, what)
	}
	attr := new(IbvDeviceAttr) // aligned, which buf need not be
	r, err := IbvQueryDeviceAttr(context, attr)
	if err == nil {
		copy(buf, unsafe.Slice((*byte)(unsafe.Pointer(attr)), deviceAttrSize))
	}
	return r, err
}

// IbvQueryDeviceAttr is IbvQueryDevice with a typed pointer. attr is untouched
// when the call fails.
func IbvQueryDeviceAttr(context RDMAContext, attr *IbvDeviceAttr) (int, error) {
	if attr == nil {
		return 0, nilInput(verbQueryDevice, context, "device attr pointer")
	}
	room := new(roomFor[IbvDeviceAttr])
	r, err := intCall(verbQueryDevice, context, uintptr(unsafe.Pointer(room)))
	if err == nil {
		*attr = room.value
	}
	return r, err
}

// roomFor is a T with space behind it: a provider built from a newer header
// fills a longer struct than ours. ibv_port_attr has grown from 52 to 56 bytes.
type roomFor[T any] struct {
	value T
	_     [64]byte
}

// IbvQueryPort calls
//
//	int ibv_query_port(struct ibv_context *context, uint8_t port_num, struct ibv_port_attr *port_attr);
//
// port_attr is the address of the 52 bytes of IbvPortAttr; all of them are
// written, by success only. The exported function of rdma-core leaves
// port_cap_flags2 zero: it knows an older struct.
func IbvQueryPort(context RDMAContext, port_num uint8, port_attr uintptr) (int, error) {
	if port_attr == 0 {
		return 0, nilInput(verbQueryPort, context, "port attr pointer")
	}
	return IbvQueryPortAttr(context, port_num, abi.At[IbvPortAttr](port_attr))
}

// IbvQueryPortAttr is IbvQueryPort with a typed pointer.
func IbvQueryPortAttr(context RDMAContext, portNum uint8, attr *IbvPortAttr) (int, error) {
	if attr == nil {
		return 0, nilInput(verbQueryPort, context, "port attr pointer")
	}
	room := new(roomFor[IbvPortAttr])
	r, err := intCall(verbQueryPort, context, uintptr(portNum), uintptr(unsafe.Pointer(room)))
	if err == nil {
		*attr = room.value
	}
	return r, err
}

// IbvQueryGid calls
//
//	int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid);
//
// gid is the address of 16 bytes in memory that does not move. An empty slot may
// be a success with 16 zero bytes.
func IbvQueryGid(context RDMAContext, port_num uint8, index int, gid uintptr) (int, error) {
	if gid == 0 {
		return 0, nilInput(verbQueryGID, context, "gid pointer")
	}
	return intCall(verbQueryGID, context, uintptr(port_num), uintptr(index), gid)
}

// IbvQueryGidInto is IbvQueryGid with a typed pointer.
func IbvQueryGidInto(context RDMAContext, portNum uint8, index int, gid *IbvGID) (int, error) {
	if gid == nil {
		return 0, nilInput(verbQueryGID, context, "gid pointer")
	}
	return intCall(verbQueryGID, context, uintptr(portNum), uintptr(index), uintptr(unsafe.Pointer(gid)))
}

// IbvQueryGidEx calls what verbs.h calls for ibv_query_gid_ex:
//
//	int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
//		struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);
//
// It tells the type of a GID. An empty slot is an error, ENODATA. The symbol is
// optional: rdma-core has it since version 34.
func IbvQueryGidEx(context RDMAContext, port uint32, index uint32, entry *IbvGIDEntry) (int, error) {
	if entry == nil {
		return 0, nilInput(verbQueryGIDEx, context, "gid entry pointer")
	}
	return intCall(verbQueryGIDEx, context, uintptr(port), uintptr(index),
		uintptr(unsafe.Pointer(entry)), 0, unsafe.Sizeof(*entry))
}
