package sim

// Values of infiniband/verbs.h that profiles name. Like the rest here they are
// written down and not taken from package rdma, so that the two check each other.
const (
	qptRC = 2
	qptUC = 3
	qptUD = 4

	qpsReset = 0
	qpsInit  = 1
	qpsRTR   = 2
	qpsRTS   = 3
	qpsSQD   = 4
	qpsSQE   = 5
	qpsErr   = 6

	physDown   = 2 // polling
	physLinkUp = 5

	transportThunderbolt = 100 // Apple's addition

	opRecv = 128 // of a completion
)

// verb indexes verbRows.
type verb uint8

const (
	verbGetDeviceList verb = iota
	verbFreeDeviceList
	verbGetDeviceName
	verbGetDeviceGUID
	verbOpenDevice
	verbCloseDevice
	verbQueryDevice
	verbQueryPort
	verbQueryGID
	verbQueryGIDEx
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

// convention is how a verb reports that it failed.
type convention uint8

const (
	failsNull     convention = iota // NULL and errno
	failsErrno                      // returns the errno value
	failsMinusOne                   // returns -1 and sets errno
	failsNegative                   // returns the negative errno value
	failsNever                      // void, or any value is an answer
)

// verbRow is what a profile may say about a verb.
type verbRow struct {
	name   string
	fails  convention
	inline bool       // an entry of struct ibv_context_ops, not a symbol
	set    fieldTable // what a rule's set may name
}

var verbRows = [verbCount]verbRow{
	verbGetDeviceList:      {name: "ibv_get_device_list", fails: failsNull, set: listFields},
	verbFreeDeviceList:     {name: "ibv_free_device_list", fails: failsNever},
	verbGetDeviceName:      {name: "ibv_get_device_name", fails: failsNull},
	verbGetDeviceGUID:      {name: "ibv_get_device_guid", fails: failsNever},
	verbOpenDevice:         {name: "ibv_open_device", fails: failsNull},
	verbCloseDevice:        {name: "ibv_close_device", fails: failsMinusOne},
	verbQueryDevice:        {name: "ibv_query_device", fails: failsErrno, set: deviceFields},
	verbQueryPort:          {name: "ibv_query_port", fails: failsErrno, set: portFields},
	verbQueryGID:           {name: "ibv_query_gid", fails: failsMinusOne, set: gidFields},
	verbQueryGIDEx:         {name: "_ibv_query_gid_ex", fails: failsErrno, set: gidEntryFields},
	verbAllocPD:            {name: "ibv_alloc_pd", fails: failsNull},
	verbDeallocPD:          {name: "ibv_dealloc_pd", fails: failsErrno},
	verbRegMR:              {name: "ibv_reg_mr", fails: failsNull},
	verbDeregMR:            {name: "ibv_dereg_mr", fails: failsErrno},
	verbCreateCQ:           {name: "ibv_create_cq", fails: failsNull, set: cqFields},
	verbDestroyCQ:          {name: "ibv_destroy_cq", fails: failsErrno},
	verbCreateQP:           {name: "ibv_create_qp", fails: failsNull, set: capFields},
	verbModifyQP:           {name: "ibv_modify_qp", fails: failsErrno},
	verbQueryQP:            {name: "ibv_query_qp", fails: failsErrno, set: capFields},
	verbDestroyQP:          {name: "ibv_destroy_qp", fails: failsErrno},
	verbCreateCompChannel:  {name: "ibv_create_comp_channel", fails: failsNull},
	verbDestroyCompChannel: {name: "ibv_destroy_comp_channel", fails: failsErrno},
	verbGetCQEvent:         {name: "ibv_get_cq_event", fails: failsMinusOne},
	verbAckCQEvents:        {name: "ibv_ack_cq_events", fails: failsNever},
	verbPollCQ:             {name: "ibv_poll_cq", fails: failsNegative, inline: true},
	verbReqNotifyCQ:        {name: "ibv_req_notify_cq", fails: failsErrno, inline: true},
	verbPostSend:           {name: "ibv_post_send", fails: failsErrno, inline: true},
	verbPostRecv:           {name: "ibv_post_recv", fails: failsErrno, inline: true},
}

// verbNames lists all verbs for messages.
func verbNames() []string {
	names := make([]string, verbCount)
	for v, row := range verbRows {
		names[v] = row.name
	}
	return names
}

// verbOf finds a verb by its C name.
func verbOf(name string) (verb, bool) {
	for v, row := range verbRows {
		if row.name == name {
			return verb(v), true
		}
	}
	return 0, false
}
