package rdma

import "rdmaprobe/rdma/internal/abi"

// IbvAllocPd calls
//
//	struct ibv_pd *ibv_alloc_pd(struct ibv_context *context);
func IbvAllocPd(context RDMAContext) (RDMAPD, error) { return ptrCall(verbAllocPD, context) }

// IbvDeallocPd calls
//
//	int ibv_dealloc_pd(struct ibv_pd *pd);
func IbvDeallocPd(pd RDMAPD) (int, error) { return intCall(verbDeallocPD, pd) }

// IbvRegMr calls
//
//	struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access);
//
// The memory stays registered until IbvDeregMr: it must be mapped memory
// (MapBuffer), never Go's. access is a sum of IBV_ACCESS values.
func IbvRegMr(pd RDMAPD, addr uintptr, length uintptr, access int) (RDMAMR, error) {
	if addr == 0 {
		return 0, nilInput(verbRegMR, pd, "memory address")
	}
	return ptrCall(verbRegMR, pd, addr, length, uintptr(access))
}

// IbvDeregMr calls
//
//	int ibv_dereg_mr(struct ibv_mr *mr);
func IbvDeregMr(mr RDMAMR) (int, error) { return intCall(verbDeregMR, mr) }

// Ibv_mr_lkey reads the local key of a region, for IbvSGE. A nil region gives 0.
func Ibv_mr_lkey(mr RDMAMR) uint32 {
	if mr == 0 || !canCall {
		return 0
	}
	return abi.At[abi.MR](mr).LKey
}

// Ibv_mr_rkey reads the key by which the other end may reach a region. 0 is what
// a provider without remote access gives, and what a nil region gives.
func Ibv_mr_rkey(mr RDMAMR) uint32 {
	if mr == 0 || !canCall {
		return 0
	}
	return abi.At[abi.MR](mr).RKey
}
