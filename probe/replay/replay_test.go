//go:build (linux || darwin) && (amd64 || arm64)

package replay_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/probe/replay"
)

func TestMain(m *testing.M) {
	probe.Main()
	os.Exit(m.Run())
}

// play asks a machine everything that needs no other host. Its ledger is its own:
// locks lie beside it, and many machines here have one name.
func play(ctx context.Context, profile []byte) (*probe.Document, error) {
	dir, err := os.MkdirTemp("", "replay-test-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return probe.Run(ctx, probe.Options{
		Provider: probe.ProviderOptions{Name: "test", Profile: profile}, Store: filepath.Join(dir, "evidence.jsonl"), Timeout: 5 * time.Second,
		More: []string{"rc", "ud", "events", "pingpong", "write"},
	})
}

// machine is a profile with one Mac or Linux device and further members.
func machine(os, device, rest string) []byte {
	kind, layer, gidType := "infiniband", "ethernet", "roce_v2"
	if os == "macos" {
		kind, layer, gidType = "thunderbolt", "thunderbolt", "none"
	}
	name := map[string]string{"macos": "rdma_en2", "linux": "mlx5_0"}[os]
	return fmt.Appendf(nil, `{"profile": 1, "id": "t", "host": {"os": %q, "os_build": "25F84", "arch": "arm64"}, "devices": [
		{"name": %q, "node_guid": "0000:5eff:fe00:5301", "transport": %q, %s
		"ports": [{"num": 1, "state": "active", "link_layer": %q, "gids": [
			{"index": 0, "gid": "fe80::200:5eff:fe00:5301", "type": %q}, {"index": 3, "gid": "::ffff:192.0.2.1", "type": %q}]}]}]%s}`,
		os, name, kind, device, layer, gidType, gidType, rest)
}

func calls(rules string) string { return `"calls": {` + rules + `},` }

