//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// C is called with its stack aligned, and through frames that a backtrace can
// follow: Apple's crash reporter and profilers go from record to record.
func TestFramesOfCalls(t *testing.T) {
	if callsByPurego {
		t.Skip("NOT CHECKED: the frames are purego's in this build")
	}
	f := newFake(t)
	o := f.open(t, 0)
	from, fn := at[uintptr](o, 0), f.symbols["fake_caller"]
	for name, call := range map[string]func() int{
		"callErrno": func() int { r, _ := f.lib.rawCall(fn, o.buffer.Addr()); return int(int32(r)) },
		"callHot3":  func() int { return int(f.lib.rawHot(fn, o.buffer.Addr(), 0, 0)) },
		"callTurn": func() int {
			b := turnBlock{cq: o.buffer.Addr(), pollFn: fn, polls: 1}
			f.lib.rawTurn(&b)
			return int(int32(b.pollValue))
		},
	} {
		*from = 0
		if off := call(); off != 0 {
			t.Errorf("%s: the stack is %d bytes off 16", name, off)
		}
		caller := "no function of Go"
		if g := runtime.FuncForPC(*from - 1); g != nil {
			caller = g.Name()
		}
		if caller != "runtime.asmcgocall" {
			t.Errorf("%s: its frame record leads to %s, want runtime.asmcgocall", name, caller)
		}
	}
}

// usable are the registers that the assembly may use on each processor, those of
// saved among them only after they were saved. Not there: on arm64 R18, which is
// Apple's, R27, which the assembler takes for itself, R28, the goroutine; on amd64
// R14 and R15, which Go takes for itself.
var usable = map[string]struct {
	free, saved string
	save        *regexp.Regexp
}{
	"arm64": {"R0 R1 R2 R3 R4 R5 R9", "R19 R20 R21 R29 R30", regexp.MustCompile(`^(?:STP(?:\.W)? \((R\d+), (R\d+)\), |MOVD (R\d+), )-?\d+\(RSP\)`)},
	"amd64": {"AX CX DX SI DI R8 R9 R10 SP", "BX BP R12 R13", regexp.MustCompile(`^PUSHQ (\w+)$`)},
}

var (
	register    = regexp.MustCompile(`\b(?:R\d+|[ABCD]X|[ABCD]L|SI|DI|BP|SP)\b`)
	disassembly = regexp.MustCompile(`^\s+\S+\s+0x[0-9a-f]+\s+[0-9a-f]+\s+([A-Z].*?)\s*$`)
)

// The assembler may do with more registers than its source names: what it makes
// for macOS, which no test runs, is read.
func TestAssemblyKeepsRegisters(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		missing(t, "there is no go command: "+err.Error())
	}
	for arch, may := range usable {
		object := filepath.Join(t.TempDir(), arch+".o")
		goTool(t, arch, "asm", "-p", "rdmaprobe/rdma", "-I", filepath.Join(strings.TrimSpace(string(root)), "pkg", "include"), "-o", object, "call_"+arch+".s")
		functions := map[string]bool{}
		function, kept := "", map[string]bool{}
		for line := range strings.Lines(goTool(t, arch, "objdump", object)) {
			if name, ok := strings.CutPrefix(line, "TEXT "); ok {
				function, kept = strings.Fields(name)[0], map[string]bool{}
				functions[function] = true
			}
			found := disassembly.FindStringSubmatch(line)
			if found == nil {
				continue
			}
			for _, r := range may.save.FindStringSubmatch(found[1]) {
				kept[r] = true
			}
			for _, r := range register.FindAllString(found[1], -1) {
				ok := slices.Contains(strings.Fields(may.free), r) || kept[r] && slices.Contains(strings.Fields(may.saved), r)
				if !ok && r != "AL" {
					t.Errorf("%s, %s: %s uses %s, which it may not, or has not saved", arch, function, found[1], r)
				}
			}
		}
		if len(functions) != 3 {
			t.Errorf("%s: read %v, want three functions", arch, slices.Sorted(maps.Keys(functions)))
		}
	}
}

// goTool runs one of Go's tools as for macOS on arch.
func goTool(t *testing.T, arch string, args ...string) string {
	t.Helper()
	c := exec.Command("go", append([]string{"tool"}, args...)...)
	c.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+arch)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", c, err, out)
	}
	return string(out)
}
