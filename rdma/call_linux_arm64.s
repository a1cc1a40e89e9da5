#include "textflag.h"

// Both functions follow the AAPCS64 C ABI, not Go's: runtime.cgocall jumps to
// them on the system stack with the block's address in R0.

GLOBL ·callErrnoABI0(SB), NOPTR|RODATA, $8
DATA ·callErrnoABI0(SB)/8, $·callErrno(SB)

// errnoBlock: fn 0, loc 8, args 16..56, result 64, errno 72. loc may be 0.
TEXT ·callErrno(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $32, RSP
	STP  (R19, R20), 0(RSP)
	STP  (R29, R30), 16(RSP)
	MOVD R0, R19
	MOVD ZR, R20
	MOVD 8(R19), R9
	CBZ  R9, call
	BL   (R9)
	MOVD R0, R20
	CBZ  R20, call
	MOVW ZR, (R20)

call:
	MOVD 16(R19), R0
	MOVD 24(R19), R1
	MOVD 32(R19), R2
	MOVD 40(R19), R3
	MOVD 48(R19), R4
	MOVD 56(R19), R5
	MOVD 0(R19), R9
	BL   (R9)
	MOVD R0, 64(R19)
	CBZ  R20, done
	MOVW (R20), R1
	MOVW R1, 72(R19)

done:
	LDP  16(RSP), (R29, R30)
	LDP  0(RSP), (R19, R20)
	ADD  $32, RSP
	MOVD ZR, R0
	RET

GLOBL ·callHot3ABI0(SB), NOPTR|RODATA, $8
DATA ·callHot3ABI0(SB)/8, $·callHot3(SB)

// hotBlock: fn 0, a 8, b 16, c 24, result 32.
TEXT ·callHot3(SB), NOSPLIT|NOFRAME, $0-0
	SUB  $32, RSP
	STP  (R19, R20), 0(RSP)
	STP  (R29, R30), 16(RSP)
	MOVD R0, R19
	MOVD 8(R19), R0
	MOVD 16(R19), R1
	MOVD 24(R19), R2
	MOVD 0(R19), R9
	BL   (R9)
	MOVD R0, 32(R19)
	LDP  16(RSP), (R29, R30)
	LDP  0(RSP), (R19, R20)
	ADD  $32, RSP
	MOVD ZR, R0
	RET
