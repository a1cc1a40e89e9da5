package docs

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma/sim"
)

// wrong are profiles with one mistake each; the error lists what is allowed in
// its place. So the parser itself says what the page must describe.
var wrong = map[string]string{
	"profile":             `"zz": 1`,
	"library":             `"library": {"zz": 1}`,
	"library, verbs":      `"library": {"missing_symbols": ["zz"]}`,
	"library, extra":      `"library": {"extra_symbols": ["zz"]}`,
	"device_list":         `"device_list": {"zz": 1}`,
	"peer":                `"peer": {"zz": 1}`,
	"peer, gids":          `"peer": {"gids": [{"zz": 1}]}`,
	"control_channel":     `"control_channel": {"zz": 1}`,
	"device":              `"devices": [{"zz": 1}]`,
	"transport":           `"devices": [{"name": "a", "transport": "zz"}]`,
	"device, attr":        `"devices": [{"name": "a", "transport": "infiniband", "attr": {"zz": 1}}]`,
	"node_type":           `"devices": [{"name": "a", "transport": "infiniband", "node_type": "zz"}]`,
	"atomic_cap":          `"devices": [{"name": "a", "transport": "infiniband", "attr": {"atomic_cap": "zz"}}]`,
	"port":                `"devices": [{"name": "a", "transport": "infiniband", "ports": [{"zz": 1}]}]`,
	"state":               `"devices": [{"name": "a", "transport": "infiniband", "ports": [{"num": 1, "state": "zz"}]}]`,
	"phys_state":          `"devices": [{"name": "a", "transport": "infiniband", "ports": [{"num": 1, "state": "down", "phys_state": "zz"}]}]`,
	"link_layer":          `"devices": [{"name": "a", "transport": "infiniband", "ports": [{"num": 1, "state": "down", "link_layer": "zz"}]}]`,
	"port, attr":          `"devices": [{"name": "a", "transport": "infiniband", "ports": [{"num": 1, "state": "down", "attr": {"zz": 1}}]}]`,
	"gid type":            `"devices": [{"name": "a", "transport": "infiniband", "ports": [{"num": 1, "state": "down", "gids": [{"index": 0, "gid": "fe80::1", "type": "zz"}]}]}]`,
	"calls":               calls(`"zz": []`),
	"rule":                calls(`"ibv_reg_mr": [{"zz": 1}]`),
	"when":                calls(`"ibv_reg_mr": [{"when": {"zz": 1}}]`),
	"qp_type":             calls(`"ibv_reg_mr": [{"when": {"qp_type": "zz"}}]`),
	"to":                  calls(`"ibv_reg_mr": [{"when": {"to": "zz"}}]`),
	"opcode":              calls(`"ibv_reg_mr": [{"when": {"opcode": "zz"}}]`),
	"wc":                  calls(`"ibv_poll_cq": [{"wc": {"zz": 1}}]`),
	"wc_status":           calls(`"ibv_poll_cq": [{"wc_status": "zz"}]`),
	"ibv_create_qp, set":  calls(`"ibv_create_qp": [{"set": {"zz": 1}}]`),
	"ibv_create_cq, set":  calls(`"ibv_create_cq": [{"set": {"zz": 1}}]`),
	"the list, set":       calls(`"ibv_get_device_list": [{"set": {"zz": 1}}]`),
	"query_gid_ex, set":   calls(`"_ibv_query_gid_ex": [{"set": {"zz": 1}}]`),
	"host":                `"host": {"zz": 1}`,
	"host, link":          `"host": {"thunderbolt": {"links": [{"zz": 1}]}}`,
	"host, os":            `"host": {"os": "zz"}`,
	"host, interface":     `"host": {"interfaces": {"a": {"zz": 1}}}`,
	"host, rdma_process":  `"host": {"rdma_processes": [{"zz": 1}]}`,
	"host, abi":           `"host": {"abi": {"a": {"zz": 1}}}`,
	"host, sysfs":         `"host": {"sysfs": {"a": {"zz": 1}}}`,
	"host, sysfs port":    `"host": {"sysfs": {"a": {"ports": [{"zz": 1}]}}}`,
	"faults":              calls(`"ibv_reg_mr": [{"fault": 1}]`),
	"memory":              calls(`"ibv_reg_mr": [{"when": {"memory": 1}}]`),
	"confidence":          calls(`"ibv_reg_mr": [{"confidence": 1}]`),
	"mtu":                 `"devices": [{"name": "a", "transport": "infiniband", "ports": [{"num": 1, "state": "down", "max_mtu": 1}]}]`,
	"ibv_query_qp, set":   calls(`"ibv_query_qp": [{"set": {"zz": 1}}]`),
	"query_device, set":   calls(`"ibv_query_device": [{"set": {"zz": 1}}]`),
	"ibv_query_port, set": calls(`"ibv_query_port": [{"set": {"zz": 1}}]`),
}

func calls(rules string) string {
	return `"devices": [{"name": "a", "transport": "infiniband", "calls": {` + rules + `}}]`
}

// allowed is where an error lists words.
var allowed = regexp.MustCompile(`(?:allowed: |must be one of )(.+?)(?:, not .*)?$`)

func TestProfileKeysAreDescribed(t *testing.T) {
	text := read(t, "profiles.md") + read(t, "json.md") // host facts are described there
	words := map[string]bool{}
	for where, member := range wrong {
		_, err := sim.Parse([]byte(`{"profile": 1, "id": "x", `+member+`}`), &hostfacts.Host{})
		var pe *sim.ParseError
		if !errors.As(err, &pe) {
			t.Errorf("%s: %v, want a ParseError", where, err)
			continue
		}
		m := allowed.FindStringSubmatch(pe.Text)
		if m == nil {
			t.Errorf("%s: the error lists nothing: %s", where, pe.Text)
			continue
		}
		for _, word := range strings.Split(m[1], ", ") {
			words[word] = true
			if !strings.Contains(text, "`"+word+"`") {
				t.Errorf("%s: profiles.md does not describe %s", where, word)
			}
		}
	}
	if len(words) < 150 {
		t.Errorf("only %d words: the search is broken", len(words))
	}
}

func TestExampleProfilesParse(t *testing.T) {
	blocks := jsonBlock.FindAllStringSubmatch(read(t, "profiles.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("profiles.md has no example")
	}
	for _, b := range blocks {
		if _, err := sim.Parse([]byte(b[1]), &hostfacts.Host{}); err != nil {
			t.Errorf("%v in:\n%s", err, b[1])
		}
	}
}
