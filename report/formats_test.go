package report

import (
	"encoding/json"
	"encoding/xml"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
)

// promLine is a line of the text exposition format, version 0.0.4.
var promLine = regexp.MustCompile(`^(?:# (?:HELP|TYPE) [a-z_:]+ .+|([a-z_:][a-z0-9_:]*)\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} (?:[-+]?[0-9.]+(?:e[-+][0-9]+)?))$`)

func TestPrometheusIsWellFormed(t *testing.T) {
	for _, s := range samples {
		series := map[string]bool{}
		typed := map[string]bool{}
		for _, line := range strings.Split(strings.TrimSuffix(string(render(t, "prometheus", s)), "\n"), "\n") {
			m := promLine.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%s: bad line %q", s.name, line)
			}
			if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
				name = strings.Fields(name)[0]
				if typed[name] {
					t.Errorf("%s: %s is typed twice", s.name, name)
				}
				typed[name] = true
			}
			if m[1] == "" {
				continue
			}
			if !typed[m[1]] {
				t.Errorf("%s: %s comes before its type", s.name, m[1])
			}
			if key := m[1] + m[2]; series[key] {
				t.Errorf("%s: series twice: %s", s.name, key)
			} else {
				series[key] = true
			}
		}
		if len(series) < 5 {
			t.Errorf("%s has %d series", s.name, len(series))
		}
	}
}

