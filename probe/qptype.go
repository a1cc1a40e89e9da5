package probe

import (
	"strings"

	"rdmaprobe/rdma"
)

// qpType is a kind of queue pair that can be probed.
type qpType string

const (
	qpUC qpType = "uc"
	qpRC qpType = "rc"
	qpUD qpType = "ud"
)

// udQKey is the queue key of the datagram probe; nothing is ever sent with it.
const udQKey = 0x11111111

// id is the evidence id of a step: qp.uc.create.
func (t qpType) id(step string) string { return "qp." + string(t) + "." + step }

// name is the type as people write it.
func (t qpType) name() string { return strings.ToUpper(string(t)) }

// steps are the ids of the given steps.
func (t qpType) steps(steps ...string) []string {
	ids := make([]string, len(steps))
	for i, s := range steps {
		ids[i] = t.id(s)
	}
	return ids
}

// create makes a queue pair of the type.
func (t qpType) create(pd rdma.RDMAPD, init *rdma.IbvQPInitAttr) (rdma.RDMAQP, error) {
	switch t {
	case qpRC:
		return createRC(pd, init)
	case qpUD:
		init.QPType = rdma.IBV_QPT_UD
	default:
		init.QPType = rdma.IBV_QPT_UC
	}
	return rdma.IbvCreateQpAttr(pd, init)
}
