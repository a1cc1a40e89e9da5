package ledger

import (
	"bytes"
	"hash/crc32"
	"strconv"
)

// A line ends with a checksum over all that stands before it:
//
//	,"sum":"1a2b3c4d"}
//
// CRC-32C (RFC 3720, B.4) finds any change of up to 32 bits in a row, and any two
// flipped bits. Lines of programs that did not know it have none, and are read
// without. The form is the same in all versions.
const (
	sealHead = `,"sum":"`
	sealTail = `"}`
	sumSize  = 8
	sealSize = len(sealHead) + sumSize + len(sealTail)
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendSeal appends to b what ends a line that begins with head.
func appendSeal(b, head []byte) []byte {
	sum := crc32.Checksum(head, castagnoli)
	b = append(b, sealHead...)
	for shift := 28; shift >= 0; shift -= 4 {
		b = strconv.AppendUint(b, uint64(sum>>shift&0xf), 16)
	}
	return append(b, sealTail...)
}

// unsealed is a line without its end: the checksum, or the last brace where there
// is none. ok is false for a line that is not what was written.
func unsealed(line []byte) (head []byte, ok bool) {
	line = bytes.TrimRight(line, " \t\r")
	at := len(line) - sealSize
	if at < 0 || !likeSeal(line[at:]) {
		head, ok = bytes.CutSuffix(line, []byte("}"))
		return head, ok
	}
	head = line[:at:at]
	var sum [sealSize]byte
	return head, bytes.Equal(appendSeal(sum[:0], head), line[at:])
}

// likeSeal tells whether a line's end is, or was before it was damaged, a checksum:
// a few wrong letters do not make a line one that never had any.
func likeSeal(end []byte) bool {
	right := 0
	for i, c := range []byte(sealHead) {
		if end[i] == c {
			right++
		}
	}
	for i, c := range []byte(sealTail) {
		if end[len(sealHead)+sumSize+i] == c {
			right++
		}
	}
	return right >= 7 // of ten
}
