package rdma

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// missing ends a test that lacks something of the machine. It skips, and says
// what is missing; with RDMAPROBE_MUST_RUN=1, where everything should be there,
// it fails.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("RDMAPROBE_MUST_RUN") == "1" {
		t.Fatalf("RDMAPROBE_MUST_RUN=1, but %s", what)
	}
	t.Skipf("NOT CHECKED: %s", what)
}

// compiler is a C compiler for the system the test runs on: $CC, or cc.
func compiler(t testing.TB) string {
	t.Helper()
	name := os.Getenv("CC")
	if name == "" {
		name = "cc"
	}
	path, err := exec.LookPath(name)
	if runtime.GOOS == "darwin" && err == nil {
		err = exec.Command("xcode-select", "-p").Run() // without the tools cc opens a dialog
	}
	if err != nil {
		missing(t, "there is no C compiler: "+err.Error())
	}
	return path
}

// containsWord looks for a name that stands alone in a text.
func containsWord(text, name string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }), name)
}

// check ends a test that cannot go on.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
