package probe

import (
	"strings"
	"testing"

	"rdmaprobe/probe/hostfacts"
)

// remedyCase is a machine, and what one of its findings has to say and must not.
type remedyCase struct {
	name, code string
	scene      func() scene
	change     func(scene)
	says, not  []string
}

func checkRemedies(t *testing.T, cases []remedyCase) {
	t.Helper()
	for _, c := range cases {
		s := c.scene()
		c.change(s)
		text := textOf(s, c.code)
		if text == "" {
			t.Errorf("%s: no %s", c.name, c.code)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s does not say %q: %s", c.name, c.code, want, text)
			}
		}
		for _, bad := range c.not {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %s says %q: %s", c.name, c.code, bad, text)
			}
		}
		checkFindings(t, s)
	}
}

// A remedy is for the machine as it is: nothing is given that it has, and no
// command names what it does not have.
func TestRemediesKnowWhatIsThere(t *testing.T) {
	other := GID{Index: 0, GID: "fe80::200:5eff:fe00:5302", Type: "roce_v1"}
	checkRemedies(t, []remedyCase{
		{"no address", "gid_no_ipv4_mapped", macScene, func(s scene) {
			s.gids("rdma_en3", GID{GID: "fe80::200:5eff:fe00:5301"})
			s.iface("en3", func(i *hostfacts.Interface) { i.Addresses = []string{"fe80::1"} })
		}, []string{"give en3 a fixed IPv4 address", "en3 inet ADDRESS -alias"}, nil},
		{"an address that the table does not show", "gid_no_ipv4_mapped", macScene, func(s scene) { s.gids("rdma_en3", GID{GID: "fe80::200:5eff:fe00:5301"}) },
			[]string{"it has 192.0.2.1", "unplug"}, []string{"give en3", "-alias", "bridge"}},
		{"an address on a member of a bridge", "gid_no_ipv4_mapped", macScene, func(s scene) {
			s.host().Bridges["bridge0"] = []string{"en3", "en4"}
			s.gids("rdma_en3", GID{GID: "fe80::200:5eff:fe00:5301"})
		}, []string{"it has 192.0.2.1", "out of the bridge"}, []string{"give en3"}},
		{"an empty table on the host's own network", "gid_table_empty", linuxScene, func(s scene) { s.gids("mlx5_0"); s.host().Netns = "host" },
			[]string{"although the interface ens1f0 has 192.0.2.1", "ip link set ens1f0 down"}, []string{"namespace", "--network host", "give it"}},
		{"an empty table in a container on the host's network", "gid_table_empty", linuxScene, func(s scene) {
			s.gids("mlx5_0")
			s.host().Netns, s.host().Container = "host", ptrTo(true)
		}, []string{"ens1f0"}, []string{"namespace", "--network host"}},
		{"an empty table and no address", "gid_table_empty", linuxScene, func(s scene) {
			s.gids("mlx5_0")
			s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = []string{} })
		}, []string{"ip addr add ADDRESS/PREFIX dev ens1f0"}, []string{"namespace", "although"}},
		{"an empty table in a container", "gid_table_empty", linuxScene, func(s scene) {
			s.gids("mlx5_0")
			s.host().Container, s.host().NetdevOfDevice["mlx5_0"] = ptrTo(true), nil
		}, []string{"namespace", "--network host"}, []string{"ip link"}},
		{"a table of old addresses", "gid_stale", linuxScene, func(s scene) {
			s.gids("mlx5_0", GID{Index: 2, GID: "::ffff:192.0.2.77", Type: "roce_v1"}, GID{Index: 3, GID: "::ffff:192.0.2.77", Type: "roce_v2"})
		}, []string{"take ens1f0 down and up", "192.0.2.1"}, []string{"give the interface", "none of the entries"}},
		{"one index for two devices", "configured_gid_index_empty", linuxScene, func(s scene) {
			s.second()
			s.gids("mlx5_1", other, GID{Index: 5, GID: "::ffff:192.0.2.2", Type: "roce_v2"})
			s.host().Env["NCCL_IB_GID_INDEX"] = "3"
		}, []string{"the usable entry is now 5", "no one index"}, []string{"=5 works"}},
		{"one index, and the other device is left out", "configured_gid_index_empty", linuxScene, func(s scene) {
			s.second()
			s.gids("mlx5_1", other, GID{Index: 5, GID: "::ffff:192.0.2.2", Type: "roce_v2"})
			s.host().Env["NCCL_IB_GID_INDEX"], s.host().Env["NCCL_IB_HCA"] = "3", "mlx5_1"
		}, []string{"NCCL_IB_GID_INDEX=5 works"}, []string{"no one index"}},
		{"iWARP without an address", "netdev_without_address", linuxScene, func(s scene) {
			s.dev("mlx5_0").Transport = "iwarp"
			s.gids("mlx5_0", GID{GID: "2:5eff:fe00::", Type: "none"})
			s.iface("ens1f0", func(i *hostfacts.Interface) { i.Addresses = []string{} })
		}, []string{"this iWARP device", "ip addr add ADDRESS/PREFIX dev ens1f0"}, []string{"RoCE"}},
	})
}
