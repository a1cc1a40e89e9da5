//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"testing"

	"rdmaprobe/rdma"
)

// side is what one of two public reports says of Apple's provider, and what a
// probe then has to see.
type side struct {
	says string
	ruin func(*machine)
	want map[string]string // levels or reasons, by id
	also func(*testing.T, *Document)
	rtr  bool // the probe ends at RTS
}

const conflictDevice = "rdma_en3"

// rule is a machine whose device answers a verb so.
func rule(verb string, rules ...object) func(*machine) {
	return func(m *machine) { m.rules(0, verb, rules...) }
}

// withErrno checks number and name with which a row ended, in Darwin's numbers.
func withErrno(id string, number int, name string) func(*testing.T, *Document) {
	return func(t *testing.T, d *Document) {
		t.Helper()
		o := rowFor(t, d, conflictDevice, id)
		if o.Errno == nil || o.Errno.Number != number || o.Errno.Name != name || o.Errno.Platform != rdma.PlatformDarwin {
			t.Errorf("%s has %+v, want %d %s", id, o.Errno, number, name)
		}
	}
}

// dataIs checks a number in the data of a row, inside of an object of it.
func dataIs(id, object, key string, want int64) func(*testing.T, *Document) {
	return func(t *testing.T, d *Document) {
		t.Helper()
		in, _ := rowFor(t, d, conflictDevice, id).Data[object].(map[string]any)
		if n, ok := dataInt(in, key); !ok || n != want {
			t.Errorf("%s: %s.%s is %v, want %d", id, object, key, in[key], want)
		}
	}
}

