package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func TestPrune(t *testing.T) {
	path := ledgerPath(t)
	s := mustOpen(t, path)
	first, second := wholeRun(t, s), wholeRun(t, s)
	newer := `{"v":2,"kind":"run","run":"x","n":3}` + "\n"
	writeFile(t, path, append(append(readFile(t, path), "no record\n"+newer...), `{"v":1,"kind":"ob`...))
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	before, _ := all(t, path)
	done, err := Prune(path, func(r *Record) bool { return r.Run != first.ID })
	if err != nil || done != (Pruning{Kept: 6, Dropped: 5, Damaged: 2}) {
		t.Fatalf("%+v, %v", done, err)
	}
	got, st := all(t, path)
	if !slices.Equal(keys(got), keys(before[5:])) || got[0].Run != second.ID {
		t.Errorf("left: %v", keys(got))
	}
	if st != (Stats{Lines: 8, Records: 5, Newer: 1, Skipped: 2, TornTail: true}) {
		t.Errorf("%+v", st)
	}
	if info, err := os.Stat(path); err != nil || (runtime.GOOS != "windows" && info.Mode() != 0o640) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := os.Stat(path + ".prune"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy was left: %v", err)
	}
	if r := wholeRun(t, s); r.N != 4 {
		t.Errorf("the next run has number %d", r.N)
	}
}

// Pruning everything does not begin the numbers anew.
func TestPruneKeepsRunNumbers(t *testing.T) {
	path := ledgerPath(t)
	s := mustOpen(t, path)
	for want := int64(1); want < 6; want++ {
		if r := wholeRun(t, s); r.N != want {
			t.Fatalf("run %d got number %d", want, r.N)
		}
		if done, err := Prune(path, func(*Record) bool { return false }); err != nil || done.Dropped != 5 {
			t.Fatalf("%+v, %v", done, err)
		}
		if b := readFile(t, path); len(b) != 0 {
			t.Fatalf("left: %q", b)
		}
	}
	for _, broken := range []string{"", "x", "-3", "99999999999999999999", "9007199254740991"} {
		writeFile(t, numberFile(path), []byte(broken))
		if n := lastNumber(path); n != 0 {
			t.Errorf("%q became %d", broken, n)
		}
	}
	if r := wholeRun(t, s); r.N != 1 {
		t.Errorf("with a broken number: %d", r.N)
	}
}

func TestPruneNothing(t *testing.T) {
	path := ledgerPath(t)
	if done, err := Prune(path, nil); done != (Pruning{}) || err != nil {
		t.Errorf("missing file: %+v %v", done, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing ledger was made: %v", err)
	}
	wholeRun(t, mustOpen(t, path))
	old, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	done, err := Prune(path, func(*Record) bool { return true })
	if done != (Pruning{Kept: 5}) || err != nil {
		t.Errorf("%+v %v", done, err)
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(old, now) {
		t.Errorf("rewritten for nothing: %v", err)
	}
}

func TestPruneRefused(t *testing.T) {
	path := ledgerPath(t)
	s := mustOpen(t, path)
	wholeRun(t, s)
	none := func(*Record) bool { return false }
	r := mustBegin(t, s)
	before := readFile(t, path)
	if _, err := Prune(path, none); !errors.Is(err, ErrLive) {
		t.Errorf("under a live run: %v", err)
	}
	if string(before) != string(readFile(t, path)) {
		t.Error("changed under a live run")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if done, err := Prune(path, none); err != nil || done.Dropped != 6 {
		t.Errorf("after an interrupted run: %+v, %v", done, err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("NOT CHECKED: a link in the ledger's place: %v", err)
	}
	if _, err := Prune(link, none); !errors.Is(err, errSymlink) {
		t.Errorf("through a link: %v", err)
	}
}

// A pruner that died leaves a copy; the next one does not stumble over it.
func TestPruneAfterADeadOne(t *testing.T) {
	path := ledgerPath(t)
	wholeRun(t, mustOpen(t, path))
	writeFile(t, path+".prune", []byte("half a co"))
	if done, err := Prune(path, func(r *Record) bool { return r.Kind == KindRun }); err != nil || done.Dropped != 4 {
		t.Fatalf("%+v, %v", done, err)
	}
	if got, _ := all(t, path); len(got) != 1 {
		t.Errorf("%d records", len(got))
	}
}

// What Open would not take for a ledger is not pruned, nor is anything left beside it.
func TestPruneNoLedger(t *testing.T) {
	for _, text := range []string{"Dear all,\n", "no newline", "{}\n", "[1,\n2]\n", "\n \n", "\x00\xff"} {
		path := filepath.Join(t.TempDir(), "letter.txt")
		writeFile(t, path, []byte(text))
		if err := Check(path); !errors.Is(err, ErrNotLedger) {
			t.Errorf("check of %q: %v", text, err)
		}
		if done, err := Prune(path, func(*Record) bool { return false }); !errors.Is(err, ErrNotLedger) || done != (Pruning{}) {
			t.Errorf("%q: %+v, %v", text, done, err)
		}
		if got := string(readFile(t, path)); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("%q: beside it is %v, %v", text, left, err)
		}
	}
}

// Damaged lines stay byte for byte, however long, and a record at the end of one
// goes without its beginning.
func TestPruneKeepsDamage(t *testing.T) {
	path := ledgerPath(t)
	wholeRun(t, mustOpen(t, path))
	records := readFile(t, path)
	first := records[:bytes.IndexByte(records, '\n')+1]
	long := bytes.Repeat([]byte{'x'}, MaxLine+10)
	damage := slices.Concat([]byte("garbage \x00\n"), long, []byte("\n"))
	writeFile(t, path, slices.Concat(records, damage, []byte(`{"v":1,"ki`), first, long))
	done, err := Prune(path, func(*Record) bool { return false })
	if err != nil || done != (Pruning{Dropped: 6, Damaged: 4}) {
		t.Fatalf("%+v, %v", done, err)
	}
	if want := slices.Concat(damage, []byte(`{"v":1,"ki`+"\n"), long); !bytes.Equal(readFile(t, path), want) {
		t.Errorf("%d bytes are left, want %d", len(readFile(t, path)), len(want))
	}
}
