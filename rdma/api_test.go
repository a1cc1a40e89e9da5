// The whole reference API, checked by the compiler: names, types, values, struct
// fields and sizes, one declaration a line. It holds when this file compiles.
package rdma_test

import (
	"errors"
	"unsafe"

	. "rdmaprobe/rdma"
)

var (
	// constants
	_ = [1]struct{}{}[IBV_WC_LOC_PROT_ERR-4]
	_ = [1]struct{}{}[IBV_WC_LOC_ACCESS_ERR-8]
	_ = [1]struct{}{}[IBV_WC_REM_ACCESS_ERR-10]
	_ = [1]struct{}{}[IBV_ACCESS_LOCAL_WRITE-1]
	_ = [1]struct{}{}[IBV_ACCESS_REMOTE_WRITE-2]
	_ = [1]struct{}{}[IBV_ACCESS_REMOTE_READ-4]
	_ = [1]struct{}{}[IBV_QPT_UC-3]
	_ = [1]struct{}{}[IBV_QPS_RESET-0]
	_ = [1]struct{}{}[IBV_QPS_INIT-1]
	_ = [1]struct{}{}[IBV_QPS_RTR-2]
	_ = [1]struct{}{}[IBV_QPS_RTS-3]
	_ = [1]struct{}{}[IBV_QPS_ERR-6]
	_ = [1]struct{}{}[IBV_QP_STATE-1]
	_ = [1]struct{}{}[IBV_QP_ACCESS_FLAGS-8]
	_ = [1]struct{}{}[IBV_QP_PKEY_INDEX-16]
	_ = [1]struct{}{}[IBV_QP_PORT-32]
	_ = [1]struct{}{}[IBV_QP_AV-128]
	_ = [1]struct{}{}[IBV_QP_PATH_MTU-256]
	_ = [1]struct{}{}[IBV_QP_RQ_PSN-4096]
	_ = [1]struct{}{}[IBV_QP_SQ_PSN-65536]
	_ = [1]struct{}{}[IBV_QP_DEST_QPN-1048576]
	_ = [1]struct{}{}[IBV_MTU_1024-3]
	_ = [1]struct{}{}[IBV_MTU_4096-5]
	_ = [1]struct{}{}[IBV_PORT_NOP-0]
	_ = [1]struct{}{}[IBV_PORT_DOWN-1]
	_ = [1]struct{}{}[IBV_PORT_INIT-2]
	_ = [1]struct{}{}[IBV_PORT_ARMED-3]
	_ = [1]struct{}{}[IBV_PORT_ACTIVE-4]
	_ = [1]struct{}{}[IBV_PORT_ACTIVE_DEFER-5]
	_ = [1]struct{}{}[IBV_LINK_LAYER_UNSPECIFIED-0]
	_ = [1]struct{}{}[IBV_LINK_LAYER_INFINIBAND-1]
	_ = [1]struct{}{}[IBV_LINK_LAYER_ETHERNET-2]
	_ = [1]struct{}{}[IBV_LINK_LAYER_THUNDERBOLT-100]
	_ = [1]struct{}{}[IBV_WR_RDMA_WRITE-0]
	_ = [1]struct{}{}[IBV_WR_SEND-2]
	_ = [1]struct{}{}[IBV_SEND_SIGNALED-2]
	_ = [1]struct{}{}[IBV_WC_SUCCESS-0]
	_ = map[bool]int{false: 0, CapabilityUnknown == Capability("unknown"): 1}
	_ = map[bool]int{false: 0, CapabilityConfirmed == Capability("confirmed"): 1}
	_ = map[bool]int{false: 0, CapabilityRejected == Capability("rejected"): 1}
	_ = map[bool]int{false: 0, CapabilityObservedZero == Capability("observed_zero"): 1}
	_ = map[bool]int{false: 0, CompletionSuccess == CompletionStatusClass("success"): 1}
	_ = map[bool]int{false: 0, CompletionProtection == CompletionStatusClass("protection error"): 1}
	_ = map[bool]int{false: 0, CompletionFailure == CompletionStatusClass("failure"): 1}
	_ = map[bool]int{false: 0, FailureNoDevice == FailureClass("no_device"): 1}
	_ = map[bool]int{false: 0, FailureSymbolUnavailable == FailureClass("symbol_unavailable"): 1}
	_ = map[bool]int{false: 0, FailureNilInput == FailureClass("nil_input"): 1}
	_ = map[bool]int{false: 0, FailureNilProviderResult == FailureClass("nil_provider_result"): 1}
	_ = map[bool]int{false: 0, FailureNegativeProviderReturn == FailureClass("negative_provider_return"): 1}
	_ = map[bool]int{false: 0, FailureProviderStatus == FailureClass("provider_status"): 1}
	_ = map[bool]int{false: 0, FailureProviderTimeout == FailureClass("provider_timeout"): 1}
	_ = map[bool]int{false: 0, FailureUnsupportedOperation == FailureClass("unsupported_operation"): 1}
	_ = [1]struct{}{}[IBV_QPT_RCExperimental-2]

	// functions and methods
	_ func() bool                                                                                              = Available
	_ func(errno int) string                                                                                   = ErrnoName
	_ func(errno int) string                                                                                   = ErrnoText
	_ func(cq RDMACQ, nevents uint32) error                                                                    = IbvAckCqEvents
	_ func(context RDMAContext) (int, error)                                                                   = IbvCloseDevice
	_ func(channel RDMACompChannel) int                                                                        = IbvCompChannelFD
	_ func(pd RDMAPD) (int, error)                                                                             = IbvDeallocPd
	_ func(mr RDMAMR) (int, error)                                                                             = IbvDeregMr
	_ func(channel RDMACompChannel) (int, error)                                                               = IbvDestroyCompChannel
	_ func(cq RDMACQ) (int, error)                                                                             = IbvDestroyCq
	_ func(qp RDMAQP) (int, error)                                                                             = IbvDestroyQp
	_ func(list RDMADeviceList) error                                                                          = IbvFreeDeviceList
	_ func(channel RDMACompChannel, cq *RDMACQ, cqContext *uintptr) (int, error)                               = IbvGetCqEvent
	_ func(device RDMADevice) (uintptr, error)                                                                 = IbvGetDeviceName
	_ func(qp RDMAQP, attr uintptr, attr_mask int) (int, error)                                                = IbvModifyQp
	_ func(qp RDMAQP, attr *IbvQPAttr, attrMask int) (int, error)                                              = IbvModifyQpAttr
	_ func(qp RDMAQP) error                                                                                    = IbvModifyQpToErr
	_ func(context RDMAContext, device_attr uintptr) (int, error)                                              = IbvQueryDevice
	_ func(context RDMAContext, buf []byte) (int, error)                                                       = IbvQueryDeviceBytes
	_ func(context RDMAContext, port_num uint8, index int, gid uintptr) (int, error)                           = IbvQueryGid
	_ func(context RDMAContext, portNum uint8, index int, gid *IbvGID) (int, error)                            = IbvQueryGidInto
	_ func(context RDMAContext, port_num uint8, port_attr uintptr) (int, error)                                = IbvQueryPort
	_ func(context RDMAContext, portNum uint8, attr *IbvPortAttr) (int, error)                                 = IbvQueryPortAttr
	_ func(cq RDMACQ, solicitedOnly int) (int, error)                                                          = IbvReqNotifyCq
	_ func(mr RDMAMR) uint32                                                                                   = Ibv_mr_lkey
	_ func(mr RDMAMR) uint32                                                                                   = Ibv_mr_rkey
	_ func(cq RDMACQ, numEntries int, wc *IbvWC) (int, error)                                                  = Ibv_poll_cq
	_ func(qp RDMAQP, wr *IbvRecvWR, badWR **IbvRecvWR) (int, error)                                           = Ibv_post_recv
	_ func(qp RDMAQP, wr *IbvSendWR, badWR **IbvSendWR) (int, error)                                           = Ibv_post_send
	_ func(qp RDMAQP) uint32                                                                                   = Ibv_qp_num
	_ func(errno int) bool                                                                                     = IsUnsupportedErrno
	_ func(qp RDMAQP, attr *IbvQPAttr, attrMask int, rc int, err error) error                                  = NewModifyQPError
	_ func(mask int) []string                                                                                  = QPAttrMaskNames
	_ func(state int32) string                                                                                 = QPStateName
	_ func() Capabilities                                                                                      = AppleThunderboltCapabilities
	_ func(status int32) CompletionStatusClass                                                                 = ClassifyCompletionStatus
	_ func() ([]Device, error)                                                                                 = Devices
	_ func(Device) (RDMAContext, error)                                                                        = Device.Open
	_ func() (*DeviceList, error)                                                                              = OpenDeviceList
	_ func(*DeviceList) error                                                                                  = (*DeviceList).Close
	_ func(*DeviceList) []Device                                                                               = (*DeviceList).Devices
	_ func(cq RDMACQ) (IbvCQPoller, error)                                                                     = NewIbvCQPoller
	_ func(IbvCQPoller, int, *IbvWC) int                                                                       = IbvCQPoller.Poll
	_ func(qp RDMAQP) (IbvQPPoster, error)                                                                     = NewIbvQPPoster
	_ func(IbvQPPoster, *IbvRecvWR, **IbvRecvWR) int                                                           = IbvQPPoster.PostRecv
	_ func(IbvQPPoster, *IbvSendWR, **IbvSendWR) int                                                           = IbvQPPoster.PostSend
	_ func(*ModifyQPError) string                                                                              = (*ModifyQPError).Error
	_ func(*ModifyQPError) error                                                                               = (*ModifyQPError).Unwrap
	_ func(*ProviderError) string                                                                              = (*ProviderError).Error
	_ func(*ProviderError, error) bool                                                                         = (*ProviderError).Is
	_ func(*ProviderError) error                                                                               = (*ProviderError).Unwrap
	_ func(context RDMAContext, cqe int, cq_context uintptr, channel uintptr, comp_vector int) (RDMACQ, error) = IbvCreateCq
	_ func(cq RDMACQ) RDMACompChannel                                                                          = IbvCQChannel
	_ func(context RDMAContext) (RDMACompChannel, error)                                                       = IbvCreateCompChannel
	_ func(device RDMADevice) (RDMAContext, error)                                                             = IbvOpenDevice
	_ func(num_devices uintptr) (RDMADeviceList, error)                                                        = IbvGetDeviceList
	_ func(pd RDMAPD, addr uintptr, length uintptr, access int) (RDMAMR, error)                                = IbvRegMr
	_ func(context RDMAContext) (RDMAPD, error)                                                                = IbvAllocPd
	_ func(pd RDMAPD, qp_init_attr uintptr) (RDMAQP, error)                                                    = IbvCreateQp
	_ func(pd RDMAPD, attr *IbvQPInitAttr) (RDMAQP, error)                                                     = IbvCreateQpAttr

	// types
	_                 = Capability("")
	_                 = CompletionStatusClass("")
	_                 = FailureClass("")
	_                 = IbvGID([16]byte{})
	_ RDMACQ          = uintptr(0)
	_ RDMACompChannel = uintptr(0)
	_ RDMAContext     = uintptr(0)
	_ RDMADevice      = uintptr(0)
	_ RDMADeviceList  = uintptr(0)
	_ RDMAMR          = uintptr(0)
	_ RDMAPD          = uintptr(0)
	_ RDMAQP          = uintptr(0)

	// error values
	_ error = ErrNoDevice
	_ error = ErrSymbolUnavailable
	_ error = ErrNilInput
	_ error = ErrNilProviderResult
	_ error = ErrNegativeProviderReturn
	_ error = ErrProviderStatus
	_ error = ErrProviderTimeout
	_ error = ErrUnsupportedOperation
	_ error = ErrRDMAReadUnavailable
	_       = errors.Is(ErrRDMAReadUnavailable, ErrUnsupportedOperation)
)

