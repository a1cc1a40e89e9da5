//go:build linux || darwin

#include "textflag.h"

// The functions follow the System V C ABI, not Go's: runtime.cgocall jumps to
// them on the system stack with the block's address in DI. They keep what they
// use of BX, BP and R12 to R15, and call with the stack on 16 bytes and BP at a
// frame.

GLOBL ·callErrnoABI0(SB), NOPTR|RODATA, $8
DATA ·callErrnoABI0(SB)/8, $·callErrno(SB)

// errnoBlock: fn 0, loc 8, args 16..56, result 64, errno 72. loc may be 0.
TEXT ·callErrno(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	PUSHQ R12
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
	POPQ  R12
	POPQ  BX
	POPQ  BP
	XORL  AX, AX
	RET

GLOBL ·callHot3ABI0(SB), NOPTR|RODATA, $8
DATA ·callHot3ABI0(SB)/8, $·callHot3(SB)

// hotBlock: fn 0, a 8, b 16, c 24, result 32.
TEXT ·callHot3(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	SUBQ  $8, SP
	MOVQ  DI, BX
	MOVQ  8(BX), DI
	MOVQ  16(BX), SI
	MOVQ  24(BX), DX
	MOVQ  0(BX), R10
	XORL  AX, AX
	CALL  R10
	MOVQ  AX, 32(BX)
	ADDQ  $8, SP
	POPQ  BX
	POPQ  BP
	XORL  AX, AX
	RET

GLOBL ·callTurnABI0(SB), NOPTR|RODATA, $8
DATA ·callTurnABI0(SB)/8, $·callTurn(SB)

// NOTE keeps the mark in R12, if there is one, as CallMark.begin does: AX is the
// verb, and the counts follow the word that holds it.
#define NOTE(verb, skip) \
	MOVQ  verb(BX), AX; \
	TESTQ R12, R12; \
	JZ    skip; \
	INCQ  (R12)(AX*8); \
	MOVL  AX, (R12)

// turnBlock: qp 0, cq 8, recvFn 16, recv 24, badRecv 32, sendFn 40, send 48,
// badSend 56, pollFn 64, entries 72, wc 80, polls 88, mark 96, recvVerb 104,
// sendVerb 112, pollVerb 120, recvValue 128, sendValue 136, pollValue 144,
// wantID 152, wantLength 160, wantAt 168, wantMask 176, wantWord 184,
// answered 192, then 200. wantAt is 0 where nothing is awaited. After the answer
// pollValue is that of the polls then. struct ibv_wc has 48 bytes: wr_id 0, status
// 8, byte_len 20.
TEXT ·callTurn(SB), NOSPLIT|NOFRAME, $0-0
	PUSHQ BP
	MOVQ  SP, BP
	PUSHQ BX
	PUSHQ R12
	PUSHQ R13
	SUBQ  $8, SP
	MOVQ  DI, BX
	MOVQ  96(BX), R12
	CMPQ  168(BX), $0
	JNE   polls

posts:
	MOVQ  16(BX), R13
	TESTQ R13, R13
	JZ    send
	NOTE(104, recv)

recv:
	MOVQ  0(BX), DI
	MOVQ  24(BX), SI
	MOVQ  32(BX), DX
	XORL  AX, AX
	CALL  R13
	MOVQ  AX, 128(BX)
	TESTL AX, AX
	JNZ   done

send:
	MOVQ  40(BX), R13
	TESTQ R13, R13
	JZ    polls
	NOTE(112, sendcall)

sendcall:
	MOVQ  0(BX), DI
	MOVQ  48(BX), SI
	MOVQ  56(BX), DX
	XORL  AX, AX
	CALL  R13
	MOVQ  AX, 136(BX)
	TESTL AX, AX
	JNZ   done

polls:
	MOVQ  88(BX), R13
	TESTQ R13, R13
	JZ    done

poll:
	NOTE(120, pollcall)

pollcall:
	MOVQ  8(BX), DI
	MOVQ  72(BX), SI
	MOVQ  80(BX), DX
	MOVQ  64(BX), R10
	XORL  AX, AX
	CALL  R10
	TESTL AX, AX
	JNZ   polled
	DECQ  R13
	JNZ   poll

polled:
	MOVQ  AX, 144(BX)
	MOVQ  168(BX), R10
	TESTQ R10, R10
	JZ    done
	CMPL  AX, $1
	JNE   done
	MOVQ  80(BX), DX
	MOVQ  0(DX), AX
	CMPQ  AX, 152(BX)
	JNE   done
	CMPL  8(DX), $0
	JNE   done
	MOVL  20(DX), AX
	CMPQ  AX, 160(BX)
	JNE   done
	MOVQ  0(R10), AX
	ANDQ  176(BX), AX
	CMPQ  AX, 184(BX)
	JNE   done
	MOVQ  $1, 192(BX)
	MOVQ  $0, 168(BX)
	MOVQ  $0, 144(BX)
	MOVQ  200(BX), AX
	MOVQ  AX, 88(BX)
	TESTQ AX, AX
	JZ    posts
	MOVQ  $1, 72(BX)
	ADDQ  $48, 80(BX)
	JMP   posts

done:
	TESTQ R12, R12
	JZ    out
	MOVL  $0, (R12)

out:
	ADDQ  $8, SP
	POPQ  R13
	POPQ  R12
	POPQ  BX
	POPQ  BP
	XORL  AX, AX
	RET
