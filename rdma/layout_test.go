package rdma

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestLayoutIsGolden(t *testing.T) {
	structs := 0
	for _, l := range Layouts() {
		if l.Field == "" {
			structs++
		}
		if !strings.Contains(l.Struct, " ") || l.Have != l.Want {
			t.Errorf("%s: %q is %d, want %d", l.Struct, l.Field, l.Have, l.Want)
		}
	}
	if structs != 21 {
		t.Errorf("%d structs, want 21", structs)
	}
}

// What is given to others to compile says what the table says.
func TestHeaderChecks(t *testing.T) {
	text := HeaderChecks()
	for _, want := range []string{
		"#include <infiniband/verbs.h>\n", "(offsetof(struct ibv_mr, rkey)) == 40", "(sizeof(struct ibv_send_wr)) == 128",
		"(offsetof(struct ibv_context_ops, post_send)) == 200",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in it", want)
		}
	}
	if n := strings.Count(text, "_Static_assert"); n != len(layout) {
		t.Errorf("%d claims, want %d", n, len(layout))
	}
}

// Sizes as Apple's SDK header has them, which the golden table must reach with
// Darwin's mutex, and as rdma-core's has them on Linux.
func TestLayoutOfOtherSystems(t *testing.T) {
	mutexes := map[string]uintptr{"darwin": 64, "linux/amd64": 40, "linux/arm64": 48}
	want := map[string]map[string]uintptr{
		"struct ibv_context": {"darwin": 352, "linux/amd64": 328, "linux/arm64": 336},
		"struct ibv_cq":      {"darwin": 152, "linux/amd64": 128, "linux/arm64": 136},
		"struct ibv_qp":      {"darwin": 184, "linux/amd64": 160, "linux/arm64": 168},
		"struct ibv_qp_attr": {"darwin": 144, "linux/amd64": 144, "linux/arm64": 144},
	}
	found := 0
	for _, r := range layout {
		for system, size := range want[r.c] {
			found++
			if got := r.expected(mutexes[system]); got != size {
				t.Errorf("%s on %s: %d bytes, want %d", r.c, system, got, size)
			}
		}
	}
	if found != 12 {
		t.Errorf("compared %d sizes, want 12", found)
	}
}

// checkSource compiles claims against the system's infiniband/verbs.h. Nothing
// is run, so that the header of a foreign architecture can be asked too.
func checkSource(t *testing.T, text string) {
	t.Helper()
	cc := compiler(t)
	probe := exec.Command(cc, "-E", "-include", "infiniband/verbs.h", "-x", "c", os.DevNull)
	if out, err := probe.CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("there is no infiniband/verbs.h: %v\n%.300s", err, out))
	}
	source := filepath.Join(t.TempDir(), "claims.c")
	check(t, os.WriteFile(source, []byte(text), 0o600))
	if out, err := exec.Command(cc, "-std=gnu11", "-fsyntax-only", source).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", cc, err, out)
	}
}

func TestLayoutIsTheHeaders(t *testing.T) { checkSource(t, HeaderChecks()) }
