package ledger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Pruning counts what a Prune did.
type Pruning struct {
	Kept    int // records that stay, those of later versions among them
	Dropped int // records that went
	Damaged int // lines that cannot be read as a record; they stay as they are
}

// Prune rewrites the ledger at path without the records that keep refuses. What
// cannot be read stays as it is: records of later versions, and damaged lines.
// keep should answer alike for all records of a run. The file is exchanged in one
// step and keeps mode and owner; run numbers go on where they were. It is refused
// with ErrLive while a run is going on, and with ErrNotLedger, nothing touched,
// where Open would refuse it so. A missing or empty file has nothing to prune.
func Prune(path string, keep func(*Record) bool) (Pruning, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Pruning{}, fmt.Errorf("prune ledger: %w", err)
	}
	if info, err := os.Lstat(abs); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return Pruning{}, nil
	}
	if err := ours(abs); err != nil {
		return Pruning{}, err
	}
	if err := prunable(abs); err != nil { // before the lock: it leaves a file
		return Pruning{}, err
	}
	in := currentInvoker()
	unlock, err := lockWriters(context.Background(), abs, in)
	if err != nil {
		return Pruning{}, err
	}
	defer unlock()
	live, err := liveRuns(abs)
	if err != nil {
		return Pruning{}, fmt.Errorf("prune ledger: %w", err)
	}
	if len(live) > 0 {
		return Pruning{}, fmt.Errorf("prune %s: %w (run %s)", shown(abs), ErrLive, live[0])
	}
	old, err := openToAppend(abs)
	if err != nil {
		return Pruning{}, err
	}
	defer old.Close()
	p := pruner{path: abs, invoker: in, keep: keep}
	if err := p.rewrite(old); err != nil {
		return Pruning{}, err
	}
	return p.Pruning, nil
}

// prunable tells why the file at path must not be pruned.
func prunable(path string) error {
	f, err := openToAppend(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return isLedger(f, path)
}

// pruner is one Prune under way. The writers' lock is held.
type pruner struct {
	Pruning
	path    string
	invoker *invoker
	keep    func(*Record) bool
	last    int64 // highest run number
}

// rewrite copies what stays and puts the copy in the place of the old file.
func (p *pruner) rewrite(old *os.File) error {
	name := p.path + ".prune" // one pruner at a time: what is there was left by a dead one
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return notWritable("replace", name, err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return notWritable("replace", p.path, err)
	}
	defer os.Remove(name) // gone already when it was renamed
	err = errors.Join(p.copy(f, old), f.Close())
	if err == nil && p.Dropped > 0 {
		err = p.exchange(name, old)
	}
	return notWritable("replace", p.path, err)
}

// copy makes f a durable copy of what stays of old.
func (p *pruner) copy(f, old *os.File) error {
	if err := p.fill(f, old); err != nil {
		return err
	}
	if err := alike(f, old); err != nil {
		return err
	}
	return f.Sync()
}

// fill copies line by line.
func (p *pruner) fill(f, old *os.File) error {
	w := bufio.NewWriterSize(f, 256<<10)
	sc := scanner{lines: lines{r: old}}
	var end int64    // of the line before
	var counted bool // the record that comes is the end of a damaged line
	put := func(line []byte) error {
		if _, err := w.Write(line); err != nil {
			return err
		}
		return w.WriteByte('\n')
	}
	err := sc.run(func(line []byte, r *Record, v verdict) error {
		start := end
		end = sc.offset
		switch {
		case counted:
			counted = false
			return nil
		case v == bad:
			p.Damaged++
			tail, found := sc.salvage(line)
			counted = found
			if found && !p.stays(&sc.rec, good) {
				return put(line[:len(line)-len(tail)])
			}
			return copyLine(w, old, start, end, sc.unfinished)
		case !p.stays(r, v):
			return nil
		}
		return put(line)
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

// stays counts a record and tells whether it is to be kept.
func (p *pruner) stays(r *Record, v verdict) bool {
	p.last = max(p.last, r.N)
	if v == good && !p.keep(r) {
		p.Dropped++
		return false
	}
	p.Kept++
	return true
}

// copyLine copies bytes of the old file: a line may be too long to be held. An
// unfinished one goes to the end of the file.
func copyLine(w io.Writer, old *os.File, start, end int64, unfinished bool) error {
	n := end - start
	if unfinished {
		n = math.MaxInt64 - start
	}
	_, err := io.Copy(w, io.NewSectionReader(old, start, n))
	return err
}

// exchange renames the copy over the old file. The run number is written down
// first: it may stand in records that go.
func (p *pruner) exchange(name string, old *os.File) error {
	if err := saveNumber(p.path, p.last, p.invoker); err != nil {
		return err
	}
	old.Close() // Windows replaces no open file
	if err := os.Rename(name, p.path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(p.path))
}

// alike gives f mode and owner of old.
func alike(f, old *os.File) error {
	info, err := old.Stat()
	if err != nil {
		return err
	}
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	uid, gid, _, ok := ownerOf(info)
	if u, g, _, _ := ownerOf(mine); ok && (u != uid || g != gid) {
		if err := f.Chown(uid, gid); err != nil {
			return err
		}
	}
	return f.Chmod(info.Mode().Perm())
}

// numberFile keeps the highest run number that was ever pruned.
func numberFile(path string) string { return filepath.Join(runsFolder(path), "last") }

// lastNumber is that number, or 0: the file is a help, not a part of the evidence.
func lastNumber(path string) int64 {
	f, err := openToRead(numberFile(path))
	if err != nil {
		return 0
	}
	defer f.Close()
	var b [32]byte
	n, _ := f.Read(b[:])
	number, err := strconv.ParseInt(strings.TrimSpace(string(b[:n])), 10, 64)
	if err != nil || number < 0 || number >= maxNumber {
		return 0
	}
	return number
}

func saveNumber(path string, number int64, in *invoker) error {
	number = max(number, lastNumber(path))
	if err := makeRunsFolder(path, in); err != nil {
		return err
	}
	name := numberFile(path)
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := create(name, in)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(number, 10) + "\n")
	return errors.Join(err, f.Sync(), f.Close())
}
