package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"sync"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// Schema names this form of a bundle. Any change of it is another number.
const Schema = "rdmaprobe.bundle/1"

// The files of a bundle.
const (
	ManifestFile = "manifest.json"
	DocumentFile = "document.json"
	IdentityFile = "identity.json"
	LedgerFile   = "ledger.jsonl"
	SelfTestFile = "selftest.json"
	VerifyFile   = "verify.json"
	HostFolder   = "host"
)

// Bounds of a bundle.
const (
	MaxPacked  = 16 << 20 // bytes of the compressed file
	MaxTotal   = 64 << 20 // bytes of all files in it
	MaxFile    = 32 << 20 // bytes of one
	MaxEntries = 256

	maxManifest = 1 << 20
)

// Bundle is the contents of one. Files has all but the manifest, by name.
type Bundle struct {
	Manifest Manifest
	Files    map[string][]byte
}

// Manifest says what is in a bundle and what is not.
type Manifest struct {
	Schema   string     `json:"schema"`
	Tool     probe.Tool `json:"tool"`
	At       time.Time  `json:"at"`       // the document's time, whole seconds, UTC
	Redacted bool       `json:"redacted"` // names and addresses are stand-ins in every file
	Files    []File     `json:"files"`    // sorted by name, the manifest itself left out
	LeftOut  []LeftOut  `json:"left_out"`
}

// File is one entry.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	What   string `json:"what"` // one line for a person
}

// LeftOut is something that could have been in the bundle.
type LeftOut struct {
	What string `json:"what"` // the file's name, or what of it
	Why  string `json:"why"`
}

// New is a bundle without files. Without a time it is of 1970.
func New(tool probe.Tool, at time.Time, redacted bool) *Bundle {
	if at = at.UTC().Truncate(time.Second); at.Unix() < 0 || at.Unix() > maxTime {
		at = time.Unix(0, 0).UTC()
	}
	return &Bundle{
		Manifest: Manifest{Schema: Schema, Tool: tool, At: at, Redacted: redacted, Files: []File{}, LeftOut: []LeftOut{}},
		Files:    map[string][]byte{},
	}
}

// Add puts a file into the bundle. What says what it is, in one line. A bundle
// that has no room for it stays as it is.
func (b *Bundle) Add(name, what string, data []byte) error {
	if err := b.mayAdd(name, int64(len(data))); err != nil {
		return err
	}
	files := append(b.Manifest.Files, File{Name: name, Bytes: int64(len(data)), SHA256: sum(data), What: report.Clean(what)})
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	b.Manifest.Files = files
	b.Files[name] = data
	return nil
}

// LeaveOut says that something is not in the bundle, and why.
func (b *Bundle) LeaveOut(what, why string) {
	b.Manifest.LeftOut = append(b.Manifest.LeftOut, LeftOut{What: report.Clean(what), Why: report.Clean(why)})
}

// Document is the document in the bundle.
func (b *Bundle) Document() (*probe.Document, error) {
	d, err := report.Read(bytes.NewReader(b.Files[DocumentFile]))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", DocumentFile, err)
	}
	return d, nil
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// optional are the files that may be left out, always is what may not.
var (
	always   = []string{DocumentFile, IdentityFile}
	optional = []string{LedgerFile, SelfTestFile, VerifyFile}
)

// hostFile is the name of a source's file.
var hostFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + HostFolder + `/[a-z0-9][a-z0-9_-]{0,60}\.txt$`)
})

// known tells whether a file may be called so.
func known(name string) bool {
	return slices.Contains(always, name) || slices.Contains(optional, name) || hostFile().MatchString(name)
}

// mayAdd tells whether a file fits beside those that are there.
func (b *Bundle) mayAdd(name string, size int64) error {
	total := size
	for _, data := range b.Files {
		total += int64(len(data))
	}
	_, twice := b.Files[name]
	switch {
	case !known(name):
		return fmt.Errorf("%q is no file of a bundle", report.Clean(name))
	case twice:
		return fmt.Errorf("%s is there twice", name)
	case size > MaxFile:
		return fmt.Errorf("%s is larger than %d MiB", name, MaxFile>>20)
	case total > MaxTotal:
		return fmt.Errorf("the files are larger than %d MiB together", MaxTotal>>20)
	case len(b.Files) >= MaxEntries:
		return fmt.Errorf("there are more than %d files", MaxEntries)
	}
	return nil
}

// check compares the manifest with the files.
func (b *Bundle) check() error {
	m := &b.Manifest
	if m.Schema != Schema {
		return fmt.Errorf("its schema is %q, this program knows %s", report.Clean(m.Schema), Schema)
	}
	if seconds := m.At.Unix(); m.At != time.Unix(seconds, 0).UTC() || seconds < 0 || seconds > maxTime {
		return errors.New("the manifest's time is not one of whole seconds in UTC")
	}
	counted := &Bundle{Files: map[string][]byte{}}
	for i, f := range m.Files {
		data, there := b.Files[f.Name]
		if err := counted.mayAdd(f.Name, int64(len(data))); err != nil {
			return err
		}
		counted.Files[f.Name] = data
		switch {
		case i > 0 && m.Files[i-1].Name >= f.Name:
			return errors.New("the manifest is not sorted by name")
		case !there:
			return fmt.Errorf("%s is in the manifest and not in the bundle", report.Clean(f.Name))
		case int64(len(data)) != f.Bytes || sum(data) != f.SHA256:
			return fmt.Errorf("%s is not what the manifest says", f.Name)
		}
	}
	if len(m.Files) != len(b.Files) {
		return errors.New("there are files that the manifest does not have")
	}
	return b.complete()
}

// complete tells whether every file is there or accounted for.
func (b *Bundle) complete() error {
	for _, name := range always {
		if _, there := b.Files[name]; !there {
			return fmt.Errorf("%s is missing", name)
		}
	}
	for _, name := range optional {
		_, there := b.Files[name]
		if told := slices.ContainsFunc(b.Manifest.LeftOut, func(l LeftOut) bool { return l.What == name }); !there && !told {
			return fmt.Errorf("%s is missing and nothing says why", name)
		}
	}
	return nil
}

// encode is the manifest as it stands in the archive.
func (m *Manifest) encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	if out.Len() > maxManifest {
		return nil, fmt.Errorf("the manifest is larger than %d MiB", maxManifest>>20)
	}
	return out.Bytes(), nil
}
