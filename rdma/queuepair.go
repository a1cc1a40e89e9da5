package rdma

import (
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// IbvCreateQp calls
//
//	struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr);
//
// qp_init_attr is the address of an IbvQPInitAttr in memory that does not move.
func IbvCreateQp(pd RDMAPD, qp_init_attr uintptr) (RDMAQP, error) {
	if qp_init_attr == 0 {
		return 0, nilInput(verbCreateQP, pd, "qp init attr pointer")
	}
	return ptrCall(verbCreateQP, pd, qp_init_attr)
}

// IbvCreateQpAttr is IbvCreateQp with a typed pointer. The provider writes what
// it granted into attr.Cap.
func IbvCreateQpAttr(pd RDMAPD, attr *IbvQPInitAttr) (RDMAQP, error) {
	if attr == nil {
		return 0, nilInput(verbCreateQP, pd, "qp init attr pointer")
	}
	return ptrCall(verbCreateQP, pd, uintptr(unsafe.Pointer(attr)))
}

// IbvModifyQp calls
//
//	int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
//
// attr is the address of an IbvQPAttr in memory that does not move.
func IbvModifyQp(qp RDMAQP, attr uintptr, attr_mask int) (int, error) {
	if attr == 0 {
		return 0, nilInput(verbModifyQP, qp, "qp attr pointer")
	}
	return intCall(verbModifyQP, qp, attr, uintptr(attr_mask))
}

// IbvModifyQpAttr is IbvModifyQp with a typed pointer. NewModifyQPError adds to
// its error what was asked.
func IbvModifyQpAttr(qp RDMAQP, attr *IbvQPAttr, attrMask int) (int, error) {
	if attr == nil {
		return 0, nilInput(verbModifyQP, qp, "qp attr pointer")
	}
	return intCall(verbModifyQP, qp, uintptr(unsafe.Pointer(attr)), uintptr(attrMask))
}

// IbvModifyQpToErr moves a queue pair to ERR: the provider then flushes
// outstanding work requests to the completion queue with a status that is not
// success, so that they can be polled and their memory taken back. Public reports
// say that on Apple's provider later unmapping fails after it.
func IbvModifyQpToErr(qp RDMAQP) error {
	attr := &IbvQPAttr{QPState: IBV_QPS_ERR}
	r, err := IbvModifyQpAttr(qp, attr, IBV_QP_STATE)
	return NewModifyQPError(qp, attr, IBV_QP_STATE, r, err)
}

// IbvQueryQp calls
//
//	int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask, struct ibv_qp_init_attr *init_attr);
//
// The mask is a hint: providers may fill more, or less.
func IbvQueryQp(qp RDMAQP, attr *IbvQPAttr, attrMask int, initAttr *IbvQPInitAttr) (int, error) {
	if attr == nil || initAttr == nil {
		return 0, nilInput(verbQueryQP, qp, "qp attr or init attr pointer")
	}
	return intCall(verbQueryQP, qp, uintptr(unsafe.Pointer(attr)), uintptr(attrMask), uintptr(unsafe.Pointer(initAttr)))
}

// IbvDestroyQp calls
//
//	int ibv_destroy_qp(struct ibv_qp *qp);
func IbvDestroyQp(qp RDMAQP) (int, error) { return intCall(verbDestroyQP, qp) }

// Ibv_qp_num reads the number by which the other end addresses a queue pair. A
// nil one gives 0.
func Ibv_qp_num(qp RDMAQP) uint32 {
	if qp == 0 || !canCall {
		return 0
	}
	return abi.At[abi.QP](qp).Num
}
