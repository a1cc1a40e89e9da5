//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
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