func _() {
	var vCapabilities Capabilities
	var _ *Capability = &vCapabilities.QueuePairUC
	var _ *Capability = &vCapabilities.SendRecv
	var _ *Capability = &vCapabilities.QueuePairRC
	var _ *Capability = &vCapabilities.RDMARead
	var _ *Capability = &vCapabilities.RDMAWrite
	var _ *Capability = &vCapabilities.RemoteKey
	var vDevice Device
	var _ *RDMADevice = &vDevice.Handle
	var _ *string = &vDevice.Name
	var vDeviceList DeviceList
	_ = vDeviceList
	var vIbvAHAttr IbvAHAttr
	var _ *IbvGlobalRoute = &vIbvAHAttr.GRH
	var _ *uint16 = &vIbvAHAttr.DLID
	var _ *uint8 = &vIbvAHAttr.SL
	var _ *uint8 = &vIbvAHAttr.SrcPathBits
	var _ *uint8 = &vIbvAHAttr.StaticRate
	var _ *uint8 = &vIbvAHAttr.IsGlobal
	var _ *uint8 = &vIbvAHAttr.PortNum
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvAHAttr)-32]
	var vIbvCQPoller IbvCQPoller
	_ = vIbvCQPoller
	var vIbvGlobalRoute IbvGlobalRoute
	var _ *IbvGID = &vIbvGlobalRoute.DGID
	var _ *uint32 = &vIbvGlobalRoute.FlowLabel
	var _ *uint8 = &vIbvGlobalRoute.SGIDIndex
	var _ *uint8 = &vIbvGlobalRoute.HopLimit
	var _ *uint8 = &vIbvGlobalRoute.TrafficClass
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvGlobalRoute)-24]
	var vIbvPortAttr IbvPortAttr
	var _ *int32 = &vIbvPortAttr.State
	var _ *int32 = &vIbvPortAttr.MaxMTU
	var _ *int32 = &vIbvPortAttr.ActiveMTU
	var _ *uint32 = &vIbvPortAttr.GIDTblLen
	var _ *uint32 = &vIbvPortAttr.PortCapFlags
	var _ *uint32 = &vIbvPortAttr.MaxMsgSz
	var _ *uint32 = &vIbvPortAttr.BadPKeyCntr
	var _ *uint32 = &vIbvPortAttr.QKeyViolCntr
	var _ *uint16 = &vIbvPortAttr.PKeyTblLen
	var _ *uint16 = &vIbvPortAttr.LID
	var _ *uint16 = &vIbvPortAttr.SMLID
	var _ *uint8 = &vIbvPortAttr.LMC
	var _ *uint8 = &vIbvPortAttr.MaxVLNum
	var _ *uint8 = &vIbvPortAttr.SMSL
	var _ *uint8 = &vIbvPortAttr.SubnetTimeout
	var _ *uint8 = &vIbvPortAttr.InitTypeReply
	var _ *uint8 = &vIbvPortAttr.ActiveWidth
	var _ *uint8 = &vIbvPortAttr.ActiveSpeed
	var _ *uint8 = &vIbvPortAttr.PhysState
	var _ *uint8 = &vIbvPortAttr.LinkLayer
	var _ *uint8 = &vIbvPortAttr.Flags
	var _ *uint16 = &vIbvPortAttr.PortCapFlags2
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvPortAttr)-52]
	var vIbvQPAttr IbvQPAttr
	var _ *int32 = &vIbvQPAttr.QPState
	var _ *int32 = &vIbvQPAttr.CurQPState
	var _ *int32 = &vIbvQPAttr.PathMTU
	var _ *int32 = &vIbvQPAttr.PathMigState
	var _ *uint32 = &vIbvQPAttr.QKey
	var _ *uint32 = &vIbvQPAttr.RQPSN
	var _ *uint32 = &vIbvQPAttr.SQPSN
	var _ *uint32 = &vIbvQPAttr.DestQPNum
	var _ *int32 = &vIbvQPAttr.QPAccessFlags
	var _ *IbvQPCap = &vIbvQPAttr.Cap
	var _ *IbvAHAttr = &vIbvQPAttr.AHAttr
	var _ *IbvAHAttr = &vIbvQPAttr.AltAHAttr
	var _ *uint16 = &vIbvQPAttr.PKeyIndex
	var _ *uint16 = &vIbvQPAttr.AltPKeyIndex
	var _ *uint8 = &vIbvQPAttr.EnSQDAsyncNotify
	var _ *uint8 = &vIbvQPAttr.SQDraining
	var _ *uint8 = &vIbvQPAttr.MaxRDAtomic
	var _ *uint8 = &vIbvQPAttr.MaxDestRDAtomic
	var _ *uint8 = &vIbvQPAttr.MinRNRTimer
	var _ *uint8 = &vIbvQPAttr.PortNum
	var _ *uint8 = &vIbvQPAttr.Timeout
	var _ *uint8 = &vIbvQPAttr.RetryCnt
	var _ *uint8 = &vIbvQPAttr.RNRetry
	var _ *uint8 = &vIbvQPAttr.AltPortNum
	var _ *uint8 = &vIbvQPAttr.AltTimeout
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvQPAttr)-144]
	var vIbvQPCap IbvQPCap
	var _ *uint32 = &vIbvQPCap.MaxSendWR
	var _ *uint32 = &vIbvQPCap.MaxRecvWR
	var _ *uint32 = &vIbvQPCap.MaxSendSGE
	var _ *uint32 = &vIbvQPCap.MaxRecvSGE
	var _ *uint32 = &vIbvQPCap.MaxInlineData
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvQPCap)-20]
	var vIbvQPInitAttr IbvQPInitAttr
	var _ *uintptr = &vIbvQPInitAttr.QPContext
	var _ *RDMACQ = &vIbvQPInitAttr.SendCQ
	var _ *RDMACQ = &vIbvQPInitAttr.RecvCQ
	var _ *uintptr = &vIbvQPInitAttr.SRQ
	var _ *IbvQPCap = &vIbvQPInitAttr.Cap
	var _ *int32 = &vIbvQPInitAttr.QPType
	var _ *int32 = &vIbvQPInitAttr.SQSigAll
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvQPInitAttr)-64]
	var vIbvQPPoster IbvQPPoster
	_ = vIbvQPPoster
	var vIbvRecvWR IbvRecvWR
	var _ *uint64 = &vIbvRecvWR.WRID
	var _ **IbvRecvWR = &vIbvRecvWR.Next
	var _ **IbvSGE = &vIbvRecvWR.SGList
	var _ *int32 = &vIbvRecvWR.NumSGE
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvRecvWR)-32]
	var vIbvSGE IbvSGE
	var _ *uint64 = &vIbvSGE.Addr
	var _ *uint32 = &vIbvSGE.Length
	var _ *uint32 = &vIbvSGE.LKey
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvSGE)-16]
	var vIbvSendWR IbvSendWR
	var _ *uint64 = &vIbvSendWR.WRID
	var _ **IbvSendWR = &vIbvSendWR.Next
	var _ **IbvSGE = &vIbvSendWR.SGList
	var _ *int32 = &vIbvSendWR.NumSGE
	var _ *int32 = &vIbvSendWR.Opcode
	var _ *int32 = &vIbvSendWR.SendFlags
	var _ *uint32 = &vIbvSendWR.ImmData
	var _ *[32]byte = &vIbvSendWR.WR
	var _ *[8]byte = &vIbvSendWR.QPType
	var _ *[48]byte = &vIbvSendWR.BindMW
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvSendWR)-128]
	var vIbvWC IbvWC
	var _ *uint64 = &vIbvWC.WRID
	var _ *int32 = &vIbvWC.Status
	var _ *int32 = &vIbvWC.Opcode
	var _ *uint32 = &vIbvWC.VendorErr
	var _ *uint32 = &vIbvWC.ByteLen
	var _ *uint32 = &vIbvWC.ImmData
	var _ *uint32 = &vIbvWC.QPNum
	var _ *uint32 = &vIbvWC.SrcQP
	var _ *int32 = &vIbvWC.WCFlags
	var _ *uint16 = &vIbvWC.PKeyIndex
	var _ *uint16 = &vIbvWC.SLID
	var _ *uint8 = &vIbvWC.SL
	var _ *uint8 = &vIbvWC.DLIDPathBits
	var _ *uint8 = &vIbvWC.PortNum
	_ = [1]struct{}{}[unsafe.Sizeof(vIbvWC)-48]
	var vModifyQPError ModifyQPError
	var _ *string = &vModifyQPError.Transition
	var _ *string = &vModifyQPError.Device
	var _ *uint32 = &vModifyQPError.QPN
	var _ *int = &vModifyQPError.Mask
	var _ *IbvQPAttr = &vModifyQPError.Attr
	var _ *int = &vModifyQPError.Return
	var _ *error = &vModifyQPError.Cause
	var _ error = &vModifyQPError
	var vProviderError ProviderError
	var _ *string = &vProviderError.Operation
	var _ *string = &vProviderError.Device
	var _ *RDMAContext = &vProviderError.Context
	var _ *bool = &vProviderError.ContextOpen
	var _ *FailureClass = &vProviderError.Failure
	var _ *string = &vProviderError.Input
	var _ *string = &vProviderError.Result
	var _ *int64 = &vProviderError.Return
	var _ *bool = &vProviderError.ReturnSet
	var _ *int = &vProviderError.Errno
	var _ *bool = &vProviderError.ErrnoSet
	var _ *error = &vProviderError.Cause
	var _ error = &vProviderError
}
