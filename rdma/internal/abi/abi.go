package abi

import "unsafe"

// condSize is sizeof(pthread_cond_t), the same on every system we bind.
const condSize = 48

// Device is struct ibv_device.
type Device struct {
	Ops           [2]uintptr
	NodeType      int32
	TransportType int32
	Name          [64]byte
	DevName       [64]byte
	DevPath       [256]byte
	IbdevPath     [256]byte
}

// Context is struct ibv_context. Ops is struct ibv_context_ops, whose entries
// are function pointers; the Op constants index it.
type Context struct {
	Device         *Device
	Ops            [32]uintptr
	CmdFD          int32
	AsyncFD        int32
	NumCompVectors int32
	_              int32
	Mutex          [MutexSize]byte
	ABICompat      uintptr
}

// Indexes of the entries of struct ibv_context_ops that verbs.h calls inline.
const (
	OpPollCQ      = 11
	OpReqNotifyCQ = 12
	OpPostSend    = 25
	OpPostRecv    = 26
)

// PD is struct ibv_pd.
type PD struct {
	Context *Context
	Handle  uint32
	_       uint32
}

// MR is struct ibv_mr.
type MR struct {
	Context *Context
	PD      *PD
	Addr    uintptr
	Length  uintptr
	Handle  uint32
	LKey    uint32
	RKey    uint32
	_       uint32
}

// CompChannel is struct ibv_comp_channel.
type CompChannel struct {
	Context *Context
	FD      int32
	Refcnt  int32
}

// CQ is struct ibv_cq.
type CQ struct {
	Context              *Context
	Channel              *CompChannel
	CQContext            uintptr
	Handle               uint32
	CQE                  int32
	Mutex                [MutexSize]byte
	Cond                 [condSize]byte
	CompEventsCompleted  uint32
	AsyncEventsCompleted uint32
}

// QP is struct ibv_qp.
type QP struct {
	Context         *Context
	QPContext       uintptr
	PD              *PD
	SendCQ          *CQ
	RecvCQ          *CQ
	SRQ             uintptr
	Handle          uint32
	Num             uint32
	State           int32
	Type            int32
	Mutex           [MutexSize]byte
	Cond            [condSize]byte
	EventsCompleted uint32
	_               uint32
}

// Ptr turns an address that came from C or from mapped memory into a pointer,
// in a form that go vet and checkptr accept.
func Ptr(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// At is the object of type T at addr; nil when addr is 0.
func At[T any](addr uintptr) *T { return (*T)(Ptr(addr)) }
