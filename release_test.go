package main

import (
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxProgram is how large a program that is published may be, in bytes. It is to
// notice a dependency that brings a megabyte with it, and the same in small: a
// generic sort of a slice of structs (15 kB a type, sort.Slice has none), a map
// made at start, a package for a few lines. The largest is that for macOS on amd64.
// packaging/dist.sh has the same limit.
const maxProgram = 8_000_000

// darwinLibraries are what a program for macOS may be linked with, all there on
// every macOS. librdma.dylib is not: before 26.2 dyld would refuse to start what
// needs it.
var darwinLibraries = []string{"/usr/lib/libSystem.B.dylib", "/usr/lib/libresolv.9.dylib"}

// linuxLibraries are the C library's: the verbs library is opened at run time.
var linuxLibraries = []string{"libc.so.6", "libdl.so.2", "libpthread.so.0"}

// newestMinimum is the highest macOS that a program may ask for. RDMA needs 26.2;
// everything else that it does is of use before.
const newestMinimum = 14 << 16

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

func TestDarwinPrograms(t *testing.T) {
	for platform, cpu := range map[string]macho.Cpu{"darwin/arm64": macho.CpuArm64, "darwin/amd64": macho.CpuAmd64} {
		t.Run(platform, func(t *testing.T) {
			f, err := macho.Open(published(t, platform))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Cpu != cpu || f.Type != macho.TypeExec {
				t.Errorf("a %v for %v", f.Type, f.Cpu)
			}
			libraries, err := f.ImportedLibraries()
			if err != nil || len(libraries) == 0 {
				t.Fatalf("linked with %v, %v", libraries, err)
			}
			for _, l := range libraries {
				if !slices.Contains(darwinLibraries, l) {
					t.Errorf("linked with %s", l)
				}
			}
			for _, l := range f.Loads { // also what is linked weakly or for re-export
				if raw := string(l.Raw()); strings.Contains(raw, "rdma.dylib") || strings.Contains(raw, "ibverbs") {
					t.Errorf("a load command names the verbs library: %q", raw)
				}
			}
			minimum, err := minimumMacOS(f)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: macOS %d.%d, %v", platform, minimum>>16, minimum>>8&0xff, libraries)
			if minimum == 0 || minimum > newestMinimum {
				t.Errorf("needs macOS %d.%d, want at most %d", minimum>>16, minimum>>8&0xff, newestMinimum>>16)
			}
		})
	}
}

// Load commands that name the minimum system, <mach-o/loader.h>.
const (
	lcVersionMinMacOSX = 0x24
	lcBuildVersion     = 0x32
	platformMacOS      = 1
)

// minimumMacOS is the system that a program needs, as xxxx.yy.zz in one number.
func minimumMacOS(f *macho.File) (uint32, error) {
	for _, l := range f.Loads {
		raw := l.Raw()
		if len(raw) < 16 {
			continue
		}
		word := func(i int) uint32 { return f.ByteOrder.Uint32(raw[4*i:]) }
		switch word(0) {
		case lcVersionMinMacOSX: // cmd, cmdsize, version, sdk
			return word(2), nil
		case lcBuildVersion: // cmd, cmdsize, platform, minos, sdk, ntools
			if word(2) != platformMacOS {
				return 0, fmt.Errorf("for platform %d, not macOS", word(2))
			}
			return word(3), nil
		}
	}
	return 0, fmt.Errorf("no load command names a minimum system")
}

func TestMinimumMacOS(t *testing.T) {
	command := func(words ...uint32) macho.Load {
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return macho.LoadBytes(b)
	}
	for _, tt := range []struct {
		name string
		load macho.Load
		want uint32
	}{
		{"build version", command(lcBuildVersion, 24, platformMacOS, 12<<16, 0, 0), 12 << 16},
		{"version min", command(lcVersionMinMacOSX, 16, 11<<16|3<<8, 0), 11<<16 | 3<<8},
		{"another platform", command(lcBuildVersion, 24, 2, 12<<16, 0, 0), 0},
		{"something else", command(0x1d, 16, 1, 1), 0},
		{"cut short", command(lcBuildVersion), 0},
	} {
		got, err := minimumMacOS(&macho.File{FileHeader: macho.FileHeader{}, ByteOrder: binary.LittleEndian, Loads: []macho.Load{tt.load}})
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("%s: %#x, %v; want %#x", tt.name, got, err, tt.want)
		}
	}
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
