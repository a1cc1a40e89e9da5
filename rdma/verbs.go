package rdma

import "rdmaprobe/rdma/internal/abi"

// verb indexes verbTable.
type verb uint8

const (
	verbGetDeviceList verb = iota
	verbFreeDeviceList
	verbGetDeviceName
	verbOpenDevice
	verbCloseDevice
	verbQueryDevice
	verbQueryPort
	verbQueryGID
	verbAllocPD
	verbDeallocPD
	verbRegMR
	verbDeregMR
	verbCreateCQ
	verbDestroyCQ
	verbCreateQP
	verbModifyQP
	verbQueryQP
	verbDestroyQP
	verbGetDeviceGUID
	verbQueryGIDEx
	verbCreateCompChannel
	verbDestroyCompChannel
	verbGetCQEvent
	verbAckCQEvents
	verbPollCQ
	verbReqNotifyCQ
	verbPostSend
	verbPostRecv
	verbCount
)

// convention is how a verb reports that it failed. man pages of rdma-core; the
// negative forms are Apple's, from public reports (-12, -14, -102).
type convention uint8

const (
	failsNull     convention = iota // NULL and errno
	failsErrno                      // returns the errno value; some providers -1 and errno, or the negative value
	failsMinusOne                   // returns -1 and sets errno; some providers the negative value
	failsNegative                   // below zero; from -2 on the negative errno value. Zero and above is a count
	failsNever                      // void, or any value is an answer
)

// subject is what a verb's first argument is. Except for noSubject it must not
// be nil.
type subject uint8

const (
	noSubject subject = iota
	onList
	onDevice
	onContext
	onPD // from here on an object that begins with a pointer to its context
	onMR
	onCQ
	onQP
	onChannel
)

var subjectNames = [...]string{
	onList: "device list", onDevice: "device", onContext: "context", onPD: "protection domain",
	onMR: "memory region", onCQ: "completion queue", onQP: "queue pair", onChannel: "completion channel",
}

// verbRow is what the package knows about one verb before it calls it.
type verbRow struct {
	name     string
	on       subject
	fails    convention
	result   string // what a pointer result is, in words
	required bool   // devices cannot be listed without it
	frees    bool   // it ends the object that it is given
	event    bool   // it is of the data path, though a symbol
	op       int    // not a symbol: entry of struct ibv_context_ops, abi.Op*
}

// inline says that verbs.h calls the verb through the ops table.
func (r verbRow) inline() bool { return r.op != 0 }

// verbTable is the one place that says how each verb fails.
var verbTable = [verbCount]verbRow{
	verbGetDeviceList:      {name: "ibv_get_device_list", fails: failsNull, result: "device list", required: true},
	verbFreeDeviceList:     {name: "ibv_free_device_list", on: onList, fails: failsNever, required: true},
	verbGetDeviceName:      {name: "ibv_get_device_name", on: onDevice, fails: failsNull, result: "device name", required: true},
	verbOpenDevice:         {name: "ibv_open_device", on: onDevice, fails: failsNull, result: "context"},
	verbCloseDevice:        {name: "ibv_close_device", on: onContext, fails: failsMinusOne},
	verbQueryDevice:        {name: "ibv_query_device", on: onContext, fails: failsErrno},
	verbQueryPort:          {name: "ibv_query_port", on: onContext, fails: failsErrno},
	verbQueryGID:           {name: "ibv_query_gid", on: onContext, fails: failsMinusOne},
	verbAllocPD:            {name: "ibv_alloc_pd", on: onContext, fails: failsNull, result: "protection domain"},
	verbDeallocPD:          {name: "ibv_dealloc_pd", on: onPD, fails: failsErrno, frees: true},
	verbRegMR:              {name: "ibv_reg_mr", on: onPD, fails: failsNull, result: "memory region"},
	verbDeregMR:            {name: "ibv_dereg_mr", on: onMR, fails: failsErrno, frees: true},
	verbCreateCQ:           {name: "ibv_create_cq", on: onContext, fails: failsNull, result: "completion queue"},
	verbDestroyCQ:          {name: "ibv_destroy_cq", on: onCQ, fails: failsErrno, frees: true},
	verbCreateQP:           {name: "ibv_create_qp", on: onPD, fails: failsNull, result: "queue pair"},
	verbModifyQP:           {name: "ibv_modify_qp", on: onQP, fails: failsErrno},
	verbQueryQP:            {name: "ibv_query_qp", on: onQP, fails: failsErrno},
	verbDestroyQP:          {name: "ibv_destroy_qp", on: onQP, fails: failsErrno, frees: true},
	verbGetDeviceGUID:      {name: "ibv_get_device_guid", on: onDevice, fails: failsNever},
	verbQueryGIDEx:         {name: "_ibv_query_gid_ex", on: onContext, fails: failsErrno},
	verbCreateCompChannel:  {name: "ibv_create_comp_channel", on: onContext, fails: failsNull, result: "completion channel"},
	verbDestroyCompChannel: {name: "ibv_destroy_comp_channel", on: onChannel, fails: failsErrno, frees: true},
	verbGetCQEvent:         {name: "ibv_get_cq_event", on: onChannel, fails: failsMinusOne, event: true},
	verbAckCQEvents:        {name: "ibv_ack_cq_events", on: onCQ, fails: failsNever, event: true},
	verbPollCQ:             {name: "ibv_poll_cq", on: onCQ, fails: failsNegative, op: abi.OpPollCQ},
	verbReqNotifyCQ:        {name: "ibv_req_notify_cq", on: onCQ, fails: failsErrno, op: abi.OpReqNotifyCQ},
	verbPostSend:           {name: "ibv_post_send", on: onQP, fails: failsErrno, op: abi.OpPostSend},
	verbPostRecv:           {name: "ibv_post_recv", on: onQP, fails: failsErrno, op: abi.OpPostRecv},
}

// String is the C name.
func (v verb) String() string { return verbTable[v].name }

// Verbs lists every verb the package calls, in the order that CallMark counts
// them: the exported symbols, then the four that verbs.h calls inline.
func Verbs() []string {
	names := make([]string, verbCount)
	for v, row := range verbTable {
		names[v] = row.name
	}
	return names
}

// RequiredSymbols lists the exported symbols without which devices cannot be
// listed. Each other one of Library.Symbols is only missed by what calls it: nobody
// has published the list of Apple's, and a Mac without ibv_query_qp carries data all
// the same.
func RequiredSymbols() []string {
	var names []string
	for _, row := range verbTable {
		if row.required {
			names = append(names, row.name)
		}
	}
	return names
}