// Where public reports contradict each other nothing is assumed: whichever of them
// is right, the probe tells what this machine's provider does.
func TestConflictingReports(t *testing.T) {
	t.Parallel()
	works := map[string]string{"mr.register": "confirmed", "qp.uc.create": "confirmed", "qp.uc.init": "confirmed", "qp.uc.rtr": "confirmed", "pingpong.uc": "confirmed"}
	for _, c := range []struct {
		about string
		sides []side
	}{
		{"registration with local write only", []side{
			{"it works (TN3205)", nil, map[string]string{"mr.register": "confirmed", "mr.register.local": "confirmed"}, nil, false},
			{"it is refused, remote access is needed (llama.cpp)", rule("ibv_reg_mr", object{"when": object{"after": 1}, "errno": "EINVAL"}),
				map[string]string{"mr.register": "confirmed", "mr.register.local": "invalid"}, withErrno("mr.register.local", 22, "EINVAL"), false},
			{"remote access is what is refused", rule("ibv_reg_mr", object{"when": object{"after": 1}}, object{"errno": "EOPNOTSUPP"}),
				map[string]string{"mr.register": "rejected", "mr.rkey": "precondition", "mr.register.local": "confirmed"}, withErrno("mr.register", 102, "EOPNOTSUPP"), false},
		}},
		{"registration without a private entitlement", []side{
			{"it works (many programs)", nil, map[string]string{"mr.register": "confirmed"}, nil, false},
			{"it gives EINVAL (one inspection)", rule("ibv_reg_mr", object{"errno": "EINVAL"}), map[string]string{"mr.register": "invalid", "mr.register.local": "invalid", "qp.uc.create": "confirmed"}, nil, false},
		}},
		{"memory that can be registered", []side{
			{"only mapped memory", rule("ibv_reg_mr", object{"when": object{"memory": "heap"}, "errno": "EFAULT"}), works, nil, false},
			{"only the heap", rule("ibv_reg_mr", object{"when": object{"memory": "mmap"}, "errno": "EFAULT"}), map[string]string{"mr.register": "provider_error"}, withErrno("mr.register", 14, "EFAULT"), false},
		}},
		{"where RC ends", []side{
			{"creation is refused", rule("ibv_create_qp", object{"when": object{"qp_type": "RC"}, "errno": "EOPNOTSUPP"}),
				map[string]string{"qp.rc.create": "rejected", "qp.rc.init": "precondition", "qp.rc.rtr": "not_tried"}, withErrno("qp.rc.create", 102, "EOPNOTSUPP"), false},
			{"RTR is refused, by a negative errno", rule("ibv_modify_qp", object{"when": object{"qp_type": "RC", "to": "RTR"}, "return": -45}),
				map[string]string{"qp.rc.create": "confirmed", "qp.rc.init": "confirmed", "qp.rc.rtr": "rejected", "qp.rc.rts": "precondition"}, withErrno("qp.rc.rtr", 45, "ENOTSUP"), true},
		}},
		{"requested depths", []side{
			{"granted as asked", nil, map[string]string{"qp.uc.create": "confirmed"}, nil, false},
			{"rounded up", rule("ibv_create_qp", object{"set": object{"max_send_wr": 1023, "max_recv_wr": 1023}}), map[string]string{"qp.uc.create": "confirmed"}, dataIs("qp.uc.create", "granted", "max_send_wr", 1023), false},
			{"told otherwise by ibv_query_qp", rule("ibv_query_qp", object{"set": object{"max_recv_wr": 63}}), map[string]string{"qp.uc.create": "confirmed"}, dataIs("qp.uc.create", "queried", "max_recv_wr", 63), false},
		}},
		{"a receive before RTS", []side{
			{"is taken", nil, works, nil, false},
			{"is refused", rule("ibv_post_recv", object{"when": object{"after": 0}, "return": -14}), map[string]string{"qp.uc.rtr": "confirmed", "pingpong.uc": "provider_error"}, withErrno("pingpong.uc", 14, "EFAULT"), false},
			{"is refused for want of room", rule("ibv_post_recv", object{"return": -12}), map[string]string{"pingpong.uc": "exhausted"}, withErrno("pingpong.uc", 12, "ENOMEM"), false},
		}},
		{"the numbers of a device", []side{
			{"11 queue pairs", func(m *machine) { m.dev(0)["attr"] = object{"max_qp": 11, "live_qp": 9} }, map[string]string{"qp.uc.create": "confirmed"}, nil, false},
			{"11, of which the last is not given", func(m *machine) { m.dev(0)["attr"] = object{"max_qp": 11, "live_qp": 10} }, map[string]string{"qp.uc.create": "provider_error"}, withErrno("qp.uc.create", 16, "EBUSY"), false},
			{"3 queue pairs", func(m *machine) { m.dev(0)["attr"] = object{"max_qp": 3, "live_qp": 3} }, map[string]string{"qp.uc.create": "provider_error"}, withErrno("qp.uc.create", 16, "EBUSY"), false},
			{"6 domains", func(m *machine) { m.dev(0)["attr"] = object{"max_pd": 6, "live_pd": 6} }, map[string]string{"pd.alloc": "provider_error", "qp.uc.create": "precondition"}, nil, false},
			{"100 regions", func(m *machine) { m.dev(0)["attr"] = object{"live_mr": 100} }, map[string]string{"mr.register": "provider_error", "qp.uc.create": "confirmed"}, nil, false},
		}},
		{"a domain that is refused", []side{
			{"with ESRCH", rule("ibv_alloc_pd", object{"errno": "ESRCH"}), map[string]string{"pd.alloc": "provider_error"}, withErrno("pd.alloc", 3, "ESRCH"), false},
			{"with EOPNOTSUPP", rule("ibv_alloc_pd", object{"errno": "EOPNOTSUPP"}), map[string]string{"pd.alloc": "rejected", "mr.register": "precondition"}, withErrno("pd.alloc", 102, "EOPNOTSUPP"), false},
			{"without errno", rule("ibv_alloc_pd", object{"errno": ""}), map[string]string{"pd.alloc": "provider_error"}, nil, false},
		}},
		{"GID index 0", []side{
			{"it works", func(*machine) {}, works, nil, false},
			{"RTR times out", rule("ibv_modify_qp", object{"when": object{"to": "RTR", "sgid_index": 0}, "errno": "ETIMEDOUT"}), map[string]string{"qp.uc.rtr": "unreachable", "qp.uc.rts": "precondition"}, withErrno("qp.uc.rtr", 60, "ETIMEDOUT"), true},
		}},
		{"a remote write", []side{
			{"there is no key to write with", nil, map[string]string{"mr.rkey": "observed_zero", "op.rdma_write": "precondition"}, nil, false},
			{"it is refused", func(m *machine) {
				m.profile["peer"] = object{"rkey": 7}
				m.rules(0, "ibv_post_send", object{"when": object{"opcode": "RDMA_WRITE"}, "errno": "EOPNOTSUPP"})
			}, map[string]string{"op.rdma_write": "rejected", "pingpong.uc": "confirmed"}, withErrno("op.rdma_write", 102, "EOPNOTSUPP"), false},
			{"frames leave and arrive", func(m *machine) { m.profile["peer"] = object{"rkey": 7} }, map[string]string{"op.rdma_write": "confirmed"}, nil, false},
			{"it completes and nothing arrives", func(m *machine) {
				m.profile["peer"] = object{"rkey": 7}
				m.rules(0, "ibv_post_send", object{"when": object{"opcode": "RDMA_WRITE"}, "deliver": false})
			}, map[string]string{"op.rdma_write": "payload_mismatch"}, nil, false},
		}},
		{"releasing a domain", []side{
			{"it works", nil, map[string]string{"teardown": "confirmed"}, nil, false},
			{"it fails", rule("ibv_dealloc_pd", object{"errno": "EINVAL"}), map[string]string{"teardown": "invalid", "qp.uc.create": "confirmed"}, withErrno("teardown", 22, "EINVAL"), false},
		}},
	} {
		for _, s := range c.sides {
			t.Run(c.about+"/"+s.says, func(t *testing.T) {
				t.Parallel()
				m := newMac(t)
				if s.ruin != nil {
					s.ruin(m)
				}
				d := m.probe(func(o *Options) {
					o.Devices, o.More, o.AllowRTR, o.Iterations = []string{conflictDevice}, []string{"rc", "pingpong", "write"}, true, 5
					if s.rtr {
						o.More = []string{"rc"}
					}
					if c.about == "GID index 0" {
						o.GIDIndex = new(int)
					}
				})
				levels(t, d, conflictDevice, s.want)
				if s.also != nil {
					s.also(t, d)
				}
			})
		}
	}
}
