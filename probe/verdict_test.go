package probe

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// judged is the verdict on a scene, with its findings.
func judged(s scene) *Verdict {
	s.d.Findings = Findings(s.d, *s.c)
	return VerdictOf(s.d)
}

// words are the ports of a verdict: "device word".
func words(v *Verdict) []string {
	var w []string
	for _, p := range v.Ports {
		w = append(w, p.Device+" "+p.Word)
	}
	return w
}

// uncreated makes the rows of class create ones that nobody asked for.
func (s scene) uncreated(device string) {
	for _, e := range EvidenceIDs {
		if !e.Host && e.Class == ClassCreate {
			s.fail(device, e.ID, NotTried, 0)
		}
	}
}

// twoPorts gives a device a second port like its first, with rows of its own.
func (s scene) twoPorts(device string) {
	d := s.dev(device)
	second := d.Ports[0]
	second.Num, second.GIDs = 2, slices.Clone(second.GIDs)
	d.Ports = append(d.Ports, second)
	for _, id := range []string{"port.query", "port.state", "gid.usable", "gid.ipv4_mapped"} {
		s.row(device, id).Port = 1
		s.portRow(device, id, 2, s.row(device, id).Level, s.row(device, id).Value)
	}
}

// portRow sets the row of an id for one port.
func (s scene) portRow(device, id string, port int, level rdma.Capability, value any) {
	for i := range s.d.Observations {
		if o := &s.d.Observations[i]; o.Device == device && o.ID == id && o.Port == port {
			o.Level, o.Value, o.Data = level, value, nil
			return
		}
	}
	o := *s.row(device, id)
	o.Port, o.Level, o.Value, o.Data = port, level, value, nil
	s.d.Observations = append(s.d.Observations, o)
}

