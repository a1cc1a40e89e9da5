package report_test

import (
	"bytes"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/report"
	"rdmaprobe/report/schematest"
)

// What becomes of a document on its way to others is a document too.
func TestMadeDocumentsAreValid(t *testing.T) {
	json, err := report.Lookup("json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(t *testing.T, d *probe.Document) {
		t.Helper()
		var b bytes.Buffer
		if err := json.Render(&b, d, report.Options{}); err != nil {
			t.Fatal(err)
		}
		schematest.Validate(t, b.Bytes())
	}
	native := []probe.MergeInput{}
	for name, d := range report.SampleDocuments() {
		t.Run(name, func(t *testing.T) {
			red, err := report.NewRedactor("k").Document(d)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, red)
		})
		if d.Provider.Kind == probe.Native {
			native = append(native, probe.MergeInput{File: name + ".json", Document: d})
		}
	}
	if len(native) < 4 {
		t.Fatalf("%d documents to merge", len(native))
	}
	merged := probe.NewDocument(probe.Tool{Name: "rdmaprobe"}, nil)
	if err := probe.Merge(merged, native, true); err != nil {
		t.Fatal(err)
	}
	valid(t, merged)
	if len(merged.Hosts) < 3 || len(merged.Sources) < 4 {
		t.Errorf("%d hosts of %d sources", len(merged.Hosts), len(merged.Sources))
	}
}
