//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// domain is a protection domain.
type domain struct {
	p       *Provider
	ctx     *deviceContext
	h       *abi.PD
	users   int // queue pairs and regions
	regions []*region
}

// region is a registered memory region.
type region struct {
	p            *Provider
	pd           *domain
	h            *abi.MR
	addr, length uint64
	access       int32
}

// allocPD is ibv_alloc_pd.
func allocPD(h *abi.Context) *abi.PD {
	c := contexts.find(h)
	if c == nil {
		return failNull[*abi.PD](errEINVAL)
	}
	if c.dev.consult(verbAllocPD, newRequest()).done {
		return nil
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	switch {
	case c.dev.dead():
		return failNull[*abi.PD](errESRCH)
	case c.dev.full("live_pd", "max_pd"):
		return failNull[*abi.PD](c.dev.exhausted())
	}
	o := newObject[abi.PD]()
	if o == nil {
		return failNull[*abi.PD](errENOMEM)
	}
	*o = abi.PD{Context: h, Handle: c.p.nextHandle()}
	domains.add(o, &domain{p: c.p, ctx: c, h: o})
	c.users++
	c.dev.held["live_pd"]++
	return o
}

// exhausted is the errno of a used-up pool of domains or queues: Apple's was
// reported as a plain NULL.
func (d *device) exhausted() int32 {
	if d.thunderbolt() {
		return 0
	}
	return errENOMEM
}

// deallocPD is ibv_dealloc_pd.
func deallocPD(h *abi.PD) int32 {
	o := domains.find(h)
	if o == nil {
		return errEINVAL
	}
	if v := o.ctx.dev.consult(verbDeallocPD, newRequest()); v.done {
		return v.ret
	}
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	if o.users > 0 {
		return errEBUSY
	}
	if !domains.remove(h) {
		return errEINVAL
	}
	o.ctx.users--
	o.ctx.dev.held["live_pd"]--
	freeObject(h)
	return 0
}

// heapAnchor lies on the Go heap, which fills one range of addresses.
var heapAnchor = new([64]byte)

const pageMask = 4095

// memoryKind tells mapped memory from the heap: pages of their own, outside the
// range of the Go heap.
func memoryKind(addr uint64) int32 {
	goHeap := addr>>36 == uint64(uintptr(unsafe.Pointer(heapAnchor)))>>36
	if goHeap || addr&pageMask != 0 {
		return 0
	}
	return 1
}

// regMR is ibv_reg_mr.
func regMR(h *abi.PD, addr, length uintptr, access int32) *abi.MR {
	q := newRequest()
	q.size, q.memory = int64(length), memoryKind(uint64(addr))
	if h == nil {
		q.nullPD = true
		return nullDomain[abi.MR](verbRegMR, q)
	}
	o := domains.find(h)
	if o == nil {
		return failNull[*abi.MR](errEINVAL)
	}
	v := o.ctx.dev.consult(verbRegMR, q)
	if v.done {
		return nil
	}
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	r := &region{p: o.p, pd: o, addr: uint64(addr), length: uint64(length), access: access}
	if errno, ok := r.refused(); !ok {
		return failNull[*abi.MR](errno)
	}
	r.h = newObject[abi.MR]()
	if r.h == nil {
		return failNull[*abi.MR](errENOMEM)
	}
	*r.h = abi.MR{Context: o.ctx.h, PD: h, Addr: addr, Length: length, Handle: o.p.nextHandle()}
	r.h.LKey, r.h.RKey = r.keys(v.rule)
	regions.add(r.h, r)
	o.users++
	o.regions = append(o.regions, r)
	o.ctx.dev.held["live_mr"]++
	return r.h
}

// nullDomain answers a call with a NULL protection domain: by a rule of the
// device that was opened last, else with the crash that C would have.
func nullDomain[T any](v verb, q request) *T {
	if d := lastOpened.Load(); d != nil && d.consult(v, q).done {
		return nil
	}
	crash()
	return nil
}

// refused checks a registration as the kernel does, and Apple's limits as
// reported: the 101st region is a NULL without errno, and max_mr_size is
// announced but not enforced. ok is false when it is refused.
func (r *region) refused() (errno int32, ok bool) {
	d := r.pd.ctx.dev
	needsLocalWrite := r.access&(accessRemoteWrite|accessRemoteAtomic) != 0
	switch {
	case d.dead():
		return errESRCH, false
	case needsLocalWrite && r.access&accessLocalWrite == 0, r.length == 0, r.addr+r.length < r.addr:
		return errEINVAL, false
	case !d.thunderbolt() && r.length > deviceFields.get(d.facts.image, "max_mr_size"):
		return errEINVAL, false
	case r.addr == 0:
		return errEFAULT, false
	case d.full("live_mr", "max_mr"):
		return 0, false
	}
	return 0, true
}

// keys numbers a region. The first lkey reported from a Mac is 0x101, and its
// rkey is always 0; elsewhere a region without remote access has none.
func (r *region) keys(by *activeRule) (lkey, rkey uint32) {
	r.p.key += 0x100
	lkey = r.p.key
	if r.access&accessRemote != 0 && !r.pd.ctx.dev.thunderbolt() {
		rkey = lkey
	}
	if by != nil && by.LKey != nil {
		lkey = uint32(by.LKey.bits)
	}
	if by != nil && by.RKey != nil {
		rkey = uint32(by.RKey.bits)
	}
	return lkey, rkey
}

// deregMR is ibv_dereg_mr.
func deregMR(h *abi.MR) int32 {
	o := regions.find(h)
	if o == nil {
		return errEINVAL
	}
	if v := o.pd.ctx.dev.consult(verbDeregMR, newRequest()); v.done {
		return v.ret
	}
	o.p.mu.Lock()
	defer o.p.mu.Unlock()
	if !regions.remove(h) {
		return errEINVAL
	}
	o.pd.users--
	for i, r := range o.pd.regions {
		if r == o {
			o.pd.regions = append(o.pd.regions[:i], o.pd.regions[i+1:]...)
			break
		}
	}
	o.pd.ctx.dev.held["live_mr"]--
	freeObject(h)
	return 0
}

// covers finds a region of the domain by key that holds a range and allows an
// access. Rules may give several regions one key. p.mu is held.
func (o *domain) covers(key func(*abi.MR) uint32, want uint32, addr, length uint64, access int32) bool {
	for _, r := range o.regions {
		if key(r.h) == want && addr >= r.addr && length <= r.length && addr-r.addr <= r.length-length && r.access&access == access {
			return true
		}
	}
	return false
}

func byLKey(m *abi.MR) uint32 { return m.LKey }
func byRKey(m *abi.MR) uint32 { return m.RKey }

// bytesAt is memory of the caller that a region covers.
func bytesAt(addr uint64, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(abi.Ptr(uintptr(addr))), n)
}
