//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/internal/abi"
)

// queryDevice is ibv_query_device.
func queryDevice(h *abi.Context, a *rdma.IbvDeviceAttr) int32 {
	c := contexts.find(h)
	if c == nil || a == nil {
		return errEINVAL
	}
	v := c.dev.consult(verbQueryDevice, newRequest())
	if v.done {
		return v.ret
	}
	image := unsafe.Slice((*byte)(unsafe.Pointer(a)), deviceAttrSize)
	copy(image, c.dev.facts.image)
	v.fill(image)
	return 0
}

// queryPort is the exported ibv_query_port, which fills 48 bytes.
func queryPort(h *abi.Context, num uint8, a *rdma.IbvPortAttr) int32 {
	c := contexts.find(h)
	if c == nil || a == nil {
		return errEINVAL
	}
	v := c.dev.consult(verbQueryPort, newRequest())
	if v.done {
		return v.ret
	}
	q := c.dev.port(int(num))
	if q == nil {
		return errEINVAL
	}
	image := unsafe.Slice((*byte)(unsafe.Pointer(a)), portAttrSize)
	copy(image, q.facts.image)
	c.p.mu.Lock()
	q.answers++
	s := q.current()
	c.p.mu.Unlock()
	portFields.set(image, "state", uint64(uint32(s.State)))
	portFields.set(image, "phys_state", uint64(uint8(q.facts.phys(s))))
	v.fill(image)
	return 0
}

// slot finds an entry of a port's GID table. ok is false beyond the table, entry
// is nil where the slot is empty.
func (q *port) slot(index int) (entry *GIDSlot, ok bool) {
	if index < 0 || index >= int(portFields.get(q.facts.image, "gid_tbl_len")) {
		return nil, false
	}
	for i := range q.facts.GIDs {
		if q.facts.GIDs[i].Index == index {
			return &q.facts.GIDs[i], true
		}
	}
	return nil, true
}

// queryGID is ibv_query_gid: an empty slot is a success with a zero GID.
func queryGID(h *abi.Context, num uint8, index int32, g *rdma.IbvGID) int32 {
	c := contexts.find(h)
	if c == nil || g == nil {
		return verbQueryGID.fail(errEINVAL)
	}
	asked := newRequest()
	asked.sgidIndex = index
	v := c.dev.consult(verbQueryGID, asked)
	if v.done {
		return v.ret
	}
	q := c.dev.port(int(num))
	if q == nil {
		return verbQueryGID.fail(errEINVAL)
	}
	entry, ok := q.slot(int(index))
	if !ok {
		return verbQueryGID.fail(errEINVAL)
	}
	*g = rdma.IbvGID{}
	if entry != nil {
		*g = rdma.IbvGID(entry.GID)
	}
	v.fill(g[:])
	return 0
}

// queryGIDEx is _ibv_query_gid_ex: an empty slot is ENODATA.
func queryGIDEx(h *abi.Context, num, index uint32, e *rdma.IbvGIDEntry, flags uint32, size uintptr) int32 {
	c := contexts.find(h)
	if c == nil || e == nil || flags != 0 || size < unsafe.Sizeof(*e) || num > 255 || index > maxGIDIndex {
		return errEINVAL
	}
	asked := newRequest()
	asked.sgidIndex = int32(index)
	v := c.dev.consult(verbQueryGIDEx, asked)
	if v.done {
		return v.ret
	}
	q := c.dev.port(int(num))
	if q == nil {
		return errEINVAL
	}
	entry, ok := q.slot(int(index))
	switch {
	case !ok:
		return errEINVAL
	case entry == nil:
		return c.p.enodata
	}
	*e = rdma.IbvGIDEntry{GID: rdma.IbvGID(entry.GID), GIDIndex: index, PortNum: num, GIDType: uint32(entry.Type)}
	v.fill(unsafe.Slice((*byte)(unsafe.Pointer(e)), unsafe.Sizeof(*e)))
	return 0
}
