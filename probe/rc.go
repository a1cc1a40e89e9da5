package probe

import "rdmaprobe/rdma"

// createRC is the one place that asks a provider for a reliable-connected queue
// pair. It is only reached in a child, by a probe that was asked for it: Apple's
// provider has refused RC, and nobody knows what else it may do with it. Whoever
// goes on with an RC queue pair makes it here too, and only after a confirmed
// qp.rc.create of the same run.
func createRC(pd rdma.RDMAPD, init *rdma.IbvQPInitAttr) (rdma.RDMAQP, error) {
	init.QPType = rdma.IBV_QPT_RCExperimental
	return rdma.IbvCreateQpAttr(pd, init)
}
