package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrusted(t *testing.T) {
	const root, me, other = 0, 1000, 1001
	sticky, open := fs.ModeDir|fs.ModeSticky|0o777, fs.ModeDir|0o777
	for _, c := range []struct {
		name               string
		folder, writers    fs.FileMode
		folderOwner, owner int
		want               bool
	}{
		{"mine in /tmp", sticky, 0o002, root, me, true},
		{"root's in /tmp", sticky, 0o002, root, root, true},
		{"another's in /tmp", sticky, 0o002, root, other, false},
		{"another's in a folder of theirs, like /tmp", sticky, 0o002, other, other, true},
		{"another's in a folder that is not sticky", open, 0o002, root, other, true},
		{"another's in a folder of theirs", fs.ModeDir | 0o755, 0o002, other, other, true},
		{"a link in a group's folder", fs.ModeDir | fs.ModeSticky | 0o775, 0o002, root, other, true},
		{"a file in a group's folder", fs.ModeDir | fs.ModeSticky | 0o775, 0o022, root, other, false},
		{"another's in a sticky folder of one writer", fs.ModeDir | fs.ModeSticky | 0o755, 0o022, root, other, true},
	} {
		if got := trusted(c.folder, c.writers, c.folderOwner, c.owner, me); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Without other users a path leads where the system says.
func TestWritableResolves(t *testing.T) {
	if !hasOwners {
		t.Skip("NOT CHECKED: files have no user ids here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.MkdirAll(at("a/b"), 0o700), os.WriteFile(at("a/b/file"), nil, 0o600),
		os.Symlink("a/b", at("relative")), os.Symlink(at("a"), at("absolute")), os.Symlink("../../a/b/file", at("a/b/up")),
		os.Symlink("nothing", at("dangling")), os.Symlink("loop", at("loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a/b/file": "a/b/file", "a/b/new": "a/b/new", "new/x/y": "new/x/y", "relative/file": "a/b/file", "absolute/b/../b/new": "a/b/new",
		"a/b/up": "a/b/file", "relative/up": "a/b/file", "dangling": "nothing", "absolute/b/up": "a/b/file", ".": "",
	} {
		if got, err := Writable(at(path)); err != nil || got != at(want) {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
	for _, path := range []string{"loop", "loop/x", "a/b/file/x"} {
		if got, err := Writable(at(path)); err == nil {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// Another user's link leads nowhere, wherever it stands in a path, and their file is
// not overwritten. Only root can make what belongs to another.
func TestWritableOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: only root can give files to another user")
	}
	const other = 12345
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	if err := errors.Join(os.Mkdir(shared, 0o700), os.Chmod(shared, fs.ModeSticky|0o777)); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(shared, name) }
	for _, err := range []error{
		os.Symlink(dir, at("folder")), os.Symlink(filepath.Join(dir, "victim"), at("file")), os.WriteFile(at("theirs"), nil, 0o666), os.Mkdir(at("room"), 0o777),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"folder", "file", "theirs", "room"} {
		if err := os.Lchown(at(name), other, other); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("folder"), filepath.Join(dir, "mine")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{at("folder/new"), at("folder/shared/room/new"), at("file"), at("theirs"), filepath.Join(dir, "mine", "new")} {
		got, err := Writable(path)
		var others *OthersError
		if !errors.As(err, &others) || others.UID != other || !strings.HasPrefix(others.Path, shared) {
			t.Errorf("%s: %s, %v", path, got, err)
		}
	}
	if got, err := Writable(at("room/new")); err != nil || got != at("room/new") { // as the kernel has it
		t.Errorf("in a folder of theirs: %s, %v", got, err)
	}
	if err := Folder(at("room")); err == nil {
		t.Error("their folder is taken for one of the program's own")
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	if got, err := Writable(at("file")); err != nil || got != filepath.Join(dir, "victim") {
		t.Errorf("in a folder that is not sticky: %s, %v", got, err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), os.Symlink(file, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "link"} {
		f, err := Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if _, err := Open(filepath.Join(dir, "no")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, path := range []string{dir, "/dev/zero", "/dev/tty", "/proc/kmsg", "/proc/self/mounts", "/sys/kernel/tracing/trace_pipe"} {
		if _, err := os.Stat(path); err != nil {
			continue // another system, or no rights
		}
		if f, err := Open(path); err == nil || !errors.Is(err, ErrNotRegular) && !errors.Is(err, fs.ErrPermission) {
			f.Close()
			t.Errorf("%s: %v", path, err)
		}
	}
}
