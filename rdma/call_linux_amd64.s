#include "textflag.h"

// Both functions follow the System V C ABI, not Go's: runtime.cgocall jumps to
// them on the system stack with the block's address in DI.

GLOBL ·callErrnoABI0(SB), NOPTR|RODATA, $8
DATA ·callErrnoABI0(SB)/8, $·callErrno(SB)

// errnoBlock: fn 0, loc 8, args 16..56, result 64, errno 72. loc may be 0.
TEXT ·callErrno(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BX
	PUSHQ R12
	SUBQ  $8, SP
	MOVQ  DI, BX
	XORL  R12, R12
	MOVQ  8(BX), AX
	TESTQ AX, AX
	JZ    call
	CALL  AX
	MOVQ  AX, R12
	TESTQ R12, R12
	JZ    call
	MOVL  $0, (R12)

call:
	MOVQ  16(BX), DI
	MOVQ  24(BX), SI
	MOVQ  32(BX), DX
	MOVQ  40(BX), CX
	MOVQ  48(BX), R8
	MOVQ  56(BX), R9
	MOVQ  0(BX), R10
	XORL  AX, AX
	CALL  R10
	MOVQ  AX, 64(BX)
	TESTQ R12, R12
	JZ    done
	MOVL  (R12), AX
	MOVL  AX, 72(BX)

done:
	ADDQ  $8, SP
	POPQ  R12
	POPQ  BX
	XORL  AX, AX
	RET

GLOBL ·callHot3ABI0(SB), NOPTR|RODATA, $8
DATA ·callHot3ABI0(SB)/8, $·callHot3(SB)

// hotBlock: fn 0, a 8, b 16, c 24, result 32.
TEXT ·callHot3(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BX
	MOVQ  DI, BX
	MOVQ  8(BX), DI
	MOVQ  16(BX), SI
	MOVQ  24(BX), DX
	MOVQ  0(BX), R10
	XORL  AX, AX
	CALL  R10
	MOVQ  AX, 32(BX)
	POPQ  BX
	XORL  AX, AX
	RET