var verdictCases = []struct {
	name   string
	scene  func() scene
	change func(s scene)
	text   string
	ports  []string
}{
	{"a healthy Mac", macScene, func(scene) {}, "RDMA is ready on 1 of 1 port", []string{"rdma_en3 ready"}},
	{"a healthy Mac with an idle port", macScene, func(s scene) { s.addIdle() }, "RDMA is ready on 1 of 2 ports", []string{"rdma_en3 ready", "rdma_en4 not_ready"}},
	{"Thunderbolt 4 with a device", macScene, func(s scene) { s.host().Thunderbolt.Generation = 4 }, "cannot work on this Mac: Thunderbolt 4", []string{"rdma_en3 impossible"}},
	{"Thunderbolt 4 without a device", macScene, func(s scene) { s.bare(); s.host().Thunderbolt.Generation = 4 }, "cannot work on this Mac: Thunderbolt 4", nil},
	{"Thunderbolt 3 and disabled", macScene, func(s scene) { s.bare(); s.host().Thunderbolt.Generation = 3; s.host().RDMACtl = "disabled" }, "cannot work on this Mac: Thunderbolt 3", nil},
	{"an old macOS on Thunderbolt 4", macScene, func(s scene) {
		s.host().OSVersion, s.host().Thunderbolt.Generation = "15.6", 4
		s.noLibrary("missing_file")
	}, "cannot work on this Mac: Thunderbolt 4", nil},
	{"nothing is connected to any", macScene, func(s scene) {
		s.addIdle()
		s.state("rdma_en3", "down")
		s.link(0).Peer = ""
	}, "RDMA is ready on none of 2 ports: nothing is connected", []string{"rdma_en3 not_ready", "rdma_en4 not_ready"}},
	{"waiting for a subnet manager", linuxScene, func(s scene) { s.infiniband("mlx5_0"); s.state("mlx5_0", "armed") }, "RDMA is not ready: the port is ARMED", []string{"mlx5_0 not_ready"}},
	{"an error on one, and nothing tried on the other", linuxScene, func(s scene) {
		s.second()
		s.gids("mlx5_0")
		s.uncreated("mlx5_1")
	}, "RDMA is ready on none of 2 ports: the GID table is empty (mlx5_0), not known on 1", []string{"mlx5_0 not_ready", "mlx5_1 not_known"}},
	{"a library without a function that a device needs", linuxScene, func(s scene) {
		s.fail("mlx5_0", "cq.create", SymbolMissing, 0).Call = "ibv_create_cq"
		s.fail("mlx5_0", "qp.uc.create", Precondition, 0)
		s.fail("mlx5_0", "qp.rc.create", Precondition, 0)
	}, "not known: mlx5_0: no queue pair was created: the library has no ibv_create_cq", []string{"mlx5_0 not_known"}},
	{"an old macOS", macScene, func(s scene) { s.host().OSVersion = "26.1"; s.noLibrary("missing_file"); s.d.Devices = nil }, "cannot work on this Mac: macOS 26.1, RDMA came with 26.2", nil},
	{"disabled", macScene, func(s scene) { s.bare(); s.host().RDMACtl = "disabled" }, "RDMA is not ready: RDMA is disabled on this Mac", nil},
	{"in the bridge, and so without a GID", macScene, func(s scene) {
		s.host().Bridges["bridge0"] = []string{"en3", "en4"}
		s.host().Interfaces["en3"] = hostfacts.Interface{Up: ptrTo(true), Addresses: []string{}}
		s.gids("rdma_en3", GID{GID: "fe80::200:5eff:fe00:5301", Type: "none"})
	}, "RDMA is not ready: en3 is in a bridge and has no address", []string{"rdma_en3 not_ready"}},
	{"no IPv4-mapped GID on one of two", macScene, func(s scene) {
		s.addMac("rdma_en5", 3)
		s.gids("rdma_en5", GID{GID: "fe80::200:5eff:fe00:5301", Type: "none"})
	}, "RDMA is ready on 1 of 2 ports", []string{"rdma_en3 ready", "rdma_en5 not_ready"}},
	{"the port that carries no RDMA", macScene, func(s scene) {
		s.host().Thunderbolt.Links = append(s.host().Thunderbolt.Links, hostfacts.Link{Interface: "en2", Peer: "mac-c", PeerGeneration: ptrTo(5), SpeedGbps: ptrTo(80.0)})
		s.addMac("rdma_en2", 4)
	}, "RDMA is ready on 1 of 2 ports", []string{"rdma_en3 ready", "rdma_en2 not_ready"}},
	{"cabled, and yet down", macScene, func(s scene) { s.state("rdma_en3", "down"); s.uncreated("rdma_en3") }, "RDMA is not ready: cabled, yet down", []string{"rdma_en3 not_ready"}},
	{"read only", macScene, func(s scene) { s.uncreated("rdma_en3") }, "not known: rdma_en3: no queue pair was created: not tried", []string{"rdma_en3 not_known"}},
	{"read only beside one that is down", macScene, func(s scene) { s.addIdle(); s.uncreated("rdma_en3") }, "not known: rdma_en3: no queue pair was created: not tried", []string{"rdma_en3 not_known", "rdma_en4 not_ready"}},
	{"busy", macScene, func(s scene) {
		for _, e := range EvidenceIDs {
			if !e.Host {
				s.fail("rdma_en3", e.ID, Guarded, 0).Data = map[string]any{"closed_by": map[string]any{"event": "busy", "pid": 4711}}
			}
		}
		s.dev("rdma_en3").Ports = nil
	}, "not known: rdma_en3: its state is not known: the guard keeps it closed", []string{"rdma_en3 not_known"}},
	{"a healthy node", linuxScene, func(scene) {}, "RDMA is ready on 1 of 1 port", []string{"mlx5_0 ready"}},
	{"RC is enough", linuxScene, func(s scene) { s.row("mlx5_0", "qp.uc.create").Level = rdma.CapabilityRejected }, "RDMA is ready on 1 of 1 port", []string{"mlx5_0 ready"}},
	{"neither UC nor RC", linuxScene, func(s scene) {
		s.row("mlx5_0", "qp.uc.create").Level = rdma.CapabilityRejected
		s.row("mlx5_0", "qp.rc.create").Level = rdma.CapabilityRejected
	}, "RDMA is not ready: neither UC nor RC queue pairs can be used, only UD", []string{"mlx5_0 not_ready"}},
	{"UC is rejected and RC was not tried", macScene, func(s scene) {
		o := s.null("rdma_en3", "qp.uc.create", "ibv_create_qp", 102)
		o.Level, o.Reason = rdma.CapabilityRejected, ""
		s.fail("rdma_en3", "qp.rc.create", NotTried, 0)
	}, "not known: rdma_en3: UC queue pairs cannot be used, and the other kind was not tried", []string{"rdma_en3 not_known"}},
	{"no memory can be registered", linuxScene, func(s scene) { s.noMemory("mlx5_0", 14) },
		"RDMA is not ready: what a connection needs cannot be made, ibv_reg_mr failed with errno 14 (EFAULT)", []string{"mlx5_0 not_ready"}},
	{"INIT is refused", linuxScene, func(s scene) {
		s.modify("mlx5_0", "qp.uc.init", 22)
		s.modify("mlx5_0", "qp.rc.init", 22)
	}, "RDMA is not ready: what a connection needs cannot be made, ibv_modify_qp failed with errno 22 (EINVAL)", []string{"mlx5_0 not_ready"}},
	{"no library", linuxScene, func(s scene) { s.bare(); s.noLibrary("missing_file") }, "RDMA is not ready: the verbs library is missing", nil},
	{"a library of which nothing is known", linuxScene, func(s scene) { s.bare(); s.noLibrary("unknown") }, "RDMA is not ready: the verbs library cannot be loaded", nil},
	{"a library that lacks functions", linuxScene, func(s scene) {
		s.bare()
		s.lacks("ibv_get_device_list")
		s.fail("", "dev.enumerate", SymbolMissing, 0)
	}, "RDMA is not ready: the verbs library lacks functions", nil},
	{"a listing that nobody knows why it failed", linuxScene, func(s scene) { s.bare(); s.fail("", "dev.enumerate", ProviderError, 5) },
		"not known: the devices could not be listed: the provider failed", nil},
	{"nothing there", linuxScene, func(s scene) { s.bare() }, "RDMA is not ready: there is no RDMA device", nil},
	{"a provider is missing", linuxScene, func(s scene) { s.unlist("mlx5_0"); s.host().ProviderFiles = []string{"librxe-rdmav34.so"} }, "RDMA is not ready: the verbs library has no provider for mlx5_0", []string{"mlx5_0 not_ready"}},
	{"nobody knows why it is not listed", linuxScene, func(s scene) { s.unlist("mlx5_0") }, "RDMA is not ready: the verbs library has no provider for mlx5_0", []string{"mlx5_0 not_ready"}},
	{"nor whether its node is there", linuxScene, func(s scene) { s.unlist("mlx5_0"); s.host().UverbsOfDevice = nil }, "RDMA is not ready: the verbs library does not list it", []string{"mlx5_0 not_ready"}},
	{"addressed by LID, without a GID", linuxScene, func(s scene) { s.infiniband("mlx5_0"); s.gids("mlx5_0") }, "RDMA is ready on 1 of 1 port", []string{"mlx5_0 ready"}},
	{"no address, and memory that cannot be locked", linuxScene, func(s scene) {
		s.host().Interfaces["ens1f0"] = hostfacts.Interface{Up: ptrTo(true), Addresses: []string{}}
		s.host().MemlockKiB = ptrTo(int64(64))
		s.fail("mlx5_0", "cq.create", Exhausted, 12)
		s.fail("mlx5_0", "qp.uc.create", Precondition, 0)
		s.fail("mlx5_0", "qp.rc.create", Precondition, 0)
	}, "RDMA is not ready: the limit of locked memory is too low", []string{"mlx5_0 not_ready"}},
	{"memory that cannot be locked on one of two", linuxScene, func(s scene) {
		s.host().NetdevOfDevice["mlx5_1"], s.host().Driver["mlx5_1"] = ptrTo("ens1f1"), "mlx5_core"
		s.addRoCE("mlx5_1", 2)
		s.host().MemlockKiB = ptrTo(int64(64))
		s.fail("mlx5_1", "mr.register", Exhausted, 12)
	}, "RDMA is ready on 1 of 2 ports", []string{"mlx5_0 ready", "mlx5_1 not_ready"}},
	{"an error about another device", linuxScene, func(s scene) {
		s.host().NetdevOfDevice["mlx5_1"], s.host().Driver["mlx5_1"] = ptrTo("ens1f1"), "mlx5_core"
		s.addRoCE("mlx5_1", 2)
		s.ended("mlx5_1", "qp.uc.create", "ibv_create_qp", "crashed")
	}, "RDMA is ready on 1 of 2 ports", []string{"mlx5_0 ready", "mlx5_1 not_ready"}},
	{"one port of two is told to be wrong", linuxScene, func(s scene) {
		s.twoPorts("mlx5_0")
		s.dev("mlx5_0").Ports[1].GIDs = []GID{}
		s.portRow("mlx5_0", "gid.usable", 2, rdma.CapabilityObservedZero, 0)
	}, "RDMA is ready on 1 of 2 ports", []string{"mlx5_0 ready", "mlx5_0 not_ready"}},
	{"an InfiniBand port that waits, beside an Ethernet one", linuxScene, func(s scene) {
		s.twoPorts("mlx5_0")
		p := &s.dev("mlx5_0").Ports[1]
		p.State, p.PhysState, p.LinkLayer, p.Addressing, p.SMLID = "init", "link_up", "infiniband", "lid", ptrTo(0)
		s.portRow("mlx5_0", "port.state", 2, rdma.CapabilityConfirmed, "init")
	}, "RDMA is ready on 1 of 2 ports", []string{"mlx5_0 ready", "mlx5_0 not_ready"}},
	{"the interface of the first port has no address", linuxScene, func(s scene) {
		s.twoPorts("mlx5_0")
		s.host().Interfaces["ens1f0"] = hostfacts.Interface{Up: ptrTo(true), Addresses: []string{}}
	}, "RDMA is ready on 1 of 2 ports", []string{"mlx5_0 not_ready", "mlx5_0 ready"}},
	{"the peer was not reached", linuxScene, func(s scene) { s.fail("mlx5_0", "pingpong.rc", Unreachable, 111) }, "RDMA is ready on 1 of 1 port; the peer was not reached (ECONNREFUSED)", []string{"mlx5_0 ready"}},
	{"no GID table was read on one of two", linuxScene, func(s scene) {
		s.host().NetdevOfDevice["mlx5_1"], s.host().Driver["mlx5_1"] = ptrTo("ens1f1"), "mlx5_core"
		s.addRoCE("mlx5_1", 2)
		s.fail("mlx5_1", "gid.usable", ProviderError, 5)
	}, "RDMA is ready on 1 of 2 ports, not known on 1", []string{"mlx5_0 ready", "mlx5_1 not_known"}},
	{"a transition failed in this boot", macScene, func(s scene) { s.host().KernelLog = []string{"AppleThunderboltRDMA: Failed INIT->RTR"} },
		"RDMA is ready on 1 of 1 port; a transition to RTR failed earlier in this boot, and probe tries none without --force", []string{"rdma_en3 ready"}},
	{"another machine's log says the like", linuxScene, func(s scene) { s.host().KernelLog = []string{"Failed INIT->RTR"} },
		"RDMA is ready on 1 of 1 port", []string{"mlx5_0 ready"}},
	{"nothing was looked at", linuxScene, func(s scene) { s.d.Devices, s.d.Observations = nil, nil }, "not known: no device was looked at", nil},
}

