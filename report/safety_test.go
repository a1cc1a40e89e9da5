package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"rdmaprobe/probe"
)

// checkSafe renders a document and looks for what may never reach a terminal:
// control characters besides the line feed, format characters, invalid UTF-8.
func checkSafe(t *testing.T, f Format, d *probe.Document, o Options) {
	t.Helper()
	var b bytes.Buffer
	if err := f.Render(&b, d, o); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	if !utf8.Valid(b.Bytes()) {
		t.Errorf("%s is not UTF-8", f.Name)
	}
	for _, r := range b.String() {
		switch {
		case r == '\n', r == 0x1b && o.Color:
		case unicode.IsControl(r):
			t.Fatalf("%s has the control character %U", f.Name, r)
		case unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			t.Fatalf("%s has the format character %U", f.Name, r)
		}
	}
}

func TestNothingHostileGetsThrough(t *testing.T) {
	for _, s := range samples {
		for _, f := range Formats {
			for _, o := range []Options{
				{Now: clock, Command: s.command}, {Now: clock, Command: "doctor", Color: true},
				{Command: "devices", Width: 40}, {Command: "probe", Width: 1}, {},
			} {
				checkSafe(t, f, s.doc(), o)
			}
		}
	}
}

// Only our own sequences: ESC [ digits m.
func TestColourIsOnlyColour(t *testing.T) {
	var b bytes.Buffer
	if err := renderTable(&b, hostile(), Options{Color: true, Now: clock, Command: "probe"}); err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(b.String(), "\x1b")
	if len(parts) < 10 {
		t.Fatalf("%d escape sequences", len(parts)-1)
	}
	for _, p := range parts[1:] {
		rest := strings.TrimLeft(strings.TrimPrefix(p, "["), "0123456789;")
		if !strings.HasPrefix(p, "[") || !strings.HasPrefix(rest, "m") {
			t.Errorf("an escape sequence that is no colour: %.20q", p)
		}
	}
}

func TestHTMLHasNoForeignMarkup(t *testing.T) {
	page := string(render(t, "html", sample{"hostile", "probe", hostile}))
	for _, bad := range []string{"<script", "alert('x')", "<b>{", "src=", "href=", "http:", "https:", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	// Well-formed as XML but for the doctype and the meta elements.
	body := page[strings.Index(page, "<body>"):strings.Index(page, "</html>")]
	dec := xml.NewDecoder(strings.NewReader(body))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
	}
}

func TestMarkdownKeepsItsTables(t *testing.T) {
	page := string(render(t, "markdown", sample{"hostile", "probe", hostile}))
	columns, tables := 0, 0
	for _, line := range strings.Split(page, "\n") {
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|") - strings.Count(line, `\|`)
		if columns == 0 {
			columns = n
			tables++
		} else if n != columns {
			t.Errorf("%d cells in a table of %d: %.100s", n-1, columns-1, line)
		}
	}
	if tables < 4 {
		t.Errorf("%d tables", tables)
	}
	code := regexp.MustCompile("`[^`\n]*`")
	for _, bad := range []string{"<script", "@all", "`"} {
		if strings.Contains(code.ReplaceAllString(page, ""), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestJUnitIsXML(t *testing.T) {
	for _, s := range samples {
		var suites junitSuites
		if err := xml.Unmarshal(render(t, "junit", s), &suites); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if suites.Tests == 0 {
			t.Errorf("%s has no test", s.name)
		}
	}
}

func TestJSONIsOneDocument(t *testing.T) {
	for _, s := range samples {
		dec := json.NewDecoder(bytes.NewReader(render(t, "json", s)))
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if dec.More() {
			t.Errorf("%s: more than one document", s.name)
		}
	}
}

// breaking fails after some bytes, as a closed pipe does.
type breaking struct {
	left int
	err  error
}

func (b *breaking) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return 0, b.err
	}
	b.left -= len(p)
	return len(p), nil
}

func TestWriterErrorsComeBack(t *testing.T) {
	for _, f := range Formats {
		whole := render(t, f.Name, samples[1])
		for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
			w := &breaking{n, errors.New("broken pipe")}
			if err := f.Render(w, macSix(), Options{Now: clock, Command: "probe"}); !errors.Is(err, w.err) {
				t.Errorf("%s after %d bytes: %v", f.Name, n, err)
			}
		}
	}
}
