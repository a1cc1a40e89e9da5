package rdma

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ModifyQPError describes a failed ibv_modify_qp with all that is needed to
// understand it: a transition fails for what it was asked.
type ModifyQPError struct {
	Transition string    // INIT->RTR; ->ERR for states that are entered from several
	Device     string    // the device's name, where known
	QPN        uint32    // queue pair number
	Mask       int       // attributes that counted, QPAttrMaskNames
	Attr       IbvQPAttr // as passed
	Return     int       // what the provider returned; 0 where it was not called
	Cause      error     // the *ProviderError, as a rule
}

// NewModifyQPError wraps what IbvModifyQpAttr returned: its int and its error. It
// is nil when both say success. qp, when not nil, must still exist.
func NewModifyQPError(qp RDMAQP, attr *IbvQPAttr, attrMask int, rc int, err error) error {
	if rc == 0 && err == nil {
		return nil
	}
	if p := (*ProviderError)(nil); errors.As(err, &p) && !p.ReturnSet {
		rc = 0 // nothing was called
	}
	context := contextOf(qp)
	e := &ModifyQPError{Device: contextDevice(context), QPN: Ibv_qp_num(qp), Mask: attrMask, Return: rc, Cause: err}
	if attr != nil {
		e.Attr, e.Transition = *attr, transition(attr.QPState)
	}
	if err == nil {
		class, errno := verbTable[verbModifyQP].fails.read(rc, 0)
		e.Cause = &ProviderError{
			Operation: verbModifyQP.String(), Device: e.Device, Context: context,
			ContextOpen: context != 0, Failure: class, Return: int64(rc), ReturnSet: true, Errno: errno, ErrnoSet: errno != 0,
			Cause: causeOf(class, currentPlatform(), errno),
		}
	}
	return e
}

// transition is the step by which a queue pair normally gets into a state.
func transition(to int32) string {
	from := map[int32]string{IBV_QPS_INIT: "RESET", IBV_QPS_RTR: "INIT", IBV_QPS_RTS: "RTR"}
	return from[to] + "->" + QPStateName(to)
}

// Error is one line: transition, device, queue pair, cause, what was asked.
func (e *ModifyQPError) Error() string {
	if e == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("ibv_modify_qp")
	if e.Transition != "" {
		b.WriteString(" " + e.Transition)
	}
	if e.Device != "" {
		b.WriteString(" on " + printable(e.Device))
	}
	fmt.Fprintf(&b, ", qp %d: %s", e.QPN, e.reason())
	fmt.Fprintf(&b, " (mask %#x", e.Mask)
	if names := QPAttrMaskNames(e.Mask); len(names) > 0 {
		b.WriteString(" " + strings.Join(names, "|"))
	}
	b.WriteString("; " + e.asked() + ")")
	return b.String()
}

// reason is the cause without the verb's and the device's name again.
func (e *ModifyQPError) reason() string {
	var p *ProviderError
	if errors.As(e.Cause, &p) {
		bare := *p
		bare.Device = ""
		return strings.TrimPrefix(bare.Error(), verbModifyQP.String()+": ")
	}
	if e.Cause != nil {
		return e.Cause.Error()
	}
	return "provider returned " + strconv.Itoa(e.Return)
}

// asked lists those attributes that the mask selects, by the header's names.
func (e *ModifyQPError) asked() string {
	a, route := &e.Attr, &e.Attr.AHAttr.GRH
	var parts []string
	for _, part := range []struct {
		bit   int
		name  string
		value any
	}{
		{IBV_QP_STATE, "qp_state", QPStateName(a.QPState)},
		{IBV_QP_ACCESS_FLAGS, "qp_access_flags", fmt.Sprintf("%#x", a.QPAccessFlags)},
		{IBV_QP_PKEY_INDEX, "pkey_index", a.PKeyIndex},
		{IBV_QP_PORT, "port_num", a.PortNum},
		{IBV_QP_QKEY, "qkey", fmt.Sprintf("%#x", a.QKey)},
		{IBV_QP_PATH_MTU, "path_mtu", MTUBytes(a.PathMTU)},
		{IBV_QP_DEST_QPN, "dest_qp_num", a.DestQPNum},
		{IBV_QP_RQ_PSN, "rq_psn", a.RQPSN},
		{IBV_QP_SQ_PSN, "sq_psn", a.SQPSN},
		{IBV_QP_AV, "dlid", a.AHAttr.DLID},
		{IBV_QP_AV, "port", a.AHAttr.PortNum},
		{IBV_QP_AV, "is_global", a.AHAttr.IsGlobal},
		{IBV_QP_AV, "sgid_index", route.SGIDIndex},
		{IBV_QP_AV, "dgid", fmt.Sprintf("%x", route.DGID)},
		{IBV_QP_AV, "hop_limit", route.HopLimit},
		{IBV_QP_TIMEOUT, "timeout", a.Timeout},
		{IBV_QP_RETRY_CNT, "retry_cnt", a.RetryCnt},
		{IBV_QP_RNR_RETRY, "rnr_retry", a.RNRetry},
	} {
		if e.Mask&part.bit != 0 {
			parts = append(parts, fmt.Sprintf("%s=%v", part.name, part.value))
		}
	}
	if len(parts) == 0 {
		return "no attributes"
	}
	return strings.Join(parts, " ")
}

// Unwrap is the cause.
func (e *ModifyQPError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Cause
}
