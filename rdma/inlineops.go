package rdma

import "rdmaprobe/rdma/internal/abi"

// InlineOps tells which entries of a context's ops table are filled in: the four
// verbs that verbs.h calls through it and that are no symbols of the library. A
// nil context has none.
func InlineOps(context RDMAContext) map[string]bool {
	ops := map[string]bool{}
	for _, o := range []struct {
		verb  string
		index int
	}{
		{"ibv_poll_cq", abi.OpPollCQ}, {"ibv_req_notify_cq", abi.OpReqNotifyCQ},
		{"ibv_post_send", abi.OpPostSend}, {"ibv_post_recv", abi.OpPostRecv},
	} {
		ops[o.verb] = context != 0 && canCall && abi.At[abi.Context](context).Ops[o.index] != 0
	}
	return ops
}
