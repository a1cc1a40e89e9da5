package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"rdmaprobe/report"
	"rdmaprobe/report/schematest"
)

func encoded(t *testing.T, name string) []byte {
	t.Helper()
	d, ok := report.SampleDocuments()[name]
	if !ok {
		t.Fatalf("no sample %s", name)
	}
	f, err := report.Lookup("json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Render(&b, d, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSamplesAreValid(t *testing.T) {
	docs := report.SampleDocuments()
	if len(docs) < 10 {
		t.Fatalf("%d samples", len(docs))
	}
	for name := range docs {
		t.Run(name, func(t *testing.T) { schematest.Validate(t, encoded(t, name)) })
	}
}

// edit changes one value of a document; a path's steps are keys, "0" the first
// element of an array.
func edit(t *testing.T, doc []byte, path string, change func(map[string]any, string)) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	steps := strings.Split(path, "/")
	at := any(v)
	for _, s := range steps[:len(steps)-1] {
		if s == "0" {
			at = at.([]any)[0]
		} else {
			at = at.(map[string]any)[s]
		}
	}
	change(at.(map[string]any), steps[len(steps)-1])
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func set(v any) func(map[string]any, string) { return func(m map[string]any, k string) { m[k] = v } }

func remove(m map[string]any, k string) { delete(m, k) }

func TestBrokenDocumentsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		change     func(map[string]any, string)
	}{
		{"another schema", "schema", set("other.report")},
		{"another major version", "schema_version", set("2.0")},
		{"no version", "schema_version", remove},
		{"devices null", "devices", set(nil)},
		{"no observations", "observations", remove},
		{"no exit", "exit", remove},
		{"kind", "provider/kind", set("imagined")},
		{"a time that is none", "run/started_at", set("yesterday")},
		{"severity", "findings/0/severity", set("fatal")},
		{"level", "observations/0/level", set("maybe")},
		{"reason", "observations/0/reason", set("bad_weather")},
		{"unknown without a reason", "observations/0/reason", remove},
		{"confirmed with a reason", "observations/0/level", set("confirmed")},
		{"outcome", "observations/0/child/outcome", set("lost")},
		{"an address as return", "observations/0/return", set("0x7f0012")},
		{"a composite value", "observations/0/value", set([]int{1})},
		{"errno without a number", "observations/0/errno", set(map[string]any{"name": "EIO", "platform": "linux"})},
		{"a port that is text", "devices/0/ports/0/num", set("1")},
		{"gids null", "devices/0/ports/0/gids", set(nil)},
		{"a capability without a state", "devices/0/capabilities/queue_pair_uc", set(map[string]any{})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := schematest.Check(edit(t, encoded(t, "crashed"), tt.path, tt.change)); err == nil {
				t.Error("valid")
			}
		})
	}
}

func TestOddDocumentsAreValid(t *testing.T) {
	for _, tt := range []struct {
		name, sample, path string
		change             func(map[string]any, string)
	}{
		{"a later minor version", "crashed", "schema_version", set("1.42")},
		{"a field of a later version", "crashed", "devices/0/colour", set("blue")},
		{"return null", "crashed", "observations/0/return", set("null")},
		{"return non-null", "crashed", "observations/0/return", set("non-null")},
		{"a negative return", "crashed", "observations/0/return", set(-1)},
		{"value false", "crashed", "observations/0/value", set(false)},
		{"an interface whose addresses were not read", "crashed", "host/interfaces", set(map[string]any{"en2": map[string]any{"addresses": nil}})},
		{"a device without a netdev", "crashed", "host/netdev_of_device", set(map[string]any{"ibp1s0": nil})},
		{"a 64-bit number", "rxe-probe", "devices/0/attr/max_mr_size", set("18446744073709551615")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			schematest.Validate(t, edit(t, encoded(t, tt.sample), tt.path, tt.change))
		})
	}
	big := edit(t, encoded(t, "rxe-probe"), "devices/0/attr/max_mr_size", set(12345))
	if schematest.Check(big) == nil {
		t.Error("max_mr_size as a number is valid")
	}
}

func TestSchemaIsACopy(t *testing.T) {
	report.Schema()[0] = 'x'
	if report.Schema()[0] != '{' {
		t.Error("a caller can change the schema")
	}
}
