package rdma

// Handles are addresses of the provider's own objects, 0 when there is none.
// They must not be used after the object has been released.
type (
	// RDMADeviceList is an array of struct ibv_device pointers.
	RDMADeviceList = uintptr
	// RDMADevice is a struct ibv_device; it lives as long as its list, or a
	// context opened from it.
	RDMADevice = uintptr
	// RDMAContext is a struct ibv_context, an open device.
	RDMAContext = uintptr
	// RDMAPD is a struct ibv_pd, a protection domain.
	RDMAPD = uintptr
	// RDMAMR is a struct ibv_mr, a registered memory region.
	RDMAMR = uintptr
	// RDMACQ is a struct ibv_cq, a completion queue.
	RDMACQ = uintptr
	// RDMAQP is a struct ibv_qp, a queue pair.
	RDMAQP = uintptr
	// RDMACompChannel is a struct ibv_comp_channel, by which a completion queue
	// announces completions.
	RDMACompChannel = uintptr
)

// The structs below have the layout of infiniband/verbs.h on LP64 systems, the
// same on Linux and Darwin. Field names follow the header's; units and encodings
// are those of ibv_modify_qp(3), ibv_query_device(3), ibv_query_port(3) and the
// InfiniBand specification. Other numbers are counts, identifiers or bits.

// IbvGID is union ibv_gid: 16 bytes in network order.
type IbvGID [16]byte

// IbvGlobalRoute is struct ibv_global_route.
type IbvGlobalRoute struct {
	DGID         IbvGID
	FlowLabel    uint32 // 20 bits
	SGIDIndex    uint8  // slot of the sender's own GID table
	HopLimit     uint8
	TrafficClass uint8
	_            uint8
}

// IbvAHAttr is struct ibv_ah_attr: how to reach the other end.
type IbvAHAttr struct {
	GRH         IbvGlobalRoute
	DLID        uint16
	SL          uint8 // service level, 4 bits
	SrcPathBits uint8
	StaticRate  uint8 // enum ibv_rate; 0: the port's own
	IsGlobal    uint8 // 1: GRH counts
	PortNum     uint8
	_           uint8
}

// IbvPortAttr is struct ibv_port_attr, 52 bytes. State and LinkLayer decide
// whether a port carries traffic and how it is addressed.
type IbvPortAttr struct {
	State         int32 // PortStateName
	MaxMTU        int32 // MTUBytes
	ActiveMTU     int32 // MTUBytes
	GIDTblLen     uint32
	PortCapFlags  uint32
	MaxMsgSz      uint32 // bytes
	BadPKeyCntr   uint32
	QKeyViolCntr  uint32
	PKeyTblLen    uint16
	LID           uint16
	SMLID         uint16 // LID of the subnet manager
	LMC           uint8
	MaxVLNum      uint8 // encoded: 1, 2, 4, 8, 15 lanes are 1 to 5
	SMSL          uint8
	SubnetTimeout uint8 // 4.096 us times 2 to the power of it
	InitTypeReply uint8
	ActiveWidth   uint8 // LinkSpeedGbps
	ActiveSpeed   uint8 // LinkSpeedGbps
	PhysState     uint8 // PhysStateName
	LinkLayer     uint8 // LinkLayerName
	Flags         uint8
	PortCapFlags2 uint16 // not filled by the exported ibv_query_port of rdma-core
}

// IbvDeviceAttr is struct ibv_device_attr, 232 bytes.
type IbvDeviceAttr struct {
	FWVer                 [64]byte // NUL-terminated; the provider's words
	NodeGUID              [8]byte  // network order
	SysImageGUID          [8]byte  // network order
	MaxMRSize             uint64   // bytes
	PageSizeCap           uint64   // bit n: pages of 2 to the power of n bytes
	VendorID              uint32
	VendorPartID          uint32
	HWVer                 uint32
	MaxQP                 int32
	MaxQPWR               int32
	DeviceCapFlags        uint32
	MaxSGE                int32
	MaxSGERd              int32
	MaxCQ                 int32
	MaxCQE                int32
	MaxMR                 int32
	MaxPD                 int32
	MaxQPRdAtom           int32
	MaxEERdAtom           int32
	MaxResRdAtom          int32
	MaxQPInitRdAtom       int32
	MaxEEInitRdAtom       int32
	AtomicCap             int32 // AtomicCapName
	MaxEE                 int32
	MaxRDD                int32
	MaxMW                 int32
	MaxRawIPv6QP          int32
	MaxRawEthyQP          int32
	MaxMcastGrp           int32
	MaxMcastQPAttach      int32
	MaxTotalMcastQPAttach int32
	MaxAH                 int32
	MaxFMR                int32
	MaxMapPerFMR          int32
	MaxSRQ                int32
	MaxSRQWR              int32
	MaxSRQSGE             int32
	MaxPKeys              uint16
	LocalCAAckDelay       uint8 // 4.096 us times 2 to the power of it
	PhysPortCnt           uint8
	_                     [4]byte
}

