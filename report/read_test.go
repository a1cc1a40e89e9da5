package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"rdmaprobe/probe"
)

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	for _, s := range samples {
		first := render(t, "json", s)
		d, err := Read(bytes.NewReader(first))
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		var again bytes.Buffer
		if err := renderJSON(&again, d, Options{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), again.String()); diff != "" {
			t.Errorf("%s changed (-written +read):\n%s", s.name, diff)
		}
	}
}

func TestReadDocumentShowsTheSameTable(t *testing.T) {
	for _, s := range samples {
		d, err := Read(bytes.NewReader(render(t, "json", s)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Formats {
			back := s
			back.doc = func() *probe.Document { return d }
			if diff := cmp.Diff(string(render(t, f.Name, s)), string(render(t, f.Name, back))); diff != "" {
				t.Errorf("%s of %s (-made +read):\n%s", f.Name, s.name, diff)
			}
		}
	}
}

// TestReadGivesBackLines: whatever a document holds, its lines hold as well.
func TestReadGivesBackLines(t *testing.T) {
	all := append(slices.Clone(samples), sample{"every kind", "report", func() *probe.Document {
		d := twoHosts()
		d.Sources = []probe.Source{{File: "a.json", Run: d.Run, Provider: d.Provider}}
		d.Conflicts = []probe.Conflict{{Device: "rdma_en2", ID: "mr.rkey", Seen: []probe.Sighting{{File: "a.json", Run: "r-1"}}}}
		d.Verdict = probe.VerdictOf(d)
		d.Verify = &probe.Verify{}
		d.NotRead = []probe.NotRead{{}}
		d.Notes, d.Error, d.Redacted, d.Exit = []string{"a note"}, "an error", true, probe.ExitFinding
		return d
	}})
	for _, s := range all {
		text := render(t, "jsonl", s)
		_, later, _ := bytes.Cut(text, []byte("\n"))
		line, rest, _ := bytes.Cut(later, []byte("\n"))
		moved := slices.Concat(line, []byte("\n"), text[:len(text)-len(later)], []byte(`{"kind":"of a newer version"}`+"\n\n"), rest)
		for name, lines := range map[string][]byte{"as written": text, "in another order, with what is not known": moved} {
			if name != "as written" && bytes.HasPrefix(line, []byte(`{"kind":"end"`)) {
				continue // nothing between run and end
			}
			d, err := Read(bytes.NewReader(lines))
			if err != nil {
				t.Errorf("%s, %s: %v", s.name, name, err)
				continue
			}
			var again bytes.Buffer
			if err := renderJSON(&again, d, Options{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(render(t, "json", s)), again.String()); diff != "" {
				t.Errorf("%s, %s, changed (-written +read):\n%s", s.name, name, diff)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	lines := string(render(t, "jsonl", samples[0]))
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "  \n", "it is empty"},
		{"prose", "DEVICE PORT\n", "it is not JSON"},
		{"an array", "[1]", "it is a JSON array"},
		{"UTF-16", "\xff\xfe{\x00", "it is UTF-16"},
		{"another JSON", `{"a":1}`, "JSON without a schema"},
		{"another document", `{"schema":"other\u001b[31m"}`, `schema "other[31m", not rdmaprobe.report`},
		{"no version", `{"schema":"rdmaprobe.report"}`, `schema version is ""`},
		{"a version that is none", `{"schema":"rdmaprobe.report","schema_version":"1.x"}`, `schema version is "1.x"`},
		{"a newer major version", `{"schema":"rdmaprobe.report","schema_version":"2.0"}`, "schema version is 2.0, this program reads 1.x"},
		{"an older major version", `{"schema":"rdmaprobe.report","schema_version":"0.9"}`, "schema version is 0.9"},
		{"several values", "{\"a\":1}\n{\"a\":2}\n", "it is several JSON values"},
		{"lines without an end", lines[:strings.LastIndex(lines, `{"kind":"end"`)], "it was cut short"},
		{"lines without a beginning", lines[strings.Index(lines, "\n")+1:], "it was cut short"},
		{"a torn line", lines[:len(lines)-10], "unexpected end of JSON input"},
		{"two documents", lines + lines, "more after the end"},
		{"two runs", strings.SplitAfter(lines, "\n")[0] + lines, "line 2: a second run"},
		{"a line without a kind", strings.Replace(lines, "\n", "\n{\"a\":1}\n", 1), "line 2: it has no kind"},
		{"a line that is no JSON", strings.Replace(lines, "\n", "\n\x1b[31m\n", 1), "line 2: invalid character"},
		{"lines of another schema", strings.Replace(lines, "rdmaprobe.report", "other\\u001b", 1), `line 1: its schema is "other`},
		{"lines of another version", strings.Replace(lines, `"1.0"`, `"2.0"`, 1), "line 1: its schema version is 2.0"},
		{"a line of a wrong type", strings.Replace(lines, "\n", "\n{\"kind\":\"device\",\"ports\":7}\n", 1), "line 2: cannot unmarshal number"},
		{"cut short", "\n{\n\"schema\":\n", "line 4: unexpected end"},
		{"a wrong type", "{\"schema\":\"rdmaprobe.report\",\n\"schema_version\":\"1.0\",\n\"devices\":7}", "line 3: cannot unmarshal number"},
		{"text behind it", `{"schema":"rdmaprobe.report","schema_version":"1.0"} x`, "line 1: invalid character"},
		{"a return that is an address", `{"schema":"rdmaprobe.report","schema_version":"1.0","observations":[{"return":"0x7f"}]}`, "not \"0x7f\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Read(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || d != nil {
				t.Errorf("%v, want %q and no document", err, tt.want)
			}
		})
	}
}

func TestReadTakesWhatComesLater(t *testing.T) {
	text := "\ufeff" + `{"schema":"rdmaprobe.report","schema_version":"1.99","colour":"blue","devices":[{"name":"a","wings":2,"ports":null}],
		"observations":[{"id":"x","level":"guessed","reason":"bad_weather"}]}`
	d, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if d.Devices[0].Name != "a" || d.Devices[0].Ports == nil || d.Findings == nil || d.Observations[0].Reason != "bad_weather" {
		t.Errorf("%+v", d)
	}
}

func TestReadIsBounded(t *testing.T) {
	endless := iotest.DataErrReader(strings.NewReader(strings.Repeat(" ", MaxDocument+1)))
	if _, err := Read(endless); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("%v", err)
	}
	broken := errors.New("no such disk")
	if _, err := Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestWholeDoesNotTouchTheOriginal(t *testing.T) {
	d := &probe.Document{Devices: []probe.Device{{Ports: []probe.Port{{}}}, {}}}
	w := whole(d)
	if d.Devices[0].Ports[0].GIDs != nil || d.Devices[1].Ports != nil || d.Findings != nil || d.Provider.Library.Symbols != nil {
		t.Error("the original was changed")
	}
	b, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("null")) {
		t.Errorf("null in %s", b)
	}
}

func FuzzReportRead(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.json")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, s := range seeds {
		b, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"schema":"rdmaprobe.report","schema_version":"1.0"}`))
	for _, s := range samples {
		var lines bytes.Buffer
		if err := renderJSONL(&lines, s.doc(), Options{}); err != nil {
			f.Fatal(err)
		}
		f.Add(lines.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Read(bytes.NewReader(b))
		if err != nil {
			if d != nil {
				t.Error("a document beside an error")
			}
			return
		}
		var first bytes.Buffer
		if err := renderJSON(&first, d, Options{}); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&first)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(d, again) {
			t.Errorf("not stable:\n%+v\n%+v", d, again)
		}
		for _, format := range Formats {
			checkSafe(t, format, d, Options{Now: clock, Command: "probe", Width: 80})
		}
	})
}

// A small file that would grow to gigabytes is refused before it is decoded.
func TestReadBombs(t *testing.T) {
	head := `{"schema":"` + probe.Schema + `","schema_version":"` + probe.SchemaVersion + `","observations":[{"id":"port.query","data":{"x":`
	for name, bomb := range map[string]string{
		"deep": strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		"wide": "[" + strings.Repeat("{},", 4<<20) + "{}]",
	} {
		for form, text := range map[string]string{"json": head + bomb + "}}]}", "lines": `{"kind":"observation","data":{"x":` + bomb + "}}\n"} {
			if d, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "JSON") {
				t.Errorf("%s, %s: %v, %v", name, form, d != nil, err)
			}
		}
	}
}
