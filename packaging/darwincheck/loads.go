package main

import (
	"debug/macho"
	"fmt"
	"slices"
	"strings"
)

// systemLibraries are what a program for macOS may be linked with, all there on
// every macOS. librdma.dylib is not: before 26.2 dyld would refuse to start what
// needs it.
var systemLibraries = []string{"/usr/lib/libSystem.B.dylib", "/usr/lib/libresolv.9.dylib"}

// newestMinimum is the highest macOS that a program may ask for. RDMA needs 26.2;
// everything else that it does is of use before.
const newestMinimum = 14 << 16

// Load commands, <mach-o/loader.h>.
const (
	lcUnixThread       = 0x5
	lcCodeSignature    = 0x1d
	lcVersionMinMacOSX = 0x24
	lcMain             = 0x80000028
	lcBuildVersion     = 0x32
	platformMacOS      = 1
)

// command is the words of the first load command of a kind, or nil.
func (p *program) command(kind uint32) []uint32 {
	for _, l := range p.Loads {
		raw := l.Raw()
		if len(raw) < 8 || p.ByteOrder.Uint32(raw) != kind {
			continue
		}
		words := make([]uint32, len(raw)/4)
		for i := range words {
			words[i] = p.ByteOrder.Uint32(raw[4*i:])
		}
		return words
	}
	return nil
}

// minimum is the system that a program needs, as xxxx.yy.zz in one number.
func (p *program) minimum() (uint32, error) {
	if w := p.command(lcBuildVersion); len(w) >= 4 { // cmd, cmdsize, platform, minos, sdk, ntools
		if w[2] != platformMacOS {
			return 0, fmt.Errorf("for platform %d, not macOS", w[2])
		}
		return w[3], nil
	}
	if w := p.command(lcVersionMinMacOSX); len(w) >= 3 { // cmd, cmdsize, version, sdk
		return w[2], nil
	}
	return 0, fmt.Errorf("no load command names a minimum system")
}

// start is the address at which the program begins.
func (p *program) start() (uint64, error) {
	if w := p.command(lcMain); len(w) >= 4 { // cmd, cmdsize, the offset from the file's start in two words
		text := p.Segment("__TEXT")
		if text == nil {
			return 0, fmt.Errorf("no segment __TEXT")
		}
		return text.Addr + uint64(w[3])<<32 + uint64(w[2]), nil
	}
	const rip = 4 + 2*16 // cmd, cmdsize, flavor, count, then x86_thread_state64: rip is its 17th
	if w := p.command(lcUnixThread); p.Cpu == macho.CpuAmd64 && len(w) > rip+1 {
		return uint64(w[rip+1])<<32 + uint64(w[rip]), nil
	}
	return 0, fmt.Errorf("no load command names the program's start")
}

// loadFaults looks at what the kernel and dyld read before anything runs.
func (p *program) loadFaults() (faults []string) {
	if p.Type != macho.TypeExec || p.Flags&macho.FlagPIE == 0 {
		faults = append(faults, fmt.Sprintf("type %v, flags %#x: not a position-independent executable", p.Type, p.Flags))
	}
	if minimum, err := p.minimum(); err != nil {
		faults = append(faults, err.Error())
	} else if minimum == 0 || minimum > newestMinimum {
		faults = append(faults, fmt.Sprintf("needs macOS %d.%d, want at most %d", minimum>>16, minimum>>8&0xff, newestMinimum>>16))
	}
	libraries, err := p.ImportedLibraries()
	if err != nil || len(libraries) == 0 {
		faults = append(faults, fmt.Sprintf("linked with %v, %v", libraries, err))
	}
	for _, l := range libraries {
		if !slices.Contains(systemLibraries, l) {
			faults = append(faults, "linked with "+l)
		}
	}
	for _, l := range p.Loads { // also what is linked weakly or for re-export
		if raw := string(l.Raw()); strings.Contains(raw, "rdma.dylib") || strings.Contains(raw, "ibverbs") {
			faults = append(faults, fmt.Sprintf("a load command names the verbs library: %q", raw))
		}
		if s, ok := l.(*macho.Segment); ok {
			faults = append(faults, p.segmentFaults(s)...)
		}
	}
	return faults
}

// segmentFaults reports a segment that cannot be mapped: a page of memory is a page
// of the file.
func (p *program) segmentFaults(s *macho.Segment) (faults []string) {
	page := p.cpu.page
	if s.Addr%page != 0 || s.Filesz > 0 && s.Offset%page != 0 {
		faults = append(faults, fmt.Sprintf("segment %s at %#x, file offset %#x: off the page of %#x bytes", s.Name, s.Addr, s.Offset, page))
	}
	if s.Offset+s.Filesz > uint64(len(p.data)) {
		faults = append(faults, fmt.Sprintf("segment %s ends at %#x, the file at %#x", s.Name, s.Offset+s.Filesz, len(p.data)))
	}
	return faults
}
