package cmd

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkComplete is what a shell waits for at `rdmaprobe probe -d <TAB>`: the
// program itself, started anew, which starts a child to list the devices.
func BenchmarkComplete(b *testing.B) {
	program := filepath.Join(b.TempDir(), "rdmaprobe")
	if out, err := exec.Command("go", "build", "-o", program, "rdmaprobe").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		out, err := exec.Command(program, "__complete", "probe", "--provider", "sim:rxe", "-d", "").Output()
		took = append(took, time.Since(began))
		if err != nil || !strings.HasPrefix(string(out), "rxe0\n") {
			b.Fatalf("%v, %q", err, out)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1e3, "median-ms")
}
