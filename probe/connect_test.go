//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"slices"
	"strings"
	"testing"
)

// gids gives the first device's port another table.
func (m *machine) gids(entries ...object) {
	m.dev(0)["ports"].([]object)[0]["gids"] = entries
}

// On Thunderbolt index 0 is taken only when it is named, whatever it holds, and
// what is missing is what the table shows.
func TestThunderboltPreflightOfGIDs(t *testing.T) {
	t.Parallel()
	mapped := func(index int) object { return object{"index": index, "gid": "::ffff:192.0.2.1", "type": "none"} }
	local := object{"index": 0, "gid": "fe80::200:5eff:fe00:5301", "type": "none"}
	zero, named := 0, "--gid-index 0 takes it"
	for _, tt := range []struct {
		name  string
		gids  []object
		index *int
		says  string // of what is missing; "": the messages are sent
		used  int
	}{
		{"only at 0", []object{mapped(0)}, nil, named, 0},
		{"at 0, named", []object{mapped(0)}, &zero, "", 0},
		{"at 0 and 2", []object{mapped(0), mapped(2)}, nil, "", 2},
		{"beyond what can be named", []object{local, mapped(256)}, nil, "cannot name index 256", 0},
		{"nowhere", []object{local}, nil, "needs an IPv4 address", 0},
		{"link-local, named", []object{local, mapped(1)}, &zero, "", 0},
	} {
		m := newMac(t)
		m.gids(tt.gids...)
		d := m.probe(func(o *Options) {
			o.Devices, o.More, o.GIDIndex, o.Store = []string{"rdma_en3"}, []string{"pingpong"}, tt.index, noStore
		})
		rtr := rowFor(t, d, "rdma_en3", "qp.uc.rtr")
		if tt.says == "" {
			levels(t, d, "rdma_en3", map[string]string{"qp.uc.rtr": "confirmed", "pingpong.uc": "confirmed"})
			if n, ok := dataInt(rtr.Params, "gid_index"); !ok || n != int64(tt.used) {
				t.Errorf("%s: params %v", tt.name, rtr.Params)
			}
			continue
		}
		levels(t, d, "rdma_en3", map[string]string{"qp.uc.rtr": "precondition", "qp.uc.rts": "precondition", "pingpong.uc": "precondition"})
		missing, _ := rtr.Data["missing"].([]string)
		if !slices.ContainsFunc(missing, func(s string) bool { return strings.Contains(s, tt.says) }) {
			t.Errorf("%s: missing %q", tt.name, missing)
		}
	}
}

// A GID that moves after it was chosen is not used, also when that happens between its
// announcement and RTR; nor is one that cannot be read again.
func TestMovedGID(t *testing.T) {
	t.Parallel()
	const chosen, other = "::ffff:192.0.2.1", "::ffff:192.0.2.77"
	slot := func(effect object, after int) object {
		effect["when"] = object{"sgid_index": 2, "after": after}
		return effect
	}
	moved := func() object { return object{"set": object{"gid": other}} }
	for _, tt := range []struct {
		name  string
		rules []object
		says  string // "": it is used
	}{
		// The child that reads the table asks for two other slots first.
		{"before it is announced", []object{{"when": object{"after": 2}}, slot(moved(), 0)}, "GID table entry 2 moved: it held " + chosen + ", now " + other},
		{"once it was announced", []object{slot(moved(), 1)}, "GID table entry 2 moved: it held " + chosen + ", now " + other},
		{"it is empty", []object{slot(object{"set": object{"gid": "::"}}, 1)}, "GID table entry 2 is empty"},
		{"it cannot be read", []object{slot(object{"errno": "EIO"}, 1)}, "read GID 2: "},
		{"after RTR", []object{slot(moved(), 2)}, ""},
	} {
		m := newLinux(t)
		m.gids(object{"index": 2, "gid": chosen, "type": "roce_v2"})
		m.rules(0, "ibv_query_gid", tt.rules...)
		d := m.probe(func(o *Options) { o.Devices, o.More, o.Store = []string{"mlx5_0"}, []string{"pingpong"}, noStore })
		if tt.says == "" {
			levels(t, d, "mlx5_0", map[string]string{"qp.uc.rtr": "confirmed", "pingpong.uc": "confirmed"})
			continue
		}
		levels(t, d, "mlx5_0", map[string]string{"qp.uc.rtr": "precondition", "qp.uc.rts": "precondition", "pingpong.uc": "precondition"})
		for _, id := range []string{"qp.uc.rtr", "pingpong.uc"} {
			if o := rowFor(t, d, "mlx5_0", id); !strings.Contains(o.Detail, tt.says) || o.Call != "" {
				t.Errorf("%s: %s in %q: %s", tt.name, id, o.Call, o.Detail)
			}
		}
	}
}

