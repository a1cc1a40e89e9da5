package cmd

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// reportCommands are what the scripts about reports need beside the usual.
var reportCommands = map[string]func(*testscript.TestScript, bool, []string){
	"samedocument": sameDocument,
	"firstline":    firstLine,
	"morerows":     moreRows,
	"unbundle":     unbundle,
	"nosecrets":    noSecrets,
	"privatefile":  privateFile,
}

// volatile are the fields in which two runs may differ: names, times, process ids.
var volatile = []string{
	"id", "seq", "run", "started_at", "observed_at", "at", "duration_ns", "bound_ns", "boot_id", "pid", "command", "uptime_s",
	"min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "rate_bits_per_s", "sq_psn", "rq_psn", "dest_qp_num", "qp_num", "rkey",
}

// sameDocument compares two documents but for what is volatile.
func sameDocument(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: samedocument FILE FILE")
	}
	var docs [2]any
	for i, name := range args {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &docs[i]))
		docs[i] = steady(docs[i], "")
	}
	if diff := cmp.Diff(docs[0], docs[1]); diff != "" {
		ts.Fatalf("%s and %s differ:\n%s", args[0], args[1], diff)
	}
}

var someTime = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|pid \d+|process \d+|\d{8}T\d{6}-[0-9a-f]{12}|goroutine \d+|0x[0-9a-f]+|\b\d+(\.\d+)?(ms|s|µs)\b`)

// steady drops what is volatile. The id of an observation is not.
func steady(v any, key string) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		maps.DeleteFunc(out, func(k string, e any) bool {
			_, level := v["level"]
			return slices.Contains(volatile, k) && !(k == "id" && level) || k == "stderr"
		})
		for k, e := range out {
			out[k] = steady(e, k)
		}
		return out
	case []any:
		for i := range v {
			v[i] = steady(v[i], key)
		}
		return v
	case string:
		return someTime.ReplaceAllString(v, "TIME")
	}
	return v
}

// firstLine looks for a text in the first line of a file.
func firstLine(ts *testscript.TestScript, neg bool, args []string) {
	line, _, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	if neg || !strings.Contains(line, args[1]) {
		ts.Fatalf("the first line of %s is %.200s", args[0], line)
	}
}

// moreRows tells whether lines have more observations than a document.
func moreRows(ts *testscript.TestScript, neg bool, args []string) {
	lines := strings.Count(ts.ReadFile(args[0]), `{"kind":"observation"`)
	var d struct {
		Observations []json.RawMessage `json:"observations"`
	}
	ts.Check(json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile(args[1])))).Decode(&d))
	if neg || lines <= len(d.Observations) || len(d.Observations) == 0 {
		ts.Fatalf("%d lines and %d rows", lines, len(d.Observations))
	}
}
