package probe

import (
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe/hostfacts"
)

// hitOf is a hit of a code for the tests of the second table.
func hitOf(code, subject string) ruleHit {
	return newRuleHit(ruleOf(code), findingHit{scope: subject, message: code})
}

func codesOf(hits []ruleHit) []string {
	var codes []string
	for _, h := range hits {
		codes = append(codes, h.rule.code)
	}
	slices.Sort(codes)
	return codes
}

func TestPrecedencePairs(t *testing.T) {
	pairs := 0
	for _, p := range precedences {
		for _, w := range p.winners {
			if w == anyCause {
				w = "verbs_library_missing"
			}
			for _, l := range p.losers {
				pairs++
				if ruleOf(w) == nil || ruleOf(l) == nil {
					t.Fatalf("%s over %s: not both are codes", w, l)
				}
				if got := codesOf(withoutEffects([]ruleHit{hitOf(l, "a"), hitOf(w, "a")})); !slices.Equal(got, []string{w}) {
					t.Errorf("%s and %s of one device: %v left, want the first", w, l, got)
				}
				if got := withoutEffects([]ruleHit{hitOf(l, ""), hitOf(w, "a")}); len(got) != 1 || got[0].rule.code != w {
					t.Errorf("%s of a device and %s of the host: %v left, want the first", w, l, codesOf(got))
				}
				if got := withoutEffects([]ruleHit{hitOf(l, "b"), hitOf(w, "a")}); len(got) != 2 {
					t.Errorf("%s and %s of different devices: %v left, want both", w, l, codesOf(got))
				}
				if got := withoutEffects([]ruleHit{hitOf(l, "a")}); len(got) != 1 {
					t.Errorf("%s alone is gone", l)
				}
			}
		}
	}
	if pairs < 25 {
		t.Errorf("only %d pairs", pairs)
	}
}

func TestCauseAndEffectOfDifferentLayersStand(t *testing.T) {
	for _, both := range [][2]string{
		{"port_in_thunderbolt_bridge", "gid_no_ipv4_mapped"}, {"thunderbolt_generation_unsupported", "port_down"},
		{"netdev_without_address", "gid_stale"}, {"thunderbolt_generation_unsupported", "provider_crashed"},
	} {
		if got := withoutEffects([]ruleHit{hitOf(both[0], "a"), hitOf(both[1], "a")}); len(got) != 2 {
			t.Errorf("of %v only %v is left", both, codesOf(got))
		}
	}
}

func TestWarningsDoNotExplainAnEmptyList(t *testing.T) {
	got := withoutEffects([]ruleHit{hitOf("no_rdma_device", ""), hitOf("rdma_cm_node_missing", ""), hitOf("required_capability_not_confirmed", "")})
	if len(got) != 3 {
		t.Errorf("left: %v", codesOf(got))
	}
}

func TestWorstFirst(t *testing.T) {
	s := linuxScene()
	s.second()
	s.state("mlx5_1", "down")
	delete(s.host().DevInfiniband, "rdma_cm")
	s.host().Env["NCCL_IB_GID_INDEX"] = "9"
	s.ended("mlx5_1", "port.query", "ibv_query_port", "timed_out")
	var got []string
	for _, f := range Findings(s.d, *s.c) {
		got = append(got, f.Severity+" "+f.Code+" "+f.Scope)
	}
	want := []string{
		"error configured_gid_index_empty mlx5_0", "error provider_wedged mlx5_1", "warning rdma_cm_node_missing host", "info port_down mlx5_1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("order:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSameAnswerEachTime(t *testing.T) {
	s := linuxScene()
	s.second()
	s.host().MemlockKiB = ptrTo(int64(64))
	for _, d := range []string{"mlx5_0", "mlx5_1"} {
		s.null(d, "cq.create", "ibv_create_cq", 12)
		s.row(d, "teardown").Child = &Child{Outcome: "completed", PID: 1 + len(d), Stderr: "noise of " + d}
	}
	s.c.Required = []string{"queue_pair_uc", "remote_key", "pingpong.rc"}
	first := Findings(s.d, *s.c)
	for range 20 {
		again := Findings(s.d, *s.c)
		if !slices.EqualFunc(first, again, func(a, b Finding) bool {
			return a.Code == b.Code && a.Scope == b.Scope && a.Message == b.Message && slices.Equal(a.Observations, b.Observations) && slices.Equal(a.Facts, b.Facts)
		}) {
			t.Fatalf("two answers to one question:\n%+v\n%+v", first, again)
		}
	}
}

func TestTwoFaultsAtOnce(t *testing.T) {
	s := macScene()
	s.addMac("rdma_en5", 2)
	s.inBridge()
	s.ended("rdma_en5", "pingpong.uc", "ibv_post_recv", "crashed")
	want := []string{"gid_no_ipv4_mapped error rdma_en3", "port_in_thunderbolt_bridge error en3", "provider_crashed error rdma_en5"}
	if got := raised(s, ""); !slices.Equal(got, want) {
		t.Errorf("raised %v, want %v", got, want)
	}
}

func TestHostsOfAReport(t *testing.T) {
	a, b := macScene(), macScene()
	b.host().Name, b.host().OSBuild = "mac-b", "25E100"
	b.state("rdma_en3", "down")
	d := &Document{Run: a.d.Run, Hosts: []hostfacts.Host{*a.host(), *b.host()}}
	for _, s := range []scene{a, b} {
		for _, dev := range s.d.Devices {
			dev.Host = s.host().Name
			d.Devices = append(d.Devices, dev)
		}
		for _, o := range s.d.Observations {
			o.Host = s.host().Name
			d.Observations = append(d.Observations, o)
		}
	}
	got := Findings(d, FindingContext{Command: "report"})
	if len(got) != 2 || got[0].Code != "port_down" || got[0].Severity != SeverityError || got[1].Code != "os_builds_differ" {
		t.Fatalf("findings %+v, want port_down and os_builds_differ", got)
	}
	if !strings.HasPrefix(got[0].Message, "mac-b: ") {
		t.Errorf("%q does not name the host", got[0].Message)
	}
	if m := got[1].Message; !strings.Contains(m, "25F80 on mac-a") || !strings.Contains(m, "25E100 on mac-b") {
		t.Errorf("%q does not name both builds", m)
	}
}
