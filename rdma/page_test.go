//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// sentence is one thing that the reference's page says, in our words. holds tests it;
// without it the reason stands why it is not, or cannot be, tested here.
type sentence struct {
	says   string
	holds  func(p *page) bool
	reason string
}

// page is what the sentences are tried on: a compiled library and objects of it.
type page struct {
	t *testing.T
	f *fake
	o fakeObjects
}

// providerError is the error of a call of which the provider was told what to give.
func (p *page) providerError(verb string, ret, errno int) *ProviderError {
	p.f.script(verb, ret, errno)
	defer p.f.script("", 0, 0)
	_, err := verbCalls(p.o)[verb]()
	e, ok := err.(*ProviderError)
	if !ok {
		p.t.Fatalf("%s: %v is no *ProviderError", verb, err)
	}
	return e
}

func failed(err error, sentinel error) bool { return errors.Is(err, sentinel) }

// listed tells whether names are what a sentence lists.
func listed(have []string, want ...string) bool { return slices.Equal(have, want) }

// sentences is the page, in its order. Names, types and values of declarations are
// those of api_test.go, which compiles, and are not listed again.
var sentences = []sentence{
	{"protection statuses classify provider errors, and are values of the ABI alone", func(*page) bool {
		return ClassifyCompletionStatus(4) == CompletionProtection && ClassifyCompletionStatus(8) == CompletionProtection && ClassifyCompletionStatus(10) == CompletionProtection
	}, ""},
	{"a port carries traffic only in ACTIVE, which is 4", func(*page) bool { return IBV_PORT_ACTIVE == 4 && PortStateName(IBV_PORT_ACTIVE) == "active" }, ""},
	{"the link layer of Thunderbolt is 100", func(*page) bool { return LinkLayerName(IBV_LINK_LAYER_THUNDERBOLT) == "thunderbolt" }, ""},
	{"the RC constant claims nothing about the provider", func(*page) bool { return AppleThunderboltCapabilities().QueuePairRC != CapabilityConfirmed }, ""},
	{"production code must not use the RC constant", nil, "the probes of RC are what it is for; probe/ has the test that nothing else names it"},
	{"ErrNoDevice: no device matched", nil, "no call of this package matches devices: a list without one is no error, here as there"},
	{"ErrSymbolUnavailable: a symbol is not there", func(p *page) bool {
		defer Use(NewLibrary(LibraryConfig{}))()
		_, err := IbvAllocPd(p.o.context)
		return failed(err, ErrSymbolUnavailable)
	}, ""},
	{"ErrNilInput: a nil handle or pointer, before a provider call", func(p *page) bool {
		_, handle := IbvAllocPd(0)
		_, pointer := IbvQueryPortAttr(p.o.context, 1, nil)
		return failed(handle, ErrNilInput) && failed(pointer, ErrNilInput)
	}, ""},
	{"ErrNilProviderResult: a call returned a nil handle", func(p *page) bool { return failed(p.providerError("ibv_alloc_pd", 0, 12), ErrNilProviderResult) }, ""},
	{"ErrNegativeProviderReturn: a call returned a negative status", func(p *page) bool {
		return failed(p.providerError("ibv_modify_qp", -22, 0), ErrNegativeProviderReturn)
	}, ""},
	{"ErrProviderStatus: a call returned a status that is not zero", func(p *page) bool { return failed(p.providerError("ibv_modify_qp", 22, 0), ErrProviderStatus) }, ""},
	{"ErrProviderTimeout: a bounded subprocess timed out", func(*page) bool {
		return failed(&ProviderError{Failure: FailureProviderTimeout}, ErrProviderTimeout)
	}, ""},
	{"ErrUnsupportedOperation: the provider does not support an operation", func(*page) bool {
		return failed(&ProviderError{Failure: FailureUnsupportedOperation}, ErrUnsupportedOperation)
	}, ""},
	{"ErrRDMAReadUnavailable: the binding does not expose RDMA READ", func(*page) bool { return failed(ErrRDMAReadUnavailable, ErrUnsupportedOperation) }, ""},
	{"it says nothing about the provider", func(*page) bool { return AppleThunderboltCapabilities().RDMARead == CapabilityUnknown }, ""},
	{"Available: the library and the functions that list devices are there", func(p *page) bool {
		whole := Available()
		lean := map[string]uintptr{}
		for _, name := range RequiredSymbols() {
			lean[name] = 1
		}
		defer Use(NewLibrary(LibraryConfig{Symbols: lean}))()
		return whole && Available() && listed(RequiredSymbols(), "ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name")
	}, ""},
	{"ErrnoName names Apple's errno values", func(*page) bool {
		defer Use(NewLibrary(LibraryConfig{Platform: PlatformDarwin}))()
		return ErrnoName(22) == "EINVAL" && ErrnoName(45) == "ENOTSUP" && ErrnoName(102) == "EOPNOTSUPP" && ErrnoName(60) == "ETIMEDOUT"
	}, ""},
	{"ErrnoText is a compact name of Apple's errno values", func(*page) bool {
		defer Use(NewLibrary(LibraryConfig{Platform: PlatformDarwin}))()
		return ErrnoText(45) == "errno 45 (ENOTSUP)" && ErrnoText(12345) == "errno 12345"
	}, ""},
	{"IbvAckCqEvents acknowledges events of IbvGetCqEvent", func(p *page) bool { return IbvAckCqEvents(p.o.cq, 1) == nil }, ""},
	{"IbvCloseDevice closes", func(p *page) bool {
		context, err := IbvOpenDevice(p.o.device)
		check(p.t, err)
		r, err := IbvCloseDevice(context)
		return r == 0 && err == nil
	}, ""},
	{"IbvCompChannelFD is the descriptor in the channel", func(p *page) bool { return IbvCompChannelFD(p.o.channel) == 41 && IbvCompChannelFD(0) == -1 }, ""},
	{"IbvDeallocPd deallocates", func(p *page) bool {
		pd, _ := IbvAllocPd(p.o.context)
		r, err := IbvDeallocPd(pd)
		return r == 0 && err == nil
	}, ""},
	{"IbvDeregMr deregisters", func(p *page) bool {
		mr, _ := IbvRegMr(p.o.pd, p.o.buffer.Addr(), 64, 1)
		r, err := IbvDeregMr(mr)
		return r == 0 && err == nil
	}, ""},
	{"IbvCreateCompChannel creates a channel, IbvDestroyCompChannel destroys it", func(p *page) bool {
		channel, err := IbvCreateCompChannel(p.o.context)
		check(p.t, err)
		r, err := IbvDestroyCompChannel(channel)
		return channel != 0 && r == 0 && err == nil
	}, ""},
	{"IbvCreateCq creates a queue, IbvDestroyCq destroys it", func(p *page) bool {
		cq, err := IbvCreateCq(p.o.context, 1, 0, 0, 0)
		check(p.t, err)
		r, err := IbvDestroyCq(cq)
		return r == 0 && err == nil
	}, ""},
	{"IbvCreateQpAttr creates with a typed pointer, IbvDestroyQp destroys", func(p *page) bool {
		qp, err := IbvCreateQpAttr(p.o.pd, &IbvQPInitAttr{QPType: IBV_QPT_UC})
		check(p.t, err)
		r, err := IbvDestroyQp(qp)
		return r == 0 && err == nil
	}, ""},
	{"IbvFreeDeviceList frees a list of IbvGetDeviceList", func(p *page) bool {
		before := p.f.freed()
		list, err := IbvGetDeviceList(0)
		check(p.t, err)
		return IbvFreeDeviceList(list) == nil && p.f.freed() == before+1
	}, ""},
	{"IbvFreeDeviceList of nothing is nothing", func(p *page) bool {
		before := p.f.freed()
		return IbvFreeDeviceList(0) == nil && p.f.freed() == before
	}, ""},
	{"IbvGetCqEvent reads the next event of a channel", func(p *page) bool {
		var cq RDMACQ
		var cookie uintptr
		r, err := IbvGetCqEvent(p.o.channel, &cq, &cookie)
		return r == 0 && err == nil && cq != 0 && cookie == 0x77
	}, ""},
	{"IbvGetDeviceName gives the address of a name", func(p *page) bool {
		name, err := IbvGetDeviceName(p.o.device)
		return err == nil && cString(name, maxDeviceName) == "fake_0"
	}, ""},
	{"IbvModifyQpAttr modifies with a typed pointer", func(p *page) bool {
		r, err := IbvModifyQpAttr(p.o.qp, &IbvQPAttr{QPState: IBV_QPS_INIT}, IBV_QP_STATE)
		return r == 0 && err == nil
	}, ""},
	{"IbvModifyQpToErr moves a queue pair to ERR", func(p *page) bool {
		if IbvModifyQpToErr(p.o.qp) != nil {
			return false
		}
		attr := new(IbvQPAttr)
		_, err := IbvQueryQp(p.o.qp, attr, IBV_QP_STATE, new(IbvQPInitAttr))
		return err == nil && attr.QPState == IBV_QPS_ERR
	}, ""},
	{"outstanding requests are then flushed, so that they can be polled", nil, "the provider does it: the lab's test of a flushed receive sees it of Soft-RoCE; reports say that later unmapping fails after it on Apple's"},
	{"IbvQueryDeviceBytes queries into a buffer", func(p *page) bool {
		b := make([]byte, 232)
		r, err := IbvQueryDeviceBytes(p.o.context, b)
		return r == 0 && err == nil && b[227] == 2
	}, ""},
	{"IbvQueryGidInto queries into a typed GID", func(p *page) bool {
		var gid IbvGID
		r, err := IbvQueryGidInto(p.o.context, 7, 1, &gid)
		return r == 0 && err == nil && gid[0] == 7 && gid[15] == 1
	}, ""},
	{"IbvQueryPortAttr queries into typed attributes", func(p *page) bool {
		var attr IbvPortAttr
		r, err := IbvQueryPortAttr(p.o.context, 1, &attr)
		return r == 0 && err == nil && attr.State == 0x01010101
	}, ""},
	{"IbvReqNotifyCq asks for a notification", func(p *page) bool { r, err := IbvReqNotifyCq(p.o.cq, 1); return r == 0 && err == nil }, ""},
	{"Ibv_poll_cq goes through ibv_context_ops", func(p *page) bool { n, err := Ibv_poll_cq(p.o.cq, 1, at[IbvWC](p.o, 512)); return n == 1 && err == nil }, ""},
	{"Ibv_post_recv and Ibv_post_send go through ibv_context_ops", func(p *page) bool {
		r, err := Ibv_post_recv(p.o.qp, at[IbvRecvWR](p.o, 0), at[*IbvRecvWR](p.o, 64))
		s, serr := Ibv_post_send(p.o.qp, at[IbvSendWR](p.o, 128), at[*IbvSendWR](p.o, 256))
		return r == 0 && err == nil && s == 0 && serr == nil
	}, ""},
	{"IsUnsupportedErrno: Apple's ENOTSUP and EOPNOTSUPP, 45 and 102, and no other number", func(*page) bool {
		defer Use(NewLibrary(LibraryConfig{Platform: PlatformDarwin}))()
		for n := -300; n < 300; n++ {
			if IsUnsupportedErrno(n) != (n == 45 || n == 102) {
				return false
			}
		}
		return true
	}, ""},
	{"NewModifyQPError formats a failed transition", func(p *page) bool {
		err := NewModifyQPError(p.o.qp, &IbvQPAttr{QPState: IBV_QPS_RTR}, IBV_QP_STATE, 60, nil)
		return strings.Contains(err.Error(), "INIT->RTR on fake_0") && failed(err, ErrProviderStatus)
	}, ""},
	{"Capabilities infer nothing from what the binding lacks", func(*page) bool { return AppleThunderboltCapabilities().RDMARead == CapabilityUnknown }, ""},
	{"UC and SEND/RECV are confirmed, RC is rejected, the remote key is an observed zero, READ and WRITE are unknown", func(*page) bool {
		return AppleThunderboltCapabilities() == Capabilities{"confirmed", "confirmed", "rejected", "unknown", "unknown", "observed_zero"}
	}, ""},
	{"a protection error is no generic failure", func(*page) bool {
		return ClassifyCompletionStatus(5) == CompletionFailure && ClassifyCompletionStatus(0) == CompletionSuccess
	}, ""},
	{"Devices calls only what lists devices", func(p *page) bool {
		var called []string
		p.f.lib.OnCall(func(verb string) { called = append(called, verb) })
		defer p.f.lib.OnCall(nil)
		_, err := Devices()
		check(p.t, err)
		return !slices.ContainsFunc(called, func(verb string) bool { return !slices.Contains(RequiredSymbols(), verb) })
	}, ""},
	{"Devices enables nothing, and may be empty", nil, "that nothing else is called is the sentence before; a list without a device is a test of sim"},
	{"Device.Open keeps the list alive during the call", func(p *page) bool {
		devices, err := Devices()
		check(p.t, err)
		_, err = devices[0].Open()
		return err == nil
	}, ""},
	{"handles stay valid until the list is closed; devices are opened before", func(p *page) bool {
		l, err := OpenDeviceList()
		check(p.t, err)
		d := l.Devices()[0]
		check(p.t, l.Close())
		_, err = d.Open()
		return failed(err, ErrNilInput) && d.Name == "fake_0"
	}, ""},
	{"DeviceList.Close releases the list, and may be called again", func(p *page) bool {
		before := p.f.freed()
		l, err := OpenDeviceList()
		check(p.t, err)
		first, again := l.Close(), l.Close()
		return first == nil && again == nil && p.f.freed() == before+1 && len(l.Devices()) == 0
	}, ""},
	{"DeviceList.Devices is a copy", func(p *page) bool {
		l, err := OpenDeviceList()
		check(p.t, err)
		defer l.Close()
		l.Devices()[0].Name = "x"
		return l.Devices()[0].Name == "fake_0"
	}, ""},
	{"a FailureClass says at which point of the boundary", func(p *page) bool { return p.providerError("ibv_alloc_pd", 0, 0).Failure == FailureNilProviderResult }, ""},
	{"the structs match those of the header", func(*page) bool {
		return !slices.ContainsFunc(Layouts(), func(l Layout) bool { return l.Want != l.Have })
	}, ""},
	{"IbvPortAttr has every field and no padding, in 52 bytes", func(*page) bool {
		return IbvPortAttr{State: 4, LinkLayer: 100} == IbvPortAttr{LinkLayer: 100, State: 4}
	}, ""},
	{"Poll gives -1 and calls nothing for the zero poller and a nil completion", func(p *page) bool {
		poller, err := NewIbvCQPoller(p.o.cq)
		check(p.t, err)
		return IbvCQPoller{}.Poll(1, new(IbvWC)) == -1 && poller.Poll(1, nil) == -1
	}, ""},
	{"PostRecv gives -1 for the zero poster and nil pointers", func(p *page) bool {
		poster, err := NewIbvQPPoster(p.o.qp)
		check(p.t, err)
		return IbvQPPoster{}.PostRecv(new(IbvRecvWR), new(*IbvRecvWR)) == -1 && poster.PostRecv(nil, new(*IbvRecvWR)) == -1 && poster.PostRecv(new(IbvRecvWR), nil) == -1
	}, ""},
	{"PostSend gives -1 for the zero poster and nil pointers, the place of a bad request among them", func(p *page) bool {
		poster, err := NewIbvQPPoster(p.o.qp)
		check(p.t, err)
		return IbvQPPoster{}.PostSend(new(IbvSendWR), new(*IbvSendWR)) == -1 && poster.PostSend(nil, new(*IbvSendWR)) == -1 && poster.PostSend(new(IbvSendWR), nil) == -1
	}, ""},
	{"ModifyQPError.Unwrap gives the cause", func(*page) bool {
		cause := errors.New("below")
		return (&ModifyQPError{Cause: cause}).Unwrap() == cause
	}, ""},
	{"ProviderError.Operation is the verb", func(p *page) bool { return p.providerError("ibv_modify_qp", 22, 0).Operation == "ibv_modify_qp" }, ""},
	{"ProviderError.Device is set where a context can be tied to a named device", func(p *page) bool { return p.providerError("ibv_modify_qp", 22, 0).Device == "fake_0" }, ""},
	{"ProviderError.ContextOpen: it failed after a context had been opened", func(p *page) bool {
		return p.providerError("ibv_alloc_pd", 0, 12).ContextOpen && !p.providerError("ibv_open_device", 0, 12).ContextOpen
	}, ""},
	{"ProviderError.Is finds the sentinel of its class", func(p *page) bool { return p.providerError("ibv_alloc_pd", 0, 12).Is(ErrNilProviderResult) }, ""},
	{"IbvCQChannel is the channel of a queue, if any", func(p *page) bool {
		cq, err := IbvCreateCq(p.o.context, 1, 0, 0, 0)
		check(p.t, err)
		return IbvCQChannel(p.o.cq) == p.o.channel && IbvCQChannel(cq) == 0
	}, ""},
	{"objects are named: a protection domain, a memory region, a queue pair, a completion queue", func(p *page) bool {
		for verb, object := range map[string]string{
			"ibv_alloc_pd": "protection domain", "ibv_reg_mr": "memory region", "ibv_create_qp": "queue pair", "ibv_create_cq": "completion queue",
			"ibv_create_comp_channel": "completion channel", "ibv_open_device": "context", "ibv_get_device_list": "device list",
		} {
			if p.providerError(verb, 0, 0).Result != object {
				return false
			}
		}
		return true
	}, ""},
}

// Every sentence of the page holds, or has the reason why it is not looked at.
func TestThePage(t *testing.T) {
	f := newFake(t)
	p := &page{t: t, f: f, o: f.open(t, 0)}
	said := map[string]bool{}
	checked := 0
	for _, s := range sentences {
		switch {
		case said[s.says]:
			t.Errorf("twice: %s", s.says)
		case s.holds == nil && s.reason == "":
			t.Errorf("neither tested nor with a reason: %s", s.says)
		case s.holds != nil && !s.holds(p):
			t.Errorf("does not hold: %s", s.says)
		case s.holds != nil:
			checked++
		}
		said[s.says] = true
	}
	if checked < 56 {
		t.Errorf("%d sentences were checked, want 56 or more", checked)
	}
	t.Logf("%d sentences, %d checked", len(sentences), checked)
}
