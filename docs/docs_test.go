// Package docs holds the documents. Its tests keep them true: what is generated
// is up to date, every key and word of the code is described and no other one is
// used, examples are valid, and links lead somewhere.
package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rdmaprobe/probe"
)

var update = flag.Bool("update", false, "rewrite the generated blocks")

// documents are all documents of the repository by path from docs.
func documents(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"*.md", "decisions/*.md", "../*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no document matches %s: %v", pattern, err)
		}
		for _, f := range found {
			files[f] = read(t, f)
		}
	}
	return files
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// block is a generated part of a document, between its two marks.
var block = regexp.MustCompile(`(?s)(<!-- generated: ([^\n]+) -->\n)(.*?)(<!-- end -->)`)

func TestGeneratedBlocks(t *testing.T) {
	seen := map[string]bool{}
	for file, text := range documents(t) {
		if marks := strings.Count(text, "<!-- generated:"); marks != len(block.FindAllString(text, -1)) {
			t.Errorf("%s: a generated block has no end", file)
		}
		want := block.ReplaceAllStringFunc(text, func(old string) string {
			m := block.FindStringSubmatch(old)
			kind, argument, _ := strings.Cut(m[2], " ")
			seen[kind] = true
			return m[1] + generate(t, kind, argument) + m[4]
		})
		if want == text {
			continue
		}
		if !*update {
			t.Errorf("%s is not what the code says; run: go test ./docs -update", file)
		} else if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for kind := range generators {
		if !seen[kind] {
			t.Errorf("no document has a block of kind %s", kind)
		}
	}
}

// generators make blocks by kind.
var generators = map[string]func(t *testing.T, argument string) string{
	"levels":     func(*testing.T, string) string { return terms("level", "level") },
	"reasons":    func(*testing.T, string) string { return terms("reason", "reason") },
	"outcomes":   func(*testing.T, string) string { return outcomes() },
	"ids":        func(*testing.T, string) string { return ids() },
	"exit-codes": func(*testing.T, string) string { return exitCodes() },
	"type":       typeTable,
	"code":       code,
	"bundles":    func(t *testing.T, _ string) string { return bundlesTable(t) },
	"metrics":    metricsTable,
}

func generate(t *testing.T, kind, argument string) string {
	t.Helper()
	g := generators[kind]
	if g == nil {
		t.Fatalf("no generator for a block of kind %q", kind)
	}
	return g(t, argument)
}

// table is a Markdown table.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(head)
	b.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
	return b.String()
}

func terms(kind, head string) string {
	var rows [][]string
	for _, term := range probe.Terms() {
		if term.Kind == kind {
			rows = append(rows, []string{"`" + term.Name + "`", term.Meaning})
		}
	}
	return table([]string{head, "meaning"}, rows)
}

// outcomes are those of a child; the word that is also a reason has its meaning.
func outcomes() string {
	var rows [][]string
	for _, o := range []string{"completed", "crashed", "timed_out", "stuck", "left"} {
		term, _ := probe.ExplainTerm(o)
		rows = append(rows, []string{"`" + o + "`", term.Meaning})
	}
	return table([]string{"outcome", "meaning"}, rows)
}

func ids() string {
	var rows [][]string
	for _, e := range probe.EvidenceIDs {
		about := "device"
		switch {
		case e.Host:
			about = "host"
		case e.Ports:
			about = "port"
		}
		rows = append(rows, []string{"`" + e.ID + "`", e.Class.String(), about, e.Seen})
	}
	return table([]string{"id", "class", "about", "what is seen"}, rows)
}

func exitCodes() string {
	var rows [][]string
	for _, e := range probe.ExitCodes {
		rows = append(rows, []string{strconv.Itoa(e.Code), e.Means})
	}
	return table([]string{"exit", "meaning"}, rows)
}

var (
	idLike     = regexp.MustCompile("`((?:lib|dev|port|gid|pd|cq|mr|qp|pingpong|op)\\.[a-z_.]+)`")
	reasonLike = regexp.MustCompile(`unknown \(([a-z_]+)\)`)
	exitLike   = regexp.MustCompile(`(?i)\bexits? (\d+)\b`)
)

// Words that look like ids, reasons or exit codes are some.
func TestWordsExist(t *testing.T) {
	found := map[string]int{}
	for file, text := range documents(t) {
		for _, m := range idLike.FindAllStringSubmatch(text, -1) {
			found["id"]++
			if !slices.ContainsFunc(probe.EvidenceIDs, func(e probe.Evidence) bool { return e.ID == m[1] }) {
				t.Errorf("%s: there is no id %s", file, m[1])
			}
		}
		for _, m := range reasonLike.FindAllStringSubmatch(text, -1) {
			found["reason"]++
			if !slices.Contains(probe.Reasons, probe.Reason(m[1])) {
				t.Errorf("%s: there is no reason %s", file, m[1])
			}
		}
		for _, m := range exitLike.FindAllStringSubmatch(text, -1) {
			found["exit"]++
			if !slices.ContainsFunc(probe.ExitCodes, func(e struct {
				Code  int
				Means string
			}) bool {
				return strconv.Itoa(e.Code) == m[1]
			}) {
				t.Errorf("%s: there is no %s", file, m[0])
			}
		}
	}
	for _, kind := range []string{"id", "reason", "exit"} {
		if found[kind] < 5 {
			t.Errorf("only %d words of kind %s found: the search is broken", found[kind], kind)
		}
	}
}

// Each table of words is complete, whoever generated it.
func TestWordsAreDescribed(t *testing.T) {
	evidence, codes := read(t, "evidence.md"), read(t, "exit-codes.md")
	for _, term := range probe.Terms() {
		if !strings.Contains(evidence, "| `"+term.Name+"` | ") || term.Meaning == "" {
			t.Errorf("evidence.md does not describe the %s %s", term.Kind, term.Name)
		}
		if term.Class != "" && !strings.Contains(read(t, "architecture.md"), "*"+term.Class+"*") {
			t.Errorf("architecture.md does not describe the class %s", term.Class)
		}
	}
	for _, key := range probe.CapabilityKeys() {
		if !strings.Contains(evidence, "| `"+key+"` |") {
			t.Errorf("evidence.md does not describe the capability %s", key)
		}
	}
	for _, e := range probe.ExitCodes {
		if !strings.Contains(codes, fmt.Sprintf("\n| %d | ", e.Code)) {
			t.Errorf("exit-codes.md does not describe %d", e.Code)
		}
	}
}
