package rdma

import (
	"fmt"
	"strconv"
)

// names are an enum's values.
type names []struct {
	value int64
	name  string
}

// of is the name of v, or unknown(v): a number that nobody has named yet is
// still an answer.
func (t names) of(v int64) string {
	for _, n := range t {
		if n.value == v {
			return n.name
		}
	}
	return "unknown(" + strconv.FormatInt(v, 10) + ")"
}

var (
	portStates = names{{0, "nop"}, {1, "down"}, {2, "init"}, {3, "armed"}, {4, "active"}, {5, "active_defer"}}
	// InfiniBand specification, PortPhysicalState; the RoCE drivers use it too.
	physStates = names{
		{1, "sleep"}, {2, "polling"}, {3, "disabled"}, {4, "training"}, {5, "link_up"},
		{6, "recovery"}, {7, "phy_test"},
	}
	linkLayers = names{{0, "unspecified"}, {1, "infiniband"}, {2, "ethernet"}, {100, "thunderbolt"}}
	transports = names{
		{-1, "unknown"}, {0, "infiniband"}, {1, "iwarp"}, {2, "usnic"}, {3, "usnic_udp"},
		{4, "unspecified"}, {100, "thunderbolt"},
	}
	nodeTypes = names{
		{-1, "unknown"}, {1, "ca"}, {2, "switch"}, {3, "router"}, {4, "rnic"}, {5, "usnic"},
		{6, "usnic_udp"}, {7, "unspecified"}, {100, "thunderbolt"},
	}
	atomicCaps = names{{0, "none"}, {1, "hca"}, {2, "glob"}}
	gidTypes   = names{{0, "ib"}, {1, "roce_v1"}, {2, "roce_v2"}}
	qpTypes    = names{
		{2, "RC"}, {3, "UC"}, {4, "UD"}, {8, "RAW_PACKET"}, {9, "XRC_SEND"}, {10, "XRC_RECV"},
		{255, "DRIVER"},
	}
	qpStates   = names{{0, "RESET"}, {1, "INIT"}, {2, "RTR"}, {3, "RTS"}, {4, "SQD"}, {5, "SQE"}, {6, "ERR"}}
	wcStatuses = names{
		{0, "SUCCESS"}, {1, "LOC_LEN_ERR"}, {2, "LOC_QP_OP_ERR"}, {3, "LOC_EEC_OP_ERR"},
		{4, "LOC_PROT_ERR"}, {5, "WR_FLUSH_ERR"}, {6, "MW_BIND_ERR"}, {7, "BAD_RESP_ERR"}, {8, "LOC_ACCESS_ERR"},
		{9, "REM_INV_REQ_ERR"}, {10, "REM_ACCESS_ERR"}, {11, "REM_OP_ERR"}, {12, "RETRY_EXC_ERR"},
		{13, "RNR_RETRY_EXC_ERR"}, {14, "LOC_RDD_VIOL_ERR"}, {15, "REM_INV_RD_REQ_ERR"}, {16, "REM_ABORT_ERR"},
		{17, "INV_EECN_ERR"}, {18, "INV_EEC_STATE_ERR"}, {19, "FATAL_ERR"}, {20, "RESP_TIMEOUT_ERR"},
		{21, "GENERAL_ERR"}, {22, "TM_ERR"}, {23, "TM_RNDV_INCOMPLETE"},
	}
	wcOpcodes = names{
		{0, "SEND"}, {1, "RDMA_WRITE"}, {2, "RDMA_READ"}, {3, "COMP_SWAP"}, {4, "FETCH_ADD"},
		{5, "BIND_MW"}, {6, "LOCAL_INV"}, {7, "TSO"}, {9, "ATOMIC_WRITE"}, {128, "RECV"}, {129, "RECV_RDMA_WITH_IMM"},
	}
	mtus = map[int32]int{1: 256, 2: 512, 3: 1024, 4: 2048, 5: 4096}
)

// PortStateName names enum ibv_port_state: nop down init armed active
// active_defer.
func PortStateName(state int32) string { return portStates.of(int64(state)) }

// PhysStateName names IbvPortAttr.PhysState: sleep polling disabled training
// link_up recovery phy_test.
func PhysStateName(state uint8) string { return physStates.of(int64(state)) }

// LinkLayerName names IbvPortAttr.LinkLayer: unspecified infiniband ethernet
// thunderbolt.
func LinkLayerName(layer uint8) string { return linkLayers.of(int64(layer)) }

// TransportName names enum ibv_transport_type: infiniband iwarp usnic usnic_udp
// unspecified thunderbolt, and unknown for -1.
func TransportName(transport int32) string { return transports.of(int64(transport)) }

// NodeTypeName names enum ibv_node_type: ca switch router rnic usnic usnic_udp
// unspecified, unknown for -1, and thunderbolt for Apple's 100.
func NodeTypeName(node int32) string { return nodeTypes.of(int64(node)) }

