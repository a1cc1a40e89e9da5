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

// Whoever passes an open device and a nil pointer is told on which device, though
// the provider was not called.
func TestNilInputKnowsItsDevice(t *testing.T) {
	o := newFake(t).open(t, 0)
	for name, call := range map[string]func() (int, error){
		"query device": func() (int, error) { return IbvQueryDevice(o.context, 0) },
		"device attr":  func() (int, error) { return IbvQueryDeviceAttr(o.context, nil) },
		"short buffer": func() (int, error) { return IbvQueryDeviceBytes(o.context, nil) },
		"query port":   func() (int, error) { return IbvQueryPort(o.context, 1, 0) },
		"port attr":    func() (int, error) { return IbvQueryPortAttr(o.context, 1, nil) },
		"query gid":    func() (int, error) { return IbvQueryGid(o.context, 1, 0, 0) },
		"gid":          func() (int, error) { return IbvQueryGidInto(o.context, 1, 0, nil) },
		"gid entry":    func() (int, error) { return IbvQueryGidEx(o.context, 1, 0, nil) },
	} {
		_, err := call()
		wantDevice(t, name, o.context, err)
	}
	// Any number may be passed beside nil: it is not looked into.
	_, err := IbvQueryPortAttr(0xdead, 1, nil)
	var e *ProviderError
	if !errors.As(err, &e) || e.Failure != FailureNilInput || e.Device != "" {
		t.Errorf("%v", err)
	}
	if _, err := IbvQueryPortAttr(0, 1, nil); !errors.As(err, &e) || e.ContextOpen {
		t.Errorf("%v: no context is open", err)
	}
}

// A symbol that is missing is missing on a device, too.
func TestMissingSymbolKnowsItsDevice(t *testing.T) {
	o := newFake(t, "-DLEAN").open(t, 0)
	_, err := IbvCreateCompChannel(o.context)
	wantDevice(t, "ibv_create_comp_channel", o.context, err)
	_, err = IbvQueryGidEx(o.context, 1, 0, new(IbvGIDEntry))
	wantDevice(t, "_ibv_query_gid_ex", o.context, err)
}