func TestVerdict(t *testing.T) {
	for _, c := range verdictCases {
		t.Run(c.name, func(t *testing.T) {
			s := c.scene()
			c.change(s)
			v := judged(s)
			if v.Text != c.text {
				t.Errorf("%q\nwant %q", v.Text, c.text)
			}
			if got := words(v); !slices.Equal(got, c.ports) {
				t.Errorf("ports %q, want %q; %+v", got, c.ports, v.Ports)
			}
			checkVerdict(t, s, v)
			for _, f := range s.d.Findings {
				t.Logf("%s %s %s", f.Severity, f.Code, f.Scope)
			}
		})
	}
}

// checkVerdict checks what holds of every verdict.
func checkVerdict(t *testing.T, s scene, v *Verdict) {
	t.Helper()
	ready := 0
	for _, p := range v.Ports {
		if p.Word == VerdictReady {
			ready++
			if p.Why != "" || p.State != stateActive && s.row(p.Device, "port.state").Value != stateActive {
				t.Errorf("ready, and yet %+v", p)
			}
		} else if p.Why == "" {
			t.Errorf("%s without a reason: %+v", p.Word, p)
		}
		for _, f := range s.d.Findings {
			about := f.Scope == p.Device && (f.Ports == nil || slices.Contains(f.Ports, p.Port)) || f.Scope == p.Interface && p.Interface != ""
			if f.Severity == SeverityError && about && p.Word == VerdictReady && f.Code != "required_capability_not_confirmed" {
				t.Errorf("%s is ready in spite of %s", p.Device, f.Code)
			}
		}
	}
	cut := slices.ContainsFunc(s.d.Findings, func(f Finding) bool { return f.Code == codeLimitMet })
	if v.Ready != ready || (v.Word == VerdictReady) != (ready > 0 && !cut) {
		t.Errorf("%d ready and the word %s, want %d", v.Ready, v.Word, ready)
	}
	if v.Text == "" || strings.ContainsFunc(v.Text, unicode.IsControl) {
		t.Errorf("text %q", v.Text)
	}
	if v.Word != VerdictImpossible && strings.Contains(v.Text, "cannot work") {
		t.Errorf("%s: %s", v.Word, v.Text)
	}
}

