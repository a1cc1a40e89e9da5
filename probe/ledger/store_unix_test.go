//go:build unix

package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	roles["nobody"] = roleNobody
	roles["full"] = roleFull
}

const nobody = 65534

// asNobody gives up root, which may write everywhere.
func asNobody() error {
	if os.Geteuid() != 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(nobody); err != nil {
		return err
	}
	return syscall.Setuid(nobody)
}

// roleNobody meets a ledger that it may read and not write.
func roleNobody(path string) error {
	if err := asNobody(); err != nil {
		return err
	}
	if st, err := Scan(path, func(*Record) error { return nil }); err != nil || st.Records != 6 {
		return fmt.Errorf("scan: %+v, %v", st, err)
	}
	checks := map[string]error{}
	_, checks["open"] = Open(path, native)
	_, checks["open a new one"] = Open(filepath.Join(filepath.Dir(path), "new.jsonl"), native)
	_, checks["open in a new folder"] = Open(filepath.Join(filepath.Dir(path), "new", "new.jsonl"), native)
	_, checks["prune"] = Prune(path, func(*Record) bool { return false })
	for name, err := range checks {
		if !errors.Is(err, ErrNotWritable) || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), filepath.Dir(path)) {
			return fmt.Errorf("%s: %v", name, err)
		}
	}
	records := 0
	_, err := Scan(path, func(r *Record) error {
		if records++; r.N == 2 && !RunLive(path, r.Run) {
			return errors.New("a lock that may not be looked at does not count as held")
		}
		return nil
	})
	return err
}

func TestReadOnlyForOthers(t *testing.T) {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "evidence.jsonl")
	s := mustOpen(t, path)
	wholeRun(t, s)
	mustBegin(t, s)
	modes := map[string]fs.FileMode{path: 0o444, dir: 0o555}
	if os.Geteuid() != 0 {
		modes[path+".lock"] = 0o444
		modes[runsFolder(path)] = 0o000
	}
	for name, mode := range modes {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(dir, 0o700)
	defer os.Chmod(runsFolder(path), 0o700)
	cmd := play(t, "nobody", path)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, cmd.Stderr)
	}
}

// What lies beside a ledger is as little followed as itself: neither a link in the
// place of the folder of runs, nor a pipe in that of the lock.
func TestNothingBesideIsFollowed(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(path, elsewhere string) error
		want  error
	}{
		"runs linked":         {func(p, e string) error { return os.Symlink(e, runsFolder(p)) }, errSymlink},
		"runs linked nowhere": {func(p, e string) error { return os.Symlink(e+".none", runsFolder(p)) }, errSymlink},
		"a file for runs":     {func(p, _ string) error { return os.WriteFile(runsFolder(p), nil, 0o600) }, errNotFolder},
		"a pipe for the lock": {func(p, _ string) error { return syscall.Mkfifo(p+".lock", 0o600) }, errNotRegular},
	} {
		t.Run(name, func(t *testing.T) {
			elsewhere, path := t.TempDir(), filepath.Join(t.TempDir(), "evidence.jsonl")
			theirs := filepath.Join(elsewhere, "20260102T030405-000000000000.lock") // that of a run which is over
			if err := errors.Join(os.WriteFile(theirs, nil, 0o600), tt.spoil(path, elsewhere)); err != nil {
				t.Fatal(err)
			}
			s, err := Open(path, native)
			if err == nil {
				_, err = s.Begin(nil)
			}
			if !errors.Is(err, ErrNotWritable) || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), "--store") {
				t.Error(err)
			}
			if there, err := os.ReadDir(elsewhere); err != nil || len(there) != 1 {
				t.Errorf("elsewhere there are %v, %v", there, err)
			}
		})
	}
}

// roleFull meets a disk that ends in the middle of a record: here the limit on
// the size of a file.
func roleFull(path string) error {
	s, err := Open(path, native)
	if err != nil {
		return err
	}
	r, err := s.Begin(nil)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	limit := old
	limit.Cur = rlimit(info.Size() + 25)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	_, failure := r.Intent("does not fit")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if !errors.Is(failure, ErrNotWritable) || !errors.Is(failure, syscall.EFBIG) {
		return fmt.Errorf("on a full disk: %v", failure)
	}
	if seq, err := r.Append(KindObservation, "fits"); err != nil || seq != 3 {
		return fmt.Errorf("after it: record %d, %v", seq, err)
	}
	return r.End(nil)
}

func TestDiskFull(t *testing.T) {
	path := ledgerPath(t)
	cmd := play(t, "full", path)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, cmd.Stderr)
	}
	got, st := all(t, path)
	if len(got) != 3 || st.Skipped != 1 || st.TornTail {
		t.Errorf("%d records, %+v", len(got), st)
	}
}

// A pipe in the ledger's place must not make anybody wait.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evidence.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("NOT CHECKED: a pipe in the ledger's place: %v", err)
	}
	if _, err := Open(path, native); !errors.Is(err, ErrNotWritable) {
		t.Errorf("open: %v", err)
	}
	if _, err := Scan(path, func(*Record) error { return nil }); !errors.Is(err, errNotRegular) {
		t.Errorf("scan: %v", err)
	}
}

// Root working for somebody leaves them all they need, and touches nothing
// that has a second name.
func TestRootWorksForInvoker(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: working for another user takes root")
	}
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(home, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	in := &invoker{uid: nobody, gid: nobody, home: home}
	owned := func(path string, uid int) {
		t.Helper()
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if u, g, _, _ := ownerOf(info); u != uid || g != uid {
			t.Errorf("%s belongs to %d:%d", strings.TrimPrefix(path, dir), u, g)
		}
	}
	for folder, uid := range map[string]int{home: nobody, filepath.Join(dir, "var"): 0} {
		path := filepath.Join(folder, "a", "b", "evidence.jsonl")
		s, err := open(t.Context(), path, native, in)
		if err != nil {
			t.Fatal(err)
		}
		r := mustBegin(t, s)
		for _, p := range []string{path, path + ".lock", runsFolder(path), runLock(path, r.ID), filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
			owned(p, uid)
		}
		if err := r.End(nil); err != nil {
			t.Fatal(err)
		}
		if _, err := Prune(path, func(*Record) bool { return false }); err != nil {
			t.Fatal(err)
		}
		owned(path, uid)
	}
	second := filepath.Join(home, "second.jsonl")
	if err := os.Link(filepath.Join(home, "a", "b", "evidence.jsonl"), second); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t.Context(), second, native, in); !errors.Is(err, errLinked) {
		t.Errorf("a file with two names: %v", err)
	}
}

// A link that leads out of the folder in which folders are made is not followed.
func TestFoldersStayBelowTheirBase(t *testing.T) {
	base, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(filepath.Join(outside, "gone"), filepath.Join(base, "a")); err != nil {
		t.Fatal(err)
	}
	if err := makeFolders(filepath.Join(base, "a", "b"), nil); err == nil {
		t.Error("made folders through a dangling link")
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestBusy(t *testing.T) {
	path := ledgerPath(t)
	s := mustOpen(t, path)
	unlock, err := lockWriters(t.Context(), s.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := hold(ctx, path+".lock"); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
}
