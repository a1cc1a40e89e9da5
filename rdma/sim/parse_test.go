package sim

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"rdmaprobe/fixtures"
	"rdmaprobe/rdma"
)

// head opens a valid profile of one line less than its text begins with.
const head = "{\"profile\": 1, \"id\": \"t\",\n"

// deviceLine is a valid device that begins on line 2; x goes inside on line 3.
func deviceLine(x string) string {
	return head + `"devices": [{"name": "d0", "transport": "thunderbolt",` + "\n" + x + "}]}"
}

func portLine(x string) string {
	return deviceLine(`"ports": [{"num": 1, "state": "active", ` + x + `}]`)
}

func ruleLine(verb, rule string) string {
	return deviceLine(`"calls": {"` + verb + `": [` + rule + `]}`)
}

type testHost struct {
	OS     string `json:"os"`
	EUID   *int   `json:"euid"`
	Nested struct {
		Speed *float64           `json:"speed"`
		Map   map[string]*string `json:"map"`
		Flags []bool             `json:"flags"`
	} `json:"nested"`
}

func TestParseErrorsNameLineAndKey(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		line       int
		key, text  string
	}{
		{"empty", "", 1, "", "not JSON"},
		{"byte order mark", "\xef\xbb\xbf{}", 1, "", "byte order mark"},
		{"syntax", head + "\"devices\": [}\n}", 2, "", "not JSON"},
		{"two values", head + "\"devices\": []}\n{}", 3, "", "not JSON"},
		{"not an object", "[1]", 1, "", "must be an object"},
		{"no version", "{\"id\": \"t\"}", 1, "", "profile is missing"},
		{"other version", "{\n\"profile\": 2, \"id\": \"t\"}", 2, "profile", "allowed: 1"},
		{"no id", "{\"profile\": 1}", 1, "", "id must be"},
		{"id is a path", "{\"profile\": 1,\n\"id\": \"../x\"}", 2, "id", "letters, digits"},
		{"id is hidden", "{\"profile\": 1,\n\"id\": \".x\"}", 2, "id", "not begin"},
		{"boot id", head + "\"boot_id\": \"a b\"}", 2, "boot_id", "letters"},
		{"unknown key", head + "\"devics\": []}", 2, "devics", "allowed: profile, id"},
		{"case of a key", head + "\"Devices\": []}", 2, "Devices", "unknown key"},
		{"twice", head + "\"about\": \"a\",\n\"about\": \"b\"}", 3, "about", "twice"},
		{"null", head + "\"about\": null}", 2, "about", "must be a text"},
		{"host os", head + "\"host\": {\"os\": \"beos\"}}", 2, "host.os", "allowed: macos, linux"},
		{"host is no object", head + "\"host\": 1}", 2, "host", "must be an object"},
		{"host key", head + "\"host\": {\"os\": \"linux\",\n\"uid\": 1}}", 3, "host.uid", "allowed: os, euid, nested"},
		{"host type", head + "\"host\": {\"euid\": \"0\"}}", 2, "host.euid", "whole number"},
		{"host bits", head + "\"host\": {\"euid\": 1e3}}", 2, "host.euid", "whole number"},
		{"host nested", head + "\"host\": {\"nested\": {\"flags\": [true,\n1]}}}", 3, "host.nested.flags[1]", "true or false"},
		{"host float", head + "\"host\": {\"nested\": {\"speed\": \"fast\"}}}", 2, "host.nested.speed", "must be a number"},
		{"host map", head + "\"host\": {\"nested\": {\"map\": {\"a\": 1}}}}", 2, "host.nested.map.a", "must be a text"},
		{"host list", head + "\"host\": {\"nested\": {\"flags\": 1}}}", 2, "host.nested.flags", "must be a list"},
		{"missing symbol", head + "\"library\": {\"missing_symbols\": [\"ibv_x\"]}}", 2, "library.missing_symbols[0]", "unknown verb"},
		{"list errno", head + "\"device_list\": {\"errno\": \"ENONSENSE\"}}", 2, "device_list.errno", "is no errno of linux"},
		{"channel errno", head + "\"control_channel\": {\"errno\": \"60\"}}", 2, "control_channel.errno", "is no errno"},
		{"channel time", head + "\"control_channel\": {\"elapsed_ms\": -1}}", 2, "control_channel.elapsed_ms", "negative"},
		{"peer mtu", head + "\"peer\": {\"active_mtu\": 1500}}", 2, "peer.active_mtu", "256, 512, 1024, 2048, 4096"},
		{"peer rkey", head + "\"peer\": {\"rkey\": \"0x100000000\"}}", 2, "peer.rkey", "32 bits"},
		{"no transport", head + "\"devices\": [{\"name\": \"d\"}]}", 2, "devices[0]", "transport is missing"},
		{"no name", head + "\"devices\": [{\"transport\": \"infiniband\"}]}", 2, "devices[0]", "name"},
		{"name twice", head + "\"devices\": [{\"name\": \"d\", \"transport\": \"iwarp\"},\n{\"name\": \"d\", \"transport\": \"iwarp\"}]}", 3, "devices[1].name", "second device"},
		{"transport", deviceLineBroken, 2, "devices[0].transport", "allowed: infiniband, iwarp"},
		{"guid", deviceLine(`"node_guid": "00005eff"`), 3, "devices[0].node_guid", "four groups"},
		{"attr", deviceLine(`"attr": {"max_qps": 1}`), 3, "devices[0].attr.max_qps", "allowed: fw_ver"},
		{"attr range", deviceLine(`"attr": {"max_pkeys": 65536}`), 3, "devices[0].attr.max_pkeys", "16 bits"},
		{"attr word", deviceLine(`"attr": {"atomic_cap": "some"}`), 3, "devices[0].attr.atomic_cap", "none, hca, glob"},
		{"attr type", deviceLine(`"attr": {"max_qp": []}`), 3, "devices[0].attr.max_qp", "whole number"},
		{"attr text", deviceLine(`"attr": {"fw_ver": "` + strings.Repeat("9", 64) + `"}`), 3, "devices[0].attr.fw_ver", "63 bytes"},
		{"live", deviceLine(`"attr": {"live_qp": -1}`), 3, "devices[0].attr.live_qp", "from 0"},
		{"port number", deviceLine(`"ports": [{"num": 0, "state": "active"}]`), 3, "devices[0].ports[0].num", "1 to 255"},
		{"port twice", deviceLine(`"ports": [{"num": 1, "state": "active"}, {"num": 1, "state": "active"}]`), 3, "devices[0].ports[1].num", "twice"},
		{"no state", deviceLine(`"ports": [{"num": 1}]`), 3, "devices[0].ports[0]", "state is missing"},
		{"state", deviceLine(`"ports": [{"num": 1, "state": "up"}]`), 3, "devices[0].ports[0].state", "nop, down, init, armed, active, active_defer"},
		{"states", portLine(`"states": ["down/asleep"]`), 3, "devices[0].ports[0].states[0]", "sleep, polling"},
		{"phys state", portLine(`"phys_state": "off"`), 3, "devices[0].ports[0].phys_state", "link_up"},
		{"link layer", portLine(`"link_layer": "token_ring"`), 3, "devices[0].ports[0].link_layer", "thunderbolt"},
		{"mtu", portLine(`"max_mtu": "4096"`), 3, "devices[0].ports[0].max_mtu", "must be one of"},
		{"lid", portLine(`"lid": 65536`), 3, "devices[0].ports[0].lid", "16 bits"},
		{"gid", portLine(`"gids": [{"index": 0, "gid": "192.0.2.1"}]`), 3, "devices[0].ports[0].gids[0].gid", "IPv6"},
		{"gid zone", portLine(`"gids": [{"index": 0, "gid": "fe80::1%en3"}]`), 3, "devices[0].ports[0].gids[0].gid", "IPv6"},
		{"gid missing", portLine(`"gids": [{"index": 0}]`), 3, "devices[0].ports[0].gids[0]", "gid is missing"},
		{"gid index", portLine(`"gids": [{"index": 1024, "gid": "fe80::1"}]`), 3, "devices[0].ports[0].gids[0].index", "1023"},
		{"gid twice", portLine(`"gids": [{"index": 0, "gid": "fe80::1"}, {"index": 0, "gid": "fe80::2"}]`), 3, "devices[0].ports[0].gids[1].index", "twice"},
		{"gid type", portLine(`"gids": [{"index": 0, "gid": "fe80::1", "type": "v2"}]`), 3, "devices[0].ports[0].gids[0].type", "roce_v2"},
		{"port attr", portLine(`"attr": {"speed": 1}`), 3, "devices[0].ports[0].attr.speed", "active_speed"},
		{"port attr state", portLine(`"attr": {"state": 1}`), 3, "devices[0].ports[0].attr.state", "beside attr"},
		{"verb", ruleLine("ibv_reg_mr_ex", "{}"), 3, "devices[0].calls.ibv_reg_mr_ex", "unknown verb"},
		{"rule key", ruleLine("ibv_reg_mr", `{"error": 1}`), 3, "devices[0].calls.ibv_reg_mr[0].error", "allowed: when, errno"},
		{"when key", ruleLine("ibv_reg_mr", `{"when": {"type": 1}}`), 3, "devices[0].calls.ibv_reg_mr[0].when.type", "qp_type"},
		{"qp type", ruleLine("ibv_create_qp", `{"when": {"qp_type": "XRC"}}`), 3, "devices[0].calls.ibv_create_qp[0].when.qp_type", "RC, UC, UD"},
		{"to", ruleLine("ibv_modify_qp", `{"when": {"to": "RTX"}}`), 3, "devices[0].calls.ibv_modify_qp[0].when.to", "RESET, INIT"},
		{"opcode", ruleLine("ibv_post_send", `{"when": {"opcode": "WRITE"}}`), 3, "devices[0].calls.ibv_post_send[0].when.opcode", "RDMA_WRITE"},
		{"memory", ruleLine("ibv_reg_mr", `{"when": {"memory": "stack"}}`), 3, "devices[0].calls.ibv_reg_mr[0].when.memory", "heap, mmap"},
		{"pd", ruleLine("ibv_reg_mr", `{"when": {"pd": "nil"}}`), 3, "devices[0].calls.ibv_reg_mr[0].when.pd", "null"},
		{"is_global", ruleLine("ibv_modify_qp", `{"when": {"is_global": 2}}`), 3, "devices[0].calls.ibv_modify_qp[0].when.is_global", "0 or 1"},
		{"after", ruleLine("ibv_reg_mr", `{"when": {"after": -1}}`), 3, "devices[0].calls.ibv_reg_mr[0].when.after", "negative"},
		{"errno", ruleLine("ibv_reg_mr", `{"errno": "EUCLEAN2"}`), 3, "devices[0].calls.ibv_reg_mr[0].errno", "is no errno"},
		{"errno number", ruleLine("ibv_reg_mr", `{"errno": 22}`), 3, "devices[0].calls.ibv_reg_mr[0].errno", "must be a text"},
		{"errno of void", ruleLine("ibv_ack_cq_events", `{"errno": "EINVAL"}`), 3, "devices[0].calls.ibv_ack_cq_events[0].errno", "no effect"},
		{"fault", ruleLine("ibv_reg_mr", `{"fault": "explode"}`), 3, "devices[0].calls.ibv_reg_mr[0].fault", "crash, abort, exit, hang, hang_term, stuck, grandchild"},
		{"fault by number", ruleLine("ibv_reg_mr", `{"fault": "unknown(9)"}`), 3, "devices[0].calls.ibv_reg_mr[0].fault", "must be one of"},
		{"pointer return", ruleLine("ibv_reg_mr", `{"return": 4}`), 3, "devices[0].calls.ibv_reg_mr[0].return", "only 0"},
		{"set", ruleLine("ibv_query_port", `{"set": {"max_qp": 1}}`), 3, "devices[0].calls.ibv_query_port[0].set.max_qp", "gid_tbl_len"},
		{"set nowhere", ruleLine("ibv_alloc_pd", `{"set": {"handle": 1}}`), 3, "devices[0].calls.ibv_alloc_pd[0].set", "no effect"},
		{"rkey elsewhere", ruleLine("ibv_alloc_pd", `{"rkey": 1}`), 3, "devices[0].calls.ibv_alloc_pd[0].rkey", "ibv_reg_mr"},
		{"rkey size", ruleLine("ibv_reg_mr", `{"rkey": -1}`), 3, "", ""},
		{"lkey size", ruleLine("ibv_reg_mr", `{"lkey": "0x1ffffffff"}`), 3, "devices[0].calls.ibv_reg_mr[0].lkey", "32 bits"},
		{"wc status", ruleLine("ibv_poll_cq", `{"wc_status": "IBV_WC_SUCCESS"}`), 3, "devices[0].calls.ibv_poll_cq[0].wc_status", "RETRY_EXC_ERR"},
		{"wc elsewhere", ruleLine("ibv_reg_mr", `{"wc": {}}`), 3, "devices[0].calls.ibv_reg_mr[0].wc", "ibv_poll_cq"},
		{"wc key", ruleLine("ibv_poll_cq", `{"wc": {"status": 1}}`), 3, "devices[0].calls.ibv_poll_cq[0].wc.status", "wr_id, duplicate"},
		{"repeat", ruleLine("ibv_poll_cq", `{"repeat_every": 0}`), 3, "devices[0].calls.ibv_poll_cq[0].repeat_every", "1 or more"},
		{"lose", ruleLine("ibv_poll_cq", `{"lose_every": 0}`), 3, "devices[0].calls.ibv_poll_cq[0].lose_every", "1 or more"},
		{"repeat", ruleLine("ibv_poll_cq", `{"repeat": 99999999}`), 3, "devices[0].calls.ibv_poll_cq[0].repeat", "1048576"},
		{"output", ruleLine("ibv_poll_cq", `{"repeat": 1000000, "stdout": "`+strings.Repeat("x", 5000)+`"}`), 3, "devices[0].calls.ibv_poll_cq[0].stdout", "too long"},
		{"confidence", ruleLine("ibv_poll_cq", `{"confidence": "sure"}`), 3, "devices[0].calls.ibv_poll_cq[0].confidence", "documented"},
		{"deep", head + "\"host\": " + strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30) + "}", 2, "", ""},
		{"control characters", head + "\"\\u001b[31m\": 1}", 2, `"\x1b[31m"`, "unknown key"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(tc.data), &testHost{})
			if tc.name == "rkey size" {
				if err != nil {
					t.Errorf("-1 is a 32-bit number: %v", err)
				}
				return
			}
			var pe *ParseError
			if !errors.As(err, &pe) {
				t.Fatalf("error is %v", err)
			}
			if pe.Line != tc.line {
				t.Errorf("line %d, want %d: %v", pe.Line, tc.line, err)
			}
			if pe.Key != tc.key && tc.name != "deep" {
				t.Errorf("key %q, want %q", pe.Key, tc.key)
			}
			if !strings.Contains(pe.Text, tc.text) {
				t.Errorf("text %q lacks %q", pe.Text, tc.text)
			}
			if strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("an escape character reached the message: %q", err)
			}
		})
	}
}