func TestPrometheusUnits(t *testing.T) {
	text := string(render(t, "prometheus", sample{"rxe", "probe", rxe}))
	for _, want := range []string{
		`rdmaprobe_port_speed_bits_per_second{host="",device="rxe_a",port="1"} 2.5e+09`,
		`rdmaprobe_pingpong_round_trip_seconds{host="",device="rxe_a",port="1",id="pingpong.rc",quantile="0.5"} 2.81e-05`,
		`rdmaprobe_capability{host="",device="rxe_a",port="1",capability="rdma_write",state="unknown"} 1`,
		`rdmaprobe_findings{host="",severity="warning"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
}

func TestJSONLines(t *testing.T) {
	for _, s := range samples {
		d := s.doc()
		var kinds []string
		for _, line := range strings.Split(strings.TrimSuffix(string(render(t, "jsonl", s)), "\n"), "\n") {
			var v struct {
				Kind string `json:"kind"`
			}
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			kinds = append(kinds, v.Kind)
		}
		count := func(k string) int {
			return len(slices.DeleteFunc(slices.Clone(kinds), func(x string) bool { return x != k }))
		}
		if kinds[0] != "run" || kinds[len(kinds)-1] != "end" || count("run") != 1 || count("end") != 1 {
			t.Errorf("%s: %v", s.name, kinds)
		}
		if count("device") != len(d.Devices) || count("observation") != len(d.Observations) || count("finding") != len(d.Findings) {
			t.Errorf("%s: lines are missing: %v", s.name, kinds)
		}
	}
}

// junitOf renders a document and reads it back.
func junitOf(t *testing.T, doc func() *probe.Document) map[string]junitCase {
	t.Helper()
	var suites junitSuites
	if err := xml.Unmarshal(render(t, "junit", sample{"x", "probe", doc}), &suites); err != nil {
		t.Fatal(err)
	}
	cases := map[string]junitCase{}
	total := 0
	for _, s := range suites.Suites {
		for _, c := range s.Cases {
			cases[s.Name+": "+c.Name] = c
		}
		total += s.Tests
		if s.Tests != len(s.Cases) {
			t.Errorf("suite %s counts %d of %d tests", s.Name, s.Tests, len(s.Cases))
		}
	}
	if suites.Tests != total || total == 0 {
		t.Errorf("%d tests, the suites have %d", suites.Tests, total)
	}
	return cases
}

// outcome is how a test came out.
func outcome(c junitCase) string {
	switch {
	case c.Failure != nil:
		return "failure"
	case c.Error != nil:
		return "error"
	case c.Skipped != nil:
		return "skipped"
	case c.Name == "":
		return "missing"
	}
	return "passed"
}

func TestJUnitVerdicts(t *testing.T) {
	for _, tt := range []struct {
		doc        func() *probe.Document
		test, want string
	}{
		{rxe, "require: queue_pair_rc", "passed"},
		{rxe, "require: queue_pair_uc", "passed"},
		{rxe, "require: op.rdma_write", "failure"},
		{rxe, "findings: required_capability_not_confirmed", "failure"},
		{rxe, "rxe_a: qp.rc.create", "passed"},
		{rxe, "rxe_a: op.rdma_write port 1", "skipped"},
		{macSix, "rdma_en2: qp.rc.create in rc", "passed"}, // rejected is an answer
		{macSix, "findings: address_manager_resets", "passed"},
		{macSix, "findings: gid_no_ipv4_mapped", "failure"},
		{crashed, "mlx5_0: qp.uc.create", "error"},
		{crashed, "mlx5_0: qp.rc.create", "skipped"},
		{crashed, "mlx5_0: pingpong.uc port 1", "skipped"}, // a loop's own deadline is no hang
		{usageError, "run: run", "error"},
		{noDevice, "run: run", "failure"},
	} {
		if got := outcome(junitOf(t, tt.doc)[tt.test]); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.test, got, tt.want)
		}
	}
}

func TestContained(t *testing.T) {
	for _, tt := range []struct {
		reason  probe.Reason
		outcome probe.Outcome
		want    bool
	}{
		{probe.Crash, "crashed", true}, {probe.Stuck, "left", true}, {probe.Timeout, "timed_out", true}, {probe.Timeout, "completed", false},
		{probe.Precondition, "crashed", false}, {"", "crashed", false},
	} {
		if got := contained(&probe.Observation{Reason: tt.reason, Child: &probe.Child{Outcome: tt.outcome}}); got != tt.want {
			t.Errorf("%s in a child that %s: %v", tt.reason, tt.outcome, got)
		}
	}
}

// The run's own test passes where the run did what was asked, whatever it found.
func TestJUnitOfTheRun(t *testing.T) {
	for _, tt := range []struct {
		exit       int
		text       string
		want, says string
	}{
		{probe.ExitOK, "", "passed", ""},
		{probe.ExitFinding, "", "passed", ""},
		{probe.ExitUsage, "--port 9: no such port", "error", "--port 9: no such port"},
		{probe.ExitNothing, "no device nosuch", "failure", "no device nosuch"},
		{probe.ExitNothing, "", "failure", "nothing was probed"},
		{probe.ExitContained, "", "error", "was contained"},
		{probe.ExitOwn, "disk full", "error", "disk full"},
		{probe.ExitInterrupted, "", "error", "interrupted"},
		{99, "", "error", "exit status 99"},
		{probe.ExitOK, "no document should say this", "error", "no document should say this"},
	} {
		doc := func() *probe.Document {
			d := rxe()
			d.Exit, d.Error = tt.exit, tt.text
			return d
		}
		c := junitOf(t, doc)["run: run"]
		if got := outcome(c); got != tt.want {
			t.Errorf("exit %d: %s, want %s", tt.exit, got, tt.want)
		}
		for _, m := range []*junitMessage{c.Failure, c.Error} {
			if m != nil && !strings.Contains(m.Message, tt.says) {
				t.Errorf("exit %d says %q, want %q", tt.exit, m.Message, tt.says)
			}
		}
	}
}

// A report does not say that a requirement held, since nobody looked.
func TestJUnitRequireInAReport(t *testing.T) {
	page := string(render(t, "junit", sample{"rxe", "report", rxe}))
	if n := strings.Count(page, `<skipped message="a report does not judge --require">`); n != 2 {
		t.Errorf("%d are skipped, want 2:\n%s", n, page)
	}
}

func TestConcerns(t *testing.T) {
	for _, tt := range []struct {
		f    probe.Finding
		want bool
	}{
		{probe.Finding{Observations: []string{"rxe_a/qp.rc.create"}}, true},
		{probe.Finding{Message: "required qp.rc.create: unknown"}, true},
		{probe.Finding{Message: "unknown is qp.rc.create."}, true},
		{probe.Finding{Message: "required qp.rc.create_more"}, false},
		{probe.Finding{Message: "required queue_pair_rc", Observations: []string{"rxe_a/qp.uc.create"}}, false},
	} {
		if got := concerns(tt.f, "qp.rc.create"); got != tt.want {
			t.Errorf("%+v: %v", tt.f, got)
		}
	}
}

func TestMarkdownText(t *testing.T) {
	for in, want := range map[string]string{
		"rdma_en2":   `rdma\_en2`,
		"a|b\nc":     `a\|b c`,
		"`x`":        "\\`x\\`",
		"<b>@me</b>": `&lt;b\>&#64;me&lt;/b\>`,
		`a\`:         `a\\`,
	} {
		if got := mdText(in); got != want {
			t.Errorf("mdText(%q) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"run `rdma_ctl <enable>`, a_b": "run `rdma_ctl <enable>`, a\\_b",
		"`a_b`":                        "`a_b`",
		"`a` and `b_c` | d":            "`a` and `b_c` \\| d",
		"one ` alone_":                 "one \\` alone\\_",
		"`a` and ` alone_":             "`a` and \\` alone\\_",
		"```<b>":                       "\\`\\`\\`&lt;b\\>",
		"a\\`b`":                       "a\\\\`b`",
		"no_code":                      "no\\_code",
	} {
		if got := mdProse(in); got != want {
			t.Errorf("mdProse(%q) = %s, want %s", in, got, want)
		}
	}
	if got := mdCode("a`b\nc"); got != "`a'b c`" {
		t.Errorf("mdCode: %s", got)
	}
}

func TestHTMLChart(t *testing.T) {
	page := string(render(t, "html", sample{"rxe", "probe", rxe}))
	if n := strings.Count(page, "<rect "); n != len(quantileKeys) {
		t.Errorf("%d bars, want %d", n, len(quantileKeys))
	}
	for _, want := range []string{"prefers-color-scheme: dark", "width=device-width", "100 round trips, 100 verified, 0 lost", ">120µs<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