// A peer without a GID where one is needed is told as such.
func TestPeerWithoutGID(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.profile["peer"] = object{"device": "mlx5_9", "gids": []object{}}
	d := m.probe(func(o *Options) { o.Devices, o.More, o.Store = []string{"mlx5_0"}, []string{"pingpong"}, noStore })
	levels(t, d, "mlx5_0", map[string]string{"qp.uc.rtr": "precondition", "pingpong.uc": "precondition"})
	for _, id := range []string{"qp.uc.rtr", "pingpong.uc"} {
		if o := rowFor(t, d, "mlx5_0", id); !strings.Contains(o.Detail, "the peer has no GID") {
			t.Errorf("%s: %q", id, o.Detail)
		}
	}
}

// A stage that failed in a run is not called again on that device: what needs it
// says so, and the later probes open nothing.
func TestFailedStageIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, verb string
		rule     object
	}{
		{"qp.uc.create", "ibv_create_qp", object{"errno": "EINVAL"}},
		{"qp.uc.init", "ibv_modify_qp", object{"when": object{"to": "INIT"}, "errno": "EINVAL"}},
		{"qp.uc.rtr", "ibv_modify_qp", object{"when": object{"to": "RTR"}, "errno": "EINVAL"}},
		{"qp.uc.rts", "ibv_modify_qp", object{"when": object{"to": "RTS"}, "errno": "EINVAL"}},
	} {
		m := newLinux(t)
		m.rules(0, tt.verb, tt.rule)
		d := m.probe(func(o *Options) {
			o.Devices, o.More, o.Types, o.Store = []string{"mlx5_0"}, []string{"pingpong", "write"}, []string{"uc"}, noStore
		})
		levels(t, d, "mlx5_0", map[string]string{"pingpong.uc": "precondition", "op.rdma_write": "precondition"})
		tried := 0
		for _, o := range d.Observations {
			if o.Device == "mlx5_0" && o.ID == tt.id && o.Call != "" {
				tried++
			}
		}
		if tried != 1 {
			t.Errorf("%s was tried %d times", tt.id, tried)
		}
	}
}

// A size for which no time was left was not tried: the messages of the one before
// it came back, so that nobody is said to be silent, and its row stays the evidence.
func TestSizesWithoutTime(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.timeout = short
	m.rules(0, "ibv_poll_cq", object{"when": object{"qp_type": "UC"}, "lose_every": 3})
	d := m.probe(func(o *Options) {
		o.Devices, o.More, o.Sizes = []string{"mlx5_0"}, []string{"pingpong"}, []int{64, 128}
	})
	if o := d.Observations[slices.IndexFunc(d.Observations, func(o Observation) bool { return o.ID == "pingpong.uc" })]; o.Reason != NoCompletion {
		t.Errorf("the first size: %q, %s", o.Reason, o.Detail)
	}
	o := rowFor(t, d, "mlx5_0", "pingpong.uc")
	if n, _ := dataInt(o.Params, "size"); n != 128 || o.Reason != NotTried || !strings.Contains(o.Detail, "no message of this size was sent") {
		t.Errorf("the second size: %q, %s, %v", o.Reason, o.Detail, o.Params)
	}
	for _, f := range d.Findings {
		if f.Code != "uc_message_loss" {
			t.Errorf("finding %s: %s", f.Code, f.Message)
		}
	}
	if o := rowFor(t, m.report(nil), "mlx5_0", "pingpong.uc"); o.Reason != NoCompletion {
		t.Errorf("on record: %q, %s", o.Reason, o.Detail)
	}
}

