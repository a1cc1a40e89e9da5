package rdma

// Completion statuses that mean a protection error; see
// ClassifyCompletionStatus. They are values of the verbs ABI and do not say that
// a verb is usable.
const (
	IBV_WC_LOC_PROT_ERR   = 4
	IBV_WC_LOC_ACCESS_ERR = 8
	IBV_WC_REM_ACCESS_ERR = 10
)

// Values of infiniband/verbs.h that a UC queue pair needs.
const (
	IBV_ACCESS_LOCAL_WRITE  = 1
	IBV_ACCESS_REMOTE_WRITE = 2
	IBV_ACCESS_REMOTE_READ  = 4

	IBV_QPT_UC = 3

	IBV_QPS_RESET = 0
	IBV_QPS_INIT  = 1
	IBV_QPS_RTR   = 2
	IBV_QPS_RTS   = 3
	IBV_QPS_ERR   = 6

	IBV_QP_STATE        = 1
	IBV_QP_ACCESS_FLAGS = 8
	IBV_QP_PKEY_INDEX   = 16
	IBV_QP_PORT         = 32
	IBV_QP_AV           = 128
	IBV_QP_PATH_MTU     = 256
	IBV_QP_RQ_PSN       = 4096
	IBV_QP_SQ_PSN       = 65536
	IBV_QP_DEST_QPN     = 1048576

	IBV_MTU_1024 = 3
	IBV_MTU_4096 = 5

	// enum ibv_port_state. A port carries traffic only in ACTIVE.
	IBV_PORT_NOP          = 0
	IBV_PORT_DOWN         = 1
	IBV_PORT_INIT         = 2
	IBV_PORT_ARMED        = 3
	IBV_PORT_ACTIVE       = 4
	IBV_PORT_ACTIVE_DEFER = 5

	// Link layers. 100 is Apple's own.
	IBV_LINK_LAYER_UNSPECIFIED = 0
	IBV_LINK_LAYER_INFINIBAND  = 1
	IBV_LINK_LAYER_ETHERNET    = 2
	IBV_LINK_LAYER_THUNDERBOLT = 100

	IBV_WR_RDMA_WRITE = 0
	IBV_WR_SEND       = 2
	IBV_SEND_SIGNALED = 2

	IBV_WC_SUCCESS = 0
)

// IBV_QPT_RCExperimental is the verbs ABI value of a reliable-connected queue
// pair, for a capability probe that tries it once. That it is here does not say
// that Apple's Thunderbolt provider accepts one; other code must not use it
// before a recorded observation has shown that it does.
const IBV_QPT_RCExperimental = 2

// Values of infiniband/verbs.h beyond the reference: unreliable datagrams, what
// the way from INIT to RTS of the other transports needs, and the remaining
// names of enums the package reports.
const (
	IBV_ACCESS_REMOTE_ATOMIC = 8

	IBV_QPT_UD = 4

	IBV_QPS_SQD = 4
	IBV_QPS_SQE = 5

	IBV_QP_CUR_STATE           = 2
	IBV_QP_EN_SQD_ASYNC_NOTIFY = 4
	IBV_QP_QKEY                = 64
	IBV_QP_TIMEOUT             = 512
	IBV_QP_RETRY_CNT           = 1024
	IBV_QP_RNR_RETRY           = 2048
	IBV_QP_MAX_QP_RD_ATOMIC    = 8192
	IBV_QP_ALT_PATH            = 16384
	IBV_QP_MIN_RNR_TIMER       = 32768
	IBV_QP_MAX_DEST_RD_ATOMIC  = 131072
	IBV_QP_PATH_MIG_STATE      = 262144
	IBV_QP_CAP                 = 524288
	IBV_QP_RATE_LIMIT          = 33554432

	IBV_MTU_256  = 1
	IBV_MTU_512  = 2
	IBV_MTU_2048 = 4

	IBV_WR_RDMA_WRITE_WITH_IMM = 1
	IBV_WR_SEND_WITH_IMM       = 3
	IBV_WR_RDMA_READ           = 4 // the value alone: no function of this package posts one, see ErrRDMAReadUnavailable

	IBV_SEND_FENCE     = 1
	IBV_SEND_SOLICITED = 4
	IBV_SEND_INLINE    = 8

	IBV_WC_LOC_LEN_ERR       = 1
	IBV_WC_LOC_QP_OP_ERR     = 2
	IBV_WC_WR_FLUSH_ERR      = 5
	IBV_WC_REM_INV_REQ_ERR   = 9
	IBV_WC_REM_OP_ERR        = 11
	IBV_WC_RETRY_EXC_ERR     = 12
	IBV_WC_RNR_RETRY_EXC_ERR = 13
	IBV_WC_FATAL_ERR         = 19
	IBV_WC_RESP_TIMEOUT_ERR  = 20
	IBV_WC_GENERAL_ERR       = 21

	// Completion opcodes; RECV is a bit of all receives.
	IBV_WC_SEND       = 0
	IBV_WC_RDMA_WRITE = 1
	IBV_WC_RDMA_READ  = 2
	IBV_WC_RECV       = 128

	IBV_GID_TYPE_IB      = 0
	IBV_GID_TYPE_ROCE_V1 = 1
	IBV_GID_TYPE_ROCE_V2 = 2

	IBV_NODE_CA   = 1
	IBV_NODE_RNIC = 4

	// Transports of an ibv_device. 100 is Apple's own.
	IBV_TRANSPORT_UNKNOWN     = -1
	IBV_TRANSPORT_IB          = 0
	IBV_TRANSPORT_IWARP       = 1
	IBV_TRANSPORT_USNIC       = 2
	IBV_TRANSPORT_USNIC_UDP   = 3
	IBV_TRANSPORT_UNSPECIFIED = 4
	IBV_TRANSPORT_THUNDERBOLT = 100
)
