//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// verbCalls calls each verb that can fail on the objects of a fake device. int
// verbs give their number, pointer verbs 0 or 1.
func verbCalls(o fakeObjects) map[string]func() (int, error) {
	ptr := func(r uintptr, err error) (int, error) {
		if r != 0 {
			return 1, err
		}
		return 0, err
	}
	wr, bad := at[IbvRecvWR](o, 0), at[*IbvRecvWR](o, 64)
	swr, sbad := at[IbvSendWR](o, 128), at[*IbvSendWR](o, 256)
	wc := at[IbvWC](o, 512)
	return map[string]func() (int, error){
		"ibv_get_device_list":      func() (int, error) { return ptr(IbvGetDeviceList(0)) },
		"ibv_get_device_name":      func() (int, error) { return ptr(IbvGetDeviceName(o.device)) },
		"ibv_open_device":          func() (int, error) { return ptr(IbvOpenDevice(o.device)) },
		"ibv_close_device":         func() (int, error) { return IbvCloseDevice(o.context) },
		"ibv_query_device":         func() (int, error) { return IbvQueryDeviceAttr(o.context, new(IbvDeviceAttr)) },
		"ibv_query_port":           func() (int, error) { return IbvQueryPortAttr(o.context, 1, new(IbvPortAttr)) },
		"ibv_query_gid":            func() (int, error) { return IbvQueryGidInto(o.context, 1, 0, new(IbvGID)) },
		"_ibv_query_gid_ex":        func() (int, error) { return IbvQueryGidEx(o.context, 1, 0, new(IbvGIDEntry)) },
		"ibv_alloc_pd":             func() (int, error) { return ptr(IbvAllocPd(o.context)) },
		"ibv_dealloc_pd":           func() (int, error) { return IbvDeallocPd(o.pd) },
		"ibv_reg_mr":               func() (int, error) { return ptr(IbvRegMr(o.pd, o.buffer.Addr(), 4096, 1)) },
		"ibv_dereg_mr":             func() (int, error) { return IbvDeregMr(o.mr) },
		"ibv_create_cq":            func() (int, error) { return ptr(IbvCreateCq(o.context, 1, 0, 0, 0)) },
		"ibv_destroy_cq":           func() (int, error) { return IbvDestroyCq(o.cq) },
		"ibv_create_qp":            func() (int, error) { return ptr(IbvCreateQpAttr(o.pd, new(IbvQPInitAttr))) },
		"ibv_modify_qp":            func() (int, error) { return IbvModifyQpAttr(o.qp, new(IbvQPAttr), IBV_QP_STATE) },
		"ibv_query_qp":             func() (int, error) { return IbvQueryQp(o.qp, new(IbvQPAttr), 1, new(IbvQPInitAttr)) },
		"ibv_destroy_qp":           func() (int, error) { return IbvDestroyQp(o.qp) },
		"ibv_create_comp_channel":  func() (int, error) { return ptr(IbvCreateCompChannel(o.context)) },
		"ibv_destroy_comp_channel": func() (int, error) { return IbvDestroyCompChannel(o.channel) },
		"ibv_get_cq_event":         func() (int, error) { return IbvGetCqEvent(o.channel, new(RDMACQ), new(uintptr)) },
		"ibv_poll_cq":              func() (int, error) { return Ibv_poll_cq(o.cq, 1, wc) },
		"ibv_req_notify_cq":        func() (int, error) { return IbvReqNotifyCq(o.cq, 0) },
		"ibv_post_send":            func() (int, error) { return Ibv_post_send(o.qp, swr, sbad) },
		"ibv_post_recv":            func() (int, error) { return Ibv_post_recv(o.qp, wr, bad) },
	}
}

// failing are the ways a verb of each convention was seen to fail.
var failing = map[convention][]struct {
	ret, errno int // what C returns, and sets
	class      FailureClass
	want       int // the errno to report, 0 = none
}{
	failsNull: {
		{0, 16, FailureNilProviderResult, 16},
		{0, 0, FailureNilProviderResult, 0},
	},
	failsErrno: {
		{22, 0, FailureProviderStatus, 22},
		{22, 5, FailureProviderStatus, 22},
		{-12, 0, FailureNegativeProviderReturn, 12},
		{5000, 0, FailureProviderStatus, 0},
		{-536870206, 0, FailureNegativeProviderReturn, 0}, // 0xe00002c2, an IOKit code
	},
	failsMinusOne: {
		{-1, 61, FailureNegativeProviderReturn, 61},
		{-1, 0, FailureNegativeProviderReturn, 0},
		{-22, 0, FailureNegativeProviderReturn, 22},
	},
	failsNegative: {
		{-1, 5, FailureNegativeProviderReturn, 0},
		{-12, 0, FailureNegativeProviderReturn, 12},
	},
}

