package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Prune rewrites the ledger at path without the records that keep refuses and
// without the lines that are none; records of later versions stay. kept and
// dropped count both sorts. keep should answer alike for all records of a run.
// The file is exchanged in one step and keeps mode and owner; run numbers go on
// where they were. It is refused with ErrLive while a run is going on. A
// missing file has nothing to prune.
func Prune(path string, keep func(*Record) bool) (kept, dropped int, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return 0, 0, fmt.Errorf("prune ledger: %w", err)
	}
	if _, err := os.Lstat(abs); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	in := currentInvoker()
	unlock, err := lockWriters(abs, in)
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	live, err := liveRuns(abs)
	if err != nil {
		return 0, 0, fmt.Errorf("prune ledger: %w", err)
	}
	if len(live) > 0 {
		return 0, 0, fmt.Errorf("prune %s: %w (run %s)", shown(abs), ErrLive, live[0])
	}
	old, err := openToAppend(abs)
	if err != nil {
		return 0, 0, err
	}
	defer old.Close()
	p := pruner{path: abs, invoker: in, keep: keep}
	if err := p.rewrite(old); err != nil {
		return 0, 0, err
	}
	return p.kept, p.dropped, nil
}

// pruner is one Prune under way. The writers' lock is held.
type pruner struct {
	path          string
	invoker       *invoker
	keep          func(*Record) bool
	kept, dropped int
	last          int64 // highest run number
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
	if err == nil && p.dropped > 0 {
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

func (p *pruner) fill(f, old *os.File) error {
	w := bufio.NewWriterSize(f, 256<<10)
	sc := scanner{lines: lines{r: old}}
	err := sc.run(func(line []byte, r *Record, v verdict) error {
		if v != bad {
			p.last = max(p.last, r.N)
		}
		if v == bad || (v == good && !p.keep(r)) {
			p.dropped++
			return nil
		}
		p.kept++
		if _, err := w.Write(line); err != nil {
			return err
		}
		return w.WriteByte('\n')
	})
	if err != nil {
		return err
	}
	return w.Flush()
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
	if err := makeFolders(runsFolder(path), in); err != nil {
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
