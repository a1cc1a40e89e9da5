package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"rdmaprobe/probe"
)

// needNameless skips where the file system of a folder has no files without names.
func needNameless(t *testing.T, dir string) {
	t.Helper()
	f := nameless(dir, 0o600)
	if f == nil {
		t.Skip("NOT CHECKED: the file system has no files without a name")
	}
	f.Close()
}

// Where a file may not be given a name, its copy has it.
func TestOutFileThatCannotBeLinked(t *testing.T) {
	for name, old := range map[string]bool{"new": false, "old": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			needNameless(t, dir)
			path := filepath.Join(dir, "result.txt")
			if old {
				if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			o, err := openOut(path)
			if err != nil {
				t.Fatal(err)
			}
			o.file.Close()
			if o.file, err = os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE|unix.O_EXCL, 0o600); err != nil {
				t.Fatal(err)
			}
			if link(o.file, path+".linked") == nil {
				t.Fatal("it could be linked")
			}
			if _, err := o.Write([]byte("new")); err != nil {
				t.Fatal(err)
			}
			if err := o.commit(); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
				t.Errorf("it has %q, %v", b, err)
			}
			if s, err := os.Stat(path); err != nil || (s.Mode().Perm() == 0o600) != old {
				t.Errorf("its mode: %v, %v", s.Mode(), err)
			}
			if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
				t.Errorf("left in the folder: %v, %v", names, err)
			}
		})
	}
}

// Nothing can be done at SIGKILL, and nothing needs to be: what is not yet whole has
// no name.
func TestKilledLeavesNoFile(t *testing.T) {
	link := programLink(t)
	needNameless(t, t.TempDir())
	for wait := 2 * time.Millisecond; wait < 400*time.Millisecond; wait += wait/2 + 3*time.Millisecond {
		dir := t.TempDir()
		cmd := exec.Command(link, "probe", "--provider", "sim:faulty", "--timeout", "1m", "--store", "none", "--out", filepath.Join(dir, "result.txt"))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(wait)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			t.Errorf("killed after %v: left in the folder: %v, %v", wait, names, err)
		}
	}
}

// The file of --out and of --bundle takes no other user's link for its place, nor
// their file, in a folder that everybody can write to: not even root's run does.
func TestOutFileOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: only root can give files to another user")
	}
	const other = 12345
	shared, victim := filepath.Join(t.TempDir(), "shared"), filepath.Join(t.TempDir(), "victim")
	link, file, folder := filepath.Join(shared, "link"), filepath.Join(shared, "file"), filepath.Join(shared, "folder")
	for _, err := range []error{
		os.Mkdir(shared, 0o700), os.Chmod(shared, os.ModeSticky|0o777), os.WriteFile(victim, []byte("precious"), 0o600),
		os.Symlink(victim, link), os.Lchown(link, other, other), os.WriteFile(file, nil, 0o666), os.Chown(file, other, other),
		os.Symlink(filepath.Dir(victim), folder), os.Lchown(folder, other, other),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{link, file, filepath.Join(folder, "victim"), filepath.Join(folder, "new")} {
		for _, args := range [][]string{{"version", "--out", path}, {"report", "--provider", "sim:rxe", "--store", "none", "--bundle", path}} {
			var errs bytes.Buffer
			s := streams{in: &bytes.Buffer{}, out: io.Discard, err: &errs, terminal: terminal, env: func(string) string { return "" }}
			if got := run(context.Background(), s, args); got != probe.ExitUsage || !strings.Contains(errs.String(), "of another user (uid 12345)") {
				t.Errorf("%v: status %d, %q", args, got, &errs)
			}
		}
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "precious" {
		t.Errorf("the victim has %q, %v", b, err)
	}
	if names, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(names) != 1 {
		t.Errorf("beside the victim: %v, %v", names, err)
	}
}

// A link that appears while the command works is not followed either.
func TestOutFileWhosePathChanges(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder", "result")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := openOut(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(filepath.Dir(path), filepath.Join(dir, "moved")), os.Symlink("moved", filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	if err := o.commit(); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it was written")
	}
}

// A full device is told on stderr, in whatever format.
func TestFullDevice(t *testing.T) {
	for _, format := range []string{"json", "table"} {
		out, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd := exec.Command(programLink(t), "version", "-o", format)
		cmd.Stdout, cmd.Stderr = out, &errs
		err = cmd.Run()
		out.Close()
		if cmd.ProcessState.ExitCode() != probe.ExitOwn || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("-o %s: %v, %q", format, err, &errs)
		}
	}
}
