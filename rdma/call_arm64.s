//go:build linux || darwin

#include "textflag.h"

// The functions follow the AAPCS64 C ABI, not Go's: runtime.cgocall jumps to
// them on the system stack with the block's address in R0. What they use is also
// right under Apple's rules: R18 is nobody's, R29 points to a frame record, every
// argument is a whole word in a register. They keep what they use of R19 to R28,
// and leave R27 and R28 alone, which the assembler and the Go runtime take for
// themselves.

GLOBL ·callErrnoABI0(SB), NOPTR|RODATA, $8
DATA ·callErrnoABI0(SB)/8, $·callErrno(SB)

// errnoBlock: fn 0, loc 8, args 16..56, result 64, errno 72. loc may be 0.
TEXT ·callErrno(SB), NOSPLIT|NOFRAME, $0-0
	STP.W (R29, R30), -32(RSP)
	MOVD RSP, R29
	STP  (R19, R20), 16(RSP)
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
	LDP  16(RSP), (R19, R20)
	LDP.P 32(RSP), (R29, R30)
	MOVD ZR, R0
	RET

GLOBL ·callHot3ABI0(SB), NOPTR|RODATA, $8
DATA ·callHot3ABI0(SB)/8, $·callHot3(SB)

// hotBlock: fn 0, a 8, b 16, c 24, result 32.
TEXT ·callHot3(SB), NOSPLIT|NOFRAME, $0-0
	STP.W (R29, R30), -32(RSP)
	MOVD RSP, R29
	STP  (R19, R20), 16(RSP)
	MOVD R0, R19
	MOVD 8(R19), R0
	MOVD 16(R19), R1
	MOVD 24(R19), R2
	MOVD 0(R19), R9
	BL   (R9)
	MOVD R0, 32(R19)
	LDP  16(RSP), (R19, R20)
	LDP.P 32(RSP), (R29, R30)
	MOVD ZR, R0
	RET

GLOBL ·callTurnABI0(SB), NOPTR|RODATA, $8
DATA ·callTurnABI0(SB)/8, $·callTurn(SB)

// NOTE keeps the mark in R20, if there is one, as CallMark.begin does: the counts
// follow the word that holds the verb.
#define NOTE(verb, skip) \
	MOVD verb(R19), R1; \
	CBZ  R20, skip; \
	ADD  R1<<3, R20, R2; \
	MOVD (R2), R3; \
	ADD  $1, R3; \
	MOVD R3, (R2); \
	MOVW R1, (R20)

// turnBlock: qp 0, cq 8, recvFn 16, recv 24, badRecv 32, sendFn 40, send 48,
// badSend 56, pollFn 64, entries 72, wc 80, polls 88, mark 96, recvVerb 104,
// sendVerb 112, pollVerb 120, recvValue 128, sendValue 136, pollValue 144,
// wantID 152, wantLength 160, wantAt 168, wantMask 176, wantWord 184,
// answered 192, then 200. wantAt is 0 where nothing is awaited. After the answer
// pollValue is that of the polls then. struct ibv_wc has 48 bytes: wr_id 0, status
// 8, byte_len 20.
TEXT ·callTurn(SB), NOSPLIT|NOFRAME, $0-0
	STP.W (R29, R30), -48(RSP)
	MOVD RSP, R29
	STP  (R19, R20), 16(RSP)
	MOVD R21, 32(RSP)
	MOVD R0, R19
	MOVD 96(R19), R20
	MOVD 168(R19), R1
	CBNZ R1, polls

posts:
	MOVD 16(R19), R21
	CBZ  R21, send
	NOTE(104, recv)

recv:
	MOVD 0(R19), R0
	MOVD 24(R19), R1
	MOVD 32(R19), R2
	BL   (R21)
	MOVD R0, 128(R19)
	CBNZW R0, done

send:
	MOVD 40(R19), R21
	CBZ  R21, polls
	NOTE(112, sendcall)

sendcall:
	MOVD 0(R19), R0
	MOVD 48(R19), R1
	MOVD 56(R19), R2
	BL   (R21)
	MOVD R0, 136(R19)
	CBNZW R0, done

polls:
	MOVD 88(R19), R21
	CBZ  R21, done

poll:
	NOTE(120, pollcall)

pollcall:
	MOVD 8(R19), R0
	MOVD 72(R19), R1
	MOVD 80(R19), R2
	MOVD 64(R19), R9
	BL   (R9)
	CBNZW R0, polled
	SUB  $1, R21
	CBNZ R21, poll

polled:
	MOVD R0, 144(R19)
	MOVD 168(R19), R1
	CBZ  R1, done
	CMPW $1, R0
	BNE  done
	MOVD 80(R19), R2
	MOVD 0(R2), R3
	MOVD 152(R19), R4
	CMP  R3, R4
	BNE  done
	MOVWU 8(R2), R3
	CBNZ R3, done
	MOVWU 20(R2), R3
	MOVD 160(R19), R4
	CMP  R3, R4
	BNE  done
	MOVD 0(R1), R3
	MOVD 176(R19), R4
	AND  R4, R3
	MOVD 184(R19), R4
	CMP  R3, R4
	BNE  done
	MOVD $1, R3
	MOVD R3, 192(R19)
	MOVD ZR, 168(R19)
	MOVD ZR, 144(R19)
	MOVD 200(R19), R4
	MOVD R4, 88(R19)
	CBZ  R4, posts
	MOVD R3, 72(R19)
	ADD  $48, R2
	MOVD R2, 80(R19)
	B    posts

done:
	CBZ  R20, out
	MOVW ZR, (R20)

out:
	MOVD 32(RSP), R21
	LDP  16(RSP), (R19, R20)
	LDP.P 48(RSP), (R29, R30)
	MOVD ZR, R0
	RET
