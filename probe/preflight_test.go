//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A table that could not be read is not an empty one, nor an interface without an
// address, whoever asks for an entry.
func TestUnreadTableIsNotEmpty(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*machine{"mac": newMac(t), "linux": newLinux(t)} {
		for _, fault := range []object{{"fault": "crash"}, {"errno": "EIO"}} {
			m.rules(0, "ibv_query_gid", fault)
			m.rules(0, "_ibv_query_gid_ex", fault)
			device := m.dev(0)["name"].(string)
			for _, index := range []*int{nil, new(int)} {
				d := m.probe(func(o *Options) {
					o.Devices, o.Store, o.GIDIndex, o.Only = []string{device}, "none", index, []string{"mr"}
				})
				o := rowFor(t, d, device, "qp.uc.rtr")
				if !strings.Contains(o.Detail, "the table was not read") || strings.Contains(o.Detail, "empty") || strings.Contains(o.Detail, "IPv4") {
					t.Errorf("%s, %v: %s", name, fault, o.Detail)
				}
			}
		}
	}
}

// Nor is a slot that could not be read, in a table of which the rest was, nor the table
// of the other end on this machine.
func TestUnreadSlotIsNotEmpty(t *testing.T) {
	t.Parallel()
	one := 1
	for _, index := range []*int{nil, &one} {
		m := newMac(t)
		m.gids(object{"index": 0, "gid": "fe80::200:5eff:fe00:5301", "type": "none"})
		m.rules(0, "ibv_query_gid", object{"when": object{"sgid_index": 1}, "errno": "EIO"})
		d := m.probe(func(o *Options) { o.Devices, o.Store, o.GIDIndex = []string{"rdma_en3"}, noStore, index })
		if o := rowFor(t, d, "rdma_en3", "qp.uc.rtr"); !strings.Contains(o.Detail, "one entry of the table could not be read") {
			t.Errorf("index %v: %s", index, o.Detail)
		}
	}
	for _, fault := range []object{{"fault": "crash"}, {"errno": "EIO"}} {
		m := newLinux(t)
		m.rules(1, "ibv_query_gid", fault)
		d := m.probe(func(o *Options) {
			o.Devices, o.Store, o.More, o.PeerDevice = []string{"mlx5_0"}, noStore, []string{"pingpong"}, "mlx5_1"
		})
		if o := rowFor(t, d, "mlx5_0", "pingpong.uc"); !strings.Contains(o.Detail, "on mlx5_1 a GID: the table was not read") {
			t.Errorf("%v: %s", fault, o.Detail)
		}
	}
}

// Whatever a table holds, a port that is ready is one that a transition would be tried
// from, and the other way round.
func TestVerdictAgreesWithPreflight(t *testing.T) {
	t.Parallel()
	entry := func(index int, gid, kind string) object { return object{"index": index, "gid": gid, "type": kind} }
	const local, mapped = "fe80::200:5eff:fe00:5301", "::ffff:192.0.2.1"
	for _, c := range []struct {
		name  string
		on    func(*testing.T) *machine
		table []object
		ready bool
	}{
		{"as usual", newMac, []object{entry(0, local, "none"), entry(1, mapped, "none")}, true},
		{"at index 2", newMac, []object{entry(2, mapped, "none")}, true},
		{"twice", newMac, []object{entry(0, mapped, "none"), entry(3, mapped, "none")}, true},
		{"only at index 0", newMac, []object{entry(0, mapped, "none"), entry(1, local, "none")}, false},
		{"only where no queue pair can name it", newMac, []object{entry(300, mapped, "none")}, false},
		{"link-local", newMac, []object{entry(0, local, "none")}, false},
		{"index 0 on Linux", newLinux, []object{entry(0, mapped, "roce_v2")}, true},
		{"link-local on Linux", newLinux, []object{entry(1, local, "roce_v2")}, true},
		{"no queue pair can name it on Linux", newLinux, []object{entry(256, mapped, "roce_v2")}, false},
		{"empty", newLinux, []object{}, false},
	} {
		m := c.on(t)
		m.gids(c.table...)
		device := m.dev(0)["name"].(string)
		d := m.probe(func(o *Options) { o.Devices, o.Store = []string{device}, "none" })
		v := VerdictOf(d)
		i := slices.IndexFunc(v.Ports, func(p PortVerdict) bool { return p.Device == device })
		ready, told := v.Ports[i].Word == VerdictReady, !slices.ContainsFunc(d.Observations, func(o Observation) bool {
			return o.Device == device && o.ID == "qp.uc.rtr" && o.Data["preflight"] == true
		})
		if ready != c.ready || told != c.ready {
			t.Errorf("%s: ready %v (%s), preflight %v, want %v", c.name, ready, v.Ports[i].Why, told, c.ready)
		}
	}
}

// A port is judged by its own interface: that of the device is its first port's.
func TestPreflightLooksAtThePortsInterface(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	d, none := m.dev(0), object{"up": true, "addresses": []string{}}
	second := object{
		"num": 2, "state": "active", "link_layer": "ethernet", "max_mtu": 4096, "active_mtu": 1024,
		"gids": []object{{"index": 0, "gid": "::ffff:192.0.2.9", "type": "roce_v2"}},
	}
	d["ports"] = append(d["ports"].([]object), second)
	m.host()["netdev_of_device"], m.host()["interfaces"] = object{"mlx5_0": "ib0"}, object{"ib0": none}
	for port, missing := range map[int]bool{1: true, 2: false} {
		got := m.probe(func(o *Options) { o.Devices, o.Store, o.Port = []string{"mlx5_0"}, "none", port })
		told := slices.ContainsFunc(got.Observations, func(o Observation) bool {
			return o.Device == "mlx5_0" && o.ID == "qp.rc.rtr" && strings.Contains(o.Detail, "an address on ib0")
		})
		if told != missing {
			t.Errorf("port %d: an address on ib0 is missing %v, want %v", port, told, missing)
		}
	}
}

// An address on a VLAN over the port's interface is one to send from.
func TestPreflightTakesTheAddressOfAVLAN(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	own := object{"index": 0, "gid": "fe80::200:5eff:fe00:5301", "type": "roce_v2"}
	tagged := object{"index": 1, "gid": "::ffff:192.0.2.1", "type": "roce_v2"}
	m.gids(own, tagged)
	slots := []object{maps.Clone(own), maps.Clone(tagged)}
	slots[0]["netdev"], slots[1]["netdev"] = "eth1", "eth1.7"
	m.host()["netdev_of_device"] = object{"mlx5_0": "eth1"}
	m.host()["sysfs"] = object{"mlx5_0": object{"ports": []object{{"num": 1, "gids": slots}}}}
	for address, missing := range map[string]bool{"192.0.2.1": false, "192.0.2.2": true} {
		m.host()["interfaces"] = object{
			"eth1": object{"up": true, "addresses": []string{}}, "eth1.7": object{"up": true, "addresses": []string{address}},
		}
		d := m.probe(func(o *Options) { o.Devices, o.Store = []string{"mlx5_0"}, "none" })
		told := slices.ContainsFunc(d.Observations, func(o Observation) bool { return o.ID == "qp.rc.rtr" && o.Data["preflight"] == true })
		if told != missing {
			t.Errorf("%s on the VLAN: something is missing %v, want %v", address, told, missing)
		}
	}
}