// Every document that raises a finding, and its near miss, has a sound verdict.
func TestVerdictOfAllFindingCases(t *testing.T) {
	cases := slices.Concat(macCases, macNetworkCases, linuxCases, deviceCases, runCases, readCases, dataCases, providerCases, createCases)
	if len(cases) < 100 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.code+"/"+c.name, func(t *testing.T) {
			s := c.scene()
			c.change(s)
			checkVerdict(t, s, judged(s))
		})
	}
}

// messagesAreBriefs are the codes whose own message is the briefest that helps.
var messagesAreBriefs = []string{"rtr_not_attempted"}

func TestEveryCodeHasABrief(t *testing.T) {
	d := macScene().d
	for _, code := range FindingCodes() {
		b := Briefs(d)(Finding{Code: code, Scope: "rdma_en3"})
		if slices.Contains(messagesAreBriefs, code) != (b == "") {
			t.Errorf("%s: %q", code, b)
		}
		if len(b) > 70 || strings.Contains(b, "SCOPE") || strings.HasSuffix(b, ".") {
			t.Errorf("%s: %q", code, b)
		}
	}
	for code := range briefs {
		if ruleOf(code) == nil {
			t.Errorf("a brief for %s, which there is not", code)
		}
	}
	if b := Briefs(d)(Finding{Code: "of_a_later_version"}); b != "" {
		t.Errorf("a brief for an unknown code: %q", b)
	}
}