// IbvGIDEntry is struct ibv_gid_entry.
type IbvGIDEntry struct {
	GID         IbvGID
	GIDIndex    uint32
	PortNum     uint32
	GIDType     uint32 // GIDTypeName
	NdevIfindex uint32 // the network interface it belongs to, 0 = none
}

// IbvQPCap is struct ibv_qp_cap.
type IbvQPCap struct {
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32 // bytes
}

// IbvQPInitAttr is struct ibv_qp_init_attr, 64 bytes.
type IbvQPInitAttr struct {
	QPContext uintptr
	SendCQ    RDMACQ
	RecvCQ    RDMACQ
	SRQ       uintptr
	Cap       IbvQPCap // asked for; what was granted after ibv_create_qp
	QPType    int32    // QPTypeName
	SQSigAll  int32
}

// IbvQPAttr is struct ibv_qp_attr, 144 bytes. RateLimit is beyond the reference:
// Apple's header and rdma-core's have it, and no report tells of a use on Apple's
// provider.
type IbvQPAttr struct {
	QPState          int32 // QPStateName
	CurQPState       int32 // QPStateName
	PathMTU          int32 // MTUEnum, MTUBytes
	PathMigState     int32 // enum ibv_mig_state
	QKey             uint32
	RQPSN            uint32 // first packet number of the receive queue, 24 bits: the peer's SQPSN
	SQPSN            uint32 // first packet number of the send queue, 24 bits
	DestQPNum        uint32 // the peer's Ibv_qp_num
	QPAccessFlags    int32  // sum of IBV_ACCESS values
	Cap              IbvQPCap
	AHAttr           IbvAHAttr
	AltAHAttr        IbvAHAttr
	PKeyIndex        uint16
	AltPKeyIndex     uint16
	EnSQDAsyncNotify uint8
	SQDraining       uint8
	MaxRDAtomic      uint8
	MaxDestRDAtomic  uint8
	MinRNRTimer      uint8 // encoded: 1 is 0.01 ms, 12 is 0.64 ms, 31 is 491.52 ms, 0 is 655.36 ms
	PortNum          uint8 // from 1
	Timeout          uint8 // 4.096 us times 2 to the power of it, up to 31; 0: for ever
	RetryCnt         uint8 // 3 bits
	RNRetry          uint8 // 3 bits; 7: for ever
	AltPortNum       uint8
	AltTimeout       uint8 // as Timeout
	_                uint8
	RateLimit        uint32 // kilobits per second of a packet-paced send queue; IBV_QP_RATE_LIMIT
	_                uint32 // C aligns the struct to 8, as union ibv_gid
}

// IbvSGE is struct ibv_sge: a piece of a registered region.
type IbvSGE struct {
	Addr   uint64 // of the first byte
	Length uint32 // bytes
	LKey   uint32 // Ibv_mr_lkey
}

// IbvSendWR is struct ibv_send_wr, 128 bytes. It must lie in mapped memory, and
// so must what it points to.
type IbvSendWR struct {
	WRID      uint64
	Next      *IbvSendWR
	SGList    *IbvSGE
	NumSGE    int32
	Opcode    int32    // IBV_WR values
	SendFlags int32    // sum of IBV_SEND values
	ImmData   uint32   // network order
	WR        [32]byte // union: rdma {remote_addr u64, rkey u32}, atomic, ud
	QPType    [8]byte
	BindMW    [48]byte
}

// IbvRecvWR is struct ibv_recv_wr, 32 bytes. It must lie in mapped memory, and
// so must what it points to.
type IbvRecvWR struct {
	WRID   uint64
	Next   *IbvRecvWR
	SGList *IbvSGE
	NumSGE int32
	_      int32
}

// IbvWC is struct ibv_wc, 48 bytes. With a Status other than IBV_WC_SUCCESS only
// WRID, Status, QPNum and VendorErr count.
type IbvWC struct {
	WRID         uint64
	Status       int32 // WCStatusName, ClassifyCompletionStatus
	Opcode       int32 // WCOpcodeName
	VendorErr    uint32
	ByteLen      uint32 // bytes received; undefined for sends
	ImmData      uint32 // network order
	QPNum        uint32
	SrcQP        uint32
	WCFlags      int32
	PKeyIndex    uint16
	SLID         uint16
	SL           uint8
	DLIDPathBits uint8
	PortNum      uint8 // padding in verbs.h: no provider fills it
	_            uint8
}
