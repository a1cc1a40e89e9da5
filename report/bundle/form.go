package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"time"
)

// block is the unit of a tar archive: a header is one, data is padded to whole
// ones, and two empty ones are the end (POSIX ustar).
const block = 512

// maxTime is the largest that the eleven octal digits of a header hold.
const maxTime = 1<<33 - 1

// Places in a header.
const (
	nameEnd   = 100
	sizeStart = 124
	timeStart = 136
	timeEnd   = 148
	typeAt    = 156
)

// header is the only header that an entry of this name, size and time can have.
func header(name string, size int64, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: at, Format: tar.FormatUSTAR})
	if err != nil {
		return nil, fmt.Errorf("header of %s: %w", name, err)
	}
	if out.Len() != block {
		return nil, fmt.Errorf("header of %s: it takes %d bytes", name, out.Len())
	}
	return out.Bytes(), nil
}

// padding is how many zeros follow a file's data.
func padding(size int64) int64 { return -size & (block - 1) }

// gzipHead is the fixed part of the gzip header: deflate, an extra field, no time,
// best compression, no particular system; then the length of the extra field, and
// in it the letters and the length of our only subfield.
var gzipHead = []byte{0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 2, 255, sha256.Size + 4, 0, 'r', 'p', sha256.Size, 0}
