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

// Apple's additions, which rdma-core's header lacks, and the one name that is not
// the header's.
var notInHeader = map[string]bool{
	"IBV_LINK_LAYER_THUNDERBOLT": true, "IBV_TRANSPORT_THUNDERBOLT": true,
	"IBV_QPT_RCExperimental": true,
}

func TestConstantsAreTheHeaders(t *testing.T) {
	var claims []claim
	for name, value := range constants(t) {
		if !notInHeader[name] {
			claims = append(claims, claim{name, value})
		}
	}
	checkHeader(t, claims)
}

// The names of statuses, opcodes and states are the header's enumerators.
func TestNamesAreTheHeaders(t *testing.T) {
	var claims []claim
	for prefix, all := range map[string]names{
		"IBV_WC_": wcStatuses, "IBV_QPS_": qpStates, "IBV_QPT_": qpTypes,
	} {
		for _, n := range all {
			claims = append(claims, claim{prefix + n.name, n.value})
		}
	}
	for _, n := range wcOpcodes {
		if n.name != "ATOMIC_WRITE" { // newer than some headers
			claims = append(claims, claim{"IBV_WC_" + n.name, n.value})
		}
	}
	for _, b := range qpAttrBits {
		claims = append(claims, claim{b.name, int64(b.bit)})
	}
	checkHeader(t, claims)
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
