package report

import (
	"encoding/xml"
	"strings"
	"testing"
)

// TestJUnitWriter writes what no document should hold, and reads it back with the
// standard library: the tests stay what they are, whatever their texts say.
func TestJUnitWriter(t *testing.T) {
	hostile := "a \"b\" 'c' <failure> & ]]> \x00\x1b[31m \xff \ufffe\U0001f600\n"
	clean := "a \"b\" 'c' <failure> & ]]> \ufffd\ufffd[31m \ufffd \ufffd\U0001f600\n"
	m := &junitMessage{Message: hostile, Text: hostile}
	all := junitSuites{Name: hostile, Tests: 4, Failures: 1, Errors: 1, Skipped: 1, Suites: []junitSuite{{
		Name: hostile, Tests: 4, Failures: 1, Errors: 1, Skipped: 1, Timestamp: hostile,
		Cases: []junitCase{
			{Class: hostile, Name: hostile, Seconds: hostile, Failure: m},
			{Class: "c", Name: "error", Error: m},
			{Class: "c", Name: "skipped", Skipped: m},
			{Class: "c", Name: "passed", Out: hostile},
		},
	}}}
	var b strings.Builder
	if err := all.write(&b); err != nil {
		t.Fatal(err)
	}
	var back junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	s := back.Suites[0]
	if len(back.Suites) != 1 || len(s.Cases) != 4 || s.Tests != 4 || s.Failures != 1 || s.Errors != 1 || s.Skipped != 1 {
		t.Fatalf("read back: %+v", back)
	}
	want := junitMessage{clean, clean}
	for i, got := range []*junitMessage{s.Cases[0].Failure, s.Cases[1].Error, s.Cases[2].Skipped} {
		if got == nil || *got != want {
			t.Errorf("case %d: %+v, want %+v", i, got, want)
		}
	}
	for name, got := range map[string]string{"suites": back.Name, "suite": s.Name, "time": s.Timestamp, "class": s.Cases[0].Class, "case": s.Cases[0].Name, "seconds": s.Cases[0].Seconds, "out": s.Cases[3].Out} {
		if got != clean {
			t.Errorf("%s: %q, want %q", name, got, clean)
		}
	}
}
