//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"sync"

	"github.com/ebitengine/purego"

	"rdmaprobe/rdma/internal/abi"
)

// callbackTable is what C can call of the simulator.
type callbackTable struct {
	symbols       map[string]uintptr
	ops           map[verb]uintptr // the inline verbs
	errnoLocation uintptr
}

var (
	registerOnce sync.Once
	registered   *callbackTable
)

// callbacks are registered at the first use, once for the process.
func callbacks() *callbackTable {
	registerOnce.Do(func() { registered = register() })
	return registered
}

// register makes the functions callable from C.
//
// Parameters are typed pointers into mapped memory, or the caller's: go vet and
// checkptr accept those, and not a uintptr made into one.
func register() *callbackTable {
	t := &callbackTable{symbols: map[string]uintptr{}, ops: map[verb]uintptr{}, errnoLocation: purego.NewCallback(errnoLocation)}
	for v, f := range map[verb]any{
		verbFreeDeviceList:     freeDeviceList,
		verbGetDeviceName:      getDeviceName,
		verbGetDeviceGUID:      getDeviceGUID,
		verbOpenDevice:         openDevice,
		verbCloseDevice:        closeDevice,
		verbQueryDevice:        queryDevice,
		verbQueryPort:          queryPort,
		verbQueryGID:           queryGID,
		verbQueryGIDEx:         queryGIDEx,
		verbAllocPD:            allocPD,
		verbDeallocPD:          deallocPD,
		verbRegMR:              regMR,
		verbDeregMR:            deregMR,
		verbCreateCQ:           createCQ,
		verbDestroyCQ:          destroyCQ,
		verbCreateQP:           createQP,
		verbModifyQP:           modifyQP,
		verbQueryQP:            queryQP,
		verbDestroyQP:          destroyQP,
		verbCreateCompChannel:  createCompChannel,
		verbDestroyCompChannel: destroyCompChannel,
		verbGetCQEvent:         getCQEvent,
		verbAckCQEvents:        ackCQEvents,
		verbPollCQ:             pollCQ,
		verbReqNotifyCQ:        reqNotifyCQ,
		verbPostSend:           postSend,
		verbPostRecv:           postRecv,
	} {
		address := purego.NewCallback(f)
		if verbRows[v].inline {
			t.ops[v] = address
		} else {
			t.symbols[verbRows[v].name] = address
		}
	}
	return t
}

// opsIndex is where struct ibv_context_ops holds the inline verbs.
var opsIndex = map[verb]int{
	verbPollCQ: abi.OpPollCQ, verbReqNotifyCQ: abi.OpReqNotifyCQ, verbPostSend: abi.OpPostSend, verbPostRecv: abi.OpPostRecv,
}