// A transition that the provider refuses is a finding, also to RTS and without errno;
// one that it does not support is an answer.
func TestRefusedTransitionIsFound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ to, errno, code, says string }{
		{"RTR", "EINVAL", "provider_degraded", "to RTR was refused with errno 22 (EINVAL)"},
		{"RTR", "", "provider_degraded", "to RTR was refused without setting errno"},
		{"RTS", "EINVAL", "provider_degraded", "to RTS was refused with errno 22 (EINVAL)"},
		{"RTS", "ETIMEDOUT", "provider_degraded", "after RTR had succeeded"},
		{"RTR", "EBUSY", "stale_kernel_resources", "to RTR"},
		{"RTS", "EOPNOTSUPP", "", ""},
	} {
		m := newLinux(t)
		m.rules(0, "ibv_modify_qp", object{"when": object{"to": tt.to}, "errno": tt.errno})
		d := m.probe(func(o *Options) { o.Devices, o.More, o.Store = []string{"mlx5_0"}, []string{"pingpong"}, noStore })
		var got []string
		for _, f := range d.Findings {
			got = append(got, f.Code+": "+f.Message)
		}
		if tt.code == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || !strings.HasPrefix(got[0], tt.code+": ") || !strings.Contains(got[0], tt.says) {
			t.Errorf("%s with %q: %q", tt.to, tt.errno, got)
		}
	}
}

// More sizes than a task may name are refused before anything is opened.
func TestTooManySizes(t *testing.T) {
	for n, ok := range map[int]bool{1: true, 64: true, 65: false} {
		o := Options{Sizes: slices.Repeat([]int{64}, n)}
		if err := o.check(); (err == nil) != ok {
			t.Errorf("%d sizes: %v", n, err)
		}
	}
}

// A queue is as deep as its largest message needs: on Thunderbolt in frames of 4096
// bytes, elsewhere one place.
func TestQueueDepth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		m      *machine
		device string
		size   int
		want   int64
	}{
		{newMac(t), "rdma_en3", 64, 16}, {newMac(t), "rdma_en3", 1 << 20, 256}, {newMac(t), "rdma_en3", 4095 * 4096, 4095}, {newLinux(t), "mlx5_0", 1 << 20, 16},
	} {
		d := tt.m.probe(func(o *Options) {
			o.Devices, o.More, o.Sizes, o.Iterations, o.Store = []string{tt.device}, []string{"pingpong"}, []int{64, tt.size}, 2, noStore
		})
		levels(t, d, tt.device, map[string]string{"pingpong.uc": "confirmed"})
		for _, o := range d.Observations {
			if o.ID != "qp.uc.create" || o.Device != tt.device {
				continue
			}
			want := int64(16)
			if o.Probe == "pingpong.uc" {
				want = tt.want
			}
			asked, _ := o.Params["requested"].(map[string]any)
			for _, key := range []string{"max_send_wr", "max_recv_wr"} {
				if n, ok := dataInt(asked, key); !ok || n != want {
					t.Errorf("%d bytes on %s, %s: %v, want %s %d", tt.size, tt.device, o.Probe, asked, key, want)
				}
			}
		}
	}
}

// A ping-pong of whatever type is confirmed says so where none is; a type beside one
// that is stays out.
func TestPingpongOfNoType(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		refused string // "": both types
		uc, rc  string
	}{{"", "precondition", "precondition"}, {"UC", "not_tried", "confirmed"}, {"RC", "confirmed", "not_tried"}} {
		m := newLinux(t)
		rule := object{"errno": "EOPNOTSUPP"}
		if tt.refused != "" {
			rule["when"] = object{"qp_type": tt.refused}
		}
		m.rules(0, "ibv_create_qp", rule)
		d := m.probe(func(o *Options) { o.Devices, o.More, o.Store = []string{"mlx5_0"}, []string{"pingpong", "rc"}, noStore })
		levels(t, d, "mlx5_0", map[string]string{"pingpong.uc": tt.uc, "pingpong.rc": tt.rc})
	}
	m := newMac(t)
	m.dev(0)["ports"].([]object)[0]["state"] = "down"
	d := m.probe(func(o *Options) { o.Devices, o.More, o.Store = []string{"rdma_en3"}, []string{"pingpong"}, noStore })
	if o := rowFor(t, d, "rdma_en3", "pingpong.uc"); o.Reason != Precondition || !strings.Contains(o.Detail, "active") {
		t.Errorf("%q: %s", o.Reason, o.Detail)
	}
}