func TestEveryVerbReportsFailureItsWay(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	calls := verbCalls(o)
	for _, row := range verbTable {
		if row.fails == failsNever {
			continue
		}
		call := calls[row.name]
		if call == nil {
			t.Errorf("%s is not tested", row.name)
			continue
		}
		for _, tt := range failing[row.fails] {
			t.Run(fmt.Sprintf("%s returns %d errno %d", row.name, tt.ret, tt.errno), func(t *testing.T) {
				f.script(row.name, tt.ret, tt.errno)
				r, err := call()
				f.script("", 0, 0)
				var e *ProviderError
				if !errors.As(err, &e) {
					t.Fatalf("error %v, want a *ProviderError", err)
				}
				if r != tt.ret || e.Return != int64(tt.ret) || !e.ReturnSet {
					t.Errorf("returned %d, error has %d (set %v), want %d", r, e.Return, e.ReturnSet, tt.ret)
				}
				if e.Failure != tt.class || !errors.Is(err, failureClasses[tt.class].sentinel) {
					t.Errorf("failure %s, want %s", e.Failure, tt.class)
				}
				if e.Errno != tt.want || e.ErrnoSet != (tt.want != 0) {
					t.Errorf("errno %d (set %v), want %d", e.Errno, e.ErrnoSet, tt.want)
				}
				if e.Operation != row.name || row.on != noSubject && e.Device != "fake_0" || e.ContextOpen != (row.on >= onContext) {
					t.Errorf("error is about %q on %q, context open %v", e.Operation, e.Device, e.ContextOpen)
				}
				if !strings.Contains(err.Error(), row.name) || strings.Contains(err.Error(), "\n") {
					t.Errorf("text %q", err)
				}
			})
		}
	}
}

// -1 from a verb that returns errno values: rdma-core's own were seen to set
// errno then. The inline verbs' errno is not looked at.
func TestMinusOneFromAnErrnoVerb(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	for _, tt := range []struct {
		verb string
		want int
	}{{"ibv_modify_qp", 60}, {"ibv_dealloc_pd", 60}, {"ibv_post_recv", 0}} {
		f.script(tt.verb, -1, 60)
		_, err := verbCalls(o)[tt.verb]()
		var e *ProviderError
		if !errors.As(err, &e) || e.Errno != tt.want || e.Return != -1 {
			t.Errorf("%s: %v, want return -1 and errno %d", tt.verb, err, tt.want)
		}
	}
}

func TestMissingSymbols(t *testing.T) {
	f := newFake(t, "-DLEAN")
	lacking := map[string]bool{
		"ibv_query_qp": true, "ibv_get_device_guid": true, "_ibv_query_gid_ex": true,
		"ibv_create_comp_channel": true, "ibv_destroy_comp_channel": true, "ibv_get_cq_event": true, "ibv_ack_cq_events": true,
	}
	for name, present := range f.lib.Symbols() {
		if present == lacking[name] {
			t.Errorf("%s: present %v", name, present)
		}
	}
	if !Available() {
		t.Error("not available, though it lists devices")
	}
	o := f.open(t, 0)
	o.channel = o.cq // any handle: it must not be reached
	for name := range lacking {
		call := verbCalls(o)[name]
		switch name {
		case "ibv_get_device_guid":
			call = func() (int, error) { _, err := IbvGetDeviceGUID(o.device); return 0, err }
		case "ibv_ack_cq_events":
			call = func() (int, error) { return 0, IbvAckCqEvents(o.cq, 1) }
		}
		r, err := call()
		var e *ProviderError
		if !errors.Is(err, ErrSymbolUnavailable) || !errors.As(err, &e) || e.Operation != name || e.ReturnSet || r != 0 {
			t.Errorf("%s = %d, %v, want 0, ErrSymbolUnavailable", name, r, err)
		}
	}
}

