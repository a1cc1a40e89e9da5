//go:build (linux || darwin) && (amd64 || arm64)

package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rdmaprobe/fixtures"
	"rdmaprobe/probe"
	"rdmaprobe/report/schematest"
)

// The children of what is run here in this process are this test binary.
func init() { probe.Main() }

// reportedCase is a public report of RDMA trouble: the machine that shows it, what
// to run, and what must be said about it.
type reportedCase struct {
	ID      string          `json:"id"`
	Profile json.RawMessage `json:"profile"`
	Run     []string        `json:"run"`
	Expect  struct {
		Exit     int                       `json:"exit"`
		Findings []map[string]string       `json:"findings"`
		Also     []string                  `json:"also"`
		Evidence map[string]expectEvidence `json:"evidence"`
		Fields   map[string]any            `json:"fields"`
		MustNot  []string                  `json:"must_not"`
	} `json:"expect"`
}

type expectEvidence struct {
	Level string `json:"level"`
	Errno string `json:"errno"`
}

// answer is the document of one case, as a program reads it.
type answer struct {
	doc    map[string]any
	rows   []map[string]any
	stdout string
}

// TestReportedCases runs every case through the whole program.
func TestReportedCases(t *testing.T) {
	files, err := fs.Glob(fixtures.Cases, "cases/*.json")
	if err != nil || len(files) < 48 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	checked := map[string]bool{}
	for _, file := range files {
		data, err := fs.ReadFile(fixtures.Cases, file)
		if err != nil {
			t.Fatal(err)
		}
		var c reportedCase
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, must := range c.Expect.MustNot {
			if _, ok := mustNot[must]; ok {
				checked[must] = true
			} else if !slices.Contains(impliedElsewhere, must) {
				t.Errorf("%s: nothing checks %q", c.ID, must)
			}
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			c.check(t, c.answer(t))
		})
	}
	for must := range mustNot {
		if !checked[must] {
			t.Errorf("no case has %q", must)
		}
	}
}

// answer runs a case.
func (c reportedCase) answer(t *testing.T) *answer {
	t.Helper()
	dir := t.TempDir()
	profile := filepath.Join(dir, "profile.json")
	if err := os.WriteFile(profile, c.Profile, 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"--provider", "sim:" + profile}, c.Run...)
	args = append(args, "--json", "--store", filepath.Join(dir, "evidence.jsonl"))
	var out, errs bytes.Buffer
	s := streams{out: &out, err: &errs, terminal: terminal, env: func(string) string { return "" }}
	if exit := run(t.Context(), s, args); exit != c.Expect.Exit {
		t.Errorf("exit %d, want %d; stderr %q", exit, c.Expect.Exit, errs.String())
	}
	schematest.Validate(t, out.Bytes())
	a := &answer{stdout: out.String()}
	if err := json.Unmarshal(out.Bytes(), &a.doc); err != nil {
		t.Fatalf("stdout is not one document: %v\n%.300s", err, out.String())
	}
	for _, o := range a.doc["observations"].([]any) {
		a.rows = append(a.rows, o.(map[string]any))
	}
	return a
}

// check compares an answer with what the case expects.
func (c reportedCase) check(t *testing.T, a *answer) {
	allowed := slices.Clone(c.Expect.Also)
	for _, want := range c.Expect.Findings {
		allowed = append(allowed, want["code"])
		if !slices.ContainsFunc(a.findings(), func(f map[string]any) bool { return has(f, want) }) {
			t.Errorf("no finding %v", want)
		}
	}
	for _, f := range a.findings() {
		if f["severity"] != "info" && !slices.Contains(allowed, f["code"].(string)) {
			t.Errorf("unexpected finding %v (%v, %v): %v", f["code"], f["severity"], f["scope"], f["message"])
		}
	}
	for key, want := range c.Expect.Evidence {
		o := a.row(key)
		if o == nil || o["level"] != want.Level {
			t.Errorf("%s: %v, want %s", key, o, want.Level)
		}
		if errno, _ := o["errno"].(map[string]any); want.Errno != "" && errno["name"] != want.Errno {
			t.Errorf("%s: errno %v, want %s", key, errno, want.Errno)
		}
	}
	for key, want := range c.Expect.Fields {
		where, path, _ := strings.Cut(key, "#")
		from := a.doc
		if where != "" {
			from = a.row(where)
		}
		if got, err := dig(from, path); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v (%v), want %v", key, got, err, want)
		}
	}
	for _, must := range c.Expect.MustNot {
		if check := mustNot[must]; check != nil {
			if bad := check(a); bad != "" {
				t.Errorf("must not %s: %s", must, bad)
			}
		}
	}
}

func (a *answer) findings() []map[string]any {
	var all []map[string]any
	for _, f := range a.doc["findings"].([]any) {
		all = append(all, f.(map[string]any))
	}
	return all
}

// row is the last row of DEVICE/ID or host/ID, nil when there is none.
func (a *answer) row(key string) map[string]any {
	device, id, _ := strings.Cut(key, "/")
	if device == "host" {
		device = ""
	}
	for _, o := range slices.Backward(a.rows) {
		if d, _ := o["device"].(string); d == device && o["id"] == id {
			return o
		}
	}
	return nil
}

// has tells whether a finding has the wanted members.
func has(f map[string]any, want map[string]string) bool {
	for k, v := range want {
		if f[k] != v {
			return false
		}
	}
	return true
}

// dig follows a path of names and numbers.
func dig(v any, path string) (any, error) {
	for step := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, fmt.Errorf("no %s of %d", step, len(at))
			}
			v = at[i]
		default:
			return nil, fmt.Errorf("no %s", step)
		}
	}
	return v, nil
}
