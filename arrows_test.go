package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms are the packages of the first level in the order in which they may
// import: each may use those after it, never one before.
var rooms = []string{"", "cmd", "report", "probe", "rdma"}

// onlyIn says where a dependency may be imported, for what would spread.
var onlyIn = map[string][]string{
	"github.com/ebitengine/purego":          {"rdma"},
	"github.com/spf13/cobra":                {"cmd"},
	"github.com/olekukonko/tablewriter":     {"report"},
	"github.com/fatih/color":                {"report"},
	"github.com/invopop/jsonschema":         nil, // generators and tests
	"github.com/santhosh-tekuri/jsonschema": nil,
}

type listed struct {
	ImportPath string
	Imports    []string
}

// packages lists this module's packages with what their code, not their tests,
// imports.
func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 8 {
		t.Fatalf("only %d packages listed", len(all))
	}
	return all
}

// room is the first level of a package of this module: rdmaprobe/probe/guard is
// in probe.
func room(pkg string) (string, bool) {
	rest, ours := strings.CutPrefix(pkg, "rdmaprobe")
	first, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	return first, ours
}

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from, _ := room(p.ImportPath)
		if from == "fixtures" || from == "tools" || from == "packaging" {
			continue
		}
		for _, imp := range p.Imports {
			to, ours := room(imp)
			if !ours || to == "fixtures" && (from == "cmd" || isGenerator(p.ImportPath)) {
				continue
			}
			if slices.Index(rooms, from) > slices.Index(rooms, to) || !slices.Contains(rooms, to) {
				t.Errorf("%s imports %s: arrows run %s", p.ImportPath, imp, strings.Join(rooms, " -> "))
			}
		}
	}
}

func TestDependenciesStayInTheirRoom(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		from, _ := room(p.ImportPath)
		for _, imp := range p.Imports {
			for dep, where := range onlyIn {
				if imp != dep && !strings.HasPrefix(imp, dep+"/") {
					continue
				}
				seen[dep] = true
				if !slices.Contains(where, from) && !isGenerator(p.ImportPath) {
					t.Errorf("%s imports %s, which belongs in %v", p.ImportPath, imp, where)
				}
			}
		}
	}
	for dep, where := range onlyIn {
		if where != nil && !seen[dep] {
			t.Errorf("nothing imports %s: the rule guards nothing", dep)
		}
	}
}

// docs/architecture.md has a row for each package, and none for anything else.
func TestEveryPackageHasItsRow(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows, want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/]+)/` \\|").FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, m[1])
	}
	for _, p := range packages(t) {
		if dir := strings.TrimPrefix(p.ImportPath, "rdmaprobe/"); dir != "rdmaprobe" { // main.go is no room
			want = append(want, dir)
		}
	}
	slices.Sort(rows)
	slices.Sort(want)
	if !slices.Equal(rows, want) {
		t.Errorf("docs/architecture.md has rows for\n%v, the packages are\n%v", rows, want)
	}
}

// isGenerator tells the programs that make committed files, and helpers of
// tests.
func isGenerator(pkg string) bool {
	base := path.Base(pkg)
	return strings.HasPrefix(base, "gen") || strings.HasSuffix(base, "test")
}
