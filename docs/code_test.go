package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// code shows a file of the repository, or one function of it: PATH or PATH
// FUNC. What a document shows is so what the compiler has seen.
func code(t *testing.T, argument string) string {
	t.Helper()
	path, function, one := strings.Cut(argument, " ")
	text := read(t, filepath.Join("..", path))
	if one {
		text = functionIn(t, path, text, function)
	}
	return "```go\n" + text + "```\n"
}

// functionIn is the text of one function.
func functionIn(t *testing.T, path, text, name string) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == name {
			return text[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset] + "\n"
		}
	}
	t.Fatalf("%s has no function %s", path, name)
	return ""
}

// Shown code is generated, so that it is never older than the code.
func TestGoCodeIsTaken(t *testing.T) {
	for file, text := range documents(t) {
		if strings.Contains(block.ReplaceAllString(text, ""), "```go\n") {
			t.Errorf("%s shows Go code that no test sees: use a block of kind code", file)
		}
	}
}

// sources are the packages of the document's types.
var sources = []string{"../probe", "../probe/hostfacts"}

// typeTable describes the fields of a struct of the document: their JSON names
// and kinds, and the comments in the source.
func typeTable(t *testing.T, name string) string {
	t.Helper()
	var rows [][]string
	for _, f := range structOf(t, name).Fields.List {
		if f.Tag == nil {
			continue
		}
		key, options, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
		kind := jsonKind(f.Type)
		if strings.Contains(options, "string") {
			kind = "decimal text"
		}
		if strings.Contains(options, "omit") {
			kind += ", may be absent"
		}
		rows = append(rows, []string{"`" + key + "`", kind, strings.TrimSpace(f.Comment.Text())})
	}
	if len(rows) == 0 {
		t.Fatalf("the type %s has no fields", name)
	}
	return table([]string{"field", "kind", "note"}, rows)
}

// structOf finds a struct type in the sources.
func structOf(t *testing.T, name string) *ast.StructType {
	t.Helper()
	for _, source := range sources {
		files, err := filepath.Glob(filepath.Join(source, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", source, err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if s := structIn(f, name); s != nil {
				return s
			}
		}
	}
	t.Fatalf("no struct %s in %v", name, sources)
	return nil
}

// structIn is the struct type of a name, nil when the file has none.
func structIn(f *ast.File, name string) *ast.StructType {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			if ts, ok := s.(*ast.TypeSpec); ok && ts.Name.Name == name {
				st, _ := ts.Type.(*ast.StructType)
				return st
			}
		}
	}
	return nil
}

// kinds are the JSON kinds of types that are not structs.
var kinds = map[string]string{
	"string": "text", "bool": "true or false", "any": "any", "float64": "number", "int": "number", "int32": "number", "int64": "number",
	"uint8": "number", "uint16": "number", "uint32": "number", "uint64": "number", "time.Time": "time", "Return": "number or text",
	"Reason": "text", "Outcome": "text", "rdma.Capability": "text", "rdma.FailureClass": "text", "rdma.Platform": "text",
}

func jsonKind(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return jsonKind(e.X)
	case *ast.ArrayType:
		return "list of " + jsonKind(e.Elt)
	case *ast.MapType:
		return "object, " + jsonKind(e.Key) + " to " + jsonKind(e.Value)
	case *ast.Ident:
		if k := kinds[e.Name]; k != "" {
			return k
		}
		return e.Name
	case *ast.SelectorExpr:
		full := e.X.(*ast.Ident).Name + "." + e.Sel.Name
		if k := kinds[full]; k != "" {
			return k
		}
		return e.Sel.Name
	}
	return "?"
}

// The example program works: on a machine that confirms and on one that does
// not.
func TestExampleProgram(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("NOT CHECKED: simulated machines run on Linux and macOS only")
	}
	exe := filepath.Join(t.TempDir(), "rcgate")
	if out, err := exec.Command("go", "build", "-o", exe, "./examples/rcgate").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		args []string
		out  string
		exit int
	}{
		{[]string{"../fixtures/profiles/rxe.json"}, "rxe0 confirmed\nrxe1 confirmed\n", 0},
		{[]string{"../fixtures/profiles/mac-mini-m4pro.json"}, "rdma_en2 rejected\nrdma_en3 unknown\nrdma_en4 unknown\n", 1},
		{[]string{"../fixtures/profiles/mac-tb4.json"}, "", 3},
		{[]string{"no-such-file.json"}, "", 2},
	} {
		cmd := exec.Command(exe, tt.args...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, _ := cmd.Output()
		if got := cmd.ProcessState.ExitCode(); string(out) != tt.out || got != tt.exit {
			t.Errorf("%v: exit %d, %q; want %d, %q", tt.args, got, out, tt.exit, tt.out)
		}
	}
}
