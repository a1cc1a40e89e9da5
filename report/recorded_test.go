package report

import (
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
)

// A report says first how old its newest run is; no other command does.
func TestRecordedLine(t *testing.T) {
	of := func(command string, change func(*probe.Document)) string {
		d := rxe()
		d.Host = &hostfacts.Host{Name: "node-a"}
		d.Run.StartedAt, d.Run.Command = ago(3*time.Minute), []string{"rdmaprobe", "--json", "probe", "-d", "doctor"}
		change(d)
		first, _, _ := strings.Cut(string(render(t, "table", sample{"rxe", command, func() *probe.Document { return d }})), "\n")
		return first
	}
	same := func(*probe.Document) {}
	for _, tt := range []struct {
		name, got, want string
	}{
		{"a report", of("report", same), "recorded 2026-11-02 13:57 (3m ago) by rdmaprobe probe"},
		{"a probe", of("probe", same), "host node-a"},
		{"just now", of("report", func(d *probe.Document) { d.Run.StartedAt = ago(0) }), "recorded 2026-11-02 14:00 (now) by rdmaprobe probe"},
		{"another clock", of("report", func(d *probe.Document) { d.Run.StartedAt = ago(-time.Hour) }), "recorded 2026-11-02 15:00 (future) by rdmaprobe probe"},
		{"no command", of("report", func(d *probe.Document) { d.Run.Command = []string{evil} }), "recorded 2026-11-02 13:57 (3m ago)"},
		{"no evidence", of("report", func(d *probe.Document) { d.Devices, d.Observations = nil, nil }), "host node-a"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}
