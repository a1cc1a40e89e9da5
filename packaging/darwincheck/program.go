package main

import (
	"bytes"
	"debug/gosym"
	"debug/macho"
	"fmt"
	"os"
	"slices"
)

// program is a Mach-O file of the Go linker.
type program struct {
	*macho.File
	data  []byte       // the whole file
	text  []byte       // __text, where Go's functions are
	base  uint64       // the address of text
	funcs []gosym.Func // by address, from the table that the runtime itself uses
	cpu   *processor
	seen  counts
}

// counts says how much was inspected: nothing wrong in nothing proves nothing.
type counts struct {
	branches int // direct branches that were followed
	opaque   int // instructions that the decoder does not know: their path ends there
	pages    int // pages whose hash was compared
}

// open reads a program. An error means that it is none, or is cut short.
func open(path string) (*program, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func parse(data []byte) (*program, error) {
	f, err := macho.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	p := &program{File: f, data: data, cpu: processors[f.Cpu]}
	if p.cpu == nil {
		return nil, fmt.Errorf("for the processor %v, which no Mac of ours has", f.Cpu)
	}
	text := f.Section("__text")
	table := f.Section("__gopclntab")
	if text == nil || table == nil {
		return nil, fmt.Errorf("no program of Go: __text or __gopclntab is missing")
	}
	if p.text, err = text.Data(); err != nil {
		return nil, fmt.Errorf("__text: %w", err)
	}
	p.base = text.Addr
	lines, err := table.Data()
	if err != nil {
		return nil, fmt.Errorf("__gopclntab: %w", err)
	}
	symbols, err := gosym.NewTable(nil, gosym.NewLineTable(lines, p.base))
	if err != nil {
		return nil, fmt.Errorf("__gopclntab: %w", err)
	}
	p.funcs = symbols.Funcs
	return p, nil
}

// faults is everything that is wrong with the program.
func (p *program) faults() []string {
	p.seen = counts{}
	return slices.Concat(p.loadFaults(), p.functionFaults(), p.branchFaults(), p.signatureFaults())
}

func (p *program) summary() string {
	minimum, _ := p.minimum()
	return fmt.Sprintf("%v, macOS %d.%d: %d functions, %d branches (%d instructions not known), %d signed pages",
		p.Cpu, minimum>>16, minimum>>8&0xff, len(p.funcs), p.seen.branches, p.seen.opaque, p.seen.pages)
}
