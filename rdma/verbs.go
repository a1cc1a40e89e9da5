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
	onList: "device list", onDevice: "device", onContext: "context", onPD: "pd",
	onMR: "mr", onCQ: "cq", onQP: "qp", onChannel: "completion channel",
}

// verbRow is what the package knows about one verb before it calls it.
type verbRow struct {
	name     string
	on       subject
	fails    convention
	result   string // what a pointer result is, in words
	required bool   // the probes need it
	op       int    // not a symbol: entry of struct ibv_context_ops, abi.Op*
}

// inline says that verbs.h calls the verb through the ops table.
func (r verbRow) inline() bool { return r.op != 0 }

// verbTable is the one place that says how each verb fails.
var verbTable = [verbCount]verbRow{
	verbGetDeviceList:      {name: "ibv_get_device_list", fails: failsNull, result: "device list", required: true},
	verbFreeDeviceList:     {name: "ibv_free_device_list", on: onList, fails: failsNever, required: true},
	verbGetDeviceName:      {name: "ibv_get_device_name", on: onDevice, fails: failsNull, result: "name", required: true},
	verbOpenDevice:         {name: "ibv_open_device", on: onDevice, fails: failsNull, result: "context", required: true},
	verbCloseDevice:        {name: "ibv_close_device", on: onContext, fails: failsMinusOne, required: true},
	verbQueryDevice:        {name: "ibv_query_device", on: onContext, fails: failsErrno, required: true},
	verbQueryPort:          {name: "ibv_query_port", on: onContext, fails: failsErrno, required: true},
	verbQueryGID:           {name: "ibv_query_gid", on: onContext, fails: failsMinusOne, required: true},
	verbAllocPD:            {name: "ibv_alloc_pd", on: onContext, fails: failsNull, result: "pd", required: true},
	verbDeallocPD:          {name: "ibv_dealloc_pd", on: onPD, fails: failsErrno, required: true},
	verbRegMR:              {name: "ibv_reg_mr", on: onPD, fails: failsNull, result: "mr", required: true},
	verbDeregMR:            {name: "ibv_dereg_mr", on: onMR, fails: failsErrno, required: true},
	verbCreateCQ:           {name: "ibv_create_cq", on: onContext, fails: failsNull, result: "cq", required: true},
	verbDestroyCQ:          {name: "ibv_destroy_cq", on: onCQ, fails: failsErrno, required: true},
	verbCreateQP:           {name: "ibv_create_qp", on: onPD, fails: failsNull, result: "qp", required: true},
	verbModifyQP:           {name: "ibv_modify_qp", on: onQP, fails: failsErrno, required: true},
	verbQueryQP:            {name: "ibv_query_qp", on: onQP, fails: failsErrno, required: true},
	verbDestroyQP:          {name: "ibv_destroy_qp", on: onQP, fails: failsErrno, required: true},
	verbGetDeviceGUID:      {name: "ibv_get_device_guid", on: onDevice, fails: failsNever},
	verbQueryGIDEx:         {name: "_ibv_query_gid_ex", on: onContext, fails: failsErrno},
	verbCreateCompChannel:  {name: "ibv_create_comp_channel", on: onContext, fails: failsNull, result: "completion channel"},
	verbDestroyCompChannel: {name: "ibv_destroy_comp_channel", on: onChannel, fails: failsErrno},
	verbGetCQEvent:         {name: "ibv_get_cq_event", on: onChannel, fails: failsMinusOne},
	verbAckCQEvents:        {name: "ibv_ack_cq_events", on: onCQ, fails: failsNever},
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
// probed. The others that Library.Symbols lists are optional: completion
// channels, GID types, the GUID of an unopened device.
func RequiredSymbols() []string {
	var names []string
	for _, row := range verbTable {
		if row.required {
			names = append(names, row.name)
		}
	}
	return names
}
