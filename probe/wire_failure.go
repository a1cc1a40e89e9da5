package probe

import (
	"errors"
	"fmt"

	"rdmaprobe/rdma"
)

// postError is a refused work request.
type postError struct {
	call string
	rc   int
	nth  uint64
}

func (e *postError) Error() string {
	return fmt.Sprintf("%s returned %d for work request %d", e.call, e.rc, e.nth+1)
}

// maxErrno is the largest errno a kernel returns (MAX_ERRNO of Linux).
const maxErrno = 4095

// errno is what the return says, 0 when it says none: -1 only means failure, and
// a number that is too large is something else.
func (e *postError) errno() int {
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
type impossibleError struct{ text string }

func (e *impossibleError) Error() string { return e.text }

// failData finishes a data row whose message failed. Nothing about a message is
// ever rejected: a status says what went wrong, not what is supported.
func (r *row) failData(err error) {
	var (
		post *postError
		wc   *completionError
		imp  *impossibleError
	)
	r.o.Detail, r.o.Call, r.o.Reason = err.Error(), "ibv_poll_cq", ProviderError
	switch {
	case errors.As(err, &post):
		r.o.Call, r.o.Return = post.call, &Return{Number: int64(post.rc)}
		if n := post.errno(); n != 0 {
			p := r.s.lib.Platform()
			r.o.Errno = &Errno{Number: n, Name: rdma.ErrnoNameOn(p, n), Platform: p}
			if reason, ok := reasonOfErrno[r.o.Errno.Name]; ok {
				r.o.Reason = reason
			}
		}
	case errors.As(err, &wc):
		r.set("wc_status", rdma.WCStatusName(wc.status))
		r.set("wc_class", string(rdma.ClassifyCompletionStatus(wc.status)))
		if wc.status == rdma.IBV_WC_RETRY_EXC_ERR || wc.status == rdma.IBV_WC_RNR_RETRY_EXC_ERR {
			r.o.Reason = Unreachable
		}
	case errors.As(err, &imp):
		r.o.Reason = Invalid
	}
	if st, down := r.o.Data["port_state"]; down {
		r.o.Reason, r.o.Detail = Unreachable, fmt.Sprintf("the port is %v now, and was active when the probe began; %s", st, r.o.Detail)
	}
	r.o.Level = rdma.CapabilityUnknown
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
