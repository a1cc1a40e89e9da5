package rdma

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestProviderErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  *ProviderError
		want string
	}{
		{
			&ProviderError{
				Operation: "ibv_create_qp", Device: "rdma_en3", Context: 1, ContextOpen: true, Failure: FailureNilProviderResult,
				Result: "queue pair", ReturnSet: true, Errno: 102, ErrnoSet: true, Cause: ErrNilProviderResult,
			},
			"ibv_create_qp on rdma_en3: provider returned NULL for the queue pair: errno 102 (EOPNOTSUPP)",
		},
		{
			&ProviderError{Operation: "ibv_reg_mr", Failure: FailureNilProviderResult, Result: "mr", ReturnSet: true},
			"ibv_reg_mr: provider returned NULL for the mr",
		},
		{
			&ProviderError{Operation: "ibv_open_device", Device: "mlx5_0", Failure: FailureInvalidProviderResult, Result: "context", Return: -1, ReturnSet: true},
			"ibv_open_device on mlx5_0: provider gave 0xffffffffffffffff for the context, where nothing can lie",
		},
		{
			&ProviderError{Operation: "ibv_modify_qp", Failure: FailureProviderStatus, Return: 22, ReturnSet: true, Errno: 22, ErrnoSet: true},
			"ibv_modify_qp: provider returned 22: errno 22 (EINVAL)",
		},
		{
			&ProviderError{Operation: "ibv_poll_cq", Failure: FailureNegativeProviderReturn, Return: -1, ReturnSet: true},
			"ibv_poll_cq: provider returned -1",
		},
		{&ProviderError{Operation: "ibv_reg_mr", Failure: FailureNilInput, Input: "pd handle"}, "ibv_reg_mr: nil pd handle"},
		{
			&ProviderError{Operation: "ibv_query_qp", Failure: FailureSymbolUnavailable, Cause: ErrSymbolUnavailable},
			"ibv_query_qp: symbol unavailable",
		},
		{&ProviderError{Failure: FailureNoDevice}, "rdma: no device"},
		{&ProviderError{Failure: FailureProviderTimeout, Cause: io.EOF}, "rdma: provider timed out: EOF"},
		{&ProviderError{Failure: "something else"}, "rdma: something else"},
		{nil, ""},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("%q\nwant %q", got, tt.want)
		}
	}
}

func TestProviderErrorIs(t *testing.T) {
	for class, row := range failureClasses {
		err := error(&ProviderError{Failure: class, Cause: io.EOF})
		if !errors.Is(err, row.sentinel) || !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v is not its sentinel and its cause", class, err)
		}
		for other, o := range failureClasses {
			if other != class && errors.Is(err, o.sentinel) {
				t.Errorf("%s is also %v", class, o.sentinel)
			}
		}
	}
	if len(failureClasses) != 10 {
		t.Errorf("%d classes, want 10", len(failureClasses))
	}
	var none *ProviderError
	if none.Is(ErrNilInput) || none.Unwrap() != nil || (&ProviderError{}).Is(nil) {
		t.Error("a nil error is something")
	}
	if !errors.Is(ErrRDMAReadUnavailable, ErrUnsupportedOperation) {
		t.Error("ErrRDMAReadUnavailable is not ErrUnsupportedOperation")
	}
}

func TestLoadFailureReachesTheCaller(t *testing.T) {
	load := NewLoadError("/x/lib.so", "bad\x1b[31m words")
	err := error(&ProviderError{Operation: "ibv_get_device_list", Failure: FailureSymbolUnavailable, Cause: load})
	var le *LoadError
	if !errors.As(err, &le) || !errors.Is(err, ErrSymbolUnavailable) {
		t.Errorf("%v does not lead to the load error", err)
	}
	if text := err.Error(); strings.Contains(text, "\x1b") || !strings.Contains(text, "/x/lib.so") {
		t.Errorf("text %q", text)
	}
}

func TestNewModifyQPErrorAlone(t *testing.T) {
	if err := NewModifyQPError(0, nil, 0, 0, nil); err != nil {
		t.Errorf("success gives %v", err)
	}
	err := NewModifyQPError(0, &IbvQPAttr{QPState: IBV_QPS_INIT}, IBV_QP_STATE, 22, nil)
	var p *ProviderError
	if !errors.As(err, &p) || p.Errno != 22 || !strings.HasPrefix(err.Error(), "ibv_modify_qp RESET->INIT, qp 0: provider returned 22") {
		t.Errorf("return without error: %v", err)
	}
	if err := NewModifyQPError(0, nil, 0, 0, io.EOF); !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "EOF (mask 0x0; no attributes)") {
		t.Errorf("error without return: %v", err)
	}
	var none *ModifyQPError
	if none.Unwrap() != nil || none.Error() != "" {
		t.Error("a nil error is something")
	}
}
