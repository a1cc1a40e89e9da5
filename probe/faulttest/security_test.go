//go:build linux

package faulttest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// A library in the working directory is loaded when it is named with a path, and
// never by its bare name.
func TestLibraryOfTheWorkingDirectory(t *testing.T) {
	library := needLibrary(t)
	p := newPlace(t)
	b, err := os.ReadFile(library)
	must(t, err)
	for _, name := range []string{"libfaultverbs.so", "libibverbs.so.1"} {
		must(t, os.WriteFile(filepath.Join(p.dir, name), b, 0o755))
	}
	for asked, want := range map[string]bool{"./libfaultverbs.so": true, "libfaultverbs.so": false, "": false} {
		cmd := p.command(t.Context(), "devices", "--json", "--store", "none", "--library", asked)
		o := p.finish(t, cmd)
		ours := row(o.doc, "good", "dev.open", "", 0)
		if got := ours != nil && ours.Level == rdma.CapabilityConfirmed; got != want {
			t.Errorf("--library %q: loaded from the working directory: %v, want %v", asked, got, want)
		}
		if !want && o.doc.Provider.Library.Path != "" && strings.HasPrefix(o.doc.Provider.Library.Path, p.dir) {
			t.Errorf("--library %q loaded %s", asked, o.doc.Provider.Library.Path)
		}
	}
}

// A set-user-ID program would give its rights to whoever names the library.
func TestSetUserIDIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: making a program set-user-ID takes root")
	}
	p := newPlace(t)
	b, err := os.ReadFile(program)
	must(t, err)
	path := filepath.Join(p.dir, "rdmaprobe")
	must(t, os.WriteFile(path, b, 0o755))
	must(t, os.Chmod(path, 0o755|fs.ModeSetuid))
	openUp(t, p)
	for _, args := range [][]string{{"version"}, {"__rdmaprobe-child"}, {"devices", "--library", "./x.so"}} {
		cmd := p.command(t.Context(), args...)
		cmd.Path = path
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		var errs bytes.Buffer
		cmd.Stderr = &errs
		err := cmd.Run()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if cmd.ProcessState.ExitCode() != probe.ExitOwn || !strings.Contains(errs.String(), "set-user-ID") {
			t.Errorf("%v: exit %d, %q", args, cmd.ProcessState.ExitCode(), errs.String())
		}
	}
}

// openUp lets every user into the place.
func openUp(t *testing.T, p place) {
	t.Helper()
	for d := p.dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		must(t, os.Chmod(d, 0o755))
	}
}

// What a run writes is its user's alone, whatever the umask; device locks are for
// all, empty, and hold nothing.
func TestModesOfFiles(t *testing.T) {
	for _, mask := range []int{0, 0o777} {
		modesOfFiles(t, mask)
	}
}

func modesOfFiles(t *testing.T, mask int) {
	t.Helper()
	m := machines(t)[0]
	p := newPlace(t)
	must(t, os.Chmod(p.storeDir(), 0o700))
	store := filepath.Join(p.storeDir(), "deep", "evidence.jsonl")
	path := m.write(t, p.dir, "machine")
	old := syscall.Umask(mask)
	o := p.run(t, "probe", "--store", store, "--only", "mr", "--timeout", slow, "--provider", "sim:"+path)
	syscall.Umask(old)
	if o.exit != 0 {
		t.Fatalf("exit %d: %s", o.exit, o.doc.Error)
	}
	seen := 0
	err := filepath.WalkDir(filepath.Join(p.storeDir(), "deep"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen++
		name, mode := filepath.Base(path), info.Mode()
		switch {
		case strings.Contains(path, "/locks"):
			if mode.Perm()&0o022 != 0 || !d.IsDir() && info.Size() != 0 {
				t.Errorf("lock %s: mode %v, %d bytes", name, mode, info.Size())
			}
		case d.IsDir() && mode.Perm() != 0o700, !d.IsDir() && mode.Perm() != 0o600:
			t.Errorf("%s: mode %v", name, mode)
		}
		return nil
	})
	must(t, err)
	if seen < 5 {
		t.Errorf("only %d files seen", seen)
	}
}

// The environment of the user's own programs is kept, and what of it decides whose
// code runs is told.
func TestEnvironmentIsKeptAndTold(t *testing.T) {
	library := needLibrary(t)
	p := newPlace(t)
	cmd := p.command(t.Context(), "devices", "--json", "--store", "none", "--library", "libfaultverbs.so")
	cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+filepath.Dir(library), "IBV_FORK_SAFE=1", "GOTRACEBACK=crash")
	o := p.finish(t, cmd)
	if r := row(o.doc, "good", "dev.open", "", 0); r == nil || r.Level != rdma.CapabilityConfirmed {
		t.Errorf("the child does not have the user's LD_LIBRARY_PATH: %+v", o.doc.Provider.Library)
	}
	for name, want := range map[string]string{"LD_LIBRARY_PATH": filepath.Dir(library), "IBV_FORK_SAFE": "1"} {
		if got := o.doc.Host.Env[name]; got != want {
			t.Errorf("host.env.%s is %v, want %s", name, got, want)
		}
	}
}
