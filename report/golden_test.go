package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files and the schema")

// golden compares got with a file under testdata, or rewrites the file.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update makes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// render renders a sample for a plain file.
func render(t *testing.T, format string, s sample) []byte {
	t.Helper()
	f, err := Lookup(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Render(&b, s.doc(), Options{Now: clock, Command: s.command}); err != nil {
		t.Fatalf("%s of %s: %v", format, s.name, err)
	}
	return b.Bytes()
}

func TestGoldenTables(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) { golden(t, s.name+".table.txt", render(t, "table", s)) })
	}
}

// The other formats are shown by a few samples; all samples pass through all
// formats in safety_test.go.
func TestGoldenFormats(t *testing.T) {
	ext := map[string]string{
		"wide": "wide.txt", "json": "json", "jsonl": "jsonl", "markdown": "md", "html": "html", "prometheus": "prom", "junit": "xml",
	}
	shown := map[string]bool{"rxe-probe": true, "crashed": true, "hosts-report": true, "library-missing": true}
	n := 0
	for _, s := range samples {
		if !shown[s.name] {
			continue
		}
		for format, e := range ext {
			t.Run(s.name+"/"+format, func(t *testing.T) { golden(t, s.name+"."+e, render(t, format, s)) })
			n++
		}
	}
	if want := len(shown) * len(ext); n != want || len(ext) != len(Formats)-1 {
		t.Errorf("%d golden files, %d formats: a sample or a format has no golden file", n, len(ext))
	}
}
