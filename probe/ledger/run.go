package ledger

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Run is one run that writes to a ledger. It is safe for concurrent use.
type Run struct {
	ID        string    // sorts by start, to the second; the rest is random
	N         int64     // number in the ledger: later runs have higher ones
	StartedAt time.Time // UTC

	store *Store
	mu    sync.Mutex
	file  *os.File
	lock  *flock.Flock // nil once the run is over
	seq   int64
}

// Begin starts a run: it takes a lock that lasts as long as the run, gives it
// the next number and writes its run record with body, which is anything that
// encoding/json encodes, or a func(*Run) any that makes it of the run's id and number.
func (s *Store) Begin(body any) (*Run, error) {
	if err := ours(s.path); err != nil {
		return nil, err
	}
	unlock, err := lockWriters(s.ctx, s.path, s.invoker)
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
	s.mu.Lock()
	n := max(s.seen.last, lastNumber(s.path)) + 1
	s.mu.Unlock()
	if n > maxNumber {
		f.Close()
		return nil, fmt.Errorf("begin run in %s: the run numbers are used up", shown(s.path))
	}
	now := s.now().UTC()
	r := &Run{ID: newRunID(now), N: n, StartedAt: now, store: s, file: f}
	if err := r.begin(body); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// begin takes the run's lock and writes its first record.
func (r *Run) begin(body any) error {
	s := r.store
	if of, ok := body.(func(*Run) any); ok {
		body = of(r)
	}
	line, err := r.encode(KindRun, r.StartedAt, body)
	if err != nil {
		return err
	}
	if err := makeRunsFolder(s.path, s.invoker); err != nil {
		return err
	}
	sweep(s.path)
	name := runLock(s.path, r.ID)
	if _, err := ensure(name, s.invoker); err != nil {
		return notWritable("create", name, err)
	}
	if r.lock, err = hold(s.ctx, name); err != nil {
		return notWritable("lock", name, err)
	}
	return r.writeLocked(line)
}

// newRunID is the start in UTC and 48 random bits.
func newRunID(now time.Time) string {
	random := make([]byte, 6)
	_, _ = rand.Read(random) // never fails; see crypto/rand
	return now.Format("20060102T150405-") + hex.EncodeToString(random)
}

// Append writes a record of kind device, observation or intent and returns its
// number in the run. The numbers increase; one whose write failed is not used
// again.
func (r *Run) Append(kind string, body any) (int64, error) {
	switch kind {
	case KindIntent:
		return r.Intent(body)
	case KindDevice, KindObservation:
		return r.append(kind, body, false)
	}
	return 0, fmt.Errorf("append: %q is no kind of record to append", kind)
}

// Intent writes an intent. When it returns without error the record is on the
// disk, and what it announces may be tried.
func (r *Run) Intent(body any) (int64, error) {
	return r.append(KindIntent, body, true)
}

// End writes the end record, makes everything durable and gives up the run's
// lock. The run is over also when that fails.
func (r *Run) End(body any) error {
	_, err := r.append(KindEnd, body, true)
	return errors.Join(err, r.Close())
}

// Close gives up the run's lock without a word: its open intents become
// interrupted ones. After End it does nothing.
func (r *Run) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.release()
}

func (r *Run) append(kind string, body any, durable bool) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lock == nil {
		return 0, fmt.Errorf("append %s record: %w", kind, ErrEnded)
	}
	line, err := r.encode(kind, r.store.now().UTC(), body)
	if err != nil {
		return 0, err
	}
	if err := r.write(line); err != nil {
		return 0, err
	}
	seq := r.seq
	if durable {
		if err := r.file.Sync(); err != nil {
			return 0, notWritable("sync", r.store.path, err)
		}
	}
	return seq, nil
}

// encode makes the line of the run's next record.
func (r *Run) encode(kind string, at time.Time, body any) ([]byte, error) {
	rec := Record{V: Version, Kind: kind, Run: r.ID, N: r.N, Seq: r.seq + 1, At: at}
	if kind == KindRun {
		rec.Provider = r.store.provider
	}
	line, err := rec.line(body)
	if err == nil {
		r.seq++
	}
	return line, err
}

func (r *Run) write(line []byte) error {
	unlock, err := lockWriters(r.store.ctx, r.store.path, r.store.invoker)
	if err != nil {
		return err
	}
	defer unlock()
	return r.writeLocked(line)
}

// writeLocked appends line in one write. A torn line at the end of the file is
// closed in the same write, or it would swallow this one.
func (r *Run) writeLocked(line []byte) error {
	path := r.store.path
	info, err := r.file.Stat()
	if err != nil {
		return notWritable("write", path, err)
	}
	named, err := os.Lstat(path)
	if err != nil || !os.SameFile(info, named) {
		return notWritable("write", path, errReplaced) // nobody would ever read it
	}
	if size := info.Size(); size > 0 {
		var end [1]byte
		if _, err := r.file.ReadAt(end[:], size-1); err != nil {
			return notWritable("write", path, err)
		}
		if end[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = r.file.Write(line)
	return notWritable("write", path, err)
}

// release closes the file and drops the lock, in this order: whoever sees the
// run over finds its file complete. Unlocked before removed, since Windows
// removes no open file; the name is never used again.
func (r *Run) release() error {
	err := r.file.Close()
	if r.lock == nil {
		if errors.Is(err, os.ErrClosed) {
			return nil
		}
		return err
	}
	err = errors.Join(err, r.lock.Close())
	r.lock = nil
	_ = os.Remove(runLock(r.store.path, r.ID)) // the next run sweeps up what stays
	return err
}