// AtomicCapName names enum ibv_atomic_cap: none hca glob.
func AtomicCapName(atomicCap int32) string { return atomicCaps.of(int64(atomicCap)) }

// GIDTypeName names enum ibv_gid_type: ib roce_v1 roce_v2.
func GIDTypeName(gidType uint32) string { return gidTypes.of(int64(gidType)) }

// QPTypeName names enum ibv_qp_type without its prefix: RC UC UD ...
func QPTypeName(qpType int32) string { return qpTypes.of(int64(qpType)) }

// QPStateName names enum ibv_qp_state without its prefix: RESET INIT RTR RTS SQD
// SQE ERR.
func QPStateName(state int32) string { return qpStates.of(int64(state)) }

// WCStatusName names enum ibv_wc_status without its prefix: SUCCESS
// LOC_LEN_ERR ...
func WCStatusName(status int32) string { return wcStatuses.of(int64(status)) }

// WCOpcodeName names enum ibv_wc_opcode without its prefix: SEND RDMA_WRITE RECV
// ...
func WCOpcodeName(opcode int32) string { return wcOpcodes.of(int64(opcode)) }

// MTUBytes is the size that a value of enum ibv_mtu stands for, 0 for an unknown
// one.
func MTUBytes(mtu int32) int { return mtus[mtu] }

// MTUEnum is the value of enum ibv_mtu for a size of 256, 512, 1024, 2048 or
// 4096 bytes, 0 for any other.
func MTUEnum(bytes int) int32 {
	for mtu, size := range mtus {
		if size == bytes {
			return mtu
		}
	}
	return 0
}

var (
	// Lanes by active_width, and Gb/s a lane by active_speed; InfiniBand
	// specification, PortInfo. Values as ibv_devinfo rounds them.
	linkLanes = map[uint8]float64{1: 1, 2: 4, 4: 8, 8: 12, 16: 2}
	laneGbps  = map[uint8]float64{1: 2.5, 2: 5, 4: 10, 8: 10, 16: 14, 32: 25, 64: 50, 128: 100}
)

// LinkSpeedGbps is lanes times speed of IbvPortAttr.ActiveWidth and ActiveSpeed
// in Gb/s; 0 when either is unknown.
func LinkSpeedGbps(width, speed uint8) float64 { return linkLanes[width] * laneGbps[speed] }

// qpAttrBits lists enum ibv_qp_attr_mask from the lowest bit.
var qpAttrBits = []struct {
	bit  int
	name string
}{
	{IBV_QP_STATE, "IBV_QP_STATE"},
	{IBV_QP_CUR_STATE, "IBV_QP_CUR_STATE"},
	{IBV_QP_EN_SQD_ASYNC_NOTIFY, "IBV_QP_EN_SQD_ASYNC_NOTIFY"},
	{IBV_QP_ACCESS_FLAGS, "IBV_QP_ACCESS_FLAGS"},
	{IBV_QP_PKEY_INDEX, "IBV_QP_PKEY_INDEX"},
	{IBV_QP_PORT, "IBV_QP_PORT"},
	{IBV_QP_QKEY, "IBV_QP_QKEY"},
	{IBV_QP_AV, "IBV_QP_AV"},
	{IBV_QP_PATH_MTU, "IBV_QP_PATH_MTU"},
	{IBV_QP_TIMEOUT, "IBV_QP_TIMEOUT"},
	{IBV_QP_RETRY_CNT, "IBV_QP_RETRY_CNT"},
	{IBV_QP_RNR_RETRY, "IBV_QP_RNR_RETRY"},
	{IBV_QP_RQ_PSN, "IBV_QP_RQ_PSN"},
	{IBV_QP_MAX_QP_RD_ATOMIC, "IBV_QP_MAX_QP_RD_ATOMIC"},
	{IBV_QP_ALT_PATH, "IBV_QP_ALT_PATH"},
	{IBV_QP_MIN_RNR_TIMER, "IBV_QP_MIN_RNR_TIMER"},
	{IBV_QP_SQ_PSN, "IBV_QP_SQ_PSN"},
	{IBV_QP_MAX_DEST_RD_ATOMIC, "IBV_QP_MAX_DEST_RD_ATOMIC"},
	{IBV_QP_PATH_MIG_STATE, "IBV_QP_PATH_MIG_STATE"},
	{IBV_QP_CAP, "IBV_QP_CAP"},
	{IBV_QP_DEST_QPN, "IBV_QP_DEST_QPN"},
	{IBV_QP_RATE_LIMIT, "IBV_QP_RATE_LIMIT"},
}

// QPAttrMaskNames names the bits of an attribute mask from the lowest up; what
// has no name is one last entry, unknown(0x800000).
func QPAttrMaskNames(mask int) []string {
	var names []string
	for _, b := range qpAttrBits {
		if mask&b.bit != 0 {
			names = append(names, b.name)
			mask &^= b.bit
		}
	}
	if mask != 0 {
		names = append(names, fmt.Sprintf("unknown(%#x)", uint(mask)))
	}
	return names
}
