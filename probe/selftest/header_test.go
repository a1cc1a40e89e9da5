package selftest

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// headerChecks are the two of them, by name.
func headerChecks(t *testing.T, o *Options) (layout, constants Check) {
	t.Helper()
	checks := headerPart().run(t.Context(), o)
	if len(checks) != 2 || checks[0].Name != "layout.header" || checks[1].Name != "constants.header" {
		t.Fatalf("%+v", checks)
	}
	return checks[0], checks[1]
}

// writeHeader puts a verbs.h where the compiler looks first.
func writeHeader(t *testing.T, text string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "infiniband")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "verbs.h"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("C_INCLUDE_PATH", filepath.Dir(dir))
}

// The header of another library is noticed, and named by what differs. What is not
// there is no failure.
func TestHeader(t *testing.T) {
	if _, err := exec.LookPath(cmp.Or(os.Getenv("CC"), "cc")); err != nil {
		if os.Getenv("RDMAPROBE_MUST_RUN") == "1" {
			t.Fatal(err)
		}
		t.Skipf("NOT CHECKED: %v", err)
	}
	o := options(t, asChild)
	if l, c := headerChecks(t, &o); l.Result != Skipped || c.Result != Skipped || !strings.Contains(c.Detail, "--header") {
		t.Errorf("not asked for, and: %+v %+v", l, c)
	}
	o.Header = true
	for _, tt := range []struct {
		name, text        string
		layout, constants Result
		says              []string // in the two details together
	}{
		{"another layout, no constant", "union ibv_gid { char raw[17]; };\n", Failed, Failed,
			[]string{"sizeof(union ibv_gid) is not 16", "more", "none of the constants"}},
		{"a wrong constant", "enum { IBV_QPT_UC = 4, IBV_QPS_RTS = 3 };\n#define IBV_ACCESS_LOCAL_WRITE 1\n", Failed, Failed,
			[]string{"IBV_QPT_UC is not 3"}},
		{"some of the constants", "enum { IBV_QPT_UC = 3, IBV_QPS_RTS = 3, IBV_TRANSPORT_UNKNOWN = -1 }; /* IBV_WC_SEND */\n#define IBV_ACCESS_LOCAL_WRITE 1u\n", Failed, OK,
			[]string{"4 constants are those of", "it does not have ", "more"}},
		{"Apple's own", "enum { IBV_LINK_LAYER_THUNDERBOLT = 101 };\n", Failed, Failed, []string{"IBV_LINK_LAYER_THUNDERBOLT is not 100"}},
		{"a header that cannot be read", "#error this header is for others\n", Skipped, Skipped, []string{"this header is for others"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			writeHeader(t, tt.text)
			l, c := headerChecks(t, &o)
			if l.Result != tt.layout || c.Result != tt.constants {
				t.Errorf("%+v\n%+v\nwant %s, %s", l, c, tt.layout, tt.constants)
			}
			both := l.Detail + "\n" + c.Detail
			for _, text := range tt.says {
				if !strings.Contains(both, text) {
					t.Errorf("no %q in\n%s", text, both)
				}
			}
			if strings.Contains(both, o.Dir) {
				t.Errorf("it names a path of this machine:\n%s", both)
			}
		})
	}
	t.Run("no compiler", func(t *testing.T) {
		t.Setenv("CC", "/nonexistent/cc")
		if l, c := headerChecks(t, &o); l.Result != Skipped || c.Result != Skipped || !strings.Contains(l.Detail, "no C compiler") {
			t.Errorf("%+v %+v, want skips", l, c)
		}
	})
}

// On macOS no compiler is started where xcode-select does not name the tools: cc
// would open a dialog.
func TestNoCompilerWithoutDeveloperTools(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("NOT CHECKED: it plays programs by shell scripts")
	}
	bin := t.TempDir()
	started := filepath.Join(bin, "started")
	script := func(name, text string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script("cc", "echo started > '"+started+"'; echo IBV_QPT_UC")
	t.Setenv("CC", "")
	t.Setenv("PATH", bin)
	o := options(t, asChild)
	o.Header = true
	for _, tt := range []struct{ name, selects, says string }{
		{"no xcode-select", "", "executable file not found"},
		{"no tools", "echo 'xcode-select: error: unable to get active developer directory' >&2; exit 2", "unable to get active developer directory"},
		{"tools that are gone", "echo /nonexistent/CommandLineTools", `names "/nonexistent/CommandLineTools", which is no folder`},
		{"no word", "exit 0", `names "", which is no folder`},
	} {
		if tt.selects != "" {
			script("xcode-select", tt.selects)
		}
		_, err := readHeader(t.Context(), &o, "darwin")
		var s *skip
		if !errors.As(err, &s) || !strings.Contains(err.Error(), "xcode-select --install") || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := os.Stat(started); err == nil {
			t.Fatalf("%s: cc was started", tt.name)
		}
	}
	script("xcode-select", "echo '"+bin+"'")
	if h, err := readHeader(t.Context(), &o, "darwin"); err != nil || !h.words["IBV_QPT_UC"] {
		t.Errorf("with the tools: %+v, %v", h, err)
	}
	script("xcode-select", "exit 2")
	if h, err := readHeader(t.Context(), &o, "linux"); err != nil || !h.words["IBV_QPT_UC"] {
		t.Errorf("on Linux: %+v, %v", h, err)
	}
}
