package bundle

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"rdmaprobe/probe"
)

var noon = time.Date(2026, 7, 17, 12, 0, 0, 0, time.UTC)

// small is a bundle with every kind of file.
func small(t testing.TB) *Bundle {
	t.Helper()
	b := New(probe.Tool{Name: "rdmaprobe", Version: "v0.0.1", Go: "go1.26"}, noon.Add(300*time.Millisecond), true)
	for name, data := range map[string]string{
		LedgerFile:          "",
		DocumentFile:        `{"schema":"rdmaprobe.report","schema_version":"1.0","run":{"id":"r","command":[]}}` + "\n",
		IdentityFile:        "{}\n",
		"host/ifconfig.txt": "en1: flags=8863<UP>\n\tinet 192.0.2.1\n",
	} {
		if err := b.Add(name, "what "+name+" is", []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	b.LeaveOut(VerifyFile, "ibv_devinfo is not installed")
	b.LeaveOut(SelfTestFile, "not run")
	return b
}

func packed(t testing.TB, b *Bundle) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRoundTrip(t *testing.T) {
	b := small(t)
	data := packed(t, b)
	if !bytes.Equal(data, packed(t, small(t))) {
		t.Error("the same contents gave other bytes")
	}
	got, err := Read(iotest.OneByteReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, got); diff != "" {
		t.Error(diff)
	}
	if d, err := got.Document(); err != nil || d.Run.ID != "r" {
		t.Errorf("document: %v, %v", d, err)
	}
}

// TestTarReadsIt: whoever gets a bundle looks at it with tar.
func TestTarReadsIt(t *testing.T) {
	gz, err := gzip.NewReader(bytes.NewReader(packed(t, small(t))))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Mode != 0o644 || h.Uid != 0 || h.Gid != 0 || h.Uname+h.Gname != "" || !h.ModTime.Equal(noon) || h.Typeflag != tar.TypeReg {
			t.Errorf("%s: %+v", h.Name, h)
		}
	}
	want := []string{ManifestFile, DocumentFile, "host/ifconfig.txt", IdentityFile, LedgerFile}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

func TestEveryDamagedByteIsRefused(t *testing.T) {
	data := packed(t, small(t))
	for i := range data {
		for _, mask := range []byte{0xff, 0x01, 0x80} {
			damaged := bytes.Clone(data)
			damaged[i] ^= mask
			if _, err := Read(bytes.NewReader(damaged)); err == nil {
				t.Errorf("byte %d of %d, xor %#x: taken", i, len(data), mask)
			}
		}
	}
}

func TestEveryCutIsRefused(t *testing.T) {
	data := packed(t, small(t))
	for i := range data {
		if _, err := Read(bytes.NewReader(data[:i])); err == nil {
			t.Errorf("%d of %d bytes: taken", i, len(data))
		}
	}
}

// sealed is a tar stream with a gzip envelope whose checksums are right, so that
// what is wrong inside is what gets refused.
func sealed(tarStream []byte) []byte {
	var body []byte
	for chunk := range slices.Chunk(tarStream, 1<<15) { // stored, RFC 1951, 3.2.4
		body = append(body, 0)
		body = binary.LittleEndian.AppendUint16(body, uint16(len(chunk)))
		body = binary.LittleEndian.AppendUint16(body, ^uint16(len(chunk)))
		body = append(body, chunk...)
	}
	body = append(body, 1, 0, 0, 0xff, 0xff)
	body = binary.LittleEndian.AppendUint32(body, crc32.ChecksumIEEE(tarStream))
	return seal(binary.LittleEndian.AppendUint32(body, uint32(len(tarStream))))
}

func seal(body []byte) []byte {
	digest := sha256.Sum256(body)
	return slices.Concat(gzipHead, digest[:], body)
}

// stream is the tar stream of a bundle.
func stream(t testing.TB, b *Bundle) []byte {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(packed(t, b)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEveryDamagedByteInsideIsRefused damages what the envelope protects, and
// makes the envelope fit again: header, padding and data of each entry have no
// byte that means nothing.
func TestEveryDamagedByteInsideIsRefused(t *testing.T) {
	data := stream(t, small(t))
	if _, err := Read(bytes.NewReader(sealed(data))); err != nil {
		t.Fatalf("undamaged: %v", err)
	}
	for i := range data {
		damaged := bytes.Clone(data)
		damaged[i] ^= 0xff
		if _, err := Read(bytes.NewReader(sealed(damaged))); err == nil {
			t.Errorf("byte %d of %d: taken", i, len(data))
		}
	}
	for _, cut := range []int{0, 1, 511, 512, 513, len(data) - 1, len(data) - 512, len(data) - 1024} {
		if _, err := Read(bytes.NewReader(sealed(data[:cut]))); err == nil {
			t.Errorf("%d of %d bytes: taken", cut, len(data))
		}
	}
}

// One bundle has one form: the same files in another order are another.
func TestOrderIsFixed(t *testing.T) {
	data := stream(t, small(t))
	at := func(name string) int { return bytes.Index(data, []byte(name+"\x00")) }
	first, second, third := at(DocumentFile), at("host/ifconfig.txt"), at(IdentityFile)
	swapped := slices.Concat(data[:first], data[second:third], data[first:second], data[third:])
	if _, err := Read(bytes.NewReader(sealed(swapped))); err == nil || !strings.Contains(err.Error(), "stands behind") {
		t.Errorf("error %v", err)
	}
}

// entries writes a tar archive of given headers.
func entries(t *testing.T, headers ...*tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range headers {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			w.Write(make([]byte, h.Size))
		}
	}
	w.Close()
	return out.Bytes()
}

func TestForeignEntriesAreRefused(t *testing.T) {
	whole := stream(t, small(t))
	manifest := whole[:bytes.Index(whole, []byte(DocumentFile+"\x00"))]
	regular := func(name string) *tar.Header {
		return &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, ModTime: noon, Format: tar.FormatUSTAR}
	}
	of := func(kind byte, name string) *tar.Header {
		return &tar.Header{Typeflag: kind, Name: name, Linkname: "/etc/passwd", Mode: 0o644, ModTime: noon, Format: tar.FormatUSTAR}
	}
	long := regular("host/" + strings.Repeat("a", 200) + ".txt")
	long.Format = tar.FormatPAX
	owned := regular(DocumentFile)
	owned.Uname = "someone"
	for name, tt := range map[string]struct {
		entry *tar.Header
		want  string
	}{
		"parent":     {regular("../document.json"), "no file of a bundle"},
		"inner":      {regular("host/../x.txt"), "no file of a bundle"},
		"absolute":   {regular("/document.json"), "no file of a bundle"},
		"unknown":    {regular("notes.json"), "no file of a bundle"},
		"manifest":   {regular(ManifestFile), "no file of a bundle"},
		"control":    {regular("host/\x1b[2J.txt"), "no file of a bundle"},
		"symlink":    {of(tar.TypeSymlink, DocumentFile), "not a regular file"},
		"hard link":  {of(tar.TypeLink, DocumentFile), "not a regular file"},
		"directory":  {of(tar.TypeDir, "host/"), "no file of a bundle"},
		"named dir":  {of(tar.TypeDir, DocumentFile), "no"},
		"device":     {of(tar.TypeChar, DocumentFile), "not a regular file"},
		"fifo":       {of(tar.TypeFifo, DocumentFile), "not a regular file"},
		"long name":  {long, "no file of a bundle"},
		"an owner":   {owned, "not as rdmaprobe writes it"},
		"no content": {regular(DocumentFile), "not what the manifest says"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(bytes.NewReader(sealed(append(bytes.Clone(manifest), entries(t, tt.entry)...))))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsRune(err.Error(), '\x1b') {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestForeignEnvelopesAreRefused(t *testing.T) {
	good := packed(t, small(t))
	body := good[len(gzipHead)+sha256.Size:]
	inner := stream(t, small(t))
	document := bytes.Index(inner, []byte(DocumentFile+"\x00"))
	host := bytes.Index(inner, []byte("host/ifconfig.txt\x00"))
	for name, data := range map[string][]byte{
		"empty":                 {},
		"plain gzip":            gzipped(t, inner),
		"trailing byte":         append(bytes.Clone(good), 0),
		"trailing, sealed":      seal(append(bytes.Clone(body), 0)),
		"second member":         append(bytes.Clone(good), gzipped(t, inner)...),
		"second member, sealed": seal(append(bytes.Clone(body), gzipped(t, inner)...)),
		"more behind the end":   sealed(append(bytes.Clone(inner), make([]byte, 512)...)),
		"an archive behind":     sealed(append(bytes.Clone(inner), inner...)),
		"the same file twice":   sealed(slices.Concat(inner[:host], inner[document:])),
		"a file missing":        sealed(slices.Concat(inner[:document], inner[host:])),
		"no manifest":           sealed(inner[document:]),
		"only the end":          sealed(make([]byte, 1024)),
		"wrong checksum within": seal(append(bytes.Clone(body[:len(body)-8]), make([]byte, 8)...)),
	} {
		if _, err := Read(bytes.NewReader(data)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(data)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestBombs: a file of zeros that claims to be 10 GB is refused with little read
// and little kept, however its envelope fits.
func TestBombs(t *testing.T) {
	var body bytes.Buffer
	w, err := flate.NewWriter(&body, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	inner := stream(t, small(t))
	if _, err := w.Write(inner[:bytes.Index(inner, []byte(DocumentFile+"\x00"))]); err != nil {
		t.Fatal(err)
	}
	claim, err := header(LedgerFile, MaxFile, noon)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(claim)
	w.Flush()
	before := body.Len()
	w.Write(make([]byte, 1<<20))
	w.Flush()
	mib := bytes.Clone(body.Bytes()[before:]) // behind zeros these bytes are one more MiB of them
	const size = 10_000
	for range size {
		body.Write(mib)
	}
	w.Close()
	for name, data := range map[string]io.Reader{
		"zeros in gzip": bytes.NewReader(seal(append(body.Bytes(), make([]byte, 8)...))),
		"bare zeros":    io.LimitReader(zeroReader{}, size<<20),
		"endless body":  io.MultiReader(bytes.NewReader(gzipHead), zeroReader{}),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: taken", name)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 200<<20 { // of 10 GB; the race detector adds some
			t.Errorf("%s: %d MiB allocated in all", name, used>>20)
		}
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestManifestMustFit(t *testing.T) {
	for name, change := range map[string]func(*Bundle){
		"schema":       func(b *Bundle) { b.Manifest.Schema = "rdmaprobe.bundle/2" },
		"size":         func(b *Bundle) { b.Manifest.Files[0].Bytes++ },
		"sha256":       func(b *Bundle) { b.Manifest.Files[0].SHA256 = strings.Repeat("0", 64) },
		"order":        func(b *Bundle) { slices.Reverse(b.Manifest.Files) },
		"unlisted":     func(b *Bundle) { b.Manifest.Files = b.Manifest.Files[1:] },
		"listed twice": func(b *Bundle) { b.Manifest.Files = append(b.Manifest.Files, b.Manifest.Files[3]) },
		"unexplained":  func(b *Bundle) { b.Manifest.LeftOut = nil },
		"no document":  func(b *Bundle) { delete(b.Files, DocumentFile); b.Manifest.Files = b.Manifest.Files[1:] },
		"odd name": func(b *Bundle) {
			b.Files["x"] = nil
			b.Manifest.Files = append(b.Manifest.Files, File{Name: "x", SHA256: sum(nil)})
		},
		"odd time":    func(b *Bundle) { b.Manifest.At = noon.Add(1) },
		"zone":        func(b *Bundle) { b.Manifest.At = noon.In(time.FixedZone("x", 3600)) },
		"before 1970": func(b *Bundle) { b.Manifest.At = time.Unix(-1, 0).UTC() },
	} {
		b := small(t)
		change(b)
		if err := Write(io.Discard, b); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

func TestAddKeepsTheBounds(t *testing.T) {
	b := small(t)
	names := slices.Sorted(maps.Keys(b.Files))
	for name, size := range map[string]int{"../x": 1, DocumentFile: 1, SelfTestFile: MaxFile + 1, "host/A.txt": 1} {
		if err := b.Add(name, "", make([]byte, size)); err == nil {
			t.Errorf("%s of %d bytes: added", name, size)
		}
	}
	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(b.Files))); diff != "" {
		t.Error(diff)
	}
}

// FuzzRead: what is taken is written again to the same contents. The envelope is
// made to fit, since nothing gets past it otherwise.
func FuzzRead(f *testing.F) {
	f.Add(stream(f, small(f)))
	f.Fuzz(func(t *testing.T, inner []byte) {
		b, err := Read(bytes.NewReader(sealed(inner)))
		if err != nil {
			return
		}
		if again := stream(t, b); !bytes.Equal(again, inner) {
			t.Errorf("taken and written otherwise:\n%q\n%q", inner, again)
		}
	})
}