func TestDisagree(t *testing.T) {
	says := func(v *Verdict) []string {
		var all []string
		for _, d := range v.Disagree {
			for _, s := range d.Says {
				all = append(all, d.About+" / "+s.Source+" / "+s.Says)
			}
		}
		return all
	}
	for _, c := range []struct {
		name   string
		scene  func() scene
		change func(s scene)
		want   []string
	}{
		{"a healthy Mac", macScene, func(scene) {}, nil},
		{"a healthy node", linuxScene, func(scene) {}, nil},
		{"enabled, no device, Thunderbolt 4", macScene, func(s scene) { s.bare(); s.host().Thunderbolt.Generation = 4 }, []string{
			"whether RDMA is there / rdma_ctl / enabled", "whether RDMA is there / verbs library / no device", "whether RDMA is there / controllers / Thunderbolt 4",
		}},
		{"devices on Thunderbolt 4", macScene, func(s scene) { s.host().Thunderbolt.Generation = 4; s.host().RDMACtl = "" }, []string{
			"whether RDMA is there / verbs library / 1 device", "whether RDMA is there / controllers / Thunderbolt 4",
		}},
		{"disabled, and nothing there", macScene, func(s scene) { s.bare(); s.host().RDMACtl = "disabled" }, nil},
		{"disabled, and yet ACTIVE", macScene, func(s scene) { s.host().RDMACtl = "disabled" }, []string{
			"whether RDMA is there / rdma_ctl / disabled", "whether RDMA is there / verbs library / 1 device", "whether RDMA is there / controllers / Thunderbolt 5",
		}},
		{"not listed", linuxScene, func(s scene) { s.unlist("mlx5_0") }, []string{"device mlx5_0 / kernel / has it", "device mlx5_0 / verbs library / does not list it"}},
		{"not listed, for want of a library", linuxScene, func(s scene) { s.unlist("mlx5_0"); s.noLibrary("missing_file") }, nil},
		{"a device that the kernel lacks", linuxScene, func(s scene) { s.dev("mlx5_0").Sysfs = ptrTo(false) }, []string{"device mlx5_0 / kernel / does not have it", "device mlx5_0 / verbs library / lists it"}},
		{"the named device is not there, and others are", macScene, func(s scene) { s.bare(); s.confirm("", "dev.enumerate"); s.row("", "dev.enumerate").Value = 3 }, nil},
		{"another state", linuxScene, func(s scene) {
			s.host().Sysfs = map[string]hostfacts.SysfsDevice{"mlx5_0": {Ports: []hostfacts.SysfsPort{{Num: 1, State: "down"}}}}
		}, []string{"port 1 of mlx5_0 / kernel / down", "port 1 of mlx5_0 / verbs library / active"}},
		{"the same state", linuxScene, func(s scene) {
			s.host().Sysfs = map[string]hostfacts.SysfsDevice{"mlx5_0": {Ports: []hostfacts.SysfsPort{{Num: 1, State: "active"}}}}
		}, nil},
		{"a limit that was raised", linuxScene, func(s scene) { s.host().MemlockKiB = ptrTo(int64(64)) }, []string{
			"locked memory / this process / 64 KiB", "locked memory / limits.conf / unlimited: it holds from the next login on",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.scene()
			c.change(s)
			if got := says(judged(s)); !slices.Equal(got, c.want) {
				t.Errorf("%q\nwant %q", got, c.want)
			}
		})
	}
}

