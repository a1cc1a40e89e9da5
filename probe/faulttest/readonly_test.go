//go:build linux

package faulttest

import (
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// A file system that became read-only after a run: what is in the ledger is read,
// nothing is tried that would have to be recorded.
func TestReadOnlyFileSystem(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: a read-only file system: mounting one takes root")
	}
	m := machines(t)[0]
	p := newPlace(t)
	args := []string{"--store", p.store(), "--provider", "sim:" + m.write(t, p.dir, "machine")}
	probing := append([]string{"probe", "--only", "mr", "--timeout", slow}, args...)
	if o := p.run(t, probing...); o.exit != 0 {
		t.Fatalf("exit %d on a healthy machine", o.exit)
	}
	runtime.LockOSThread() // for good: the mount is of this thread and what it starts
	must(t, unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS))
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	must(t, unix.Mount(p.storeDir(), p.storeDir(), "", unix.MS_BIND, ""))
	t.Cleanup(func() { must(t, unix.Unmount(p.storeDir(), unix.MNT_DETACH)) })
	must(t, unix.Mount("", p.storeDir(), "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	o := p.run(t, probing...)
	onlyRead(t, o, m)
	if text := strings.Join(o.doc.Notes, "\n") + o.doc.Error; !strings.Contains(text, "read-only") {
		t.Errorf("it does not say that it is read-only: %s", text)
	}
	told := p.run(t, append([]string{"report"}, args...)...)
	if r := row(told.doc, m.bad, "mr.register", "", 0); told.exit != 0 || r == nil || r.Level != rdma.CapabilityConfirmed {
		t.Errorf("report: exit %d, mr.register %+v", told.exit, r)
	}
}

// A ledger that a newer release has written: its records are kept and counted,
// and the run goes on beside them.
func TestLedgerOfAnotherVersion(t *testing.T) {
	t.Parallel()
	m := machines(t)[0]
	p := newPlace(t)
	args := []string{"--store", p.store(), "--provider", "sim:" + m.write(t, p.dir, "machine")}
	probing := append([]string{"probe", "--only", "mr", "--timeout", slow}, args...)
	p.run(t, probing...)
	b, err := os.ReadFile(p.store())
	must(t, err)
	newer := strings.ReplaceAll(string(b), `{"v":1,`, `{"v":2,`)
	newer = regexp.MustCompile(`,"sum":"[0-9a-f]{8}"}`).ReplaceAllString(newer, "}") // a line without one is whole
	if newer == string(b) {
		t.Fatal("the ledger's records do not begin with their version")
	}
	must(t, os.WriteFile(p.store(), []byte(newer), 0o600))
	o := p.run(t, probing...)
	if r := row(o.doc, m.bad, "mr.register", "", 0); o.exit != probe.ExitOK || r == nil || r.Level != rdma.CapabilityConfirmed {
		t.Errorf("exit %d, mr.register %+v: %s", o.exit, r, o.doc.Error)
	}
	b, err = os.ReadFile(p.store())
	must(t, err)
	if !strings.HasPrefix(string(b), newer) || len(b) == len(newer) {
		t.Error("the newer records were not kept, or nothing was added")
	}
	told := p.run(t, append([]string{"report"}, args...)...)
	if text := strings.Join(told.doc.Notes, "\n"); told.exit != 0 || !strings.Contains(text, "newer") {
		t.Errorf("report: exit %d, notes %q", told.exit, text)
	}
}
