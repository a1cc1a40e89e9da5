package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// Every sample is read by Prometheus' own parser, and says what the document says.
func TestPrometheusIsRead(t *testing.T) {
	for _, s := range samples {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(bytes.NewReader(render(t, "prometheus", s)))
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		if len(families) < 4 || families["rdmaprobe_info"] == nil {
			t.Errorf("%s: %d metrics", s.name, len(families))
		}
		for name, f := range families {
			if f.GetType().String() != "GAUGE" || f.GetHelp() == "" || !strings.HasPrefix(name, "rdmaprobe_") {
				t.Errorf("%s: %s is a %v: %s", s.name, name, f.GetType(), f.GetHelp())
			}
		}
	}
}

func TestPrometheusSays(t *testing.T) {
	d := rxe()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(render(t, "prometheus", sample{"rxe", "probe", func() *probe.Document { return d }})))
	if err != nil {
		t.Fatal(err)
	}
	value := func(metric string, labels ...string) (float64, bool) {
		for _, m := range families[metric].GetMetric() {
			have := map[string]string{}
			for _, l := range m.GetLabel() {
				have[l.GetName()] = l.GetValue()
			}
			match := true
			for i := 0; i+1 < len(labels); i += 2 {
				match = match && have[labels[i]] == labels[i+1]
			}
			if match {
				return m.GetGauge().GetValue(), true
			}
		}
		return 0, false
	}
	for _, tt := range []struct {
		metric string
		labels []string
		want   float64
	}{
		{"rdmaprobe_library_loaded", nil, 1},
		{"rdmaprobe_exit_code", nil, 1},
		{"rdmaprobe_devices", nil, 1},
		{"rdmaprobe_port_state", []string{"device", "rxe_a", "state", "active"}, 1},
		{"rdmaprobe_port_speed_bits_per_second", []string{"device", "rxe_a"}, 2.5e9},
		{"rdmaprobe_capability", []string{"capability", "queue_pair_rc", "state", "confirmed"}, 1},
		{"rdmaprobe_capability", []string{"capability", "rdma_write", "state", "unknown"}, 1},
		{"rdmaprobe_findings", []string{"severity", "error"}, 1},
		{"rdmaprobe_finding", []string{"code", requireCode, "scope", "rxe_a"}, 1},
		{"rdmaprobe_pingpong_round_trip_seconds", []string{"quantile", "0.5"}, 28.1e-6},
		{"rdmaprobe_run_timestamp_seconds", nil, float64(d.Run.StartedAt.UnixMilli()) / 1e3},
	} {
		if got, ok := value(tt.metric, tt.labels...); !ok || got != tt.want {
			t.Errorf("%s%v = %v (there: %v), want %v", tt.metric, tt.labels, got, ok, tt.want)
		}
	}
}

// One odd device never drops the others.
func TestPrometheusKeepsTheOtherDevices(t *testing.T) {
	d := rxe()
	odd := d.Devices[0]
	odd.Name, odd.Ports = "rxe_a\n# HELP x", []probe.Port{{Num: 1, State: "a\"b\\c", Speed: 1e300}}
	d.Devices = append([]probe.Device{odd, d.Devices[0], {Name: "", Listed: true}}, d.Devices[0])
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(render(t, "prometheus", sample{"odd", "probe", func() *probe.Document { return d }})))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range families["rdmaprobe_port_state"].GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == "device" {
				seen[l.GetValue()] = true
			}
		}
	}
	if !seen["rxe_a"] || len(seen) != 2 {
		t.Errorf("devices %v", seen)
	}
}

