package probe

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/rdma"
)

func TestEveryFindingHasAPage(t *testing.T) {
	codes := FindingCodes()
	if pages := slices.Concat(findingPages...); len(codes) < 50 || len(codes) != len(pages) {
		t.Errorf("%d codes, %d pages", len(codes), len(pages))
	}
	for _, code := range codes {
		e, ok := ExplainFinding(code)
		if !ok || e.Code != code || e.Severity == "" || e.Scope == "" || e.Replaces == nil {
			t.Errorf("%s: %+v, %v", code, e, ok)
		}
		for part, text := range map[string]string{"meaning": e.Meaning, "concluded": e.Concluded, "do": e.Do, "verify": e.Verify} {
			if len(text) < 15 || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %s is no sentence: %q", code, part, text)
			}
		}
		if len(e.Sources) == 0 {
			t.Errorf("%s has no source", code)
		}
		for _, s := range e.Sources {
			if u, err := url.Parse(s); err != nil || u.Scheme != "https" || u.Host == "" {
				t.Errorf("%s: source %q", code, s)
			}
		}
	}
	if _, ok := ExplainFinding("no_such_code"); ok {
		t.Error("a code that is not there has a page")
	}
}

// TestCodesArePublic keeps the catalogue's codes, severities and scopes as
// others rely on them: a row may be added, none may change.
func TestCodesArePublic(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "finding_codes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) < 50 {
		t.Fatalf("only %d lines", len(lines))
	}
	for _, line := range lines {
		w := strings.Fields(line)
		r := ruleOf(w[0])
		if r == nil || r.severity != w[1] || r.scope != w[2] {
			t.Errorf("the table no longer has %s", line)
		}
	}
}

func TestExplainErrno(t *testing.T) {
	for _, c := range []struct {
		n             int
		darwin, linux string
		rejectsOn     []rdma.Platform
	}{
		{102, "EOPNOTSUPP", "ENETRESET", []rdma.Platform{rdma.PlatformDarwin}},
		{45, "ENOTSUP", "EL2NSYNC", []rdma.Platform{rdma.PlatformDarwin}},
		{95, "EMULTIHOP", "EOPNOTSUPP", []rdma.Platform{rdma.PlatformLinux}},
		{38, "ENOTSOCK", "ENOSYS", []rdma.Platform{rdma.PlatformLinux}},
		{96, "ENODATA", "EPFNOSUPPORT", nil},
		{60, "ETIMEDOUT", "ENOSTR", nil},
		{-22, "EINVAL", "EINVAL", nil},
		{4000, "", "", nil},
	} {
		got := ExplainErrno(c.n)
		if len(got) != 2 || got[0].Platform != rdma.PlatformDarwin || got[1].Platform != rdma.PlatformLinux {
			t.Fatalf("%d: %+v, want Darwin and Linux", c.n, got)
		}
		if got[0].Name != c.darwin || got[1].Name != c.linux {
			t.Errorf("%d is %s and %s, want %s and %s", c.n, got[0].Name, got[1].Name, c.darwin, c.linux)
		}
		for _, e := range got {
			if e.Unsupported != slices.Contains(c.rejectsOn, e.Platform) {
				t.Errorf("%d on %s: unsupported %v", c.n, e.Platform, e.Unsupported)
			}
			if e.Text == "" || e.Calls == nil || e.Number < 0 {
				t.Errorf("%d on %s: %+v", c.n, e.Platform, e)
			}
		}
	}
	if calls := ExplainErrno(96)[0].Calls; len(calls) == 0 || calls[0].Finding != "provider_degraded" {
		t.Errorf("96 on Darwin: %+v", calls)
	}
	if calls := ExplainErrno(60)[1].Calls; len(calls) != 0 {
		t.Errorf("60 on Linux is no timeout: %+v", calls)
	}
}

func TestErrnoPagesAreSound(t *testing.T) {
	for _, page := range errnoPages {
		name := page.name
		_, d := rdma.ErrnoNumberOn(rdma.PlatformDarwin, name)
		_, l := rdma.ErrnoNumberOn(rdma.PlatformLinux, name)
		if !d && !l || page.text == "" {
			t.Errorf("%s: known on Darwin %v, on Linux %v, text %q", name, d, l, page.text)
		}
		for _, c := range page.calls {
			if c.Finding != "" && ruleOf(c.Finding) == nil {
				t.Errorf("%s of %s points at %s, which is no finding", name, c.Call, c.Finding)
			}
		}
	}
}

