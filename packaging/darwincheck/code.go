package main

import (
	"debug/gosym"
	"fmt"
	"sort"
)

// functionFaults reports functions that do not begin where an instruction can.
// The address of every one of them is what calls to it are made with.
func (p *program) functionFaults() (faults []string) {
	if len(p.funcs) < 1000 {
		faults = append(faults, fmt.Sprintf("only %d functions in __gopclntab", len(p.funcs)))
	}
	off := 0
	for i := range p.funcs {
		f := &p.funcs[i]
		if f.Entry < p.base || f.End > p.base+uint64(len(p.text)) || f.End < f.Entry {
			faults = append(faults, fmt.Sprintf("%s from %#x to %#x is outside of __text", f.Name, f.Entry, f.End))
		}
		if f.Entry%p.cpu.align == 0 {
			continue
		}
		if off++; off == 1 {
			faults = append(faults, fmt.Sprintf("%s begins at %#x, off the boundary of %d bytes", f.Name, f.Entry, p.cpu.align))
		}
	}
	if off > 1 {
		faults = append(faults, fmt.Sprintf("so do %d more", off-1))
	}
	start, err := p.start()
	if err != nil {
		return append(faults, err.Error())
	}
	if f := p.function(start); f == nil || f.Entry != start {
		faults = append(faults, fmt.Sprintf("the program starts at %#x, where no function begins", start))
	}
	return faults
}

// function is the one that an address lies in, or nil.
func (p *program) function(pc uint64) *gosym.Func {
	i := sort.Search(len(p.funcs), func(i int) bool { return p.funcs[i].End > pc })
	if i == len(p.funcs) || pc < p.funcs[i].Entry {
		return nil
	}
	return &p.funcs[i]
}

// branchFaults follows the direct branches of every function from its beginning:
// each must lead to an instruction of the same function, to the beginning of
// another, or to a stub of a system library. The runtime's start is among them.
func (p *program) branchFaults() (faults []string) {
	seen := make([]bool, len(p.text))
	for i := range p.funcs {
		if p.funcs[i].Name == buildID {
			continue
		}
		if f := p.follow(&p.funcs[i], seen); f != "" {
			faults = append(faults, f)
		}
		if len(faults) == maxFaults {
			return append(faults, "and more")
		}
	}
	return faults
}

// buildID is the entry of the table that is a text: the linker puts it before the
// first function.
const buildID = "go:buildid"

// maxFaults is how many wrong branches are told: one fault of a linker is
// thousands of them.
const maxFaults = 10

// follow walks one function's instructions and returns its first fault. seen is
// what was walked, by offset in __text.
func (p *program) follow(f *gosym.Func, seen []bool) string {
	paths := []uint64{f.Entry}
	for len(paths) > 0 {
		pc := paths[len(paths)-1]
		paths = paths[:len(paths)-1]
		for pc >= p.base && pc < f.End && pc-p.base < uint64(len(p.text)) && !seen[pc-p.base] {
			seen[pc-p.base] = true
			in := p.cpu.decode(p.text[pc-p.base:], pc)
			if in.length == 0 {
				p.seen.opaque++
				break
			}
			if in.direct {
				p.seen.branches++
				switch {
				case in.target >= f.Entry && in.target < f.End:
					paths = append(paths, in.target)
				case !p.enterable(in.target):
					return fmt.Sprintf("%s at %#x branches to %#x, where nothing begins", f.Name, pc, in.target)
				}
			}
			if in.ends {
				break
			}
			pc += uint64(in.length)
		}
	}
	return ""
}

// intoTheMiddle are the functions that are entered where their work is left to do.
var intoTheMiddle = []string{"runtime.duffzero", "runtime.duffcopy"}

// enterable reports whether another function may branch to an address.
func (p *program) enterable(pc uint64) bool {
	if stubs := p.Section("__symbol_stub1"); stubs != nil && pc >= stubs.Addr && pc < stubs.Addr+stubs.Size {
		return true
	}
	f := p.function(pc)
	if f == nil {
		return false
	}
	for _, name := range intoTheMiddle {
		if f.Name == name {
			return true
		}
	}
	return f.Entry == pc
}
