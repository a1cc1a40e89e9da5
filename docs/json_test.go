package docs

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"rdmaprobe/report"
	"rdmaprobe/report/schematest"
)

var jsonBlock = regexp.MustCompile("(?s)```json\n(.*?)```")

// Every name of the schema stands in json.md.
func TestFieldsAreDescribed(t *testing.T) {
	text := read(t, "json.md")
	var schema any
	if err := json.Unmarshal(report.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	properties(schema, names)
	if len(names) < 100 {
		t.Fatalf("only %d names in the schema", len(names))
	}
	for name := range names {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("json.md does not describe %s", name)
		}
	}
}

// properties collects the names of all properties of a schema.
func properties(v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, sub := range v {
			if p, ok := sub.(map[string]any); ok && key == "properties" {
				for name := range p {
					names[name] = true
				}
			}
			properties(sub, names)
		}
	case []any:
		for _, sub := range v {
			properties(sub, names)
		}
	}
}

// The example is a document.
func TestExampleDocumentIsValid(t *testing.T) {
	blocks := jsonBlock.FindAllStringSubmatch(read(t, "json.md"), -1)
	if len(blocks) != 1 {
		t.Fatalf("json.md has %d examples, want 1", len(blocks))
	}
	schematest.Validate(t, []byte(blocks[0][1]))
	if d, err := report.Read(strings.NewReader(blocks[0][1])); err != nil || len(d.Devices) == 0 || len(d.Observations) == 0 {
		t.Errorf("the example says too little: %v", err)
	}
}
