package rdma

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"runtime"
	"testing"
	"unsafe"
)

// note is one ELF note.
func note(name string, kind uint32, desc []byte) []byte {
	pad := func(b []byte) []byte { return append(b, make([]byte, (4-len(b)%4)%4)...) }
	b := binary.NativeEndian.AppendUint32(nil, uint32(len(name)))
	b = binary.NativeEndian.AppendUint32(b, uint32(len(desc)))
	b = binary.NativeEndian.AppendUint32(b, kind)
	b = append(b, pad([]byte(name))...)
	return append(b, pad(bytes.Clone(desc))...)
}

func TestGNUBuildID(t *testing.T) {
	id := []byte{0xde, 0xad, 0xbe, 0xef, 1}
	good := note("GNU\x00", 3, id)
	for _, tt := range []struct {
		name  string
		notes []byte
		want  []byte
	}{
		{"alone", good, id},
		{"second", append(note("GNU\x00", 5, []byte{1, 2, 3, 4}), good...), id},
		{"other owner", note("Go\x00\x00", 3, id), nil},
		{"truncated", good[:len(good)-8], nil},
		{"huge sizes", bytes.Repeat([]byte{0xff}, 64), nil},
		{"too long to be an id", note("GNU\x00", 3, make([]byte, maxBuildIDLen+1)), nil},
		{"empty", nil, nil},
	} {
		if got := gnuBuildID(tt.notes); !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %x, want %x", tt.name, got, tt.want)
		}
	}
}

// image is an empty header of n bytes with 32- and 64-bit words set.
func image(n int, words map[int]uint32, longs map[int]uint64) []byte {
	b := make([]byte, n)
	for offset, v := range words {
		binary.NativeEndian.PutUint32(b[offset:], v)
	}
	for offset, v := range longs {
		binary.NativeEndian.PutUint64(b[offset:], v)
	}
	return b
}

func TestHeaderID(t *testing.T) {
	id := []byte("0123456789abcdef")
	elf := func(count uint32, kind uint32, length uint64) []byte {
		// e_phoff 32, e_phentsize 54, e_phnum 56; one program header at 64, notes at 128.
		b := image(256, map[int]uint32{0: 0x464c457f, 56: count, 64: kind}, map[int]uint64{32: 64, 80: 128, 104: length})
		binary.NativeEndian.PutUint16(b[54:], 56)
		copy(b[128:], note("GNU\x00", 3, id))
		return b
	}
	macho := func(commands, size, first, length uint32) []byte {
		b := image(256, map[int]uint32{0: 0xfeedfacf, 16: commands, 20: size, 32: first, 36: length, 32 + 40: 0x1b, 36 + 40: 24}, nil)
		copy(b[40:], id)
		copy(b[80:], id)
		return b
	}
	for _, tt := range []struct {
		name  string
		image []byte
		want  []byte
	}{
		{"elf", elf(1, 4, 32), id},
		{"elf without notes", elf(1, 1, 32), nil},
		{"elf with huge notes", elf(1, 4, 1<<40), nil},
		{"elf with too many headers", elf(65, 4, 32), nil},
		{"mach-o", macho(1, 24, 0x1b, 24), id},
		{"mach-o, second command", macho(2, 64, 0x19, 40), id},
		{"mach-o without room", macho(2, 40, 0x19, 40), nil},
		{"mach-o with an empty command", macho(1<<30, 1<<30, 0x19, 0), nil},
		{"neither", make([]byte, 256), nil},
	} {
		got := headerID(uintptr(unsafe.Pointer(&tt.image[0])))
		runtime.KeepAlive(tt.image)
		if !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %x, want %x", tt.name, got, tt.want)
		}
	}
}

func TestSystemLibraryIdentity(t *testing.T) {
	l, err := Open("")
	if err != nil {
		missing(t, "there is no verbs library on this system: "+err.Error())
	}
	if !regexp.MustCompile(`^[0-9a-f]{16,128}$`).MatchString(l.ID()) {
		t.Errorf("ID %q is not a build id", l.ID())
	}
	if l.Path() == "" || l.Platform() != hostPlatform() {
		t.Errorf("path %q, platform %q", l.Path(), l.Platform())
	}
	t.Log(l.Path(), l.ID())
}
