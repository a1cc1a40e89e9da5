package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// What a signature is made of, <kern/cs_blobs.h>; all its numbers are big-endian.
const (
	magicSignature = 0xfade0cc0
	magicDirectory = 0xfade0c02
	slotDirectory  = 0
	hashSHA256     = 2
)

// directory is the start of struct CS_CodeDirectory.
type directory struct {
	Magic, Length, Version, Flags, HashOffset, IdentOffset uint32
	SpecialSlots, CodeSlots, CodeLimit                     uint32
	HashSize, HashType, Platform, PageShift                uint8
}

// signatureFaults compares the hash of each page with that in the signature: the
// kernel ends a program at the first page that differs.
func (p *program) signatureFaults() []string {
	w := p.command(lcCodeSignature) // cmd, cmdsize, offset, size
	if len(w) < 4 {
		if p.cpu.signed {
			return []string{"not signed: the kernel starts no such program on this processor"}
		}
		return nil
	}
	at, size := uint64(w[2]), uint64(w[3])
	if at+size > uint64(len(p.data)) {
		return []string{fmt.Sprintf("the signature at %#x, %#x long, ends behind the file", at, size)}
	}
	d, blob, err := codeDirectory(p.data[at : at+size])
	if err != nil {
		return []string{"the signature: " + err.Error()}
	}
	if uint64(d.CodeLimit) != at {
		return []string{fmt.Sprintf("the signature covers %#x bytes, and begins at %#x", d.CodeLimit, at)}
	}
	page := 1 << d.PageShift
	for i := range int(d.CodeSlots) {
		from, hash := i*page, int(d.HashOffset)+i*sha256.Size
		if from >= int(at) || hash+sha256.Size > len(blob) {
			return []string{fmt.Sprintf("the signature has no place for page %d", i)}
		}
		sum := sha256.Sum256(p.data[from:min(from+page, int(at))])
		if !bytes.Equal(sum[:], blob[hash:hash+sha256.Size]) {
			return []string{fmt.Sprintf("page %d, at file offset %#x, has another hash than the signature says", i, from)}
		}
		p.seen.pages++
	}
	if p.seen.pages*page < int(at) {
		return []string{fmt.Sprintf("the signature has hashes of %d pages, which end before %#x", p.seen.pages, at)}
	}
	return nil
}

// codeDirectory finds the directory among the blobs of a signature, and with it the
// bytes that its offsets count in.
func codeDirectory(signature []byte) (d directory, blob []byte, err error) {
	word := func(i int) uint32 {
		if 4*i+4 > len(signature) {
			return 0
		}
		return binary.BigEndian.Uint32(signature[4*i:])
	}
	if word(0) != magicSignature { // magic, length, count, then type and offset of each
		return d, nil, fmt.Errorf("magic %#x", word(0))
	}
	for i := range min(int(word(2)), len(signature)/8) {
		if kind, offset := word(3+2*i), word(4+2*i); kind == slotDirectory && int(offset) < len(signature) {
			blob = signature[offset:]
		}
	}
	if err := binary.Read(bytes.NewReader(blob), binary.BigEndian, &d); err != nil {
		return d, nil, errors.New("no code directory")
	}
	if d.Magic != magicDirectory || d.HashType != hashSHA256 || d.HashSize != sha256.Size || d.PageShift < 12 || d.PageShift > 14 {
		return d, nil, fmt.Errorf("a directory with magic %#x, hash type %d of %d bytes, pages of 2^%d", d.Magic, d.HashType, d.HashSize, d.PageShift)
	}
	return d, blob, nil
}
