package rdma

import "slices"

// headerConstants are the constants of this package that infiniband/verbs.h has, on
// macOS or elsewhere. That of RC is among the names of queue pair types.
var headerConstants = []claim{
	{"IBV_WC_LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR},
	{"IBV_WC_LOC_ACCESS_ERR", IBV_WC_LOC_ACCESS_ERR},
	{"IBV_WC_REM_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR},
	{"IBV_ACCESS_LOCAL_WRITE", IBV_ACCESS_LOCAL_WRITE},
	{"IBV_ACCESS_REMOTE_WRITE", IBV_ACCESS_REMOTE_WRITE},
	{"IBV_ACCESS_REMOTE_READ", IBV_ACCESS_REMOTE_READ},
	{"IBV_QPT_UC", IBV_QPT_UC},
	{"IBV_QPS_RESET", IBV_QPS_RESET},
	{"IBV_QPS_INIT", IBV_QPS_INIT},
	{"IBV_QPS_RTR", IBV_QPS_RTR},
	{"IBV_QPS_RTS", IBV_QPS_RTS},
	{"IBV_QPS_ERR", IBV_QPS_ERR},
	{"IBV_QP_STATE", IBV_QP_STATE},
	{"IBV_QP_ACCESS_FLAGS", IBV_QP_ACCESS_FLAGS},
	{"IBV_QP_PKEY_INDEX", IBV_QP_PKEY_INDEX},
	{"IBV_QP_PORT", IBV_QP_PORT},
	{"IBV_QP_AV", IBV_QP_AV},
	{"IBV_QP_PATH_MTU", IBV_QP_PATH_MTU},
	{"IBV_QP_RQ_PSN", IBV_QP_RQ_PSN},
	{"IBV_QP_SQ_PSN", IBV_QP_SQ_PSN},
	{"IBV_QP_DEST_QPN", IBV_QP_DEST_QPN},
	{"IBV_MTU_1024", IBV_MTU_1024},
	{"IBV_MTU_4096", IBV_MTU_4096},
	{"IBV_PORT_NOP", IBV_PORT_NOP},
	{"IBV_PORT_DOWN", IBV_PORT_DOWN},
	{"IBV_PORT_INIT", IBV_PORT_INIT},
	{"IBV_PORT_ARMED", IBV_PORT_ARMED},
	{"IBV_PORT_ACTIVE", IBV_PORT_ACTIVE},
	{"IBV_PORT_ACTIVE_DEFER", IBV_PORT_ACTIVE_DEFER},
	{"IBV_LINK_LAYER_UNSPECIFIED", IBV_LINK_LAYER_UNSPECIFIED},
	{"IBV_LINK_LAYER_INFINIBAND", IBV_LINK_LAYER_INFINIBAND},
	{"IBV_LINK_LAYER_ETHERNET", IBV_LINK_LAYER_ETHERNET},
	{"IBV_LINK_LAYER_THUNDERBOLT", IBV_LINK_LAYER_THUNDERBOLT},
	{"IBV_WR_RDMA_READ", IBV_WR_RDMA_READ},
	{"IBV_WR_RDMA_WRITE", IBV_WR_RDMA_WRITE},
	{"IBV_WR_SEND", IBV_WR_SEND},
	{"IBV_SEND_SIGNALED", IBV_SEND_SIGNALED},
	{"IBV_WC_SUCCESS", IBV_WC_SUCCESS},
	{"IBV_ACCESS_REMOTE_ATOMIC", IBV_ACCESS_REMOTE_ATOMIC},
	{"IBV_QPT_UD", IBV_QPT_UD},
	{"IBV_QPS_SQD", IBV_QPS_SQD},
	{"IBV_QPS_SQE", IBV_QPS_SQE},
	{"IBV_QP_CUR_STATE", IBV_QP_CUR_STATE},
	{"IBV_QP_EN_SQD_ASYNC_NOTIFY", IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{"IBV_QP_QKEY", IBV_QP_QKEY},
	{"IBV_QP_TIMEOUT", IBV_QP_TIMEOUT},
	{"IBV_QP_RETRY_CNT", IBV_QP_RETRY_CNT},
	{"IBV_QP_RNR_RETRY", IBV_QP_RNR_RETRY},
	{"IBV_QP_MAX_QP_RD_ATOMIC", IBV_QP_MAX_QP_RD_ATOMIC},
	{"IBV_QP_ALT_PATH", IBV_QP_ALT_PATH},
	{"IBV_QP_MIN_RNR_TIMER", IBV_QP_MIN_RNR_TIMER},
	{"IBV_QP_MAX_DEST_RD_ATOMIC", IBV_QP_MAX_DEST_RD_ATOMIC},
	{"IBV_QP_PATH_MIG_STATE", IBV_QP_PATH_MIG_STATE},
	{"IBV_QP_CAP", IBV_QP_CAP},
	{"IBV_QP_RATE_LIMIT", IBV_QP_RATE_LIMIT},
	{"IBV_MTU_256", IBV_MTU_256},
	{"IBV_MTU_512", IBV_MTU_512},
	{"IBV_MTU_2048", IBV_MTU_2048},
	{"IBV_WR_RDMA_WRITE_WITH_IMM", IBV_WR_RDMA_WRITE_WITH_IMM},
	{"IBV_WR_SEND_WITH_IMM", IBV_WR_SEND_WITH_IMM},
	{"IBV_SEND_FENCE", IBV_SEND_FENCE},
	{"IBV_SEND_SOLICITED", IBV_SEND_SOLICITED},
	{"IBV_SEND_INLINE", IBV_SEND_INLINE},
	{"IBV_WC_LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR},
	{"IBV_WC_LOC_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR},
	{"IBV_WC_WR_FLUSH_ERR", IBV_WC_WR_FLUSH_ERR},
	{"IBV_WC_REM_INV_REQ_ERR", IBV_WC_REM_INV_REQ_ERR},
	{"IBV_WC_REM_OP_ERR", IBV_WC_REM_OP_ERR},
	{"IBV_WC_RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR},
	{"IBV_WC_RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR},
	{"IBV_WC_FATAL_ERR", IBV_WC_FATAL_ERR},
	{"IBV_WC_RESP_TIMEOUT_ERR", IBV_WC_RESP_TIMEOUT_ERR},
	{"IBV_WC_GENERAL_ERR", IBV_WC_GENERAL_ERR},
	{"IBV_WC_SEND", IBV_WC_SEND},
	{"IBV_WC_RDMA_WRITE", IBV_WC_RDMA_WRITE},
	{"IBV_WC_RDMA_READ", IBV_WC_RDMA_READ},
	{"IBV_WC_RECV", IBV_WC_RECV},
	{"IBV_GID_TYPE_IB", IBV_GID_TYPE_IB},
	{"IBV_GID_TYPE_ROCE_V1", IBV_GID_TYPE_ROCE_V1},
	{"IBV_GID_TYPE_ROCE_V2", IBV_GID_TYPE_ROCE_V2},
	{"IBV_NODE_CA", IBV_NODE_CA},
	{"IBV_NODE_RNIC", IBV_NODE_RNIC},
	{"IBV_TRANSPORT_UNKNOWN", IBV_TRANSPORT_UNKNOWN},
	{"IBV_TRANSPORT_IB", IBV_TRANSPORT_IB},
	{"IBV_TRANSPORT_IWARP", IBV_TRANSPORT_IWARP},
	{"IBV_TRANSPORT_USNIC", IBV_TRANSPORT_USNIC},
	{"IBV_TRANSPORT_USNIC_UDP", IBV_TRANSPORT_USNIC_UDP},
	{"IBV_TRANSPORT_UNSPECIFIED", IBV_TRANSPORT_UNSPECIFIED},
	{"IBV_TRANSPORT_THUNDERBOLT", IBV_TRANSPORT_THUNDERBOLT},
}

// constantClaims are these, and every name that the package gives a number.
func constantClaims() []claim {
	claims := append([]claim(nil), headerConstants...)
	for _, t := range []struct {
		prefix string
		names  names
	}{{"IBV_WC_", wcStatuses}, {"IBV_WC_", wcOpcodes}, {"IBV_QPS_", qpStates}, {"IBV_QPT_", qpTypes}} {
		for _, n := range t.names {
			claims = append(claims, claim{t.prefix + n.name, n.value})
		}
	}
	for _, b := range qpAttrBits {
		claims = append(claims, claim{b.name, int64(b.bit)})
	}
	seen := map[claim]bool{}
	return slices.DeleteFunc(claims, func(c claim) bool {
		again := seen[c]
		seen[c] = true
		return again
	})
}

// ConstantChecks is a C file that compiles (-std=gnu11) where infiniband/verbs.h gives
// the constants of this package their numbers. Headers lack some, Apple's those of
// others and others those of Apple: known tells which a header has, checked is how
// many are compared and absent are the rest.
func ConstantChecks(known func(name string) bool) (source string, checked int, absent []string) {
	var claims []claim
	for _, c := range constantClaims() {
		if known(c.expr) {
			claims = append(claims, c)
		} else {
			absent = append(absent, c.expr)
		}
	}
	return claimsSource(claims), len(claims), absent
}
