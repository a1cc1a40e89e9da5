package report

import (
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// family is one metric with its series.
type family struct {
	name, help string
	series     []string
	seen       map[string]bool
}

// add appends a series. A value that is no number is left out, and so is a
// second series with the same labels: the whole file would be refused, and a
// provider may name two devices alike.
func (f *family) add(value float64, labels ...string) {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return
	}
	var b strings.Builder
	for i := 0; i+1 < len(labels); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(labels[i] + `="` + promEscape(labels[i+1]) + `"`)
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	if f.seen[b.String()] {
		return
	}
	f.seen[b.String()] = true
	f.series = append(f.series, "{"+b.String()+"} "+strconv.FormatFloat(value, 'g', -1, 64))
}

// promEscape escapes a label's value as the text exposition format asks.
func promEscape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(Clean(s))
}

// renderPrometheus writes gauges in base units. A state is a label of a series
// with the value 1; a measured latency is a series per quantile.
func renderPrometheus(w io.Writer, d *probe.Document, o Options) error {
	t := newPrinter(w, d, o, false)
	families := t.promRun()
	families = append(families, t.promPorts()...)
	families = append(families, t.promCapabilities()...)
	families = append(families, t.promFindings()...)
	families = append(families, t.promLatency()...)
	for _, f := range families {
		if len(f.series) == 0 {
			continue
		}
		t.s.printf("# HELP %s %s\n# TYPE %s gauge\n", f.name, f.help, f.name)
		for _, line := range f.series {
			t.s.printf("%s%s\n", f.name, line)
		}
	}
	return t.s.close()
}

func (t *printer) promRun() []*family {
	info := &family{name: "rdmaprobe_info", help: "The program and the provider that the report is about."}
	start := &family{name: "rdmaprobe_run_timestamp_seconds", help: "When the run began, in Unix time."}
	exit := &family{name: "rdmaprobe_exit_code", help: "The exit code of the run."}
	loaded := &family{name: "rdmaprobe_library_loaded", help: "1 if the verbs library was loaded."}
	count := &family{name: "rdmaprobe_devices", help: "How many RDMA devices the library listed."}
	for _, s := range newestSources(t.d) {
		info.add(1, "host", s.Host, "version", s.Tool.Version, "provider", s.Provider.Kind, "profile", s.Provider.Profile)
		if !s.Run.StartedAt.IsZero() {
			start.add(float64(s.Run.StartedAt.UnixMilli())/1e3, "host", s.Host)
		}
		exit.add(float64(s.Exit), "host", s.Host)
		loaded.add(one(s.Provider.Library.Loaded), "host", s.Host)
	}
	listed := map[string]int{}
	for _, g := range groups(t.d) {
		listed[hostName(t.d, g)] = 0
	}
	for _, dev := range t.d.Devices {
		if dev.Listed {
			listed[hostName(t.d, dev.Host)]++
		}
	}
	for _, g := range groups(t.d) {
		count.add(float64(listed[hostName(t.d, g)]), "host", hostName(t.d, g))
	}
	return []*family{info, start, exit, loaded, count}
}

// newestSources are the runs that a document stands on, one for each host: its
// own, or of a merged report the newest of each.
func newestSources(d *probe.Document) []probe.Source {
	newest := map[string]probe.Source{}
	for _, s := range d.Sources {
		if old, ok := newest[s.Host]; !ok || !s.Run.StartedAt.Before(old.Run.StartedAt) {
			newest[s.Host] = s
		}
	}
	if len(newest) == 0 {
		host := hostName(d, "")
		return []probe.Source{{Host: host, Tool: d.Tool, Run: d.Run, Provider: d.Provider, Exit: d.Exit}}
	}
	var all []probe.Source
	for _, host := range slices.Sorted(maps.Keys(newest)) {
		all = append(all, newest[host])
	}
	return all
}

func (t *printer) promPorts() []*family {
	state := &family{name: "rdmaprobe_port_state", help: "The state of a port, as a label."}
	mtu := &family{name: "rdmaprobe_port_active_mtu_bytes", help: "The active MTU of a port."}
	rate := &family{name: "rdmaprobe_port_speed_bits_per_second", help: "Width times lane speed of a port."}
	for _, dev := range t.d.Devices {
		for _, p := range dev.Ports {
			at := []string{"host", hostName(t.d, dev.Host), "device", cleanName(dev.Name), "port", strconv.Itoa(p.Num)}
			if p.State != "" {
				state.add(1, append(at, "state", p.State)...)
			}
			if p.ActiveMTU > 0 {
				mtu.add(float64(p.ActiveMTU), at...)
			}
			if p.Speed > 0 {
				rate.add(p.Speed*1e9, at...)
			}
		}
	}
	return []*family{state, mtu, rate}
}

func (t *printer) promCapabilities() []*family {
	state := &family{name: "rdmaprobe_capability", help: "What is known of a capability, as a label."}
	seen := &family{name: "rdmaprobe_capability_observed_timestamp_seconds", help: "When the evidence was seen, in Unix time."}
	stale := &family{name: "rdmaprobe_capability_stale", help: "1 if the evidence is of another OS build or library."}
	by := matrixByHost(t.d, t.r)
	for _, g := range groups(t.d) {
		for _, row := range by[g] {
			port := ""
			if p := bestPort(row.dev); p != nil {
				port = strconv.Itoa(p.Num)
			}
			for i, v := range row.verdicts {
				at := []string{"host", hostName(t.d, g), "device", cleanName(row.dev.Name), "port", port, "capability", columns[i].key}
				level := v.level
				if level == "" {
					level = rdma.CapabilityUnknown
				}
				state.add(1, append(at, "state", string(level))...)
				if v.sum.ObservedAt != nil {
					seen.add(float64(v.sum.ObservedAt.UnixMilli())/1e3, at...)
					stale.add(one(v.sum.Stale), at...)
				}
			}
		}
	}
	return []*family{state, seen, stale}
}

func (t *printer) promFindings() []*family {
	count := &family{name: "rdmaprobe_findings", help: "How many findings there are of a severity."}
	each := &family{name: "rdmaprobe_finding", help: "A finding, as labels."}
	bySeverity := map[string]int{}
	for _, f := range worstFirst(t.d) {
		host := hostName(t.d, f.Host)
		bySeverity[f.Severity]++
		each.add(1, "host", host, "code", f.Code, "severity", f.Severity, "scope", cleanName(f.Scope))
	}
	for _, s := range []string{probe.SeverityError, probe.SeverityWarning, probe.SeverityInfo} {
		count.add(float64(bySeverity[s]), "host", hostName(t.d, ""), "severity", s)
	}
	return []*family{count, each}
}

func (t *printer) promLatency() []*family {
	f := &family{name: "rdmaprobe_pingpong_round_trip_seconds", help: "Round-trip time of a verified ping-pong, by quantile."}
	for _, l := range latencies(t.d) {
		for _, q := range l.quantiles {
			f.add(float64(q.ns)/1e9, "host", hostName(t.d, l.row.Host), "device", cleanName(l.row.Device),
				"port", strconv.Itoa(l.row.Port), "id", l.row.ID, "quantile", q.label)
		}
	}
	return []*family{f}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
