package main

import (
	"debug/macho"
	"encoding/binary"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// processor is what differs between the Macs.
type processor struct {
	align  uint64 // a function begins on a multiple of it
	page   uint64 // bytes of a page of memory
	signed bool   // the kernel starts nothing without a signature
	decode func(code []byte, pc uint64) instruction
}

var processors = map[macho.Cpu]*processor{
	macho.CpuArm64: {align: 4, page: 16 << 10, signed: true, decode: decodeARM64},
	macho.CpuAmd64: {align: 1, page: 4 << 10, decode: decodeAMD64},
}

// instruction is what is asked of one. Its length is 0 where the decoder does not
// know it.
type instruction struct {
	length int
	direct bool   // it names where it branches to
	target uint64 // there
	ends   bool   // what follows is not reached from here
}

// decodeARM64 takes what the decoder does not know for no branch: all branches are
// known, and all instructions have four bytes.
func decodeARM64(code []byte, pc uint64) instruction {
	if len(code) < 4 || binary.LittleEndian.Uint32(code) == 0 { // UDF #0
		return instruction{}
	}
	in := instruction{length: 4}
	i, err := arm64asm.Decode(code)
	if err != nil {
		return in
	}
	switch i.Op {
	case arm64asm.B, arm64asm.BL, arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
		conditional := i.Op != arm64asm.BL && i.Op != arm64asm.B
		for _, a := range i.Args {
			switch a := a.(type) {
			case arm64asm.PCRel:
				in.direct, in.target = true, pc+uint64(int64(a))
			case arm64asm.Cond:
				conditional = true
			}
		}
		in.ends = i.Op == arm64asm.B && !conditional
	case arm64asm.BR, arm64asm.RET, arm64asm.ERET, arm64asm.BRK:
		in.ends = true
	}
	return in
}

func decodeAMD64(code []byte, pc uint64) instruction {
	i, err := x86asm.Decode(code, 64)
	if err != nil {
		return instruction{}
	}
	in := instruction{length: i.Len}
	if rel, ok := i.Args[0].(x86asm.Rel); ok {
		in.direct, in.target = true, pc+uint64(i.Len)+uint64(int64(rel))
	}
	switch i.Op {
	case x86asm.JMP, x86asm.RET, x86asm.UD2, x86asm.INT, x86asm.HLT:
		in.ends = true
	}
	return in
}
