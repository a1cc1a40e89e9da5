package rdma

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

// verbRow is what the package knows about one verb before it calls it.
type verbRow struct {
	name     string
	fails    convention
	required bool // the probes need it
	inline   bool // not a symbol: called through struct ibv_context_ops
}

// verbTable is the one place that says how each verb fails.
var verbTable = [verbCount]verbRow{
	verbGetDeviceList:      {name: "ibv_get_device_list", fails: failsNull, required: true},
	verbFreeDeviceList:     {name: "ibv_free_device_list", fails: failsNever, required: true},
	verbGetDeviceName:      {name: "ibv_get_device_name", fails: failsNull, required: true},
	verbOpenDevice:         {name: "ibv_open_device", fails: failsNull, required: true},
	verbCloseDevice:        {name: "ibv_close_device", fails: failsMinusOne, required: true},
	verbQueryDevice:        {name: "ibv_query_device", fails: failsErrno, required: true},
	verbQueryPort:          {name: "ibv_query_port", fails: failsErrno, required: true},
	verbQueryGID:           {name: "ibv_query_gid", fails: failsMinusOne, required: true},
	verbAllocPD:            {name: "ibv_alloc_pd", fails: failsNull, required: true},
	verbDeallocPD:          {name: "ibv_dealloc_pd", fails: failsErrno, required: true},
	verbRegMR:              {name: "ibv_reg_mr", fails: failsNull, required: true},
	verbDeregMR:            {name: "ibv_dereg_mr", fails: failsErrno, required: true},
	verbCreateCQ:           {name: "ibv_create_cq", fails: failsNull, required: true},
	verbDestroyCQ:          {name: "ibv_destroy_cq", fails: failsErrno, required: true},
	verbCreateQP:           {name: "ibv_create_qp", fails: failsNull, required: true},
	verbModifyQP:           {name: "ibv_modify_qp", fails: failsErrno, required: true},
	verbQueryQP:            {name: "ibv_query_qp", fails: failsErrno, required: true},
	verbDestroyQP:          {name: "ibv_destroy_qp", fails: failsErrno, required: true},
	verbGetDeviceGUID:      {name: "ibv_get_device_guid", fails: failsNever},
	verbQueryGIDEx:         {name: "_ibv_query_gid_ex", fails: failsErrno},
	verbCreateCompChannel:  {name: "ibv_create_comp_channel", fails: failsNull},
	verbDestroyCompChannel: {name: "ibv_destroy_comp_channel", fails: failsErrno},
	verbGetCQEvent:         {name: "ibv_get_cq_event", fails: failsMinusOne},
	verbAckCQEvents:        {name: "ibv_ack_cq_events", fails: failsNever},
	verbPollCQ:             {name: "ibv_poll_cq", fails: failsNegative, inline: true},
	verbReqNotifyCQ:        {name: "ibv_req_notify_cq", fails: failsErrno, inline: true},
	verbPostSend:           {name: "ibv_post_send", fails: failsErrno, inline: true},
	verbPostRecv:           {name: "ibv_post_recv", fails: failsErrno, inline: true},
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
