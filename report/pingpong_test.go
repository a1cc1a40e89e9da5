package report

import (
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

func TestPingpongText(t *testing.T) {
	data := func(verified, lost any, more ...any) map[string]any {
		m := map[string]any{"count": 100, "verified": verified, "lost": lost, "size": 64}
		for i := 0; i+1 < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return m
	}
	for _, tt := range []struct {
		name, id string
		level    rdma.Capability
		data     map[string]any
		want     string
	}{
		{"confirmed", "pingpong.rc", rdma.CapabilityConfirmed, data(100, 0, "p50_ns", 12345, "p99_ns", 40000.0),
			"rxe_a port 1 RC 64 B: 100 of 100 verified, round trip p50 12.3 µs p99 40 µs"},
		{"lossy", "pingpong.uc", rdma.CapabilityUnknown, data(98, 2, "p50_ns", 999, "p99_ns", 1500000),
			"rxe_a port 1 UC 64 B: 98 of 100 verified, 2 lost, round trip p50 999 ns p99 1.5 ms"},
		{"too fast", "pingpong.rc", rdma.CapabilityConfirmed, data(100, 0, "rate_bits_per_s", 12_300_000_000.0, "above_link_speed", "the link has 2.5 Gb/s"),
			"rxe_a port 1 RC 64 B: 100 of 100 verified; warning: 12.3 Gb/s is above the link's speed"},
		{"fast enough", "pingpong.rc", rdma.CapabilityConfirmed, data(100, 0, "rate_bits_per_s", 12_300_000_000.0), "rxe_a port 1 RC 64 B: 100 of 100 verified"},
		{"all lost", "pingpong.uc", rdma.CapabilityUnknown, data(0, 100), "rxe_a port 1 UC 64 B: 0 of 100 verified, 100 lost"},
		{"the end that answers", "pingpong.rc", rdma.CapabilityConfirmed, data(100, 0), "rxe_a port 1 RC 64 B: 100 of 100 verified"},
		{"no answer and no loss", "pingpong.rc", rdma.CapabilityUnknown, data(3, 0), ""},
		{"not tried", "pingpong.rc", rdma.CapabilityUnknown, nil, ""},
		{"numbers that are none", "pingpong.rc", rdma.CapabilityConfirmed, data("x", 0), ""},
		{"another probe", "op.rdma_write", rdma.CapabilityConfirmed, data(100, 0), ""},
	} {
		o := &probe.Observation{ID: tt.id, Device: "rxe_a", Port: 1, Level: tt.level, Data: tt.data}
		if got := pingpongText(&probe.Document{}, o); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	o := &probe.Observation{ID: "pingpong.rc", Host: "node-a", Device: "mlx5_0", Level: rdma.CapabilityConfirmed, Data: data(100, 0)}
	if got := pingpongText(twoHosts(), o); !strings.HasPrefix(got, "node-a mlx5_0 RC 64 B: ") {
		t.Errorf("of several hosts: %q", got)
	}
}

func TestBriefTimes(t *testing.T) {
	for ns, want := range map[int]string{
		1: "1 ns", 999: "999 ns", 1000: "1 µs", 1234: "1.23 µs", 12345: "12.3 µs", 123456: "123 µs", 100000: "100 µs",
		1_500_000: "1.5 ms", 2_000_000_000: "2 s", 90_000_000_000: "90 s",
	} {
		if got := brief(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}