var deviceLineBroken = head + `"devices": [{"name": "d0", "transport": "pci"}]}`

func TestParseBounds(t *testing.T) {
	many := func(n int, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return strings.Join(items, ",")
	}
	num := func(i int) string { return string(rune('a'+i/26%26)) + string(rune('a'+i%26)) }
	for name, data := range map[string]string{
		"devices": head + `"devices": [` + many(65, func(i int) string { return `{"name": "` + num(i) + `", "transport": "iwarp"}` }) + `]}`,
		"ports":   deviceLine(`"ports": [` + many(17, func(i int) string { return `{"num": ` + itoa(i+1) + `, "state": "down"}` }) + `]`),
		"gids":    portLine(`"gids": [` + many(257, func(i int) string { return `{"index": ` + itoa(i) + `, "gid": "fe80::1"}` }) + `]`),
		"states":  portLine(`"states": [` + many(65, func(int) string { return `"down"` }) + `]`),
		"rules":   ruleLine("ibv_poll_cq", many(65, func(int) string { return "{}" })),
		"stderr":  head + `"library": {"stderr": [` + many(65, func(int) string { return `"x"` }) + `]}}`,
		"size":    head + `"about": "` + strings.Repeat("x", maxProfile) + `"}`,
	} {
		if _, err := Parse([]byte(data), nil); err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: error is %v, want one about a bound", name, err)
		}
	}
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func TestParseReadsEverything(t *testing.T) {
	data := `{"profile": 1, "id": "all", "about": "a", "source": "s", "boot_id": "boot-1",
		"host": {"os": "macos", "euid": 501, "nested": {"speed": 80, "map": {"a": null}, "flags": [true]}},
		"library": {"present": true, "missing_symbols": ["ibv_query_qp"], "stderr": ["x"]},
		"device_list": {"errno": "ENOSYS"},
		"peer": {"device": "other", "active_mtu": 1024, "gids": [], "rkey": "0x10"},
		"control_channel": {"errno": "ETIMEDOUT", "elapsed_ms": 5000, "other_program_connects": true, "local": "192.0.2.1", "interface": "en3", "peer": "192.0.2.2"},
		"devices": [{"name": "d0", "node_guid": "0000:5eff:fe00:5301", "transport": "thunderbolt", "listed": false, "sysfs": false, "source": "s",
			"attr": {"fw_ver": "1.2", "max_mr_size": "18446744073709551615", "max_qp": 3, "atomic_cap": "glob", "device_cap_flags": "0xffffffff", "live_mr": 7},
			"ports": [{"num": 2, "states": ["down/polling", "active"], "link_layer": "unknown(77)", "max_mtu": 2048, "lid": 9, "attr": {"active_width": 2}}],
			"calls": {"ibv_create_qp": [{"when": {"qp_type": "RC", "max_inline_data": 1}, "errno": "EOPNOTSUPP", "source": "x", "confidence": "measured"}]}}]}`
	host := &testHost{}
	p, err := Parse([]byte(data), host)
	if err != nil {
		t.Fatal(err)
	}
	if p.Platform() != rdma.PlatformDarwin || *host.EUID != 501 || *host.Nested.Speed != 80 || host.Nested.Map["a"] != nil || !host.Nested.Flags[0] {
		t.Errorf("host %+v on %s", host, p.Platform())
	}
	if p.DeviceList.number != 78 || p.ControlChannel.Number() != 60 {
		t.Errorf("Darwin's ENOSYS is %d and ETIMEDOUT %d, want 78 and 60", p.DeviceList.number, p.ControlChannel.Number())
	}
	d := p.Devices[0]
	if d.IsListed() || d.InSysfs() || d.live["live_mr"] != 7 || d.Calls["ibv_create_qp"][0].errno != 102 {
		t.Errorf("device %+v", d)
	}
	for name, want := range map[string]uint64{"max_mr_size": 1<<64 - 1, "max_qp": 3, "atomic_cap": 2, "device_cap_flags": 0xffffffff, "phys_port_cnt": 1, "max_mr": 100} {
		if got := deviceFields.get(d.image, name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	q := d.Ports[0]
	for name, want := range map[string]uint64{"max_mtu": 4, "active_mtu": 4, "lid": 9, "link_layer": 77, "active_width": 2, "active_speed": 4} {
		if got := portFields.get(q.image, name); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
	if len(q.States) != 2 || q.phys(q.States[0]) != 2 || q.phys(q.States[1]) != physLinkUp {
		t.Errorf("states %+v", q.States)
	}
	if !p.Library.Loads() || (LibraryFacts{LoadError: "x"}).Loads() {
		t.Error("Loads is wrong")
	}
}

func TestErrnoFollowsThePlatform(t *testing.T) {
	for _, tc := range []struct {
		os, name string
		want     int32
	}{
		{"macos", "EOPNOTSUPP", 102},
		{"macos", "ENOTSUP", 45},
		{"macos", "ETIMEDOUT", 60},
		{"macos", "ENODATA", 96},
		{"macos", "EWOULDBLOCK", 35},
		{"linux", "EOPNOTSUPP", 95},
		{"linux", "ENOTSUP", 95},
		{"linux", "ETIMEDOUT", 110},
		{"linux", "ENODATA", 61},
		{"linux", "EAGAIN", 11},
	} {
		data := `{"profile": 1, "id": "t", "host": {"os": "` + tc.os + `"}, "devices": [{"name": "d", "transport": "iwarp", "calls": {"ibv_alloc_pd": [{"errno": "` + tc.name + `"}]}}]}`
		p, err := Parse([]byte(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Devices[0].Calls["ibv_alloc_pd"][0].errno; got != tc.want {
			t.Errorf("%s on %s is %d, want %d", tc.name, tc.os, got, tc.want)
		}
	}
}

func TestFieldTablesAreDisjoint(t *testing.T) {
	for name, tc := range map[string]struct {
		table fieldTable
		size  uintptr
	}{"device": {deviceFields, 228}, "port": {portFields, portAttrSize}, "cap": {capFields, 20}} {
		end := uintptr(0)
		for _, f := range tc.table {
			if f.offset < end || f.offset%min(f.size, 8) != 0 {
				t.Errorf("%s: %s at %d, after %d", name, f.name, f.offset, end)
			}
			end = f.offset + f.size
		}
		if end != tc.size {
			t.Errorf("%s ends at %d, want %d", name, end, tc.size)
		}
	}
}

// seeds are the profiles of this repository.
func seeds(tb testing.TB) [][]byte {
	tb.Helper()
	var all [][]byte
	for _, info := range fixtures.Profiles() {
		data, _ := fixtures.Profile(info.Name)
		all = append(all, data)
	}
	files, err := fs.Glob(fixtures.Cases, "cases/*.json")
	if err != nil || len(files) == 0 || len(all) == 0 {
		tb.Fatalf("%d profiles, %d cases, %v", len(all), len(files), err)
	}
	for _, file := range files {
		data, err := fixtures.Cases.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var c struct{ Profile json.RawMessage }
		if err := json.Unmarshal(data, &c); err != nil {
			tb.Fatal(err)
		}
		all = append(all, c.Profile)
	}
	return all
}

func TestSeedsParse(t *testing.T) {
	for _, data := range seeds(t) {
		if _, err := Parse(data, nil); err != nil {
			t.Error(err)
		}
	}
}

// FuzzParse: no panic, an error is always a ParseError with a line of the file,
// and what is accepted has images of the right size.
func FuzzParse(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	f.Add([]byte(portLine(`"attr": {"gid_tbl_len": 2147483648}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data, &testHost{})
		if err != nil {
			var pe *ParseError
			if p != nil && errors.As(err, &pe) || !errors.As(err, &pe) || pe.Line < 1 || pe.Line > 1+strings.Count(string(data), "\n") {
				t.Fatalf("error %v, profile %v", err, p)
			}
			return
		}
		for _, d := range p.Devices {
			if len(d.image) != deviceAttrSize {
				t.Fatalf("image of %d bytes", len(d.image))
			}
			for _, q := range d.Ports {
				if len(q.image) != portAttrSize || len(q.States) == 0 {
					t.Fatalf("port %+v", q)
				}
			}
		}
	})
}