func TestParseErrno(t *testing.T) {
	for text, want := range map[string][]int{
		"22": {22}, "EINVAL": {22}, "einval": {22}, "EOPNOTSUPP": {102, 95}, "ENOTSUP": {45, 95}, "ENODATA": {96, 61}, "-12": {-12}, "EWHAT": nil, "": nil,
	} {
		if got := ParseErrno(text); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
}

func TestExplainErrnoText(t *testing.T) {
	for text, want := range map[string][]string{
		"EBUSY": {"darwin 16 EBUSY", "linux 16 EBUSY"}, "eopnotsupp": {"darwin 102 EOPNOTSUPP", "linux 95 EOPNOTSUPP"},
		"45": {"darwin 45 ENOTSUP", "linux 45 EL2NSYNC"}, "-16": {"darwin 16 EBUSY", "linux 16 EBUSY"}, "0": nil, "EWHAT": nil, "qp": nil,
	} {
		var got []string
		for _, e := range ExplainErrnoText(text) {
			got = append(got, fmt.Sprint(e.Platform, " ", e.Number, " ", e.Name))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestExplainCapability(t *testing.T) {
	for _, c := range capabilityIDs {
		term, ok := ExplainTerm(c.key)
		if !ok || term.Kind != "capability" {
			t.Errorf("%s: %+v, %v", c.key, term, ok)
		}
		for _, id := range c.ids {
			if !strings.Contains(term.Meaning, id) {
				t.Errorf("%s does not name %s: %s", c.key, id, term.Meaning)
			}
		}
	}
}

func TestTermsCoverTheVocabulary(t *testing.T) {
	names := []string{"confirmed", "rejected", "observed_zero", "unknown", "completed", "crashed", "timed_out", "stuck", "left"}
	for _, r := range Reasons {
		names = append(names, string(r))
	}
	for _, e := range EvidenceIDs {
		names = append(names, e.ID)
	}
	for _, n := range names {
		term, ok := ExplainTerm(n)
		if !ok || term.Meaning == "" || term.Kind == "" || (term.Kind == "evidence") != (term.Class != "") {
			t.Errorf("%s: %+v, %v", n, term, ok)
		}
	}
	seen := map[string]bool{}
	for _, term := range Terms() {
		if seen[term.Name] {
			t.Errorf("%s is there twice", term.Name)
		}
		seen[term.Name] = true
	}
	if _, ok := ExplainTerm("perhaps"); ok {
		t.Error("a word that is not there is explained")
	}
}

var updateFindings = flag.Bool("update-findings", false, "write docs/findings.md anew")

// TestFindingsPage keeps docs/findings.md as the table has it.
func TestFindingsPage(t *testing.T) {
	path := filepath.Join("..", "docs", "findings.md")
	want := findingsPage()
	if *updateFindings {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the table says; run: go test ./probe -run TestFindingsPage -update-findings", path)
	}
}

// findingsPage writes the catalogue: an overview, then a page for each code.
func findingsPage() string {
	var b strings.Builder
	b.WriteString(findingsIntro)
	b.WriteString("\n## Overview\n\n| code | severity | about a |\n|---|---|---|\n")
	for _, r := range findingRules {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", r.code, r.code, r.severity, r.scope)
	}
	for _, code := range FindingCodes() {
		e, _ := ExplainFinding(code)
		fmt.Fprintf(&b, "\n## `%s`\n\n%s, about a %s.\n\n%s\n", code, e.Severity, e.Scope, e.Meaning)
		fmt.Fprintf(&b, "\n- **Concluded:** %s\n- **Do:** %s\n- **Check:** %s\n", e.Concluded, e.Do, e.Verify)
		if len(e.Replaces) > 0 {
			fmt.Fprintf(&b, "- **Instead of:** %s, where both hold of the same thing.\n", codeList(e.Replaces))
		}
		fmt.Fprintf(&b, "- **Sources:** %s\n", linkList(e.Sources))
	}
	return b.String()
}

const findingsIntro = `# Findings

This page is written by a test from the table in ` + "`probe/finding_table.go`" + ` and its pages; change those. ` + "`rdmaprobe explain CODE`" + ` shows the same offline.

A finding is a named conclusion from observations and host facts: a code, a severity, what it is about, one line of cause and one next action.
Codes are a promise: none is renamed or given another meaning.

- ` + "`error`" + `: it blocks RDMA here, and ` + "`doctor` and `probe`" + ` end with exit status 1. ` + "`warning`" + `: it works, and will bite. ` + "`info`" + `: worth knowing. Only errors count for the exit status.
- A fact that is absent raises nothing: there is no finding from ignorance.
- One cause, one finding: where a cause and its effect hold of the same thing, the cause is told ("Instead of"). Cause and effect of different layers stand side by side.
- ` + "`devices`, `probe` and `doctor`" + ` evaluate the whole catalogue over what their run has, and gather nothing more for it.
- What the sources report was seen by others, on their machines. Nothing here was seen on a Mac by the authors of this page.
`

func codeList(codes []string) string {
	quoted := make([]string, len(codes))
	for i, c := range codes {
		quoted[i] = "`" + c + "`"
		if c == anyCause {
			quoted[i] = "any effect"
		}
	}
	return strings.Join(quoted, ", ")
}

func linkList(urls []string) string {
	links := make([]string, len(urls))
	for i, u := range urls {
		links[i] = "<" + u + ">"
	}
	return strings.Join(links, " ")
}
