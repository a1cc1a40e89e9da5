package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"rdmaprobe/probe/jsonlimit"
	"rdmaprobe/report"
)

// Read reads a bundle, which may come from anywhere. What is not exactly of the
// form that Write gives is an error.
func Read(r io.Reader) (*Bundle, error) {
	b, err := read(r)
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	return b, nil
}

func read(r io.Reader) (*Bundle, error) {
	packed, err := whole(r)
	if err != nil {
		return nil, err
	}
	rest := bytes.NewReader(packed)
	unpacked, err := gzip.NewReader(rest)
	if err != nil {
		return nil, err
	}
	unpacked.Multistream(false)
	u := &unpacker{from: unpacked}
	b, err := u.bundle()
	if err != nil {
		return nil, err
	}
	// The end of the stream is where gzip compares its own checksum.
	if n, err := io.ReadFull(unpacked, make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("something follows the end of the archive"), err)
	}
	if rest.Len() > 0 {
		return nil, errors.New("something follows the archive")
	}
	return b, b.check()
}

// whole reads the compressed file and compares its checksum. What does not begin
// like a bundle is not read any further.
func whole(r io.Reader) ([]byte, error) {
	head := make([]byte, len(gzipHead)+sha256.Size)
	switch n, err := io.ReadFull(r, head); {
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, err
	case n == 0:
		return nil, errors.New("it is empty")
	case n < len(head) || !bytes.HasPrefix(head, gzipHead):
		return nil, errors.New("it does not begin like one: rdmaprobe report --bundle makes them")
	}
	body, err := io.ReadAll(io.LimitReader(r, MaxPacked-int64(len(head))+1))
	if err != nil {
		return nil, err
	}
	if len(head)+len(body) > MaxPacked {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxPacked>>20)
	}
	if digest := sha256.Sum256(body); !bytes.Equal(digest[:], head[len(gzipHead):]) {
		return nil, errors.New("it is damaged or cut off: its checksum is wrong")
	}
	return append(head, body...), nil
}

// unpacker reads tar in the one form that Write gives. archive/tar would take many
// others.
type unpacker struct {
	from io.Reader
	at   time.Time // of all entries
	last string    // the name of the one before
}

// bundle reads all entries.
func (u *unpacker) bundle() (*Bundle, error) {
	b := &Bundle{Files: map[string][]byte{}}
	for first := true; ; first = false {
		head, err := u.block()
		if err != nil {
			return nil, err
		}
		if bytes.Equal(head, make([]byte, block)) {
			if first {
				return nil, errors.New("there is nothing in it")
			}
			return b, u.zeros(block)
		}
		if err := u.entry(b, head, first); err != nil {
			return nil, err
		}
	}
}

// entry reads one file into the bundle.
func (u *unpacker) entry(b *Bundle, head []byte, first bool) error {
	name, _, _ := strings.Cut(string(head[:nameEnd]), "\x00")
	size, err := octal(head[sizeStart:timeStart])
	if err != nil {
		return err
	}
	switch {
	case !first:
		if err = b.mayAdd(name, size); err == nil && name <= u.last {
			err = fmt.Errorf("%s stands behind %s", name, u.last)
		}
		u.last = name
	case name != ManifestFile:
		err = fmt.Errorf("it begins with %q, not with %s", report.Clean(name), ManifestFile)
	case size > maxManifest:
		err = fmt.Errorf("%s is larger than %d MiB", name, maxManifest>>20)
	default:
		err = u.setTime(head)
	}
	if err == nil {
		err = u.plain(head, name, size)
	}
	if err != nil {
		return err
	}
	data := make([]byte, size)
	if n, err := io.ReadFull(u.from, data); err != nil {
		return fmt.Errorf("%s ends after %d of %d bytes: %w", name, n, size, notEOF(err))
	}
	if err := u.zeros(padding(size)); err != nil {
		return err
	}
	if first {
		return b.readManifest(data, u.at)
	}
	b.Files[name] = data
	return nil
}

// plain tells whether the header is that of a regular file of ours, in every byte.
func (u *unpacker) plain(head []byte, name string, size int64) error {
	want, err := header(name, size, u.at)
	switch {
	case err != nil:
		return err
	case head[typeAt] != tar.TypeReg:
		return fmt.Errorf("%s is not a regular file", name)
	case !bytes.Equal(head, want):
		return fmt.Errorf("the header of %s is not as rdmaprobe writes it", name)
	}
	return nil
}

// setTime takes the time of the first entry for that of all.
func (u *unpacker) setTime(head []byte) error {
	seconds, err := octal(head[timeStart:timeEnd])
	u.at = time.Unix(seconds, 0).UTC()
	return err
}

// readManifest takes the manifest in the form that it is written in.
func (b *Bundle) readManifest(data []byte, at time.Time) error {
	err := jsonlimit.Check(data)
	if err == nil {
		err = json.Unmarshal(data, &b.Manifest)
	}
	if err != nil {
		return fmt.Errorf("%s: %s", ManifestFile, report.Clean(err.Error()))
	}
	if b.Manifest.Schema != Schema {
		return b.check()
	}
	again, err := b.Manifest.encode()
	switch {
	case err != nil:
		return err
	case !bytes.Equal(again, data):
		return fmt.Errorf("%s is not as rdmaprobe writes it", ManifestFile)
	case !b.Manifest.At.Equal(at):
		return errors.New("the time of the entries is not the manifest's")
	}
	return nil
}

func (u *unpacker) block() ([]byte, error) {
	p := make([]byte, block)
	if _, err := io.ReadFull(u.from, p); err != nil {
		return nil, fmt.Errorf("the archive breaks off: %w", notEOF(err))
	}
	return p, nil
}

// zeros reads padding, of less than a block or one.
func (u *unpacker) zeros(n int64) error {
	p := make([]byte, n)
	if _, err := io.ReadFull(u.from, p); err != nil {
		return fmt.Errorf("the archive breaks off: %w", notEOF(err))
	}
	if !bytes.Equal(p, make([]byte, n)) {
		return errors.New("the padding of the archive is not empty")
	}
	return nil
}

// octal is a number of a header: eleven digits and a zero byte.
func octal(field []byte) (int64, error) {
	n, err := strconv.ParseUint(strings.TrimSuffix(string(field), "\x00"), 8, 33)
	if err != nil {
		return 0, errors.New("a header has a field that is no number")
	}
	return int64(n), nil
}

// notEOF makes an end that came too early one: nobody may take it for a good one.
func notEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
