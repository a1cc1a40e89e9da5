package probe

import (
	"slices"
	"testing"

	"rdmaprobe/probe/hostfacts"
)

// What a child has found out goes to the document's entry and to no copy of it; a
// table that was not read leaves the old one, an empty one takes its place.
func TestMergeWritesToNoCopy(t *testing.T) {
	old := []GID{{Index: 1, GID: "::ffff:192.0.2.1"}}
	for name, tt := range map[string]struct{ seen, want []GID }{
		"not read": {nil, old},
		"empty":    {[]GID{}, []GID{}},
		"another":  {[]GID{{Index: 2, GID: "::ffff:192.0.2.5"}}, []GID{{Index: 2, GID: "::ffff:192.0.2.5"}}},
	} {
		d := Device{Name: "rdma_en3", Ports: []Port{{Num: 1, State: "down", GIDs: old}}}
		copied := d
		d.merge(Device{Ports: []Port{{Num: 1, State: stateActive, GIDs: tt.seen}, {Num: 2}}})
		d.fromFacts(&hostfacts.Host{})
		if p := d.Ports[0]; p.State != stateActive || p.Netdev != "en3" || p.GIDs == nil || !slices.Equal(p.GIDs, tt.want) {
			t.Errorf("%s: %+v", name, p)
		}
		if len(d.Ports) != 2 || d.Ports[1].GIDs == nil {
			t.Errorf("%s: ports %+v", name, d.Ports)
		}
		if p := copied.Ports[0]; len(copied.Ports) != 1 || p.State != "down" || p.Netdev != "" || !slices.Equal(p.GIDs, old) {
			t.Errorf("%s: the copy is %+v", name, copied.Ports)
		}
	}
	d := Device{Name: "rdma_en3", Ports: []Port{{Num: 1}}}
	copied := d
	if d.fromFacts(&hostfacts.Host{}); copied.Ports[0].Netdev != "" || d.Ports[0].Netdev != "en3" {
		t.Errorf("facts: %+v, the copy %+v", d.Ports, copied.Ports)
	}
}

// sgid_index is one byte: no slot above it is chosen, whatever it holds.
func TestChooseGIDThatCanBeNamed(t *testing.T) {
	gids := []GID{{Index: 255, Class: "link_local", Type: "roce_v1"}, {Index: 256, Class: "ipv4_mapped", Type: "roce_v2"}}
	if g, _, ok := chooseGID("ethernet", gids, nil); !ok || g.Index != 255 {
		t.Errorf("%+v, %v", g, ok)
	}
	for _, layer := range []string{"ethernet", "thunderbolt"} {
		if g, _, ok := chooseGID(layer, gids[1:], nil); ok {
			t.Errorf("%s: %+v", layer, g)
		}
	}
	for index, ok := range map[int]bool{0: true, 255: true, 256: false, -1: false} {
		o := Options{GIDIndex: &index}
		if err := o.check(); (err == nil) != ok {
			t.Errorf("--gid-index %d: %v", index, err)
		}
	}
}
