package rdma

import (
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// IbvCreateCq calls
//
//	struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
//		struct ibv_comp_channel *channel, int comp_vector);
//
// channel 0 makes a queue that is only polled.
func IbvCreateCq(context RDMAContext, cqe int, cq_context uintptr, channel uintptr, comp_vector int) (RDMACQ, error) {
	return ptrCall(verbCreateCQ, context, uintptr(cqe), cq_context, channel, uintptr(comp_vector))
}

// IbvDestroyCq calls
//
//	int ibv_destroy_cq(struct ibv_cq *cq);
//
// It waits until all events of the queue have been acknowledged.
func IbvDestroyCq(cq RDMACQ) (int, error) { return intCall(verbDestroyCQ, cq) }

// IbvCreateCompChannel calls
//
//	struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context);
//
// The symbol is optional; nobody has reported whether Apple's provider has it.
func IbvCreateCompChannel(context RDMAContext) (RDMACompChannel, error) {
	return ptrCall(verbCreateCompChannel, context)
}

// IbvDestroyCompChannel calls
//
//	int ibv_destroy_comp_channel(struct ibv_comp_channel *channel);
func IbvDestroyCompChannel(channel RDMACompChannel) (int, error) {
	return intCall(verbDestroyCompChannel, channel)
}

// IbvCompChannelFD reads the file descriptor that becomes readable when an event
// waits; -1 for a nil channel.
func IbvCompChannelFD(channel RDMACompChannel) int {
	if channel == 0 || !canCall {
		return -1
	}
	return int(abi.At[abi.CompChannel](channel).FD)
}

// IbvCQChannel reads the channel of a completion queue; 0 when it has none, or
// something that cannot be one.
func IbvCQChannel(cq RDMACQ) RDMACompChannel {
	if cq == 0 || !canCall {
		return 0
	}
	channel := *abi.At[uintptr](cq + unsafe.Offsetof(abi.CQ{}.Channel))
	if nowhere(channel) {
		return 0
	}
	return channel
}

// IbvGetCqEvent calls
//
//	int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context);
//
// It blocks inside the provider until an event comes, unless the descriptor is
// non-blocking. Each event must be acknowledged with IbvAckCqEvents. A queue that
// cannot be one is an error, and left in *cq.
func IbvGetCqEvent(channel RDMACompChannel, cq *RDMACQ, cqContext *uintptr) (int, error) {
	if cq == nil {
		return 0, nilInput(verbGetCQEvent, channel, "completion queue pointer")
	}
	if cqContext == nil {
		return 0, nilInput(verbGetCQEvent, channel, "completion queue context pointer")
	}
	r, err := intCall(verbGetCQEvent, channel, uintptr(unsafe.Pointer(cq)), uintptr(unsafe.Pointer(cqContext)))
	if err == nil && nowhere(*cq) {
		return r, invalidPointer(verbGetCQEvent, "completion queue", *cq)
	}
	return r, err
}

// IbvAckCqEvents calls
//
//	void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents);
func IbvAckCqEvents(cq RDMACQ, nevents uint32) error {
	return voidCall(verbAckCQEvents, cq, uintptr(nevents))
}
