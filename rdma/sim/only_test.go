package sim

import (
	"strings"
	"testing"
)

func TestOnly(t *testing.T) {
	const device = `{"name": "NAME", "node_guid": "0000:5eff:fe00:530N", "transport": "infiniband", "ports": [{"num": 1, "state": "active", "link_layer": "ethernet", "max_mtu": 4096, "active_mtu": 1024, "lid": 0, "gids": []}]}`
	one := func(name, n string) string { return strings.NewReplacer("NAME", name, "30N", "30"+n).Replace(device) }
	text := `{"profile": 1, "id": "x", "host": {"os": "macos"}, "devices": [` + one("a", "1") + "," + one("b", "2") + "," + one("c", "3") + `]}`
	whole, err := Parse([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := Split([]byte(text))
	for _, c := range []struct{ ask, want string }{{"b", "b"}, {"c a", "c a"}, {"", "a b c"}, {"nobody", "a b c"}, {"a nobody", "a b c"}} {
		raw := s.Only(strings.Fields(c.ask)...)
		p, err := Parse(raw, nil)
		if err != nil {
			t.Fatalf("%q: %v\n%s", c.ask, err, raw)
		}
		var got []string
		for _, d := range p.Devices {
			got = append(got, d.Name)
		}
		if strings.Join(got, " ") != c.want || p.ID != whole.ID || p.Platform() != whole.Platform() {
			t.Errorf("%q: devices %v, id %s, platform %s", c.ask, got, p.ID, p.Platform())
		}
	}
	for _, odd := range []string{`{"profile": 1}`, `[]`, ``, `{"devices": [` + one("a", "1") + `,` + one("a", "2") + `]}`} {
		if got := string(Split([]byte(odd)).Only("a")); got != odd {
			t.Errorf("%q was taken apart: %q", odd, got)
		}
	}
}
