package probe

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe/hostfacts"
)

func TestHealthyMachinesRaiseNothing(t *testing.T) {
	for name, s := range map[string]scene{"mac": macScene(), "linux": linuxScene()} {
		for _, command := range []string{"devices", "probe", "doctor", "report"} {
			s.c.Command = command
			if f := Findings(s.d, *s.c); len(f) != 0 {
				t.Errorf("%s, %s: %+v, want none", name, command, f)
			}
		}
	}
}

func TestNothingFromIgnorance(t *testing.T) {
	for name, d := range map[string]*Document{
		"no host":      {},
		"empty host":   {Host: &hostfacts.Host{}},
		"mac":          {Host: &hostfacts.Host{OS: "macos"}},
		"linux":        {Host: &hostfacts.Host{OS: "linux"}},
		"bare devices": {Host: &hostfacts.Host{OS: "linux"}, Devices: []Device{{Name: "a", Listed: true, Ports: []Port{{Num: 1}}}, {Name: "b"}}},
	} {
		f := Findings(d, FindingContext{Command: "probe"})
		if f == nil || len(f) != 0 {
			t.Errorf("%s: %+v, want an empty list", name, f)
		}
	}
}

// TestFactsCanBeAbsent takes the facts of every case's host away, one at a time:
// no finding may appear that was not there with the fact, except the next cause
// in line that the lost one had replaced.
func TestFactsCanBeAbsent(t *testing.T) {
	for _, c := range slices.Concat(macCases, macNetworkCases, linuxCases, deviceCases, runCases, readCases, dataCases, providerCases, createCases) {
		s := c.scene()
		c.change(s)
		before := raised(s, c.code)
		data, err := json.Marshal(s.d.Host)
		if err != nil {
			t.Fatal(err)
		}
		var facts map[string]json.RawMessage
		if err := json.Unmarshal(data, &facts); err != nil || len(facts) < 5 {
			t.Fatalf("%s/%s: host has %d facts, %v", c.code, c.name, len(facts), err)
		}
		for fact := range facts {
			if fact == "sriov_vf_devices" {
				continue // the host-wide fact then speaks for every device
			}
			rest := maps.Clone(facts)
			delete(rest, fact)
			data, _ := json.Marshal(rest)
			host := hostfacts.Host{}
			if err := json.Unmarshal(data, &host); err != nil {
				t.Fatal(err)
			}
			part := *s.d
			part.Host = &host
			for _, f := range raised(scene{&part, s.c}, c.code) {
				code := strings.Fields(f)[0]
				if !slices.Contains(before, f) && !mayFollow(code, before) {
					t.Errorf("%s/%s without host.%s: new finding %s", c.code, c.name, fact, f)
				}
			}
		}
	}
}

// mayFollow tells whether a code may come up once one of the findings before is
// gone: it is an effect of it, or the same thing said with less certainty.
func mayFollow(code string, before []string) bool {
	next := map[string][]string{
		"pd_alloc_failed_port_active": {"pd_alloc_failed"},
		"memlock_too_low":             {"mr_pool_exhausted"},
		"mr_register_enomem":          {"mr_pool_exhausted"},
		"port_down":                   {"ib_port_down_no_sm"},
		"provider_library_missing":    {"uverbs_node_missing", "provider_abi_mismatch", "verbs_library_mismatch"},
		"object_create_failed":        {"memlock_too_low", "mr_register_enomem", "qp_pool_exhausted", "mr_pool_exhausted"},
	}
	for _, b := range before {
		was := strings.Fields(b)[0]
		if slices.Contains(next[code], was) {
			return true
		}
		for _, p := range precedences {
			if slices.Contains(p.losers, code) && (slices.Contains(p.winners, was) || slices.Contains(p.winners, anyCause)) {
				return true
			}
		}
	}
	return false
}

