//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestDeviceList(t *testing.T) {
	f := newFake(t)
	before := f.freed()
	l, err := OpenDeviceList()
	check(t, err)
	devices := l.Devices()
	if len(devices) != 3 {
		t.Fatalf("%d devices, want 3", len(devices))
	}
	for i, want := range []string{"fake_0", strings.Repeat("x", 64), "fake_null\x1b[31m"} {
		if devices[i].Name != want {
			t.Errorf("device %d is %q, want %q", i, devices[i].Name, want)
		}
	}
	devices[0].Name = "changed"
	if l.Devices()[0].Name != "fake_0" {
		t.Error("Devices gives out its own slice")
	}
	if got := IbvDeviceNodeType(devices[0].Handle); NodeTypeName(got) != "ca" {
		t.Errorf("node type %d", got)
	}
	if got := IbvDeviceTransport(devices[1].Handle); TransportName(got) != "thunderbolt" {
		t.Errorf("transport %d", got)
	}
	if guid, err := IbvGetDeviceGUID(devices[0].Handle); guid != 0x00005efffe005301 || err != nil {
		t.Errorf("guid %#x, %v", guid, err)
	}
	context, err := devices[0].Open()
	check(t, err)
	for range 2 {
		check(t, l.Close())
	}
	if n := f.freed() - before; n != 1 {
		t.Errorf("freed %d times, want once", n)
	}
	if after := l.Devices(); len(after) != 0 || devices[1].Name == "" {
		t.Errorf("a closed list has %v, and what was taken from it %v", after, devices)
	}
	if _, err := devices[1].Open(); !errors.Is(err, ErrNilInput) {
		t.Errorf("opening a device of a closed list: %v", err)
	}
	if _, err := IbvAllocPd(context); err != nil {
		t.Errorf("a context must outlive its list: %v", err)
	}
	var none *DeviceList
	if none.Close() != nil || none.Devices() != nil || new(DeviceList).Close() != nil {
		t.Error("nil and zero lists must be empty and closed")
	}
}

func TestDeviceListIsBounded(t *testing.T) {
	f := newFake(t)
	for _, tt := range []struct{ claimed, want int }{
		{0, 3}, {2, 2}, {3, 3}, {1 << 30, 3}, {-5, 3},
	} {
		f.count(true, tt.claimed)
		l, err := OpenDeviceList()
		check(t, err)
		if n := len(l.Devices()); n != tt.want {
			t.Errorf("a list that claims %d entries gives %d, want %d", tt.claimed, n, tt.want)
		}
		check(t, l.Close())
	}
	freed := f.freed()
	f.tell("fake_endless", 1)
	defer f.tell("fake_endless", 0)
	for _, claimed := range []int{0, -1, MaxDevices + 1} {
		f.count(true, claimed)
		if l, err := OpenDeviceList(); l != nil || !errors.Is(err, ErrInvalidProviderResult) || !strings.Contains(err.Error(), "no end") {
			t.Errorf("a list without an end that claims %d gives %v, %v", claimed, l, err)
		}
	}
	f.count(true, 5)
	endless, err := OpenDeviceList()
	check(t, err)
	if n := len(endless.Devices()); n != 5 {
		t.Errorf("a list without an end that claims 5 gives %d", n)
	}
	check(t, endless.Close())
	if n := f.freed() - freed; n != 4 {
		t.Errorf("%d lists were freed, want all four", n)
	}
	f.tell("fake_endless", 0)
	f.count(false, 0)
	f.script("ibv_get_device_name", 0, 0)
	l, err := OpenDeviceList()
	check(t, err)
	if d := l.Devices(); len(d) != 3 || d[0].Name != "" {
		t.Errorf("devices without names: %v", d)
	}
	check(t, l.Close())
	f.script("ibv_get_device_list", 0, 38)
	if _, err := Devices(); !errors.Is(err, ErrNilProviderResult) {
		t.Errorf("a NULL list: %v", err)
	}
}

func TestDevicesKeepTheirListAlive(t *testing.T) {
	f := newFake(t)
	before := f.freed()
	reported := 0
	devices, err := Devices()
	check(t, err)
	f.lib.OnCall(func(string) { reported++ })
	defer f.lib.OnCall(nil)
	for range 3 {
		runtime.GC()
	}
	if f.freed() != before {
		t.Fatal("freed while a device is referred to")
	}
	last := devices[2]
	devices = nil
	runtime.GC()
	if f.freed() != before {
		t.Fatal("freed while one device is referred to")
	}
	if _, err := last.Open(); err != nil {
		t.Error(err)
	}
	last = Device{}
	for deadline := time.Now().Add(10 * time.Second); f.freed() == before; runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("never freed")
		}
		runtime.Gosched()
	}
	if reported != 1 {
		t.Errorf("%d calls reported, want the open alone", reported)
	}
	runtime.KeepAlive(last)
}

func TestErrorsNameTheDevice(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 2)
	f.script("ibv_alloc_pd", 0, 12)
	_, err := IbvAllocPd(o.context)
	if text := err.Error(); !strings.Contains(text, `"fake_null\x1b[31m"`) || strings.Contains(text, "\x1b") {
		t.Errorf("text %q must quote the device's name", text)
	}
	var e *ProviderError
	if !errors.As(err, &e) || e.Device != "fake_null\x1b[31m" || e.Context != o.context {
		t.Errorf("error %+v", e)
	}
	_, err = IbvCloseDevice(o.context)
	check(t, err)
	if name := contextDevice(o.context); name != "" {
		t.Errorf("after closing the context is still %q", name)
	}
	f.script("ibv_open_device", 0, 13)
	_, err = IbvOpenDevice(o.device)
	if !errors.As(err, &e) || e.Device == "" || e.ContextOpen || e.Context != 0 {
		t.Errorf("open failed: %+v", e)
	}
}
