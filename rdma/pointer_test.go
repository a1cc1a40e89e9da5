//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"rdmaprobe/rdma/internal/abi"
)

// impossible are addresses as a careless provider makes them: NULL with an offset,
// MAP_FAILED, a negative errno.
var impossible = []int{1, 8, 0xfff, -1, -22, -4095}

// isInvalid fails unless err names the verb, the value and what it was given for.
func isInvalid(t *testing.T, err error, verb, what string, value int) {
	t.Helper()
	var e *ProviderError
	if !errors.As(err, &e) || !errors.Is(err, ErrInvalidProviderResult) || e.Operation != verb || e.Return != int64(value) {
		t.Fatalf("error %v, want an invalid result %d of %s", err, value, verb)
	}
	if text := err.Error(); !strings.Contains(text, fmt.Sprintf("gave %#x for the %s", uint64(value), what)) {
		t.Errorf("%q does not say what was given for the %s", text, what)
	}
}

func TestNowhere(t *testing.T) {
	for addr, want := range map[uintptr]bool{0: true, 1: true, 4095: true, 4096: false, 1 << 47: false, ^uintptr(4096): false, ^uintptr(4095): true, ^uintptr(0): true} {
		if nowhere(addr) != want {
			t.Errorf("%#x: %v", addr, !want)
		}
	}
}

// No verb hands on an address that cannot be one: whoever follows it would end the
// process by a fault that looks like this package's own.
func TestEveryVerbRefusesAnImpossiblePointer(t *testing.T) {
	f := newFake(t)
	calls := verbCalls(f.open(t, 0))
	for _, row := range verbTable {
		if row.fails != failsNull {
			continue
		}
		for _, value := range impossible {
			f.script(row.name, value, 12)
			got, err := calls[row.name]()
			f.script("", 0, 0)
			isInvalid(t, err, row.name, row.result, value)
			var e *ProviderError
			if errors.As(err, &e); got != 0 || !e.ReturnSet || e.Errno != 12 {
				t.Errorf("%s gives %d, error %+v", row.name, got, e)
			}
		}
	}
}

// What is wrong with one device of a list is no other device's fault.
func TestImpossibleEntryOfAList(t *testing.T) {
	f := newFake(t)
	for _, value := range impossible {
		f.tell("fake_entry", 1, uintptr(value))
		l, err := OpenDeviceList()
		check(t, err)
		if d := l.Devices(); len(d) != 2 || d[0].Name != "fake_0" || len(l.Invalid()) != 1 {
			t.Fatalf("devices %v, invalid %v", d, l.Invalid())
		}
		isInvalid(t, l.Invalid()[0], "ibv_get_device_list", "device list's entry 1", value)
		check(t, l.Close())
	}
	f.tell("fake_entry", 1, 0)
	f.script("ibv_get_device_name", 1, 0)
	l, err := OpenDeviceList()
	check(t, err)
	if d := l.Devices(); len(d) != 3 || d[0].Name != "" || len(l.Invalid()) != 3 {
		t.Fatalf("devices %v, invalid %v", d, l.Invalid())
	}
	isInvalid(t, l.Invalid()[2], "ibv_get_device_name", "device name", 1)
	check(t, l.Close())
	if (*DeviceList)(nil).Invalid() != nil || len(new(DeviceList).Invalid()) > 0 {
		t.Error("no list has something invalid")
	}
}

// Nor is what a provider has written into its objects followed unseen.
func TestImpossiblePointersInObjects(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	ops := &abi.At[abi.Context](o.context).Ops
	for _, value := range impossible {
		for _, v := range []verb{verbPollCQ, verbReqNotifyCQ, verbPostSend, verbPostRecv} {
			entry := &ops[verbTable[v].op]
			was := *entry
			*entry = uintptr(value)
			_, err := verbCalls(o)[v.String()]()
			isInvalid(t, err, v.String(), "entry of ibv_context_ops", value)
			if present, err := IbvOps(o.context); err != nil || present[v.String()] {
				t.Errorf("%s with %#x is taken for present: %v", v, value, err)
			}
			if turn, err := NewIbvTurn(o.qp, o.cq); v != verbReqNotifyCQ && (err == nil || turn != (IbvTurn{})) {
				t.Errorf("%s with %#x makes a turn: %v", v, value, err)
			}
			*entry = was
		}
		for _, object := range []struct {
			handle uintptr
			v      verb
			what   string
		}{{o.cq, verbPollCQ, "context of the completion queue"}, {o.qp, verbPostSend, "context of the queue pair"}} {
			was := *abi.At[uintptr](object.handle)
			*abi.At[uintptr](object.handle) = uintptr(value)
			_, err := verbCalls(o)[object.v.String()]()
			*abi.At[uintptr](object.handle) = was
			isInvalid(t, err, object.v.String(), object.what, value)
		}
		if !f.lib.Has("ibv_get_cq_event") {
			continue
		}
		queue, cookie := RDMACQ(value), uintptr(0)
		f.script("ibv_get_cq_event", 0, 0) // leaves what is there
		_, err := IbvGetCqEvent(o.channel, &queue, &cookie)
		f.script("", 0, 0)
		isInvalid(t, err, "ibv_get_cq_event", "completion queue", value)
		channel := &abi.At[abi.CQ](o.cq).Channel
		was := *channel
		*(*uintptr)(abi.Ptr(o.cq + 8)) = uintptr(value)
		if got := IbvCQChannel(o.cq); got != 0 {
			t.Errorf("the channel of a queue is %#x", got)
		}
		*channel = was
	}
}
