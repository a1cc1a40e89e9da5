//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"testing"

	"rdmaprobe/rdma"
)

// On Thunderbolt the address that is needed may be in a slot that cannot be read.
func TestUnreadGIDsOfAMac(t *testing.T) {
	t.Parallel()
	m := newMac(t)
	m.dev(0)["ports"].([]object)[0]["gids"] = []object{{"index": 0, "gid": "fe80::200:5eff:fe00:5301", "type": "none"}}
	m.rules(0, "ibv_query_gid", object{"when": object{"after": 5}, "errno": "EIO"})
	d := m.probe(func(o *Options) { o.Devices = []string{"rdma_en3"} })
	if !hasFinding(d, "port_query_failed", "rdma_en3") || hasFinding(d, "gid_no_ipv4_mapped", "rdma_en3") || d.Exit != ExitFinding {
		t.Errorf("exit %d, %+v", d.Exit, d.Findings)
	}
}

// Slots that cannot be read are told of, and are not taken for empty ones: what is
// not among the others may be in them. ENODATA is how a kernel says that one is empty.
func TestGIDSlotsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		gids   []object
		rules  []object
		usable string
		mapped string
		unread int64
	}{
		{"an IPv4-mapped one before", []object{{"index": 0, "gid": "::ffff:192.0.2.1", "type": "roce_v2"}}, []object{{"when": object{"after": 1}, "errno": "EIO"}}, "confirmed", "confirmed", 1023},
		{"none before", []object{{"index": 0, "gid": "2001:db8::1", "type": "roce_v2"}, {"index": 9, "gid": "::ffff:192.0.2.1", "type": "roce_v2"}}, []object{{"when": object{"after": 5}, "errno": "EIO"}}, "confirmed", "provider_error", 1019},
		{"all are empty or unreadable", nil, []object{{"when": object{"after": 5}, "errno": "EIO"}}, "provider_error", "precondition", 0},
		{"empty by ENODATA", []object{{"index": 0, "gid": "2001:db8::1", "type": "roce_v2"}}, []object{{"when": object{"after": 1}, "errno": "ENODATA"}}, "confirmed", "observed_zero", 0},
		{"all empty by ENODATA", nil, []object{{"errno": "ENODATA"}}, "observed_zero", "observed_zero", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newLinux(t)
			m.dev(0)["ports"].([]object)[0]["gids"] = tt.gids
			if tt.gids == nil {
				m.dev(0)["ports"].([]object)[0]["gids"] = []object{}
			}
			m.rules(0, "ibv_query_gid", tt.rules...)
			for _, d := range []*Document{
				m.probe(func(o *Options) { o.Devices, o.Only = []string{"mlx5_0"}, []string{"gid"} }),
				m.devices(func(o *Options) { o.Devices = []string{"mlx5_0"} }),
			} {
				levels(t, d, "mlx5_0", map[string]string{"gid.usable": tt.usable, "gid.ipv4_mapped": tt.mapped})
				u, q := rowFor(t, d, "mlx5_0", "gid.usable"), rowFor(t, d, "mlx5_0", "gid.ipv4_mapped")
				if n, _ := dataInt(u.Data, "unread"); n != tt.unread || (dataText(u.Data, "unread_error") != "") != (tt.unread > 0) {
					t.Errorf("data %v, want %d unread", u.Data, tt.unread)
				}
				if q.Reason == ProviderError && (q.Errno == nil || q.Errno.Name != "EIO" || q.FailureClass != rdma.FailureNegativeProviderReturn) {
					t.Errorf("%+v", q)
				}
			}
		})
	}
}