// A merged report has a series for each host.
func TestPrometheusOfSeveralHosts(t *testing.T) {
	d := twoHosts()
	for i, h := range d.Hosts {
		d.Sources = append(d.Sources, probe.Source{File: h.Name + ".json", Host: h.Name, Exit: i, Run: probe.RunInfo{StartedAt: ago(time.Hour)},
			Provider: probe.Provider{Kind: probe.Native, Library: probe.Library{Loaded: i == 0}}})
	}
	out := string(render(t, "prometheus", sample{"hosts", "report", func() *probe.Document { return d }}))
	for _, want := range []string{
		`rdmaprobe_library_loaded{host="node-a"} 1`, `rdmaprobe_library_loaded{host="node-b"} 0`, `rdmaprobe_exit_code{host="node-b"} 1`,
		`rdmaprobe_run_timestamp_seconds{host="node-a"} ` + strconv.FormatFloat(float64(ago(time.Hour).Unix()), 'g', -1, 64),
	} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// The elements and attributes that build servers read, and no others: the schema
// of the Jenkins xUnit plugin, as far as it has them.
var junitAllows = map[string][]string{
	"testsuites": {"name", "tests", "failures", "errors", "skipped"},
	"testsuite":  {"name", "tests", "failures", "errors", "skipped", "timestamp"},
	"testcase":   {"classname", "name", "time"},
	"failure":    {"message"}, "error": {"message"}, "skipped": {"message"}, "system-out": {},
}

func TestJUnitIsReadStrictly(t *testing.T) {
	inside := map[string]string{"testsuite": "testsuites", "testcase": "testsuite", "failure": "testcase", "error": "testcase", "skipped": "testcase", "system-out": "testcase"}
	for _, s := range samples {
		dec := xml.NewDecoder(bytes.NewReader(render(t, "junit", s)))
		dec.Strict = true
		var open []string
		counted, declared := map[string]int{}, map[string]int{}
		for {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			switch e := tok.(type) {
			case xml.StartElement:
				name := e.Name.Local
				allowed, ok := junitAllows[name]
				if !ok || name != "testsuites" && (len(open) == 0 || open[len(open)-1] != inside[name]) {
					t.Errorf("%s: %s in %v", s.name, name, open)
				}
				for _, a := range e.Attr {
					if !strings.Contains(" "+strings.Join(allowed, " ")+" ", " "+a.Name.Local+" ") {
						t.Errorf("%s: %s has the attribute %s", s.name, name, a.Name.Local)
					}
					if n, err := strconv.Atoi(a.Value); err == nil && name == "testsuites" {
						declared[a.Name.Local] = n
					}
					if _, err := strconv.ParseFloat(a.Value, 64); a.Name.Local == "time" && err != nil {
						t.Errorf("%s: time %q", s.name, a.Value)
					}
				}
				counted[map[string]string{"testcase": "tests", "failure": "failures", "error": "errors", "skipped": "skipped"}[name]]++
				open = append(open, name)
			case xml.EndElement:
				open = open[:len(open)-1]
			}
		}
		for _, k := range []string{"tests", "failures", "errors", "skipped"} {
			if counted[k] != declared[k] {
				t.Errorf("%s: %d %s, %d are declared", s.name, counted[k], k, declared[k])
			}
		}
	}
}

// mdCells reads a line of a table as GitHub does: a pipe that is not escaped ends
// a cell, and a backslash before punctuation goes.
func mdCells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	var cells []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\\`*_[]>|~&<", line[i+1]) >= 0:
			i++
			cell.WriteByte(line[i])
		case line[i] == '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(cells, strings.TrimSpace(cell.String()))
}

func TestMarkdownTableWithAnEvilName(t *testing.T) {
	for _, name := range []string{"a|b`c`d", "||", "`", "\\|", "a | b", "<b>|</b>", "*x*_y_", "[l](x)|", "$(rm)|`"} {
		d := rxe()
		d.Devices[0].Name = name
		for i := range d.Observations {
			if d.Observations[i].Device != "" {
				d.Observations[i].Device = name
			}
		}
		page := string(render(t, "markdown", sample{"evil", "probe", func() *probe.Document { return d }}))
		found, columns := 0, 0
		for line := range strings.Lines(page) {
			if !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			cells := mdCells(line)
			if columns == 0 {
				columns = len(cells)
			}
			if len(cells) != columns {
				t.Errorf("%q: %d cells of %d in %s", name, len(cells), columns, line)
			}
			if strings.ReplaceAll(cells[0], "&lt;", "<") == name {
				found++
			}
		}
		if found < 3 {
			t.Errorf("%q is in the first column of %d rows:\n%s", name, found, page)
		}
	}
}

func TestStatesAreLabels(t *testing.T) {
	if out := string(render(t, "prometheus", sample{"mac", "probe", macSix})); strings.Count(out, fmt.Sprintf(`state="%s"} 1`, rdma.CapabilityObservedZero)) == 0 {
		t.Error("no observed zero")
	}
}
