//go:build (darwin || linux) && (amd64 || arm64)

package sim

// Values of infiniband/verbs.h that the simulator acts on.
const (
	portActive = 4

	layerEthernet  = 2
	transportIWARP = 1

	opWrite       = 0
	opSend        = 2
	opSendWithImm = 3

	sendSignaled  = 2
	sendSolicited = 4
	sendInline    = 8

	accessLocalWrite   = 1
	accessRemoteWrite  = 2
	accessRemoteRead   = 4
	accessRemoteAtomic = 8
	accessRemote       = accessRemoteWrite | accessRemoteRead | accessRemoteAtomic

	wcWithImm = 2 // a completion's flag
)

// Completion statuses, enum ibv_wc_status.
const (
	wcSuccess     = 0
	wcLocLen      = 1
	wcLocProt     = 4
	wcFlush       = 5
	wcRemInvReq   = 9
	wcRemAccess   = 10
	wcRemOp       = 11
	wcRetryExc    = 12
	wcRNRRetryExc = 13
)
