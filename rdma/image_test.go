package rdma

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"testing"
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

func TestSystemLibraryIdentity(t *testing.T) {
	l, err := Open("")
	if err != nil {
		t.Skipf("no verbs library on this system: %v", err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{16,128}$`).MatchString(l.ID()) {
		t.Errorf("ID %q is not a build id", l.ID())
	}
	if l.Path() == "" || l.Platform() != hostPlatform() {
		t.Errorf("path %q, platform %q", l.Path(), l.Platform())
	}
	t.Log(l.Path(), l.ID())
}
