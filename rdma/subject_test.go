//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"errors"
	"testing"
)

// wantDevice checks that an error knows the open device that it happened on.
func wantDevice(t *testing.T, name string, context RDMAContext, err error) {
	t.Helper()
	var e *ProviderError
	if !errors.As(err, &e) || e.Device != "fake_0" || e.Context != context || !e.ContextOpen || e.ReturnSet {
		t.Errorf("%s: %#v does not know its device", name, err)
	}
}

// Whoever passes an open device, or an object of one, and a nil pointer is told on
// which device, though the provider was not called.
func TestNilInputKnowsItsDevice(t *testing.T) {
	o := newFake(t).open(t, 0)
	for name, call := range map[string]func() (int, error){
		"query device":  func() (int, error) { return IbvQueryDevice(o.context, 0) },
		"device attr":   func() (int, error) { return IbvQueryDeviceAttr(o.context, nil) },
		"no buffer":     func() (int, error) { return IbvQueryDeviceBytes(o.context, nil) },
		"short buffer":  func() (int, error) { return IbvQueryDeviceBytes(o.context, make([]byte, 8)) },
		"query port":    func() (int, error) { return IbvQueryPort(o.context, 1, 0) },
		"port attr":     func() (int, error) { return IbvQueryPortAttr(o.context, 1, nil) },
		"query gid":     func() (int, error) { return IbvQueryGid(o.context, 1, 0, 0) },
		"gid":           func() (int, error) { return IbvQueryGidInto(o.context, 1, 0, nil) },
		"gid entry":     func() (int, error) { return IbvQueryGidEx(o.context, 1, 0, nil) },
		"memory":        func() (int, error) { _, err := IbvRegMr(o.pd, 0, 1, 1); return 0, err },
		"create qp":     func() (int, error) { _, err := IbvCreateQp(o.pd, 0); return 0, err },
		"init attr":     func() (int, error) { _, err := IbvCreateQpAttr(o.pd, nil); return 0, err },
		"modify qp":     func() (int, error) { return IbvModifyQp(o.qp, 0, 1) },
		"qp attr":       func() (int, error) { return IbvModifyQpAttr(o.qp, nil, 1) },
		"query qp":      func() (int, error) { return IbvQueryQp(o.qp, nil, 1, nil) },
		"event cq":      func() (int, error) { return IbvGetCqEvent(o.channel, nil, new(uintptr)) },
		"event context": func() (int, error) { return IbvGetCqEvent(o.channel, new(RDMACQ), nil) },
		"poll wc":       func() (int, error) { return Ibv_poll_cq(o.cq, 1, nil) },
		"post send":     func() (int, error) { return Ibv_post_send(o.qp, nil, nil) },
		"post recv":     func() (int, error) { return Ibv_post_recv(o.qp, nil, nil) },
	} {
		_, err := call()
		wantDevice(t, name, o.context, err)
	}
	// Any number may be passed beside nil: it is not looked into.
	for name, call := range map[string]func() (int, error){
		"context": func() (int, error) { return IbvQueryPortAttr(0xdead0000, 1, nil) },
		"qp":      func() (int, error) { return IbvModifyQpAttr(0xdead0000, nil, 1) },
		"cq":      func() (int, error) { return Ibv_poll_cq(0xdead0000, 1, nil) },
	} {
		_, err := call()
		var e *ProviderError
		if !errors.As(err, &e) || e.Failure != FailureNilInput || e.Device != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e *ProviderError
	if _, err := IbvQueryPortAttr(0, 1, nil); !errors.As(err, &e) || e.ContextOpen {
		t.Errorf("%v: no context is open", err)
	}
}

// A symbol that is missing is missing on a device, too.
func TestMissingSymbolKnowsItsDevice(t *testing.T) {
	o := newFake(t).open(t, 0)
	defer Use(NewLibrary(LibraryConfig{}))()
	o.channel = o.cq
	for name, call := range verbCalls(o) {
		v := verb(0)
		for v.String() != name {
			v++
		}
		if on := verbTable[v].on; on < onContext || on == onChannel || verbTable[v].inline() {
			continue
		}
		_, err := call()
		wantDevice(t, name, o.context, err)
	}
}

// What is released is forgotten, and what could not be released is not.
func TestReleasedObjectsAreForgotten(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	f.script("ibv_destroy_qp", 16, 0)
	if _, err := IbvDestroyQp(o.qp); err == nil || knownContext(o.qp) != o.context {
		t.Errorf("a queue pair that is still there is on %#x, %v", knownContext(o.qp), err)
	}
	f.script("", 0, 0)
	_, err := IbvDestroyQp(o.qp)
	check(t, err)
	if knownContext(o.qp) != 0 {
		t.Error("a queue pair that was destroyed is known")
	}
	_, err = IbvCloseDevice(o.context)
	check(t, err)
	for _, object := range []uintptr{o.pd, o.mr, o.cq, o.channel} {
		if knownContext(object) != 0 {
			t.Error("an object of a closed device is known")
		}
	}
}

// Where the provider's struct has no name, errors have the list's: of opening, and of
// all that is opened.
func TestErrorsFallBackOnTheListsName(t *testing.T) {
	f := newFake(t)
	l, err := OpenDeviceList()
	check(t, err)
	defer l.Close()
	buffer, err := MapBuffer(4096) // a device without a name
	check(t, err)
	d := Device{Handle: buffer.Addr(), Name: "rdma_en9", list: l.list}
	want := func(what string, err error) {
		t.Helper()
		var e *ProviderError
		if !errors.As(err, &e) || e.Device != "rdma_en9" {
			t.Errorf("%s: %v has not the list's name", what, err)
		}
	}
	f.script("ibv_open_device", 0, 13)
	_, err = d.Open()
	want("open", err)
	f.script("", 0, 0)
	context, err := d.Open()
	check(t, err)
	f.script("ibv_alloc_pd", 0, 12)
	_, err = IbvAllocPd(context)
	want("of what is open", err)
	_, err = IbvCreateCq(context, 1, 0, 0, 0)
	check(t, err)
	_, err = IbvCloseDevice(context)
	check(t, err)
	_, err = Device{Handle: 0, Name: "rdma_en9"}.Open()
	want("nil handle", err)
	restore := Use(NewLibrary(LibraryConfig{}))
	_, err = d.Open()
	want("no symbol", err)
	restore()
	check(t, l.Close())
	_, err = d.Open()
	want("closed list", err)
}
