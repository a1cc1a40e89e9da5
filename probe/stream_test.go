//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// newMany is a Linux machine with n devices.
func newMany(t *testing.T, n int) *machine {
	m := newLinux(t)
	var devices []object
	for i := range n {
		devices = append(devices, object{
			"name": fmt.Sprint("mlx5_", i), "node_guid": fmt.Sprintf("0000:5eff:fe00:53%02x", i+1), "transport": "infiniband",
			"ports": []object{{"num": 1, "state": "active", "link_layer": "infiniband", "lid": i + 1, "max_mtu": 4096, "active_mtu": 4096}},
		})
	}
	m.profile["devices"] = devices
	return m
}

// One bad device hides no other, wherever in the list it is and however it is
// bad.
func TestListingSurvivesBadDevices(t *testing.T) {
	t.Parallel()
	const n = 4
	for _, tt := range []struct {
		bad   []int
		fault string
	}{
		{[]int{0}, "crash"}, {[]int{1}, "crash"}, {[]int{3}, "crash"}, {[]int{0, 1}, "crash"}, {[]int{1, 3}, "crash"}, {[]int{0, 1, 2, 3}, "exit"},
		{[]int{0}, "hang"}, {[]int{3}, "hang_term"}, {[]int{1, 2}, "hang"}, {[]int{0, 3}, "abort"}, {[]int{2}, "grandchild"},
	} {
		t.Run(fmt.Sprint(tt.fault, tt.bad), func(t *testing.T) {
			t.Parallel()
			m := newMany(t, n)
			want := "crash"
			if strings.HasPrefix(tt.fault, "hang") {
				m.timeout, want = short, "timeout"
			}
			for _, i := range tt.bad {
				m.rules(i, "ibv_query_port", object{"fault": tt.fault})
			}
			d := m.devices(nil)
			if len(d.Devices) != n || tt.fault != "grandchild" && d.Exit != ExitContained {
				t.Errorf("%d devices, exit %d", len(d.Devices), d.Exit)
			}
			for i := range n {
				name := fmt.Sprint("mlx5_", i)
				if !slices.Contains(tt.bad, i) {
					levels(t, d, name, map[string]string{"dev.open": "confirmed", "port.state": "confirmed", "gid.usable": "observed_zero"})
					if len(d.Devices[i].Ports) != 1 {
						t.Errorf("%s shows no port", name)
					}
				} else if tt.fault != "grandchild" {
					levels(t, d, name, map[string]string{"dev.open": "confirmed", "port.query": want, "gid.usable": "precondition"})
					if d.Devices[i].Attr == nil {
						t.Errorf("%s lost the attributes that were read", name)
					}
				}
			}
		})
	}
}

// The listing itself dies: there is a document, and no device in it.
func TestListingDies(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.profile["device_list"] = object{"errno": ""}
	d := m.devices(nil)
	levels(t, d, "", map[string]string{"lib.load": "confirmed", "dev.enumerate": "provider_error"})
	if d.Exit != ExitNothing {
		t.Errorf("exit %d", d.Exit)
	}
}

// Only the named devices are read; a bad one that was not named stays alone.
func TestListingOfNamedDevices(t *testing.T) {
	t.Parallel()
	m := newMany(t, 3)
	m.rules(0, "ibv_open_device", object{"fault": "crash"})
	d := m.devices(func(o *Options) { o.Devices = []string{"mlx5_2", "mlx5_1"} })
	if d.Exit != ExitOK || deviceNames(d.Devices) != "mlx5_1, mlx5_2" {
		t.Errorf("exit %d, %s", d.Exit, deviceNames(d.Devices))
	}
}