// checkFindings holds for every finding of every document of these tests.
func checkFindings(t *testing.T, s scene) {
	t.Helper()
	findings := Findings(s.d, *s.c)
	for i, f := range findings {
		r := ruleOf(f.Code)
		switch {
		case r == nil:
			t.Errorf("%s is not in the table", f.Code)
			continue
		case f.Message == "" || f.Remedy == "" || f.Check == "":
			t.Errorf("%s: message %q, remedy %q, check %q: none may be empty", f.Code, f.Message, f.Remedy, f.Check)
		case strings.ContainsAny(f.Message+f.Remedy+f.Undo+f.Check, "\n\x1b") || len(f.Message) > 2000:
			t.Errorf("%s: not one bounded line: %q", f.Code, f.Message)
		case len(f.Observations)+len(f.Facts) == 0:
			t.Errorf("%s rests on nothing", f.Code)
		case strings.Contains(f.Check, "DEVICE") && f.Scope != "host" || strings.Contains(f.Check, "IFACE"):
			t.Errorf("%s: check %q still has a placeholder", f.Code, f.Check)
		}
		for _, n := range f.Ports {
			if d := deviceNamed(s.d, f.Scope); d == nil || n < 1 || len(d.Ports) > 0 && !slices.ContainsFunc(d.Ports, func(p Port) bool { return p.Num == n }) {
				t.Errorf("%s: %s has no port %d", f.Code, f.Scope, n)
			}
		}
		if i > 0 && severityOrder(findings[i-1].Severity) > severityOrder(f.Severity) {
			t.Errorf("%s (%s) comes after %s", f.Code, f.Severity, findings[i-1].Severity)
		}
		checkGrounds(t, s, f)
		checkTexts(t, s, f)
	}
}

// checkGrounds looks up what a finding says that it rests on.
func checkGrounds(t *testing.T, s scene, f Finding) {
	t.Helper()
	for _, key := range f.Observations {
		if !slices.ContainsFunc(s.d.Observations, func(o Observation) bool { return o.Key() == key }) {
			t.Errorf("%s: there is no observation %s", f.Code, key)
		}
	}
	data, err := json.Marshal(s.d)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	for _, path := range f.Facts {
		if strings.HasPrefix(path, "peer.") || strings.HasPrefix(path, "control_channel.") {
			continue // of the context
		}
		if !resolves(document, path) {
			t.Errorf("%s: the document has no %s", f.Code, path)
		}
	}
}

// resolves tells whether a path leads to a value; names in it may have dots.
func resolves(v any, path string) bool {
	if path == "" {
		return true
	}
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for name, next := range m {
		if rest, found := strings.CutPrefix(path, name); found && (rest == "" || rest[0] == '.') && resolves(next, strings.TrimPrefix(rest, ".")) {
			return true
		}
	}
	return false
}

var (
	recovery    = regexp.MustCompile(`(?i)recovery|rdma_ctl enable`)
	thunderbolt = regexp.MustCompile(`(?i)thunderbolt|rdma_ctl|\bMac\b|macOS`)
	memlock     = regexp.MustCompile(`(?i)ulimit|memlock`)
)

// checkTexts are the lines that say what must not be said.
func checkTexts(t *testing.T, s scene, f Finding) {
	t.Helper()
	text := f.Message + " " + f.Remedy + " " + f.Undo
	if s.d.Host == nil {
		return
	}
	h := s.d.Host
	old := h.OS == "macos" && h.Thunderbolt != nil && h.Thunderbolt.Generation == 4
	if old && recovery.MatchString(text) {
		t.Errorf("%s sends the owner of Thunderbolt 4 to Recovery: %s", f.Code, text)
	}
	if old && strings.Contains(text, "cable") {
		t.Errorf("%s blames the cable of a Thunderbolt 4 Mac: %s", f.Code, text)
	}
	if f.Code != "rdma_disabled" && recovery.MatchString(text) && h.OS == "linux" {
		t.Errorf("%s has advice for a Mac on Linux: %s", f.Code, text)
	}
	if d := deviceNamed(s.d, f.Scope); d != nil && !d.thunderbolt(h.OS) && thunderbolt.MatchString(text) {
		t.Errorf("%s has Thunderbolt advice for %s: %s", f.Code, f.Scope, text)
	}
	if h.MemlockKiB != nil && *h.MemlockKiB < 0 && memlock.MatchString(f.Remedy) {
		t.Errorf("%s blames memlock though it is unlimited: %s", f.Code, text)
	}
	if strings.Contains(text, "sudo rdma_ctl") {
		t.Errorf("%s: rdma_ctl does not work from the running system: %s", f.Code, text)
	}
	if strings.Contains(text, "eth0") && !strings.Contains(f.Scope, "eth0") {
		if _, there := h.Interfaces["eth0"]; !there {
			t.Errorf("%s names an interface that is not there: %s", f.Code, text)
		}
	}
}

func deviceNamed(d *Document, name string) *Device {
	for i := range d.Devices {
		if d.Devices[i].Name == name {
			return &d.Devices[i]
		}
	}
	return nil
}
