package main

import (
	"bytes"
	"debug/macho"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxProgram is how large a published program may be, in bytes: as in
// release_test.go and packaging/dist.sh.
const maxProgram = 10_000_000

// build builds the program for macOS as it is published, with more flags where
// they are given, and returns the file.
func build(t *testing.T, arch string, flags ...string) []byte {
	t.Helper()
	if os.Getenv("RDMAPROBE_MUST_RUN") == "" {
		t.Skip("NOT CHECKED: it builds the program for macOS: make test does")
	}
	path := filepath.Join(t.TempDir(), "rdmaprobe")
	cmd := exec.Command("packaging/go.sh", append([]string{"build", "-o", path}, append(flags, ".")...)...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parsed(t *testing.T, data []byte) *program {
	t.Helper()
	p, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPublished(t *testing.T) {
	for arch, cpu := range map[string]macho.Cpu{"arm64": macho.CpuArm64, "amd64": macho.CpuAmd64} {
		t.Run(arch, func(t *testing.T) {
			data := build(t, arch)
			p := parsed(t, data)
			for _, f := range p.faults() {
				t.Error(f)
			}
			if p.Cpu != cpu {
				t.Errorf("for %v", p.Cpu)
			}
			if len(data) > maxProgram || len(data) < 1<<20 {
				t.Errorf("%d bytes, want at most %d", len(data), maxProgram)
			}
			if p.seen.branches < 50_000 || p.seen.opaque > 200 {
				t.Errorf("%d branches were followed, %d instructions not known: too little was inspected", p.seen.branches, p.seen.opaque)
			}
			if p.cpu.signed && p.seen.pages < 200 {
				t.Errorf("only %d pages have a hash", p.seen.pages)
			}
			t.Log(p.summary())
		})
	}
}

// Without its alignment the linker puts functions behind the build id, which is a
// text of any length.
func TestUnalignedProgram(t *testing.T) {
	faults := parsed(t, build(t, "arm64", "-ldflags=-s -w -funcalign=1")).faults()
	for _, want := range []string{"off the boundary of 4 bytes", "where nothing begins"} {
		if !strings.Contains(strings.Join(faults, "\n"), want) {
			t.Errorf("no fault says %q: %q", want, faults)
		}
	}
}

func TestPlantedFaults(t *testing.T) {
	good := build(t, "arm64")
	for _, tt := range []struct {
		name  string
		plant func(t *testing.T, p *program)
		want  string
	}{
		{"a byte of the last page", func(t *testing.T, p *program) {
			p.data[p.command(lcCodeSignature)[2]-1] ^= 1
		}, "has another hash than the signature says"},
		{"no signature", func(t *testing.T, p *program) {
			retype(t, p, lcCodeSignature, 0x2a) // LC_SOURCE_VERSION
		}, "not signed"},
		{"a call in the runtime's start", func(t *testing.T, p *program) {
			call := firstCall(t, p, "runtime.rt0_go")
			binary.LittleEndian.PutUint32(call, binary.LittleEndian.Uint32(call)+1)
		}, "runtime.rt0_go at"},
		{"the start", func(t *testing.T, p *program) {
			p.data[commandAt(t, p, lcMain)+8] += 4
		}, "where no function begins"},
		{"a newer minimum", func(t *testing.T, p *program) {
			p.data[commandAt(t, p, lcBuildVersion)+14] = 26
		}, "needs macOS 26.0"},
		{"the verbs library", func(t *testing.T, p *program) {
			at := bytes.Index(p.data, []byte("/usr/lib/libresolv.9.dylib"))
			copy(p.data[at:], "/usr/lib/librdma.dylib\x00\x00\x00\x00")
		}, "linked with /usr/lib/librdma.dylib"},
		{"no position independence", func(t *testing.T, p *program) {
			p.data[26] &^= 0x20 // MH_PIE is 0x200000 in the header's seventh word
		}, "not a position-independent executable"},
		{"a segment off its page", func(t *testing.T, p *program) {
			at := bytes.Index(p.data, []byte("__DATA_CONST"))
			p.data[at+17] |= 0x10 // vmaddr
		}, "segment __DATA_CONST"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := bytes.Clone(good)
			tt.plant(t, parsed(t, data))
			faults := strings.Join(parsed(t, data).faults(), "\n")
			if !strings.Contains(faults, tt.want) {
				t.Errorf("no fault says %q: %s", tt.want, faults)
			}
		})
	}
}

// commandAt is the file offset of a load command.
func commandAt(t *testing.T, p *program, kind uint32) int {
	t.Helper()
	for at, n := 32, 0; n < int(p.Ncmd); n++ { // struct mach_header_64 has 32 bytes
		if p.ByteOrder.Uint32(p.data[at:]) == kind {
			return at
		}
		at += int(p.ByteOrder.Uint32(p.data[at+4:]))
	}
	t.Fatalf("no load command %#x", kind)
	return 0
}

func retype(t *testing.T, p *program, from, to uint32) {
	t.Helper()
	binary.LittleEndian.PutUint32(p.data[commandAt(t, p, from):], to)
}

// firstCall is the first BL of a function, in the file.
func firstCall(t *testing.T, p *program, name string) []byte {
	t.Helper()
	text := p.Section("__text")
	for i := range p.funcs {
		f := &p.funcs[i]
		if f.Name != name && f.Name != name+".abi0" {
			continue
		}
		for pc := f.Entry; pc < f.End; pc += 4 {
			at := p.data[uint64(text.Offset)+pc-p.base:]
			if binary.LittleEndian.Uint32(at)>>26 == 0x25 { // BL
				return at
			}
		}
	}
	t.Fatalf("%s calls nothing", name)
	return nil
}

func TestNoProgram(t *testing.T) {
	elf, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"empty": nil, "a text": []byte("#!/bin/sh\n"), "cut short": {0xcf, 0xfa, 0xed, 0xfe, 0xc, 0, 0, 1}} {
		if _, err := parse(data); err == nil {
			t.Errorf("%s: taken for a program", name)
		}
	}
	if p, err := open(elf); err == nil && p.Cpu == 0 {
		t.Errorf("%s: %v", elf, p.summary())
	}
}
