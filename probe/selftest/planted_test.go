package selftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/rdma/cfunc"
)

// patch is a change to one file, which must have the text exactly once.
type patch struct{ file, was, is string }

// planted are builds with a fault: which checks fail in them, and what the first
// of those says.
var planted = []struct {
	name    string
	patches []patch
	fails   []string
	says    string
}{
	{
		"a wrong offset",
		[]patch{{"rdma/internal/abi/abi.go", "\tLKey    uint32\n\tRKey    uint32\n", "\tRKey    uint32\n\tLKey    uint32\n"}},
		[]string{"layout", "layout.header"}, "struct ibv_mr.lkey is 40, want 36; struct ibv_mr.rkey is 36, want 40",
	},
	{
		"a wrong entry of the ops table",
		[]patch{{"rdma/internal/abi/abi.go", "OpPollCQ      = 11", "OpPollCQ      = 10"}},
		[]string{"call.sign.inline", "layout", "layout.header"}, "poll_cq is not found where the header has it",
	},
	{
		"a wrong constant",
		[]patch{{"rdma/constants.go", "\tIBV_QP_SQ_PSN       = 65536\n", "\tIBV_QP_SQ_PSN       = 65537\n"}},
		[]string{"constants.header"}, "IBV_QP_SQ_PSN is not 65537",
	},
	{
		"no errno capture",
		[]patch{{"rdma/call_native.go", "result, errno = b.result, int(b.errno)", "result = b.result"}},
		[]string{"call.errno", "call.errno.unset", "call.errno.threads"}, "opendir of nothing: errno 0 here (set: false), 2 in C",
	},
	{
		"no sign extension",
		[]patch{
			{"rdma/call.go", "r := int(int32(o.result))", "r := int(o.result)"},
			{"rdma/call.go", "\treturn int(r)\n}", "\treturn int(uint32(r))\n}"},
		},
		[]string{"call.errno", "call.errno.unset", "call.sign", "call.sign.inline"}, "close of no file: returned 4294967295 here, -1 in C",
	},
	{
		"regions across a 4 GiB line",
		[]patch{{"rdma/buffer.go", "return int(room)", "return 0"}},
		[]string{"arena.line"}, "cross a 4 GiB line",
	},
}

// moduleDir is the root of the module.
const moduleDir = "../.."

// Each planted fault is found by its own checks, and by no other.
func TestPlantedFaults(t *testing.T) {
	switch {
	case os.Getenv("RDMAPROBE_MUST_RUN") == "" || underRace:
		t.Skip("NOT CHECKED: it builds the program once for each fault, which the race detector does not see: make test does")
	case !cfunc.Supported:
		t.Skip("NOT CHECKED: this system cannot call C")
	}
	for _, tt := range planted {
		t.Run(tt.name, func(t *testing.T) {
			r := runPlanted(t, tt.patches)
			first := ""
			for _, c := range r.Checks {
				wanted := slices.Contains(tt.fails, c.Name)
				switch {
				case c.Result == Failed && !wanted:
					t.Errorf("%s failed, which has nothing to do with it: %s", c.Name, c.Detail)
				case c.Result == OK && wanted:
					t.Errorf("%s passed: %s", c.Name, c.Detail)
				case c.Result == Failed && first == "":
					first = c.Detail
				}
			}
			if r.Failed == 0 || !strings.Contains(first, tt.says) {
				t.Errorf("the first failure says %q, want %q", first, tt.says)
			}
		})
	}
}

// runPlanted builds the program with the patches and lets it check itself.
func runPlanted(t *testing.T, patches []patch) Report {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "rdmaprobe")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-overlay", overlay(t, dir, patches), "-o", program, ".")
	build.Dir = moduleDir
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	var stdout, stderr bytes.Buffer
	run := exec.Command(program, "selftest", "--header", "--json")
	run.Stdout, run.Stderr = &stdout, &stderr
	err := run.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("exit status: %v, want 1\n%s", err, stderr.String())
	}
	var r Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
	if len(r.Checks) != len(Names()) {
		t.Fatalf("%d checks, want %d", len(r.Checks), len(Names()))
	}
	return r
}

// overlay writes the patched files and what go build -overlay reads.
func overlay(t *testing.T, dir string, patches []patch) string {
	t.Helper()
	root, err := filepath.Abs(moduleDir)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, p := range patches {
		text, read := texts[p.file]
		if !read {
			raw, err := os.ReadFile(filepath.Join(root, p.file))
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		if n := strings.Count(text, p.was); n != 1 {
			t.Fatalf("%s has %q %d times: the fault cannot be planted", p.file, p.was, n)
		}
		texts[p.file] = strings.Replace(text, p.was, p.is, 1)
	}
	replace := map[string]string{}
	for file, text := range texts {
		path := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		write(t, path, text)
		replace[filepath.Join(root, file)] = path
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	write(t, path, string(raw))
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