// A port that was read stays when the next one kills the child, and the row in
// flight names its port.
func TestSecondPortCrashes(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	port := m.dev(0)["ports"].([]object)[0]
	second := object{"num": 2, "state": "active", "link_layer": "ethernet", "max_mtu": 4096, "active_mtu": 1024}
	m.dev(0)["ports"] = []object{port, second}
	m.rules(0, "ibv_query_port", object{"when": object{"after": 1}, "fault": "crash"})
	d := m.probe(func(o *Options) { o.Only = []string{"port"} })
	var got []string
	for _, o := range d.Observations {
		if o.Device == "mlx5_0" && strings.HasPrefix(o.ID, "port.") {
			got = append(got, fmt.Sprint(o.ID, " ", o.Port, " ", o.Level, o.Reason))
		}
	}
	want := []string{"port.query 1 confirmed", "port.query 2 unknowncrash", "port.state 1 confirmed"}
	if !slices.Equal(got, want) || len(d.Devices[0].Ports) != 1 {
		t.Errorf("%q, want %q; %d ports", got, want, len(d.Devices[0].Ports))
	}
}

// What a provider claims is bounded, and shown.
func TestHugeClaims(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		verb  string
		set   object
		ports int
	}{
		{"no ports", "ibv_query_device", object{"phys_port_cnt": 0}, 0},
		{"255 ports", "ibv_query_device", object{"phys_port_cnt": 255}, 1},
		{"endless table", "ibv_query_port", object{"gid_tbl_len": 1<<31 - 1}, 1},
		{"negative table", "ibv_query_port", object{"gid_tbl_len": -1}, 1},
		{"unknown enums", "ibv_query_port", object{"state": 77, "phys_state": 250, "max_mtu": 99, "active_mtu": -3}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newLinux(t)
			m.rules(0, tt.verb, object{"set": tt.set})
			d := m.devices(nil)
			want := ExitOK
			if _, huge := tt.set["gid_tbl_len"]; huge { // more than is read
				want = ExitFinding
			}
			if d.Exit != want || hasFinding(d, codeLimitMet, "mlx5_0") != (want == ExitFinding) || len(d.Devices) != 2 {
				t.Fatalf("exit %d, %d devices", d.Exit, len(d.Devices))
			}
			if n := len(d.Devices[0].Ports); n != tt.ports {
				t.Errorf("%d ports, want %d", n, tt.ports)
			}
			levels(t, d, "mlx5_1", map[string]string{"port.state": "confirmed", "gid.usable": "confirmed"})
			m.probe(nil) // whose document is in order
		})
	}
}

// A run stays within the bound that it and its plan tell, and a plan leaves no
// trace.
func TestBoundAndPlan(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]*machine{"macos": newMac(t), "linux": newLinux(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m.timeout = short
			for i := range 2 {
				m.rules(i, "ibv_reg_mr", object{"fault": "hang_term"})
			}
			before := trace(m.store)
			p, err := MakePlan(t.Context(), m.options(nil))
			if err != nil || len(p.Devices) != 2 || p.Exit != ExitOK {
				t.Fatalf("%+v, %v", p, err)
			}
			if after := trace(m.store); after != before {
				t.Errorf("the plan left %s", after)
			}
			for _, s := range p.Devices[0].Steps {
				if s.Refused != "" || len(s.Calls) == 0 || len(s.IDs) == 0 || s.Bound <= m.timeout {
					t.Errorf("step %+v", s)
				}
			}
			d := m.probe(nil)
			if d.Run.BoundNS != p.Bound.Nanoseconds() || d.Run.DurationNS > d.Run.BoundNS {
				t.Errorf("took %d of %d, planned %d", d.Run.DurationNS, d.Run.BoundNS, p.Bound)
			}
			if p, err = MakePlan(t.Context(), m.options(nil)); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(p.Devices[0].Steps, func(s Step) bool { return s.Probe == "mr" && s.Refused != "" }) {
				t.Error("the plan does not tell what is closed now")
			}
			if d := m.devices(nil); d.Run.DurationNS > d.Run.BoundNS {
				t.Errorf("devices took %d of %d", d.Run.DurationNS, d.Run.BoundNS)
			}
		})
	}
}
