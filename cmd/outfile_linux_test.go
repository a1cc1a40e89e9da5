package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
