package ledger

import (
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
	kept, dropped, err := Prune(path, func(r *Record) bool { return r.Run != first.ID })
	if err != nil || kept != 6 || dropped != 7 {
		t.Fatalf("kept %d, dropped %d, %v", kept, dropped, err)
	}
	got, st := all(t, path)
	if !slices.Equal(keys(got), keys(before[5:])) || got[0].Run != second.ID {
		t.Errorf("left: %v", keys(got))
	}
	if st != (Stats{Lines: 6, Records: 5, Newer: 1}) {
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
		if _, dropped, err := Prune(path, func(*Record) bool { return false }); err != nil || dropped != 5 {
			t.Fatalf("dropped %d, %v", dropped, err)
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
	if kept, dropped, err := Prune(path, nil); kept != 0 || dropped != 0 || err != nil {
		t.Errorf("missing file: %d %d %v", kept, dropped, err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing ledger was made: %v", err)
	}
	wholeRun(t, mustOpen(t, path))
	old, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	kept, dropped, err := Prune(path, func(*Record) bool { return true })
	if kept != 5 || dropped != 0 || err != nil {
		t.Errorf("%d %d %v", kept, dropped, err)
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
	if _, _, err := Prune(path, none); !errors.Is(err, ErrLive) {
		t.Errorf("under a live run: %v", err)
	}
	if string(before) != string(readFile(t, path)) {
		t.Error("changed under a live run")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, dropped, err := Prune(path, none); err != nil || dropped != 6 {
		t.Errorf("after an interrupted run: %d, %v", dropped, err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, _, err := Prune(link, none); !errors.Is(err, errSymlink) {
		t.Errorf("through a link: %v", err)
	}
}

// A pruner that died leaves a copy; the next one does not stumble over it.
func TestPruneAfterADeadOne(t *testing.T) {
	path := ledgerPath(t)
	wholeRun(t, mustOpen(t, path))
	writeFile(t, path+".prune", []byte("half a co"))
	if _, dropped, err := Prune(path, func(r *Record) bool { return r.Kind == KindRun }); err != nil || dropped != 4 {
		t.Fatalf("dropped %d, %v", dropped, err)
	}
	if got, _ := all(t, path); len(got) != 1 {
		t.Errorf("%d records", len(got))
	}
}
