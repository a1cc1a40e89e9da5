//go:build linux

package faulttest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// threads are the folders of a process's threads in /proc.
func threads(pid int) []string {
	found, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/[0-9]*")
	return found
}

// A ledger that cannot be written leaves queries, says why, and lets nothing be
// tried that could hurt.
func TestStoreCannotBeWritten(t *testing.T) {
	t.Parallel()
	m := machines(t)[0]
	for name, spoil := range map[string]func(t *testing.T, p place){
		"a folder in its place": func(t *testing.T, p place) { must(t, os.Mkdir(p.store(), 0o700)) },
		"a link in its place":   func(t *testing.T, p place) { must(t, os.Symlink("/dev/null", p.store())) },
		"a file for its folder": func(t *testing.T, p place) {
			must(t, os.RemoveAll(p.storeDir()))
			must(t, os.WriteFile(p.storeDir(), nil, 0o600))
		},
		"a pipe in its place": func(t *testing.T, p place) { must(t, syscall.Mkfifo(p.store(), 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			spoil(t, p)
			o := p.run(t, "probe", "--store", p.store(), "--only", "mr", "--timeout", slow, "--provider", "sim:"+m.write(t, p.dir, "machine"))
			onlyRead(t, o, m)
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// onlyRead checks a run whose evidence cannot be kept.
func onlyRead(t *testing.T, o *outcome, m *machine) {
	t.Helper()
	if o.exit != probe.ExitOwn || len(o.doc.Notes) == 0 {
		t.Errorf("exit %d, notes %v; want 5 and a note", o.exit, o.doc.Notes)
	}
	for _, device := range []string{m.bad, m.good} {
		if r := row(o.doc, device, "port.query", "", 0); r == nil || r.Level != rdma.CapabilityConfirmed {
			t.Errorf("%s is not read: %+v", device, r)
		}
		if r := row(o.doc, device, "mr.register", "", 0); r == nil || r.Reason != probe.Guarded {
			t.Errorf("%s: a region is registered without a record: %+v", device, r)
		}
	}
}

// A user who may not write the folder, and one whose disk is read-only.
func TestStoreIsNotOurs(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: becoming another user takes root; without it a plain run is one")
	}
	m := machines(t)[0]
	p := newPlace(t)
	path := m.write(t, p.dir, "machine")
	openUp(t, p)
	must(t, os.Chmod(filepath.Dir(program), 0o755))
	must(t, os.Chmod(p.storeDir(), 0o755))
	must(t, os.Chmod(path, 0o644))
	must(t, os.Chown(p.tmp(), 65534, 65534))
	o := p.runAs(t, 65534, "probe", "--store", p.store(), "--only", "mr", "--timeout", slow, "--provider", "sim:"+path)
	onlyRead(t, o, m)
}

// runAs is run as another user.
func (p place) runAs(t *testing.T, uid uint32, args ...string) *outcome {
	t.Helper()
	cmd := p.command(context.Background(), append(slices.Clone(args), "--json")...)
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
	return p.finish(t, cmd)
}

// A full disk, at many sizes: whatever was written is readable, a run that could
// not keep its evidence says so, and the next one starts clean.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	m := machines(t)[0]
	var healthy baselines
	args := []string{"--only", "mr,uc", "--timeout", slow}
	base := healthy.of(t, m, append([]string{"probe"}, args...))
	full := 0
	for _, blocks := range []int{0, 1, 2, 5, 9, 14, 20, 27} { // of 512 bytes, of which bash has 2
		p := newPlace(t)
		path := m.write(t, p.dir, "machine")
		all := slices.Concat([]string{"probe", "--json", "--store", p.store(), "--provider", "sim:" + path}, args)
		cmd := p.command(context.Background())
		cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `ulimit -f "$0" && exec "$@"`, strconv.Itoa(blocks), program}, all...)
		o := p.finish(t, cmd)
		if o.exit == 0 {
			continue // it had room
		}
		full++
		if o.exit != probe.ExitOwn {
			t.Errorf("%d blocks: exit %d, want 5: %s", blocks, o.exit, o.doc.Error)
		}
		for _, r := range o.doc.Observations {
			if b := row(base, r.Device, r.ID, r.Probe, r.Port); r.Level == rdma.CapabilityConfirmed && (b == nil || b.Level != r.Level) {
				t.Errorf("%d blocks: %s %s is confirmed", blocks, r.Device, r.ID)
			}
		}
		open, _ := p.intents(t)
		if told := p.run(t, "report", "--store", p.store(), "--provider", "sim:"+path); told.exit != 0 {
			t.Errorf("%d blocks: the ledger cannot be read: %s", blocks, told.doc.Error)
		}
		next := p.run(t, slices.Concat([]string{"probe", "--store", p.store(), "--provider", "sim:" + path}, args)...)
		refusesOnly(t, "with room again", next, base, open)
	}
	if full < 3 {
		t.Errorf("only %d of the runs met a full disk", full)
	}
}

// finish runs a prepared command as run does.
func (p place) finish(t *testing.T, cmd *exec.Cmd) *outcome {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return p.read(t, cmd, out.Bytes(), errs.String())
}

// Many writers at once: each run is whole in the ledger, and numbered.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	m := machines(t)[0]
	p := newPlace(t)
	path := m.write(t, p.dir, "machine", func(p map[string]any) { delete(p, "boot_id") })
	const writers = 6
	ids := make([]string, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			o := p.run(t, "probe", "--store", p.store(), "--only", "mr", "--timeout", "1m", "--provider", "sim:"+path)
			if ids[i] = o.doc.Run.ID; o.exit != 0 {
				t.Errorf("exit %d: %s %v", o.exit, o.doc.Error, o.doc.Notes)
			}
		})
	}
	wg.Wait()
	told := p.run(t, "report", "--all-builds", "--store", p.store(), "--provider", "sim:"+path)
	if len(told.doc.Notes) > 0 {
		t.Errorf("report: %v", told.doc.Notes)
	}
	open, whole := p.intents(t)
	if len(open) > 0 || !whole {
		t.Errorf("the ledger is not whole: %v", open)
	}
	b, err := os.ReadFile(p.store())
	must(t, err)
	for _, id := range ids {
		if n := strings.Count(string(b), `"kind":"end","run":"`+id+`"`); n != 1 {
			t.Errorf("run %s ends %d times", id, n)
		}
	}
	p.settled(t)
}
