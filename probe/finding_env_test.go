package probe

import (
	"testing"

	"rdmaprobe/probe/hostfacts"
)

func TestLeftOut(t *testing.T) {
	for _, c := range []struct {
		variable string
		value    string
		port     int
		want     bool
	}{
		{"NCCL_IB_HCA", "", 1, false}, {"NCCL_IB_HCA", "mlx5", 1, false}, {"NCCL_IB_HCA", "mlx5_0", 1, false},
		{"NCCL_IB_HCA", "mlx5_0:1", 1, false}, {"NCCL_IB_HCA", "mlx5_0:1", 2, true}, {"NCCL_IB_HCA", "=mlx5_0", 1, false},
		{"NCCL_IB_HCA", "=mlx5", 1, true}, {"NCCL_IB_HCA", "mlx4", 1, true}, {"NCCL_IB_HCA", "^mlx5_0", 1, true},
		{"NCCL_IB_HCA", "^=mlx5_1", 1, false}, {"NCCL_IB_HCA", "mlx4,mlx5_0:1", 1, false}, {"NCCL_IB_HCA", "^mlx5_0:2", 1, false},
		{"UCX_NET_DEVICES", "", 1, false}, {"UCX_NET_DEVICES", "all", 1, false}, {"UCX_NET_DEVICES", "mlx5_0:1", 1, false},
		{"UCX_NET_DEVICES", "mlx5_0:1", 2, true}, {"UCX_NET_DEVICES", "mlx5_1:1, mlx5_0:1", 1, false}, {"UCX_NET_DEVICES", "mlx5_1:1", 1, true},
		{"UCX_NET_DEVICES", "eth0", 1, true}, {"UCX_NET_DEVICES", "^mlx5_0:1", 1, true}, {"UCX_NET_DEVICES", "^mlx5_1:1", 1, false},
		{"UCX_NET_DEVICES", "mlx5*", 1, false},
	} {
		v := newFindingView(&Document{Host: &hostfacts.Host{Env: map[string]string{c.variable: c.value}}}, FindingContext{})
		own, other := "NCCL_IB_GID_INDEX", "UCX_IB_GID_INDEX"
		if c.variable == "UCX_NET_DEVICES" {
			own, other = other, own
		}
		if got := v.leftOut(own, "mlx5_0", c.port); got != c.want {
			t.Errorf("%s=%s leaves port %d of mlx5_0 out: %v, want %v", c.variable, c.value, c.port, got, c.want)
		}
		if v.leftOut(other, "mlx5_0", c.port) || v.leftOut("NVSHMEM_IB_GID_INDEX", "mlx5_0", c.port) {
			t.Errorf("%s=%s rules another program", c.variable, c.value)
		}
	}
}
