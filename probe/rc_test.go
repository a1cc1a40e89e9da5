package probe

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Exactly one function of the whole module asks for an RC queue pair by the
// experimental constant.
func TestExperimentalRCHasOneUser(t *testing.T) {
	users := map[string]int{}
	files := 0
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range f.Decls {
			countUsers(d, users, filepath.Base(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 30 {
		t.Fatalf("only %d files were read", files)
	}
	if len(users) != 1 || users["rc.go createRC"] != 1 {
		t.Errorf("IBV_QPT_RCExperimental is used by %v, want only createRC", users)
	}
}

func countUsers(d ast.Decl, users map[string]int, file string) {
	fn, ok := d.(*ast.FuncDecl)
	ast.Inspect(d, func(n ast.Node) bool {
		id, isIdent := n.(*ast.Ident)
		if !isIdent || id.Name != "IBV_QPT_RCExperimental" {
			return true
		}
		if ok {
			users[file+" "+fn.Name.Name]++
		} else if g, isGen := d.(*ast.GenDecl); !isGen || g.Tok != token.CONST {
			users[file]++
		}
		return true
	})
}
