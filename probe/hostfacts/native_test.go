package hostfacts

import (
	"context"
	"encoding/json"
	"runtime"
	"testing"
	"time"
)

// hang is a program that never ends and cannot be killed.
func hang(context.Context, string, ...string) ([]byte, error) {
	<-testsOver
	return nil, context.Canceled
}

func TestCollectNative(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("NOT CHECKED: there are no native facts on", runtime.GOOS)
	}
	s := Native()
	s.Run = hang
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	h, missing := Collect(ctx, s)
	if h.OS != s.OS || h.Kernel == "" || h.Arch == "" || h.MemlockKiB == nil || h.EUID == nil || h.Container == nil {
		t.Errorf("facts that every machine has are missing: %+v", h)
	}
	if h.Arch != runtime.GOARCH && h.Translated == nil {
		t.Errorf("arch %q, the program is built for %q", h.Arch, runtime.GOARCH)
	}
	if len(h.Interfaces) == 0 || h.Interfaces[loopback()].Addresses == nil {
		t.Errorf("interfaces %v have no loopback with addresses", h.Interfaces)
	}
	if BootID(s) == "" {
		t.Error("no boot id")
	}
	if runtime.GOOS == "linux" && (h.SysfsDevices == nil || h.DevInfiniband == nil) {
		t.Error("a machine without RDMA devices has empty lists of them, not absent ones")
	}
	if _, err := json.Marshal(h); err != nil {
		t.Error(err)
	}
	for _, m := range missing {
		if m.Fact == "" || m.Source == "" || m.Why == "" {
			t.Errorf("incomplete note %+v", m)
		}
	}
}

func loopback() string {
	if runtime.GOOS == "darwin" {
		return "lo0"
	}
	return "lo"
}

func BenchmarkQuickTwoDevices(b *testing.B) {
	s := load(b, "testdata/linux/roce-two-ports.txtar")
	for b.Loop() {
		Quick(s)
	}
}

func BenchmarkQuick(b *testing.B) {
	s := Native()
	for b.Loop() {
		Quick(s)
	}
}