func record(t *testing.T, profile []byte) *probe.Document {
	t.Helper()
	d, err := play(t.Context(), profile)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// quirks are answers that the case files do not have.
var quirks = map[string][]byte{
	"nothing special":                  machine("linux", "", ""),
	"a Mac":                            machine("macos", "", ""),
	"a region with remote access only": machine("macos", calls(`"ibv_reg_mr": [{"when": {"after": 1}, "errno": "EACCES"}, {"lkey": 7, "rkey": 9}]`), ""),
	"a region with local access only":  machine("macos", calls(`"ibv_reg_mr": [{"when": {"after": 1}, "lkey": 5}, {"errno": "EINVAL"}]`), ""),
	"no attributes":                    machine("linux", calls(`"ibv_query_device": [{"errno": "EIO"}]`), ""),
	"no attributes, by -1":             machine("linux", calls(`"ibv_query_device": [{"return": -1}]`), ""),
	"capacities of its own":            machine("linux", calls(`"ibv_create_qp": [{"when": {"qp_type": "UC"}, "set": {"max_inline_data": 64, "max_send_wr": 31}}], "ibv_query_qp": [{"when": {"qp_type": "UC"}, "set": {"max_recv_wr": 77}}]`), ""),
	"no capacities on query":           machine("linux", calls(`"ibv_query_qp": [{"errno": "EOPNOTSUPP"}]`), ""),
	"a negative return":                machine("linux", calls(`"ibv_modify_qp": [{"when": {"to": "INIT"}, "return": -22}]`), ""),
	"a return that is no errno":        machine("linux", calls(`"ibv_modify_qp": [{"when": {"qp_type": "RC", "to": "RTR"}, "return": -1}]`), ""),
	"a -1 with errno":                  machine("linux", calls(`"ibv_modify_qp": [{"when": {"to": "INIT"}, "return": -1, "errno": "EPERM"}]`), ""),
	"an errno where -1 is usual":       machine("linux", calls(`"ibv_query_gid": [{"return": 5}]`), ""),
	"a negative one there":             machine("linux", calls(`"ibv_query_gid": [{"return": -5}]`), ""),
	"no transport that is known":       []byte(strings.Replace(string(machine("macos", "", "")), `"transport": "thunderbolt"`, `"transport": "unknown"`, 1)),
	"a Mac with one symbol more":       machine("macos", "", `, "library": {"extra_symbols": ["_ibv_query_gid_ex"]}`),
	"NULL with errno unset":            machine("linux", calls(`"ibv_create_cq": [{"errno": ""}]`), ""),
	"no GID can be read":               machine("linux", calls(`"ibv_query_gid": [{"errno": "EIO"}]`), ""),
	"a port that cannot be queried":    machine("linux", calls(`"ibv_query_port": [{"errno": "EACCES"}]`), ""),
	"no channel":                       machine("linux", calls(`"ibv_create_comp_channel": [{"errno": "EOPNOTSUPP"}]`), ""),
	"no notification":                  machine("linux", calls(`"ibv_req_notify_cq": [{"errno": "EOPNOTSUPP"}]`), ""),
	"an abort":                         machine("linux", calls(`"ibv_alloc_pd": [{"fault": "abort"}]`), ""),
	"an exit":                          machine("linux", calls(`"ibv_query_gid": [{"fault": "exit"}]`), ""),
	"a hang in a listing":              machine("linux", calls(`"ibv_get_device_list": [{"fault": "hang"}]`), ""),
	"a listing that fails":             machine("linux", "", `, "device_list": {"errno": "EPERM"}`),
	"a listing that fails silently":    machine("macos", "", `, "device_list": {"errno": ""}`),
	"no library":                       machine("macos", "", `, "library": {"load_error": "dlopen(x): no such file, not in dyld cache"}`),
	"a library that lacks things":      machine("linux", "", `, "library": {"missing_symbols": ["ibv_reg_mr", "_ibv_query_gid_ex", "ibv_req_notify_cq"], "id": "00ff", "stderr": ["one", "two"]}`),
	"a write that does not arrive":     machine("linux", calls(`"ibv_post_send": [{"when": {"opcode": "RDMA_WRITE"}, "deliver": false}]`), ""),
	"a message with wrong bytes":       machine("linux", calls(`"ibv_poll_cq": [{"when": {"qp_type": "UC", "opcode": "RECV"}, "wrong_every": 47}]`), ""),
	"wrong bytes from the first on":    machine("linux", calls(`"ibv_poll_cq": [{"when": {"qp_type": "RC"}, "wrong_every": 1}]`), ""),
	"a write that brings wrong bytes":  machine("linux", calls(`"ibv_post_send": [{"when": {"opcode": "RDMA_WRITE"}, "wrong_every": 1}]`), ""),
	"a write that is not supported":    machine("linux", calls(`"ibv_post_send": [{"when": {"opcode": "RDMA_WRITE"}, "errno": "EOPNOTSUPP"}]`), ""),
	"a queue that cannot be polled":    machine("linux", calls(`"ibv_poll_cq": [{"when": {"qp_type": "UC"}, "errno": "EIO"}]`), ""),
	"a poll of more than there can be": machine("linux", calls(`"ibv_poll_cq": [{"when": {"qp_type": "RC"}, "return": 5000}]`), ""),
	"a write that is refused":          machine("linux", calls(`"ibv_poll_cq": [{"when": {"opcode": "RDMA_WRITE"}, "wc_status": "REM_ACCESS_ERR"}]`), ""),
	"a receive that fails":             machine("linux", calls(`"ibv_poll_cq": [{"when": {"qp_type": "RC", "opcode": "RECV"}, "wc_status": "LOC_PROT_ERR"}]`), ""),
	"a receive that is refused":        machine("linux", calls(`"ibv_post_recv": [{"when": {"qp_type": "RC"}, "errno": "ENOMEM"}]`), ""),
	"a teardown that fails":            machine("linux", calls(`"ibv_dealloc_pd": [{"errno": "EBUSY"}]`), ""),
	"a device that does not close":     machine("linux", calls(`"ibv_close_device": [{"errno": "EIO"}]`), ""),
	"another node type":                machine("linux", `"node_type": "unknown(42)",`, ""),
	"an odd port":                      machine("linux", calls(`"ibv_query_port": [{"set": {"active_mtu": 9, "link_layer": 77, "phys_state": 0, "gid_tbl_len": 5}}]`), ""),
	"another peer":                     machine("linux", "", `, "peer": {"device": "mlx4_0", "active_mtu": 1024, "gids": [{"index": 0, "gid": "::ffff:192.0.2.9", "type": "roce_v2"}], "rkey": 0}`),
	"no side channel":                  machine("linux", "", `, "control_channel": {"errno": "EHOSTUNREACH", "elapsed_ms": 3}`),
}

// TestQuirksAreReplayed: each quirk is seen, derived, played and seen again.
func TestQuirksAreReplayed(t *testing.T) {
	usual := record(t, quirks["nothing special"])
	for name, profile := range quirks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := record(t, profile)
			if found, err := replay.Compare(usual, d); err != nil || name != "nothing special" && len(found) == 0 {
				t.Fatalf("the quirk is not in the document (%v)", err)
			}
			derived, err := replay.Import(t.Context(), d, play)
			if err != nil {
				t.Fatal(err)
			}
			if testing.Short() || os.Getenv("RDMAPROBE_MUST_RUN") != "1" {
				return // the same again is too long for a quick test
			}
			again, err := replay.Import(t.Context(), record(t, derived), play)
			if err != nil {
				t.Fatalf("the profile's own document: %v", err)
			}
			if strip(again) != strip(derived) {
				t.Errorf("its document derives another profile:\n%s\n---\n%s", derived, again)
			}
		})
	}
}

