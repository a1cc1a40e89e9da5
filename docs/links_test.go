package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	fenced   = regexp.MustCompile("(?s)```.*?```")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	fileLike = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*\\.(?:go|md|c|sh|json))`")
)

// anchor is the name that a heading gets.
func anchor(h string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, h)
}

func hasAnchor(text, name string) bool {
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		if anchor(m[1]) == name {
			return true
		}
	}
	return false
}

func TestLinksResolve(t *testing.T) {
	files, links := documents(t), 0
	for file, text := range files {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			target := m[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			path, fragment, _ := strings.Cut(target, "#")
			to := file
			if path != "" {
				to = filepath.Join(filepath.Dir(file), path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: the link %s leads nowhere", file, target)
				continue
			}
			if fragment != "" && !hasAnchor(read(t, to), fragment) {
				t.Errorf("%s: the link %s leads to no heading", file, target)
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links found: the search is broken", links)
	}
}

// Files that a document names exist, from the top of the repository or beside
// the document. The changelog may name what is gone.
func TestNamedFilesExist(t *testing.T) {
	named := 0
	for file, text := range documents(t) {
		if file == "../CHANGELOG.md" {
			continue
		}
		for _, m := range fileLike.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if strings.Contains(m[1], "NAME") {
				continue
			}
			named++
			beside := filepath.Join(filepath.Dir(file), m[1])
			if _, err := os.Stat(filepath.Join("..", m[1])); err == nil {
				continue
			}
			if _, err := os.Stat(beside); err != nil {
				t.Errorf("%s names %s, which does not exist", file, m[1])
			}
		}
	}
	if named < 20 {
		t.Errorf("only %d files named: the search is broken", named)
	}
}

// A decision has its four parts.
func TestDecisionsAreWhole(t *testing.T) {
	found, err := filepath.Glob("decisions/*.md")
	if err != nil || len(found) < 8 {
		t.Fatalf("%d decisions: %v", len(found), err)
	}
	for i, file := range found {
		text, at := read(t, file), 0
		if want := strings.TrimSuffix(filepath.Base(file), ".md"); want[:4] != numbered(i+1) {
			t.Errorf("%s: decisions are numbered without gaps", file)
		}
		for _, part := range []string{"\n## Status\n", "\n## Context\n", "\n## Decision\n", "\n## Consequences\n"} {
			next := strings.Index(text, part)
			if next < at {
				t.Errorf("%s: no part %s in its place", file, strings.TrimSpace(part))
			}
			at = max(at, next)
		}
	}
}

func numbered(n int) string { return string([]byte{'0', '0', byte('0' + n/10), byte('0' + n%10)}) }
