package probe

import (
	"errors"
	"fmt"

	"rdmaprobe/rdma"
)

// callError is an inline verb that said it failed: a refused work request, or a
// queue that cannot be polled. before is how many messages went well at this end.
type callError struct {
	call   string
	rc     int
	before uint64
}

func (e *callError) Error() string {
	if e.call == pollCall {
		return fmt.Sprintf("%s returned %d after %d completions", e.call, e.rc, e.before)
	}
	return fmt.Sprintf("%s returned %d for work request %d", e.call, e.rc, e.before+1)
}

// maxErrno is the largest errno a kernel returns (MAX_ERRNO of Linux).
const maxErrno = 4095

// errno is what the return says, 0 when it says none: -1 only means failure, and
// a number that is too large is something else.
func (e *callError) errno() int {
	n := max(e.rc, -e.rc)
	if e.rc == -1 || n > maxErrno {
		return 0
	}
	return n
}

// completionError is a work completion with an error status.
type completionError struct {
	status int32
	vendor uint32
	send   bool
}

func (e *completionError) Error() string {
	what := "receive"
	if e.send {
		what = "send"
	}
	return fmt.Sprintf("the %s completed with status %s (vendor error %#x)", what, rdma.WCStatusName(e.status), e.vendor)
}

// impossibleError is an answer that no provider can truthfully give.
type impossibleError struct {
	text string
	rc   int // how many completions a poll claims; 0: it is not the number that cannot be
}

func (e *impossibleError) Error() string { return e.text }

// provider is the failure as the binding tells it.
func (e *callError) provider() *rdma.ProviderError {
	n := e.errno()
	p := &rdma.ProviderError{
		Operation: e.call, Failure: rdma.FailureProviderStatus, Return: int64(e.rc), ReturnSet: true, Errno: n, ErrnoSet: n != 0,
	}
	if e.rc < 0 {
		p.Failure = rdma.FailureNegativeProviderReturn
	}
	return p
}

// failCall judges a call as every other is judged. What worked before is supported,
// whatever the provider says of it now.
func (r *row) failCall(e *callError) {
	p, err := r.s.lib.Platform(), e.provider()
	r.o.Call, r.o.Return, r.o.Errno, r.o.FailureClass = e.call, returnOf(err), errnoOf(p, err), failureOf(err)
	r.o.Level, r.o.Reason = judge(ClassData, p, err)
	if r.o.Level == rdma.CapabilityRejected && e.before > 0 {
		r.o.Level, r.o.Reason = rdma.CapabilityUnknown, ProviderError
	}
}

// failData finishes a data row whose message failed. A call can say that it is not
// supported; the status of a completion only says what went wrong.
func (r *row) failData(err error) {
	var (
		call *callError
		wc   *completionError
		imp  *impossibleError
	)
	r.o.Detail, r.o.Call, r.o.Level, r.o.Reason = err.Error(), pollCall, rdma.CapabilityUnknown, ProviderError
	switch {
	case errors.As(err, &call):
		r.failCall(call)
	case errors.As(err, &wc):
		r.set("wc_status", rdma.WCStatusName(wc.status))
		r.set("wc_class", string(rdma.ClassifyCompletionStatus(wc.status)))
		if wc.status == rdma.IBV_WC_RETRY_EXC_ERR || wc.status == rdma.IBV_WC_RNR_RETRY_EXC_ERR {
			r.o.Reason = Unreachable
		}
	case errors.As(err, &imp):
		r.o.Reason = Invalid
		if imp.rc != 0 {
			r.o.Return, r.o.FailureClass = &Return{Number: int64(imp.rc)}, rdma.FailureProviderStatus
		}
	}
	if st, down := r.o.Data["port_state"]; down {
		r.o.Level = rdma.CapabilityUnknown
		r.o.Reason, r.o.Detail = Unreachable, fmt.Sprintf("the port is %v now, and was active when the probe began; %s", st, r.o.Detail)
	}
	r.send()
}

// noticePort looks at the port again after messages failed: one that went down
// explains it, and is told in a row of its own.
func (s *session) noticePort(r *row) {
	now := s.now
	defer func() { s.now = now }()
	state := s.begin("port.state", s.req.Port, nil)
	p, err := portOf(s.ctx, s.req.Port)
	if err != nil || p.State == stateActive {
		return
	}
	r.set("port_state", p.State)
	state.o.Call, state.o.Data = "ibv_query_port", map[string]any{"samples": []string{stateActive, p.State}}
	state.unknown(Unstable, fmt.Sprintf("the port was active when the probe began, and is %s after messages failed", p.State))
}

// set puts a value into a row's data.
func (r *row) set(key string, v any) {
	if r.o.Data == nil {
		r.o.Data = map[string]any{}
	}
	r.o.Data[key] = v
}
