//go:build (linux || darwin) && (amd64 || arm64)

package sim_test

import (
	"fmt"
	"log"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// oneQueuePair is a machine whose second queue pair is one too many.
const oneQueuePair = `{
	"profile": 1, "id": "one-queue-pair",
	"devices": [{
		"name": "rxe0", "transport": "infiniband",
		"ports": [{"num": 1, "state": "active", "link_layer": "ethernet"}],
		"calls": {"ibv_create_qp": [{"when": {"qp_type": "UC", "after": 1}, "errno": "EBUSY"}]}
	}]
}`

// A test of code that calls package rdma installs a simulated library; the code
// cannot tell the difference.
func Example() {
	profile, err := sim.Parse([]byte(oneQueuePair), nil)
	if err != nil {
		log.Fatal(err)
	}
	provider, err := sim.New(profile, sim.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer provider.Close()
	defer rdma.Use(provider.Library())()

	list, err := rdma.OpenDeviceList()
	if err != nil {
		log.Fatal(err)
	}
	defer list.Close()
	context, err := list.Devices()[0].Open()
	if err != nil {
		log.Fatal(err)
	}
	pd, err := rdma.IbvAllocPd(context)
	if err != nil {
		log.Fatal(err)
	}
	cq, err := rdma.IbvCreateCq(context, 16, 0, 0, 0)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		_, err := rdma.IbvCreateQpAttr(pd, &rdma.IbvQPInitAttr{
			QPType: rdma.IBV_QPT_UC, SendCQ: cq, RecvCQ: cq,
			Cap: rdma.IbvQPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
		})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// ibv_create_qp on rxe0: provider returned NULL for the queue pair: errno 16 (EBUSY)
}