// strip is a profile without what tells when and of whom it was made.
func strip(profile []byte) string {
	lines := strings.Split(string(profile), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return strings.HasPrefix(l, `"id": "recorded-`) || strings.HasPrefix(l, `"about"`) || strings.HasPrefix(l, `"source"`)
	}), "\n")
}

// mutations are a derived profile made wrong in one place, and where the
// comparison must say so.
var mutations = []struct{ name, old, new, path string }{
	{"another errno", `"errno": "EOPNOTSUPP"`, `"errno": "EINVAL"`, "observations[rdma_en2/qp.rc.create by rc].errno"},
	{"a refusal less", `"qp_type": "RC"`, `"qp_type": "UD"`, "observations[rdma_en2/qp.rc.create by rc].level"},
	{"another limit", `"max_mr": 100`, `"max_mr": 99`, "devices[rdma_en2].attr.max_mr"},
	{"another GID", `192.0.2.1`, `192.0.2.2`, "devices[rdma_en2].ports[1].gids"},
	{"another slot", `"index": 3`, `"index": 2`, "observations[rdma_en2/gid.usable port 1 by gid].data.index"},
	{"another state", `"state": "active"`, `"state": "down"`, "devices[rdma_en2].ports[1].state"},
	{"another MTU", `"active_mtu": 4096`, `"active_mtu": 1024`, "devices[rdma_en2].ports[1].active_mtu"},
	{"another name", `"name": "rdma_en2"`, `"name": "rdma_en3"`, "devices[rdma_en3]"},
	{"another build", `"os_build": "25F84"`, `"os_build": "25F85"`, "host.os_build"},
	{"another key", `"lkey": 7`, `"lkey": 8`, "observations[rdma_en2/mr.register by mr].data.lkey"},
	{"a symbol less", `"devices"`, `"library": {"missing_symbols": ["ibv_query_qp"]}, "devices"`, "library.symbols.ibv_query_qp"},
}

// TestMutationsAreNoticed: no wrong profile passes for the recorded machine.
func TestMutationsAreNoticed(t *testing.T) {
	d := record(t, machine("macos", calls(`"ibv_reg_mr": [{"lkey": 7}], "ibv_create_qp": [{"when": {"qp_type": "RC"}, "errno": "EOPNOTSUPP"}]`), ""))
	derived, err := replay.Import(t.Context(), d, play)
	if err != nil {
		t.Fatal(err)
	}
	dropped := string(derived)
	from, to := strings.Index(dropped, `{
              "index": 0`), strings.Index(dropped, `{
              "index": 3`)
	if from < 0 || to < from {
		t.Fatalf("no first GID in:\n%s", derived)
	}
	for _, m := range append(mutations, struct{ name, old, new, path string }{"a GID less", dropped[from:to], "", "devices[rdma_en2].ports[1].gids"}) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			wrong := strings.Replace(string(derived), m.old, m.new, 1)
			if wrong == string(derived) {
				t.Fatalf("there is no %s in:\n%s", m.old, derived)
			}
			err := replay.Verify(t.Context(), d, []byte(wrong), play)
			var differs *replay.DifferError
			if !errors.As(err, &differs) {
				t.Fatalf("%v, want a DifferError", err)
			}
			if !slices.ContainsFunc(differs.Differences, func(x replay.Difference) bool { return strings.HasPrefix(x.Path, m.path) }) {
				t.Errorf("no difference at %s in: %v", m.path, err)
			}
		})
	}
}
