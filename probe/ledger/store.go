package ledger

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// Store is a ledger that may be written to. It is safe for concurrent use and
// holds nothing open, so it needs no closing.
type Store struct {
	ctx      context.Context // while it lasts the ledger may be written to
	path     string
	provider string
	invoker  *invoker
	now      func() time.Time

	mu   sync.Mutex
	seen survey
}

// Open makes the ledger at path ready for writing records of provider, which is
// "native" or "simulated:ID". Folders are created with mode 0700, the file with
// 0600; a symbolic link is refused. The errors are a StoreError, a ForeignError
// when the ledger belongs to another provider, or match ErrNotLedger.
func Open(path, provider string) (*Store, error) {
	return OpenWithin(context.Background(), path, provider)
}

// OpenWithin is Open for one who stops waiting when ctx ends: what then still waits
// for other writers writes nothing any more.
func OpenWithin(ctx context.Context, path, provider string) (*Store, error) {
	return open(ctx, path, provider, currentInvoker())
}

func open(ctx context.Context, path, provider string, in *invoker) (*Store, error) {
	if !validProvider(provider) {
		return nil, fmt.Errorf("open ledger: %q is no provider", provider)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	s := &Store{ctx: ctx, path: abs, provider: provider, invoker: in, now: time.Now}
	home, _ := DefaultPath(native) // without a home folder there is nothing to protect
	if provider != native && samePlace(abs, home) {
		return nil, &ForeignError{Path: abs, Want: provider, Found: native}
	}
	if err := ours(abs); err != nil { // before there is anything
		return nil, err
	}
	if err := makeFolders(filepath.Dir(abs), s.invoker); err != nil {
		return nil, err
	}
	unlock, err := lockWriters(ctx, abs, s.invoker)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.ensure(); err != nil {
		return nil, err
	}
	f, err := s.openLocked()
	if err != nil {
		return nil, err
	}
	return s, f.Close()
}

// Path is the absolute path of the ledger.
func (s *Store) Path() string { return s.path }

// Live lists the runs that are still going on, in any process.
func (s *Store) Live() ([]string, error) {
	live, err := liveRuns(s.path)
	if err != nil {
		return live, fmt.Errorf("list live runs: %w", err)
	}
	return live, nil
}

// ensure creates the file when it is missing and makes its name durable.
func (s *Store) ensure() error {
	created, err := ensure(s.path, s.invoker)
	if err != nil {
		return notWritable("create", s.path, err)
	}
	if created {
		return notWritable("sync", s.path, syncFolder(filepath.Dir(s.path)))
	}
	return nil
}

// openLocked opens the file for appending and reads on to its end. The
// writers' lock is held.
func (s *Store) openLocked() (*os.File, error) {
	f, err := openToAppend(s.path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.seen.readOn(f, s.path, s.provider); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// survey is what is known of a file up to an offset, so that the next look
// reads only what was added.
type survey struct {
	info   fs.FileInfo // nil: nothing yet
	offset int64
	last   int64 // highest run number
	found  bool  // a record was seen
}

// readOn reads f from where the last survey ended.
func (v *survey) readOn(f *os.File, path, provider string) error {
	info, err := f.Stat()
	if err != nil {
		return notWritable("read", path, err)
	}
	if v.info == nil || !os.SameFile(v.info, info) || info.Size() < v.offset {
		*v = survey{} // pruned or replaced
	}
	v.info = info
	sc := scanner{parser: parser{headersOnly: true}}
	sc.r = io.NewSectionReader(f, v.offset, info.Size()-v.offset)
	err = sc.run(func(_ []byte, r *Record, verdict verdict) error {
		if verdict == bad {
			return nil
		}
		v.found = true
		v.last = max(v.last, r.N)
		if r.Kind == KindRun && r.Provider != "" && r.Provider != provider {
			return &ForeignError{Path: path, Want: provider, Found: r.Provider}
		}
		return nil
	})
	if err != nil {
		*v = survey{}
		return err
	}
	v.offset += sc.offset
	if !v.found && !startsLikeOne(f) {
		return fmt.Errorf("open %s: %w (name another file with --store FILE)", shown(path), ErrNotLedger)
	}
	return nil
}

// startsLikeOne keeps a mistyped --store from appending to somebody's letter:
// a file without any record must at least begin like one that was torn early.
func startsLikeOne(f *os.File) bool {
	head := make([]byte, len(`{"v":`))
	n, _ := f.ReadAt(head, 0)
	return bytes.HasPrefix([]byte(`{"v":`), head[:n])
}

// validProvider keeps what goes into run records short and printable.
func validProvider(p string) bool {
	id, simulated := strings.CutPrefix(p, "simulated:")
	if p != native && (!simulated || id == "") {
		return false
	}
	return len(p) <= 256 && utf8.ValidString(p) &&
		!strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) })
}

// samePlace tells whether two paths name one file, which need not exist yet.
// It errs towards yes where a file system may ignore case.
func samePlace(a, b string) bool {
	if b == "" {
		return false
	}
	if strings.EqualFold(a, b) || sameFile(a, b) {
		return true
	}
	return strings.EqualFold(filepath.Base(a), filepath.Base(b)) && sameFile(filepath.Dir(a), filepath.Dir(b))
}

func sameFile(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}
