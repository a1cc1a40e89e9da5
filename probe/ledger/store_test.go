package ledger

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const simulated = "simulated:tb5-pair"

func TestOpenCreatesPrivateFiles(t *testing.T) {
	path := ledgerPath(t)
	r := mustBegin(t, mustOpen(t, path))
	if runtime.GOOS == "windows" {
		t.Skip("NOT CHECKED: there are no modes here")
	}
	for name, want := range map[string]fs.FileMode{
		path:                         0o600,
		path + ".lock":               0o600,
		runLock(path, r.ID):          0o600,
		runsFolder(path):             0o700 | fs.ModeDir,
		filepath.Dir(path):           0o700 | fs.ModeDir,
		filepath.Join(path, "../.."): 0o700 | fs.ModeDir,
	} {
		info, err := os.Stat(name)
		if err != nil || info.Mode() != want {
			t.Errorf("%s: mode %v, want %v (%v)", filepath.Base(name), info.Mode(), want, err)
		}
	}
}

func TestForeignProvider(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, tc := range []struct{ first, then string }{
		{native, simulated},
		{simulated, native},
		{simulated, "simulated:other"},
	} {
		path := ledgerPath(t)
		s, err := Open(path, tc.first)
		if err != nil {
			t.Fatal(err)
		}
		early, err := Open(path, tc.then) // nothing is written yet: nobody's
		if err != nil {
			t.Fatal(err)
		}
		wholeRun(t, s)
		before := readFile(t, path)
		_, errOpen := Open(path, tc.then)
		_, errBegin := early.Begin(nil)
		for _, err := range []error{errOpen, errBegin} {
			var foreign *ForeignError
			if !errors.As(err, &foreign) || foreign.Found != tc.first || foreign.Want != tc.then || foreign.Path != path {
				t.Errorf("%s after %s: %v", tc.then, tc.first, err)
			}
		}
		if !bytes.Equal(before, readFile(t, path)) {
			t.Errorf("%s after %s: the ledger was changed", tc.then, tc.first)
		}
		wholeRun(t, s) // the rightful one goes on
	}
}

// A foreign run that somebody copied behind the others is noticed as well.
func TestForeignRunInTheMiddle(t *testing.T) {
	path, other := ledgerPath(t), ledgerPath(t)
	s := mustOpen(t, path)
	wholeRun(t, s)
	o, err := Open(other, simulated)
	if err != nil {
		t.Fatal(err)
	}
	wholeRun(t, o)
	writeFile(t, path, append(readFile(t, path), readFile(t, other)...))
	var foreign *ForeignError
	if _, err := s.Begin(nil); !errors.As(err, &foreign) || foreign.Found != simulated {
		t.Errorf("begin: %v", err)
	}
	if _, err := Open(path, native); !errors.As(err, &foreign) {
		t.Errorf("open: %v", err)
	}
}

// The user's own ledger is closed to simulated providers even before it is there.
func TestNativeDefaultIsRefusedToSimulated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT CHECKED: the state folder cannot be moved here")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	path, err := DefaultPath(native)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name string) {
		t.Helper()
		var foreign *ForeignError
		if _, err := Open(name, simulated); !errors.As(err, &foreign) || foreign.Found != native {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused(path)
	refused(filepath.Dir(path) + "/../" + filepath.Base(filepath.Dir(path)) + "/evidence.jsonl")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the refusal left something behind: %v", err)
	}
	mustOpen(t, path)
	refused(path)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		t.Fatal(err)
	}
	refused(filepath.Join(link, "evidence.jsonl"))
	beside, err := DefaultPath("sim:tb5-pair")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(beside, simulated); err != nil {
		t.Errorf("its own ledger: %v", err)
	}
}

func TestOpenRefusesProviders(t *testing.T) {
	for _, p := range []string{"", "sim:x", "simulated:", "Native", "simulated:a\nb", "simulated:\x1b[2J", "simulated:" + strings.Repeat("x", 300), "simulated:\xff"} {
		if _, err := Open(ledgerPath(t), p); err == nil {
			t.Errorf("%q was accepted", p)
		}
	}
}

func TestOpenRefusesWhatIsNoLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "letter.txt")
	for _, text := range []string{"Dear Sir,\n", "{\"schema\":\"rdmaprobe.report\"}\n", "\n\n", "\x00\x00"} {
		writeFile(t, path, []byte(text))
		if _, err := Open(path, native); !errors.Is(err, ErrNotLedger) {
			t.Errorf("%q: %v", text, err)
		}
		if string(readFile(t, path)) != text {
			t.Errorf("%q was changed", text)
		}
	}
}

func TestOpenRefusesLinksAndPipes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT CHECKED: links need a privilege here")
	}
	dir := t.TempDir()
	target := filepath.Join(dir, "target.jsonl")
	wholeRun(t, mustOpen(t, target))
	link := filepath.Join(dir, "link.jsonl")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(dir, "dangling.jsonl")
	if err := os.Symlink(filepath.Join(dir, "nothing"), dangling); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(dir, "locked.jsonl")
	if err := os.Symlink(target, locked+".lock"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		link: errSymlink, dangling: errSymlink, locked: errSymlink,
		dir: nil, filepath.Join(target, "below.jsonl"): nil,
	} {
		_, err := Open(name, native)
		if !errors.Is(err, ErrNotWritable) || (want != nil && !errors.Is(err, want)) || !strings.Contains(err.Error(), "--store") {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a link was followed")
	}
	if got, _ := all(t, link); len(got) != 5 {
		t.Errorf("reading through a link: %d records", len(got))
	}
}

func TestStoreErrorSaysWhatToDo(t *testing.T) {
	for err, want := range map[error]string{
		syscall.ENOSPC: "free some space",
		syscall.EDQUOT: "free some space",
		syscall.EROFS:  "read-only",
		syscall.EACCES: "writable for this user",
		syscall.EPERM:  "writable for this user",
		ErrBusy:        "wait",
		errSymlink:     "a file of its own",
		errReplaced:    "run it again",
		syscall.EIO:    "--store FILE",
	} {
		got := notWritable("write", "/srv/x.jsonl", &fs.PathError{Op: "write", Path: "/srv/x.jsonl", Err: err})
		if !errors.Is(got, ErrNotWritable) || !errors.Is(got, err) || !strings.Contains(got.Error(), want) {
			t.Errorf("%v: %v", err, got)
		}
		if strings.Count(got.Error(), "/srv/x.jsonl") != 1 {
			t.Errorf("the path is said more or less than once: %v", got)
		}
		if notWritable("open", "/other", got) != got {
			t.Errorf("%v: wrapped twice", err)
		}
	}
	if notWritable("write", "x", nil) != nil {
		t.Error("no error became one")
	}
	if s := notWritable("open", "a\x1b[2Jb", syscall.EIO).Error(); strings.Contains(s, "\x1b") {
		t.Errorf("control characters: %q", s)
	}
	if s := (&ForeignError{Path: "p", Want: native, Found: "\x1b[2J"}).Error(); strings.Contains(s, "\x1b") {
		t.Errorf("control characters: %q", s)
	}
}
