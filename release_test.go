package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxProgram is how large a published program may be, in bytes: a new dependency
// that brings megabytes with it is noticed. packaging/dist.sh and
// packaging/darwincheck have the same limit.
const maxProgram = 10_000_000

// linuxLibraries are the C library's: the verbs library is opened at run time.
var linuxLibraries = []string{"libc.so.6", "libdl.so.2", "libpthread.so.0"}

// published builds the program as it is published, and checks its size.
func published(t *testing.T, platform string) string {
	t.Helper()
	if os.Getenv("RDMAPROBE_MUST_RUN") == "" {
		t.Skip("NOT CHECKED: it builds the program for several systems: make test does")
	}
	system, arch, _ := strings.Cut(platform, "/")
	path := filepath.Join(t.TempDir(), "rdmaprobe")
	build := exec.Command("packaging/go.sh", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxProgram || info.Size() < 1<<20 {
		t.Errorf("%d bytes, want at most %d", info.Size(), maxProgram)
	}
	t.Logf("%s: %.2f MiB", platform, float64(info.Size())/(1<<20))
	return path
}

func TestLinuxPrograms(t *testing.T) {
	for platform, machine := range map[string]elf.Machine{"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64} {
		t.Run(platform, func(t *testing.T) {
			f, err := elf.Open(published(t, platform))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Machine != machine {
				t.Errorf("for %v", f.Machine)
			}
			libraries, err := f.ImportedLibraries()
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range libraries {
				if !slices.Contains(linuxLibraries, l) {
					t.Errorf("linked with %s", l)
				}
			}
			if symbols, err := f.Symbols(); err == nil && len(symbols) > 0 {
				t.Errorf("%d symbols: it is not stripped", len(symbols))
			}
		})
	}
}
