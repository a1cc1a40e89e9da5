package report

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe"
)

func TestTablesFit80Columns(t *testing.T) {
	for _, s := range samples {
		if strings.HasPrefix(s.name, "hostile") {
			continue
		}
		for _, line := range strings.Split(string(render(t, "table", s)), "\n") {
			if width(line) > 80 {
				t.Errorf("%s: %d columns: %s", s.name, width(line), line)
			}
			if strings.HasSuffix(line, " ") {
				t.Errorf("%s: spaces at the end of %q", s.name, line)
			}
		}
	}
}

// Only table lines are cut; on a terminal that is too narrow for the prose the
// terminal wraps it.
func TestTablesAreCutToTheTerminal(t *testing.T) {
	for _, columns := range []int{70, 79, 80, 120} {
		for _, s := range samples {
			var b bytes.Buffer
			if err := renderTable(&b, s.doc(), Options{Now: clock, Command: s.command, Width: columns}); err != nil {
				t.Fatal(err)
			}
			inTable := false
			for _, line := range strings.Split(b.String(), "\n") {
				inTable = strings.HasPrefix(line, "DEVICE") || inTable && line != ""
				if inTable && strings.HasPrefix(line, "simulated") {
					inTable = false
				}
				if inTable && width(line) > columns && !strings.HasPrefix(s.name, "hostile") {
					t.Errorf("%s at %d: %d columns: %s", s.name, columns, width(line), line)
				}
			}
		}
	}
}

func TestFit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		in    []int
		limit int
		want  []int
	}{
		{"enough room", []int{10, 20}, 80, []int{10, 20}},
		{"the widest gives", []int{10, 50}, 40, []int{10, 28}},
		{"then both", []int{30, 40}, 32, []int{15, 15}},
		{"no room at all", []int{30, 40}, 1, []int{6, 6}},
	} {
		w := append([]int{}, tt.in...)
		fit(w, []int{minColumn, minColumn}, tt.limit)
		for i := range w {
			if w[i] != tt.want[i] {
				t.Errorf("%s: %v, want %v", tt.name, w, tt.want)
				break
			}
		}
	}
}

// Rows that cannot be told apart say nothing: on a narrow terminal the lines are
// longer than it rather than the names cut to one.
func TestNarrowTablesKeepNames(t *testing.T) {
	for _, columns := range []int{1, 20, 40, 60} {
		for _, command := range []string{"devices", "probe"} {
			d := macSix()
			var b bytes.Buffer
			if err := renderTable(&b, d, Options{Now: clock, Command: command, Width: columns}); err != nil {
				t.Fatal(err)
			}
			for _, device := range d.Devices {
				if !strings.Contains(b.String(), "\n"+device.Name+" ") {
					t.Errorf("%s at %d: no row begins with %s:\n%s", command, columns, device.Name, &b)
				}
			}
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colour adds escape sequences and changes nothing else, cut or not.
func TestColourKeepsTheText(t *testing.T) {
	for _, s := range samples {
		for _, columns := range []int{0, 50} {
			o := Options{Now: clock, Command: s.command, Width: columns}
			var bare, coloured bytes.Buffer
			if err := renderTable(&bare, s.doc(), o); err != nil {
				t.Fatal(err)
			}
			o.Color = true
			if err := renderTable(&coloured, s.doc(), o); err != nil {
				t.Fatal(err)
			}
			if got := colours.ReplaceAllString(coloured.String(), ""); trimLines(got) != trimLines(bare.String()) {
				t.Errorf("%s differs in colour:\n%s\n%s", s.name, got, bare.String())
			}
			if len(s.doc().Devices) > 0 && s.name != "infiniband-probe" && bytes.Equal(bare.Bytes(), coloured.Bytes()) {
				t.Errorf("%s has no colour", s.name)
			}
		}
	}
}

// trimLines drops the spaces that a line's last escape sequence protected.
func trimLines(s string) string {
	return regexp.MustCompile(" +\n").ReplaceAllString(s, "\n")
}

func TestColoursStandForWords(t *testing.T) {
	var b bytes.Buffer
	if err := renderTable(&b, macSix(), Options{Now: clock, Command: "probe", Color: true}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x1b[32mok", "\x1b[31mno EOPNOTSUPP", "\x1b[33m0", "\x1b[2m? port", "\x1b[32mactive", "\x1b[31mdown", "\x1b[31merror", "\x1b[33mwarning"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestAge(t *testing.T) {
	for _, tt := range []struct {
		ago  time.Duration
		want string
	}{
		{0, "now"}, {-30 * time.Second, "now"}, {-2 * time.Minute, "future"}, {59 * time.Second, "now"}, {time.Minute, "1m"},
		{3*time.Minute + 59*time.Second, "3m"}, {time.Hour, "1h"}, {47 * time.Hour, "47h"}, {48 * time.Hour, "2d"},
		{400 * 24 * time.Hour, "400d"}, {800 * 24 * time.Hour, "2y"},
	} {
		if got := age(clock, ago(tt.ago)); got != tt.want {
			t.Errorf("%v ago: %s, want %s", tt.ago, got, tt.want)
		}
	}
}

func TestTook(t *testing.T) {
	for ns, want := range map[int64]string{0: "", 999: "999ns", 1234: "1.234µs", 123456: "123µs", 1234567: "1.235ms", 1234567890: "1.235s"} {
		if got := took(ns); got != want {
			t.Errorf("%d ns: %s, want %s", ns, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, f := range Formats {
		got, err := Lookup(f.Name)
		if err != nil || got.Name != f.Name || f.About == "" {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
	_, err := Lookup("yaml\x1b")
	if err == nil || !strings.Contains(err.Error(), `no output format "yaml"`) || !strings.Contains(err.Error(), "table, wide, json, jsonl, markdown, html, prometheus, junit") {
		t.Errorf("%v", err)
	}
}

// An empty document is no reason to fail: a reader may have dropped everything.
func TestEmptyDocument(t *testing.T) {
	for _, f := range Formats {
		for _, command := range []string{"", "devices", "probe", "report", "doctor"} {
			if err := f.Render(io.Discard, &probe.Document{}, Options{Command: command}); err != nil {
				t.Errorf("%s of %s: %v", f.Name, command, err)
			}
		}
	}
}

func TestManyRowsAreCounted(t *testing.T) {
	d := base("probe")
	for range maxRows + 7 {
		d.Observations = append(d.Observations, probe.Observation{ID: "x", Level: "unknown", Reason: "not_tried"})
	}
	var b bytes.Buffer
	if err := renderWide(&b, d, Options{Now: clock, Command: "probe"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "7 more observations: -o jsonl has them all") {
		t.Error("the rows that were left out are not counted")
	}
}

func TestSinkWritesWholeLines(t *testing.T) {
	var b bytes.Buffer
	s := &sink{w: &b}
	s.printf("a  ")
	s.printf("  \nb   c  \n\nd ")
	if b.String() != "a\nb   c\n\n" {
		t.Errorf("%q before close", b.String())
	}
	if err := s.close(); err != nil || b.String() != "a\nb   c\n\nd\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	bad := errors.New("broken pipe")
	s = &sink{w: &breaking{0, bad}}
	s.printf("a\nb\n")
	if err := s.close(); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
}
