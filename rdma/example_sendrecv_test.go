//go:build (darwin || linux) && (amd64 || arm64)

package rdma_test

import (
	"fmt"
	"log"
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// oneDevice is a simulated machine whose port is wired to an end that sends back
// what it gets. On a real machine leave out sim.Parse, sim.New and rdma.Use, and
// get the other end's numbers over a connection of your own.
const oneDevice = `{"profile": 1, "id": "one-device", "devices": [{"name": "rxe0", "transport": "infiniband", "ports": [
	{"num": 1, "state": "active", "link_layer": "ethernet", "gids": [{"index": 0, "gid": "::ffff:192.0.2.1", "type": "roce_v2"}]}]}]}`

// requests lie in mapped memory: the provider may keep pointers to them until they
// have completed.
type requests struct {
	send    rdma.IbvSendWR
	recv    rdma.IbvRecvWR
	sendSGE rdma.IbvSGE
	recvSGE rdma.IbvSGE
}

// A message over UC to the other end and back: every object that it takes, the
// three transitions, both posts, the poll, and the release in order.
func Example_sendRecv() {
	profile := must(sim.Parse([]byte(oneDevice), nil))
	provider := must(sim.New(profile, sim.Options{}))
	defer provider.Close()
	defer rdma.Use(provider.Library())()

	list := must(rdma.OpenDeviceList())
	context := must(list.Devices()[0].Open())
	must(0, list.Close())
	pd := must(rdma.IbvAllocPd(context))
	cq := must(rdma.IbvCreateCq(context, 2, 0, 0, 0))
	qp := must(rdma.IbvCreateQpAttr(pd, &rdma.IbvQPInitAttr{
		QPType: rdma.IBV_QPT_UC, SendCQ: cq, RecvCQ: cq,
		Cap: rdma.IbvQPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
	}))
	data := must(rdma.MapBuffer(128)) // 64 bytes to send, 64 to receive into
	mr := must(rdma.IbvRegMr(pd, data.Addr(), 128, rdma.IBV_ACCESS_LOCAL_WRITE))

	peer := must(provider.Peer("rxe0", 1))
	connect(qp, must(peer.Endpoint(rdma.IBV_QPT_UC)))

	room := must(rdma.MapBuffer(int(unsafe.Sizeof(requests{}))))
	w := (*requests)(unsafe.Pointer(&room.Bytes()[0]))
	n := copy(data.Bytes(), "hello")
	w.recvSGE = rdma.IbvSGE{Addr: uint64(data.Addr()) + 64, Length: 64, LKey: rdma.Ibv_mr_lkey(mr)}
	w.recv = rdma.IbvRecvWR{WRID: 1, SGList: &w.recvSGE, NumSGE: 1}
	w.sendSGE = rdma.IbvSGE{Addr: uint64(data.Addr()), Length: uint32(n), LKey: rdma.Ibv_mr_lkey(mr)}
	w.send = rdma.IbvSendWR{WRID: 2, SGList: &w.sendSGE, NumSGE: 1, Opcode: rdma.IBV_WR_SEND, SendFlags: rdma.IBV_SEND_SIGNALED}
	var badRecv *rdma.IbvRecvWR
	var badSend *rdma.IbvSendWR
	must(rdma.Ibv_post_recv(qp, &w.recv, &badRecv)) // first: a message that finds no receive is lost
	must(rdma.Ibv_post_send(qp, &w.send, &badSend))

	for completions := 0; completions < 2; { // a real loop has a deadline too
		var wc rdma.IbvWC
		if must(rdma.Ibv_poll_cq(cq, 1, &wc)) == 0 {
			continue
		}
		completions++
		if wc.Status != rdma.IBV_WC_SUCCESS {
			log.Fatal(rdma.WCStatusName(wc.Status))
		}
		fmt.Println(rdma.WCOpcodeName(wc.Opcode))
		if wc.Opcode == rdma.IBV_WC_RECV {
			fmt.Printf("%s came back\n", data.Bytes()[64:][:wc.ByteLen])
		}
	}

	must(rdma.IbvDestroyQp(qp))
	must(rdma.IbvDeregMr(mr))
	must(rdma.IbvDestroyCq(cq))
	must(rdma.IbvDeallocPd(pd))
	must(rdma.IbvCloseDevice(context))
	must(0, data.Unmap())
	must(0, room.Unmap())
	// Output:
	// SEND
	// RECV
	// hello came back
}

// connect takes a UC queue pair from RESET to RTS. Both ends do this; each takes the
// other's numbers.
func connect(qp rdma.RDMAQP, far sim.Endpoint) {
	const psn = 7 // of the first packet that this end sends
	must(rdma.IbvModifyQpAttr(qp, &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_INIT, PortNum: 1},
		rdma.IBV_QP_STATE|rdma.IBV_QP_PKEY_INDEX|rdma.IBV_QP_PORT|rdma.IBV_QP_ACCESS_FLAGS))
	must(rdma.IbvModifyQpAttr(qp, &rdma.IbvQPAttr{
		QPState: rdma.IBV_QPS_RTR, DestQPNum: far.QPN, RQPSN: far.PSN, PathMTU: rdma.MTUEnum(far.ActiveMTU.Bytes()),
		AHAttr: rdma.IbvAHAttr{
			IsGlobal: 1, PortNum: 1, // RoCE and Thunderbolt are addressed by GID
			GRH: rdma.IbvGlobalRoute{DGID: rdma.IbvGID(far.GIDs[0].GID), SGIDIndex: 0, HopLimit: 64},
		},
	}, rdma.IBV_QP_STATE|rdma.IBV_QP_AV|rdma.IBV_QP_PATH_MTU|rdma.IBV_QP_DEST_QPN|rdma.IBV_QP_RQ_PSN))
	must(rdma.IbvModifyQpAttr(qp, &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_RTS, SQPSN: psn}, rdma.IBV_QP_STATE|rdma.IBV_QP_SQ_PSN))
}

// must is what a call gave; a failure ends the program.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
