package rdma

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// constants are the IBV_ constants of constants.go, with their values.
func constants(t *testing.T) map[string]int64 {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "constants.go", nil, 0)
	check(t, err)
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("rdma", fset, []*ast.File{file}, nil)
	check(t, err)
	values := map[string]int64{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			values[name], _ = constant.Int64Val(c.Val())
		}
	}
	if len(values) < 60 {
		t.Fatalf("found %d constants, want all of them", len(values))
	}
	return values
}

// Apple's additions, which rdma-core's header lacks, and a name that is newer than
// some headers.
var notInHeader = []string{"IBV_LINK_LAYER_THUNDERBOLT", "IBV_TRANSPORT_THUNDERBOLT", "IBV_WC_ATOMIC_WRITE"}

// The table that is held against headers has every constant, once.
func TestConstantsAreInTheTable(t *testing.T) {
	left := constants(t)
	delete(left, "IBV_QPT_RCExperimental") // the one name that is not a header's
	for _, c := range headerConstants {
		if want, ok := left[c.expr]; !ok || want != c.want {
			t.Errorf("%s is %d in the table, and %d (declared: %v, or once more)", c.expr, c.want, want, ok)
		}
		delete(left, c.expr)
	}
	for name := range left {
		t.Errorf("%s is in no table that a header is compared with", name)
	}
}

// The names of statuses, opcodes and states are enumerators too.
func TestConstantsAreTheHeaders(t *testing.T) {
	text, n, absent := ConstantChecks(func(name string) bool { return !slices.Contains(notInHeader, name) })
	if len(absent) != len(notInHeader) || n < 100 || strings.Count(text, "_Static_assert") != n || !strings.Contains(text, "(IBV_QPT_RC) == 2") {
		t.Errorf("%d constants checked, %v are not", n, absent)
	}
	checkSource(t, text)
}

// RC is for a guarded probe alone: the binding itself must not use it.
func TestRCIsOnlyDeclared(t *testing.T) {
	files, err := filepath.Glob("*.go")
	check(t, err)
	uses, read := 0, 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		check(t, err)
		read++
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "IBV_QPT_RCExperimental") && !strings.HasPrefix(line, "//") {
				uses++
				if strings.TrimSpace(line) != "const IBV_QPT_RCExperimental = 2" {
					t.Errorf("%s: %s", file, line)
				}
			}
		}
	}
	if uses != 1 || read < 20 {
		t.Errorf("found %d uses in %d files, want the declaration alone", uses, read)
	}
}
