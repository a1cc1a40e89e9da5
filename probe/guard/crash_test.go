package guard

import (
	"bytes"
	"strings"
	"testing"
)

// Texts of the Go 1.26 runtime on Linux, shortened where they go on.
const (
	fixtureCrash = `SIGSEGV: segmentation violation
PC=0x7f8a5c0b1234 m=0 sigcode=1 addr=0x10
signal arrived during cgo execution

goroutine 1 gp=0xc000002380 m=0 mp=0x5e5f40 [syscall]:
runtime.cgocall(0x401000, 0xc0000a0000)
`
	fixtureAbort = `SIGABRT: abort
PC=0x7f8a5c0b1234 m=3 sigcode=18446744073709551610
signal arrived during cgo execution

goroutine 7 gp=0xc000002380 m=3 mp=0xc000080008 [syscall]:
`
	fixturePanic = `panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x4f2a30]

goroutine 1 [running]:
main.main()
`
	fixtureFatal = `fatal error: concurrent map writes

goroutine 19 [running]:
`
	fixtureMemory = `unexpected fault address 0x7f1c2d5f9000
fatal error: fault
[signal SIGBUS: bus error code=0x2 addr=0x7f1c2d5f9000 pc=0x4f2a30]

goroutine 1 gp=0xc000002380 m=0 mp=0x5e5f40 [running]:
`
	fixtureRuntime = `fatal error: unexpected signal during runtime execution
[signal SIGSEGV: segmentation violation code=0x1 addr=0x118 pc=0x40f2a3]

runtime stack:
runtime.throw({0x5a1b2c, 0x2a})
`
	fixtureBadG = "fatal: bad g in signal handler\n"
	fixtureLong = "panic: first line\nsecond line with SIGSEGV: segmentation violation\n\tpanic: the last\n\ngoroutine 1 [running]:\n"
)

func TestScanner(t *testing.T) {
	const segv = "SIGSEGV: segmentation violation"
	quiet := strings.Repeat("ibwarn: unmap failed SIG panic \n", 3500) // 100 kB
	for name, tc := range map[string]struct{ in, crash, panicked string }{
		"nothing":                {"", "", ""},
		"noise":                  {quiet, "", ""},
		"crash":                  {fixtureCrash, segv, ""},
		"abort":                  {fixtureAbort, "SIGABRT: abort", ""},
		"unnamed signal":         {"Signal 64\nPC=0x1 m=0 sigcode=0\n", "Signal 64", ""},
		"floating point":         {"SIGFPE: floating-point exception\nPC=0x1 m=0", "SIGFPE: floating-point exception", ""},
		"unfinished line before": {"polling..." + fixtureCrash, segv, ""},
		"noise around":           {quiet + fixtureCrash + quiet, segv, ""},
		"no thread": {
			"fakecgo: pthread_create failed: 11\nSIGABRT: abort\nPC=0x7f12 m=0 sigcode=18446744073709551610\n\ngoroutine 0 [idle]:\n", "",
			"fakecgo: pthread_create failed: 11",
		},
		"no memory": {
			"fatal error: out of memory allocating heap arena map\n\nruntime stack:\nruntime.throw({0x8d4a6a?, 0x8c0ac6?})\n", "",
			"fatal error: out of memory allocating heap arena map",
		},
		"no descriptor": {
			"runtime: eventfd failed with 24\nfatal error: runtime: eventfd failed\n\ngoroutine 1 gp=0x1d [running]:\n", "",
			"runtime: eventfd failed with 24",
		},
		"panic":                  {fixturePanic, "", "panic: runtime error: invalid memory address or nil pointer dereference"},
		"panic in noise":         {quiet + "x" + fixturePanic + quiet, "", "panic: runtime error: invalid memory address or nil pointer dereference"},
		"fatal":                  {fixtureFatal, "", "fatal error: concurrent map writes"},
		"nested panic":           {fixtureLong, "", "panic: the last"},
		"memory of the library":  {fixtureMemory, "SIGBUS: bus error", ""},
		"runtime":                {fixtureRuntime, segv, ""},
		"bad g":                  {fixtureBadG, "fatal: bad g in signal handler", ""},
		"words of a library":     {"panic: queue full\nSIGSEGV: segmentation violation\nPC is lost\n", "", ""},
		"words, then a crash":    {"panic: queue full\n" + fixtureAbort, "SIGABRT: abort", ""},
		"crash text, then panic": {"caught SIGBUS: bus error\nPC=0x0\n" + fixturePanic, "", "panic: runtime error: invalid memory address or nil pointer dereference"},
		"panic text, then crash": {fixturePanic + fixtureCrash, segv, ""},
		"hostile line":           {"panic: \x1b[2J" + strings.Repeat("w", 1000) + "\n\ngoroutine 1 [running]:\n", "", "panic: " + `\x1b[2J` + strings.Repeat("w", 300-len("panic: ")-4)},
	} {
		for _, chunk := range []int{1, 7, 79, 512, 1 << 20} {
			var s scanner
			for b := []byte(tc.in); len(b) > 0; b = b[min(chunk, len(b)):] {
				s.write(b[:min(chunk, len(b))])
			}
			if crash, panicked := s.verdict(); crash != tc.crash || panicked != tc.panicked {
				t.Errorf("%s in pieces of %d: crash %q, panic %q", name, chunk, crash, panicked)
			}
			if len(s.buf) > 128<<10 || len(tc.in) > 1000 && cap(s.buf) > 512<<10 {
				t.Errorf("%s: %d bytes kept", name, len(s.buf))
			}
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{fixtureCrash, fixturePanic, fixtureMemory, fixtureRuntime, fixtureLong} {
		f.Add([]byte(seed), 13)
	}
	f.Fuzz(func(t *testing.T, in []byte, chunk int) {
		chunk = 1 + int(uint(chunk)%1000)
		var whole, pieces scanner
		whole.write(in)
		for b := in; len(b) > 0; b = b[min(chunk, len(b)):] {
			pieces.write(b[:min(chunk, len(b))])
		}
		c1, p1 := whole.verdict()
		c2, p2 := pieces.verdict()
		if c1 != c2 || p1 != p2 {
			t.Fatalf("whole %q %q, in pieces of %d %q %q", c1, p1, chunk, c2, p2)
		}
		if c1 != "" && p1 != "" {
			t.Fatalf("both %q and %q", c1, p1)
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	piece := bytes.Repeat([]byte("ibwarn: unmap of 0x0 failed; SIG panic\n"), 1600)
	b.SetBytes(int64(len(piece)))
	var s scanner
	for b.Loop() {
		s.write(piece)
	}
}
