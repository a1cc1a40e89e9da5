package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/fixtures"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma/sim"
)

// TestCheckTellsAll: every error with its place, and the first is that of Parse.
func TestCheckTellsAll(t *testing.T) {
	for _, c := range []struct {
		profile string
		keys    []string
	}{
		{`{"profile": 1, "id": "x", "zz": 1, "host": {"yy": 1}, "devices": [{"name": 3, "ports": [{"num": "a"}, {"ww": 1}]}]}`,
			[]string{"zz", "devices[0].name", "devices[0].ports[0].num", "devices[0].ports[1].ww", "host.yy"}},
		{`{"profile": 2, "id": "x", "host": {"os": "beos"}, "library": {"missing_symbols": ["zz"]}, "device_list": {"errno": "EZZ"},
			"devices": [{"name": "a"}, {"name": "b", "transport": "infiniband", "attr": {"zz": 1}, "ports": [{"num": 1}, {"num": 1, "state": "down"}],
			"calls": {"ibv_reg_mr": [{"errno": "EZZ"}, {"when": {"after": -1}}], "ibv_zz": []}}, {"name": "b", "transport": "infiniband"}]}`,
			[]string{"profile", "host.os", "library.missing_symbols[0]", "devices[0]", "devices[1].ports[0]", "devices[1].ports[1].num",
				"devices[1].attr.zz", "devices[1].calls.ibv_reg_mr[0].errno", "devices[1].calls.ibv_reg_mr[1].when.after", "devices[1].calls.ibv_zz", "devices[2].name"}},
		{`{"profile": 1`, []string{""}},
	} {
		_, first := sim.Parse([]byte(c.profile), &hostfacts.Host{})
		all := sim.Check([]byte(c.profile), &hostfacts.Host{})
		var keys []string
		for _, err := range all {
			var pe *sim.ParseError
			if !errors.As(err, &pe) || pe.Line < 1 {
				t.Errorf("%v is no ParseError with a line", err)
				continue
			}
			keys = append(keys, pe.Key)
		}
		var pe *sim.ParseError
		if !errors.As(first, &pe) || !slices.Contains(keys, pe.Key) {
			t.Errorf("Parse says %v, Check %v", first, all)
		}
		slices.Sort(keys)
		slices.Sort(c.keys)
		if !slices.Equal(keys, c.keys) {
			t.Errorf("%s\ngives %q, want %q", c.profile, keys, c.keys)
		}
	}
	for _, info := range fixtures.Profiles() {
		data, _ := fixtures.Profile(info.Name)
		if wrong := sim.Check(data, &hostfacts.Host{}); len(wrong) > 0 {
			t.Errorf("%s: %v", info.Name, wrong)
		}
	}
}

// Of several errors in one object Parse tells of the first in the file, each time.
func TestParseTellsTheFirst(t *testing.T) {
	for object, want := range map[string]string{
		`{"when": {"size_over": -1, "after": -1}}`:        "size_over",
		`{"lose_every": 0, "repeat_every": 0}`:            "lose_every",
		`{"repeat_every": 0, "lose_every": 0}`:            "repeat_every",
		`{"lkey": 4294967296, "rkey": 4294967296}`:        "lkey",
		`{"rkey": 4294967296, "lkey": 4294967296}`:        "rkey",
		`{"when": {"after": -1, "outstanding_over": -1}}`: "after",
	} {
		verb := "ibv_post_send"
		if strings.Contains(object, "key") {
			verb = "ibv_reg_mr"
		}
		profile := `{"profile": 1, "id": "x", "devices": [{"name": "a", "transport": "infiniband", "calls": {"` + verb + `": [` + object + `]}}]}`
		for range 20 {
			_, err := sim.Parse([]byte(profile), &hostfacts.Host{})
			var pe *sim.ParseError
			if !errors.As(err, &pe) || !strings.HasSuffix(pe.Key, "."+want) {
				t.Fatalf("%s: %v, want one about %s", object, err, want)
			}
		}
	}
}
