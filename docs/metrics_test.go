package docs

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	metricHelp   = regexp.MustCompile(`(?m)^# HELP (\S+) (.+)$`)
	metricSeries = regexp.MustCompile(`(?m)^(rdmaprobe_\w+)\{(.*)\} `)
	metricLabel  = regexp.MustCompile(`(\w+)="(?:[^"\\]|\\.)*"`)
)

// metricsTable has every metric of the recorded outputs, with its labels.
func metricsTable(t *testing.T, _ string) string {
	files, err := filepath.Glob("../report/testdata/*.prom")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded output: %v", err)
	}
	labels, help := map[string][]string{}, map[string]string{}
	var names []string
	for _, f := range files {
		text := read(t, f)
		for _, m := range metricHelp.FindAllStringSubmatch(text, -1) {
			if help[m[1]] == "" {
				names = append(names, m[1])
			}
			help[m[1]] = strings.TrimSuffix(m[2], ".")
		}
		for _, m := range metricSeries.FindAllStringSubmatch(text, -1) {
			for _, l := range metricLabel.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(labels[m[1]], l[1]) {
					labels[m[1]] = append(labels[m[1]], l[1])
				}
			}
		}
	}
	slices.Sort(names)
	var rows [][]string
	for _, n := range names {
		if len(labels[n]) == 0 {
			t.Errorf("%s has no series", n)
		}
		rows = append(rows, []string{"`" + n + "`", "`" + strings.Join(labels[n], "` `") + "`", help[n]})
	}
	return table([]string{"metric", "labels", "what"}, rows)
}

// Every metric that a renderer can write is in a recorded output, and so in the
// table.
func TestMetricsAreRecorded(t *testing.T) {
	shown := metricsTable(t, "")
	names := regexp.MustCompile(`name: "(rdmaprobe_\w+)"`).FindAllStringSubmatch(read(t, "../report/prometheus.go"), -1)
	if len(names) == 0 {
		t.Fatal("no metric in report/prometheus.go")
	}
	for _, m := range names {
		if !strings.Contains(shown, "`"+m[1]+"`") {
			t.Errorf("%s is in no recorded output below report/testdata", m[1])
		}
	}
}
