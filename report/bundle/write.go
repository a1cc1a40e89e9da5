package bundle

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// Write writes a bundle. One that Read would not take is an error, and nothing of
// it is written.
func Write(w io.Writer, b *Bundle) error {
	packed, err := pack(b)
	if err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	if _, err := w.Write(packed); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}

// pack is the bundle as one piece: its checksum stands before what it is of.
func pack(b *Bundle) ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	manifest, err := b.Manifest.encode()
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	compressed, err := flate.NewWriter(&body, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	a := &archive{to: compressed, at: b.Manifest.At}
	a.entry(ManifestFile, manifest)
	for _, f := range b.Manifest.Files {
		a.entry(f.Name, b.Files[f.Name])
	}
	a.put(make([]byte, 2*block))
	if a.err == nil {
		a.err = compressed.Close()
	}
	if a.err != nil {
		return nil, a.err
	}
	body.Write(binary.LittleEndian.AppendUint32(nil, a.crc))
	body.Write(binary.LittleEndian.AppendUint32(nil, uint32(a.size)))
	digest := sha256.Sum256(body.Bytes())
	packed := append(append(bytes.Clone(gzipHead), digest[:]...), body.Bytes()...)
	if len(packed) > MaxPacked {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxPacked>>20)
	}
	return packed, nil
}

// archive writes tar, and keeps the first error.
type archive struct {
	to   io.Writer
	at   time.Time
	crc  uint32
	size int64
	err  error
}

func (a *archive) entry(name string, data []byte) {
	head, err := header(name, int64(len(data)), a.at)
	if a.err == nil {
		a.err = err
	}
	a.put(head)
	a.put(data)
	a.put(make([]byte, padding(int64(len(data)))))
}

func (a *archive) put(p []byte) {
	if a.err == nil {
		_, a.err = a.to.Write(p)
	}
	a.crc = crc32.Update(a.crc, crc32.IEEETable, p)
	a.size += int64(len(p))
}