func TestNilNeverReachesC(t *testing.T) {
	f := newFake(t)
	full := f.open(t, 0)
	called := false
	f.lib.OnCall(func(string) { called = true })
	defer f.lib.OnCall(nil)
	zero := fakeObjects{buffer: full.buffer}
	for name, call := range verbCalls(zero) {
		if name == "ibv_get_device_list" {
			continue
		}
		r, err := call()
		if !errors.Is(err, ErrNilInput) || r != 0 {
			t.Errorf("%s of nil = %d, %v", name, r, err)
		}
	}
	wc, wr, rwr := new(IbvWC), new(IbvSendWR), new(IbvRecvWR)
	var bad *IbvSendWR
	var rbad *IbvRecvWR
	for name, call := range map[string]func() (int, error){
		"guid":              func() (int, error) { _, err := IbvGetDeviceGUID(0); return 0, err },
		"ack":               func() (int, error) { return 0, IbvAckCqEvents(0, 1) },
		"query device":      func() (int, error) { return IbvQueryDevice(full.context, 0) },
		"device attr":       func() (int, error) { return IbvQueryDeviceAttr(full.context, nil) },
		"empty buffer":      func() (int, error) { return IbvQueryDeviceBytes(full.context, nil) },
		"query port":        func() (int, error) { return IbvQueryPort(full.context, 1, 0) },
		"port attr":         func() (int, error) { return IbvQueryPortAttr(full.context, 1, nil) },
		"query gid":         func() (int, error) { return IbvQueryGid(full.context, 1, 0, 0) },
		"gid":               func() (int, error) { return IbvQueryGidInto(full.context, 1, 0, nil) },
		"gid entry":         func() (int, error) { return IbvQueryGidEx(full.context, 1, 0, nil) },
		"memory":            func() (int, error) { _, err := IbvRegMr(full.pd, 0, 1, 1); return 0, err },
		"create qp":         func() (int, error) { _, err := IbvCreateQp(full.pd, 0); return 0, err },
		"init attr":         func() (int, error) { _, err := IbvCreateQpAttr(full.pd, nil); return 0, err },
		"modify qp":         func() (int, error) { return IbvModifyQp(full.qp, 0, 1) },
		"qp attr":           func() (int, error) { return IbvModifyQpAttr(full.qp, nil, 1) },
		"to err":            func() (int, error) { return 0, IbvModifyQpToErr(0) },
		"query qp":          func() (int, error) { return IbvQueryQp(full.qp, nil, 1, new(IbvQPInitAttr)) },
		"query qp init":     func() (int, error) { return IbvQueryQp(full.qp, new(IbvQPAttr), 1, nil) },
		"event cq":          func() (int, error) { return IbvGetCqEvent(full.channel, nil, new(uintptr)) },
		"event context":     func() (int, error) { return IbvGetCqEvent(full.channel, new(RDMACQ), nil) },
		"poll wc":           func() (int, error) { return Ibv_poll_cq(full.cq, 1, nil) },
		"poll cq":           func() (int, error) { return Ibv_poll_cq(0, 1, wc) },
		"post send wr":      func() (int, error) { return Ibv_post_send(full.qp, nil, &bad) },
		"post send bad":     func() (int, error) { return Ibv_post_send(full.qp, wr, nil) },
		"post recv wr":      func() (int, error) { return Ibv_post_recv(full.qp, nil, &rbad) },
		"post recv bad":     func() (int, error) { return Ibv_post_recv(full.qp, rwr, nil) },
		"new poller":        func() (int, error) { _, err := NewIbvCQPoller(0); return 0, err },
		"new poster":        func() (int, error) { _, err := NewIbvQPPoster(0); return 0, err },
		"ops of no context": func() (int, error) { _, err := IbvOps(0); return 0, err },
	} {
		if r, err := call(); !errors.Is(err, ErrNilInput) || r != 0 {
			t.Errorf("%s = %d, %v, want 0, ErrNilInput", name, r, err)
		}
	}
	r, err := IbvQueryDeviceBytes(full.context, make([]byte, 231))
	if r != 0 || !errors.Is(err, ErrShortBuffer) || errors.Is(err, ErrNilInput) || !strings.Contains(err.Error(), "231 bytes") {
		t.Errorf("short buffer = %d, %v", r, err)
	}
	if err := IbvFreeDeviceList(0); err != nil {
		t.Errorf("a nil list is freed: %v", err)
	}
	if Ibv_mr_lkey(0) != 0 || Ibv_mr_rkey(0) != 0 || Ibv_qp_num(0) != 0 || IbvCompChannelFD(0) != -1 ||
		IbvCQChannel(0) != 0 || IbvDeviceTransport(0) != IBV_TRANSPORT_UNKNOWN || IbvDeviceNodeType(0) != -1 {
		t.Error("a field of nil has a value")
	}
	if called {
		t.Error("the provider was called")
	}
}
