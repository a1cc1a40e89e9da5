//go:build linux

package faulttest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// silentFS is a file system that takes requests and answers none: who opens a
// file there sleeps in the kernel, where no signal reaches, until it is let go.
type silentFS struct {
	dev *os.File

	mu      sync.Mutex
	waiting []uint64 // requests, by their number
	open    bool     // all is answered now
}

// Of the FUSE protocol, include/uapi/linux/fuse.h.
const (
	fuseForget, fuseInit, fuseInterrupt, fuseBatchForget = 2, 26, 36, 42

	fuseInHeader, fuseInitOut = 40, 64
)

// mountSilentFS mounts one in a mount namespace of the calling thread, where what
// it starts is too: whatever becomes of the test, nothing of it stays.
func mountSilentFS(t *testing.T) (*silentFS, string) {
	t.Helper()
	runtime.LockOSThread() // for good: the thread ends with the test
	must(t, unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS))
	must(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	must(t, err)
	dir := t.TempDir()
	err = unix.Mount("silent", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd))
	fs := &silentFS{dev: os.NewFile(uintptr(fd), "/dev/fuse")} // it cannot be waited for before it is mounted
	t.Cleanup(func() { fs.dev.Close() })                       // ends every request
	must(t, err)
	t.Cleanup(func() { must(t, unix.Unmount(dir, unix.MNT_DETACH)) })
	go fs.serve()
	return fs, filepath.Join(dir, "file")
}

// serve takes requests until the device is closed.
func (fs *silentFS) serve() {
	buf := make([]byte, 1<<20)
	for {
		n, err := fs.dev.Read(buf)
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT):
			continue
		case err != nil || n < fuseInHeader:
			return
		}
		number := binary.NativeEndian.Uint64(buf[8:])
		switch binary.NativeEndian.Uint32(buf[4:]) {
		case fuseForget, fuseBatchForget, fuseInterrupt: // have no answer
		case fuseInit:
			out := make([]byte, fuseInitOut)
			binary.NativeEndian.PutUint32(out, 7)
			binary.NativeEndian.PutUint32(out[4:], 31)
			binary.NativeEndian.PutUint32(out[20:], 4096) // the largest write
			fs.answer(number, 0, out)
		default:
			fs.mu.Lock()
			if fs.open {
				fs.answer(number, unix.ENOENT, nil)
			} else {
				fs.waiting = append(fs.waiting, number)
			}
			fs.mu.Unlock()
		}
	}
}

func (fs *silentFS) answer(number uint64, errno unix.Errno, body []byte) {
	b := binary.NativeEndian.AppendUint32(nil, uint32(16+len(body)))
	b = binary.NativeEndian.AppendUint32(b, uint32(-int32(errno)))
	b = binary.NativeEndian.AppendUint64(b, number)
	_, _ = fs.dev.Write(append(b, body...)) // a request that has ended meanwhile has no answer
}

// letGo answers all that waits, and all that comes.
func (fs *silentFS) letGo() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.open = true
	for _, n := range fs.waiting {
		fs.answer(n, unix.ENOENT, nil)
	}
	fs.waiting = nil
}

// states are those of a process's threads, proc(5).
func states(pid int) string {
	var s []byte
	for _, dir := range threads(pid) {
		b, err := os.ReadFile(filepath.Join(dir, "stat"))
		if i := bytes.LastIndexByte(b, ')'); err == nil && i >= 0 && i+2 < len(b) {
			s = append(s, b[i+2])
		}
	}
	slices.Sort(s)
	return string(s)
}

// A child that the kernel does not let die: the run ends without it and says so,
// nothing more is started on its device, whose lock it keeps, and all else is as
// ever. When it can die at last it does.
func TestUnkillableChild(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: a child that cannot be killed: mounting a file system takes root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil && os.Getenv("RDMAPROBE_MUST_RUN") == "" {
		t.Skipf("NOT CHECKED: a child that cannot be killed: %v", err)
	}
	library := needLibrary(t)
	fs, file := mountSilentFS(t)
	t.Setenv("FAULT_FILE", file)
	p, number := newPlace(t), strconv.Itoa(os.Getpid())
	bad, good := "bad"+number, "good"+number
	run := func(fault string) *outcome {
		return p.native(t, library, number, "ibv_reg_mr", fault, "--timeout", "3s")
	}
	o := run("file")
	pid := sleeps(t, o, bad)
	if t.Failed() {
		return
	}
	o.healthyNeighbour(t, good)
	nothingMore(t, o, bad)
	if n := len(o.doc.Findings); n == 0 || o.exit != probe.ExitContained {
		t.Errorf("exit %d, %d findings", o.exit, n)
	}
	if open, whole := p.intents(t); len(open) > 0 || !whole {
		t.Errorf("the ledger is not whole: %v", open)
	}

	next := run("")
	if r := row(next.doc, bad, "port.query", "", 0); r == nil || r.Reason != probe.Guarded {
		t.Errorf("the next run reads the device: %+v", r)
	}
	nothingMore(t, next, bad)
	next.healthyNeighbour(t, good)

	fs.letGo()
	for end := time.Now().Add(settleLimit); strings.Trim(states(pid), "XZ") != "" && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond) // its first thread may be gone before the others
	}
	if have := settle(t, o.session, nil, settleLimit); len(have) > 0 || strings.Trim(states(pid), "XZ") != "" {
		t.Errorf("processes %v live on, the child's threads are %q", have, states(pid))
	}
	after := run("")
	if r := row(after.doc, bad, "port.query", "", 0); r == nil || r.Level != rdma.CapabilityConfirmed {
		t.Errorf("with the child gone the device is not read: %+v", r)
	}
	if r := row(after.doc, bad, "mr.register", "", 0); r == nil || r.Reason != probe.Guarded {
		t.Errorf("after a stuck child, in the same boot: %+v", r)
	}
}

// sleeps checks the row of the call that does not end, and that its child is what
// it says: in uninterruptible sleep, and deaf to SIGKILL.
func sleeps(t *testing.T, o *outcome, device string) int {
	t.Helper()
	r := row(o.doc, device, "mr.register", "mr", 0)
	if r == nil || r.Child == nil {
		t.Fatalf("mr.register: %+v", r)
	}
	if r.Level != rdma.CapabilityUnknown || r.Reason != probe.Stuck || r.Child.Outcome != guard.Stuck || r.Call != "ibv_reg_mr" {
		t.Errorf("mr.register is %s (%s) in %s, child %+v: %s", r.Level, r.Reason, r.Call, r.Child, r.Detail)
	}
	pid := r.Child.PID
	_ = unix.Kill(pid, unix.SIGKILL)
	time.Sleep(200 * time.Millisecond) // for a process that can die to do so
	if s := states(pid); !strings.Contains(s, "D") {
		t.Errorf("the child's threads are %q, want one in uninterruptible sleep", s)
	}
	return pid
}

// nothingMore checks that the device was left alone after the call, and that
// others are kept off it.
func nothingMore(t *testing.T, o *outcome, device string) {
	t.Helper()
	for _, id := range []string{"qp.uc.create", "qp.uc.init"} {
		if r := row(o.doc, device, id, "", 0); r == nil || r.Level != rdma.CapabilityUnknown || r.Child != nil {
			t.Errorf("%s: %+v", id, r)
		}
	}
	locks, err := filepath.Glob(filepath.Join(guard.NativeLockDir(), "*"+device+"*"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("locks of %s: %v, %v", device, locks, err)
	}
	if busy, err := isLocked(locks[0]); err != nil || !busy {
		t.Errorf("the lock of %s is free: %v", device, err)
	}
}
