//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"cmp"
	"testing"

	"rdmaprobe/rdma"
)

// A verb of the data path that says it failed is judged as every other call:
// number, errno and class survive, and "not supported" is a rejection, unless
// messages had gone well before.
func TestDataCallsThatFail(t *testing.T) {
	t.Parallel()
	uc := func(effect object, when ...object) object {
		effect["when"] = object{"qp_type": "UC"}
		for _, w := range when {
			for k, v := range w {
				effect["when"].(object)[k] = v
			}
		}
		return effect
	}
	for _, tt := range []struct {
		name, id, verb string
		rule           object
		level          string // or the reason
		ret            int64
		errno          string
		class          rdma.FailureClass
		exit           int
	}{
		{"a poll with an errno", "pingpong.uc", "ibv_poll_cq", uc(object{"errno": "EIO"}), "provider_error", -5, "EIO", rdma.FailureNegativeProviderReturn, ExitFinding},
		{"a poll that only fails", "pingpong.uc", "ibv_poll_cq", uc(object{"return": -1}), "provider_error", -1, "", rdma.FailureNegativeProviderReturn, ExitFinding},
		{"a poll for want of memory", "pingpong.uc", "ibv_poll_cq", uc(object{"return": -12}), "exhausted", -12, "ENOMEM", rdma.FailureNegativeProviderReturn, ExitFinding},
		{"a poll that fails later", "pingpong.uc", "ibv_poll_cq", uc(object{"errno": "EOPNOTSUPP"}, object{"after": 6}), "provider_error", -95, "EOPNOTSUPP", rdma.FailureNegativeProviderReturn, ExitFinding},
		{"a poll of more than was asked for", "pingpong.uc", "ibv_poll_cq", uc(object{"return": 5000}), "invalid", 5000, "", rdma.FailureProviderStatus, ExitFinding},
		{"a send that is not supported", "pingpong.uc", "ibv_post_send", uc(object{"errno": "EOPNOTSUPP"}), "rejected", 95, "EOPNOTSUPP", rdma.FailureProviderStatus, ExitOK},
		{"and negated", "pingpong.uc", "ibv_post_send", uc(object{"return": -38}), "rejected", -38, "ENOSYS", rdma.FailureNegativeProviderReturn, ExitOK},
		{"a send that is not supported any more", "pingpong.uc", "ibv_post_send", uc(object{"errno": "EOPNOTSUPP"}, object{"after": 3}), "provider_error", 95, "EOPNOTSUPP", rdma.FailureProviderStatus, ExitFinding},
		{"a receive that is not supported", "pingpong.uc", "ibv_post_recv", uc(object{"errno": "EOPNOTSUPP"}), "rejected", 95, "EOPNOTSUPP", rdma.FailureProviderStatus, ExitOK},
		{"a receive with a number that is no errno", "pingpong.uc", "ibv_post_recv", uc(object{"return": 5000}), "provider_error", 5000, "", rdma.FailureProviderStatus, ExitFinding},
		{"a write that is not supported", "op.rdma_write", "ibv_post_send", uc(object{"errno": "EOPNOTSUPP"}, object{"opcode": "RDMA_WRITE"}), "rejected", 95, "EOPNOTSUPP", rdma.FailureProviderStatus, ExitOK},
		{"a write that is not permitted", "op.rdma_write", "ibv_post_send", uc(object{"errno": "EPERM"}, object{"opcode": "RDMA_WRITE"}), "permission", 1, "EPERM", rdma.FailureProviderStatus, ExitOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newLinux(t)
			m.rules(0, tt.verb, tt.rule)
			d := m.probe(func(o *Options) {
				o.Devices, o.More, o.Types, o.Iterations = []string{"mlx5_0"}, []string{"pingpong", "write"}, []string{"uc"}, 10
			})
			o := rowFor(t, d, "mlx5_0", tt.id)
			if got := cmp.Or(string(o.Reason), string(o.Level)); got != tt.level || o.Call != tt.verb || o.FailureClass != tt.class || d.Exit != tt.exit {
				t.Errorf("%s in %s, class %q, exit %d: %s", got, o.Call, o.FailureClass, d.Exit, o.Detail)
			}
			if o.Return == nil || o.Return.Number != tt.ret || (o.Errno == nil) != (tt.errno == "") || o.Errno != nil && o.Errno.Name != tt.errno {
				t.Errorf("return %+v, errno %+v", o.Return, o.Errno)
			}
			if tt.id == "op.rdma_write" {
				levels(t, d, "mlx5_0", map[string]string{"pingpong.uc": "confirmed"})
			}
		})
	}
}