func TestPortsOfAVerdictTellTheCable(t *testing.T) {
	s := macScene()
	s.addIdle()
	s.dev("rdma_en4").Ports[0].Speed = 80
	s.host().Thunderbolt.Links[0].ViaHub = ptrTo(true)
	v := judged(s)
	if p := v.Ports[0]; p.Interface != "en3" || p.Peer != "mac-b" || p.SpeedGbps != 80 || !p.ViaHub {
		t.Errorf("the cabled port: %+v", p)
	}
	if p := v.Ports[1]; p.Peer != "" || p.SpeedGbps != 0 || p.Why != "nothing is connected" || p.Finding != "port_down" {
		t.Errorf("the idle port: %+v", p)
	}
	l := linuxScene()
	l.unlist("mlx5_0")
	l.host().Sysfs = map[string]hostfacts.SysfsDevice{"mlx5_0": {Ports: []hostfacts.SysfsPort{{Num: 1, State: "active", RateGbps: ptrTo(100.0)}, {Num: 2, State: "down"}}}}
	if v := judged(l); len(v.Ports) != 2 || v.Ports[0].SpeedGbps != 100 || v.Ports[1].State != "down" || v.Ready != 0 {
		t.Errorf("ports that only the kernel tells of: %+v", v.Ports)
	}
}

func TestFineNamesOnlyWhatWasChecked(t *testing.T) {
	s := linuxScene()
	if got := strings.Join(judged(s).Fine, "; "); !strings.Contains(got, "created and freed on mlx5_0: memory region, UC, RC and UD") || !strings.Contains(got, "a GID to use: mlx5_0") {
		t.Errorf("%q", got)
	}
	s.uncreated("mlx5_0")
	s.fail("mlx5_0", "gid.usable", ProviderError, 5)
	if got := strings.Join(judged(s).Fine, "; "); strings.Contains(got, "created") || strings.Contains(got, "GID") {
		t.Errorf("what was not tried, or failed, is fine: %q", got)
	}
	if got := VerdictOf(&Document{}).Fine; len(got) != 0 {
		t.Errorf("of an empty document %q is fine", got)
	}
}
