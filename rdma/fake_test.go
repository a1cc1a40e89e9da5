//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
	"go.uber.org/goleak"
)

// fake is testdata/fakeverbs.c, compiled, loaded and installed.
type fake struct {
	lib     *Library
	symbols map[string]uintptr
}

// fakeBuild is one compiled variant. The loader keeps a library for good, so each
// is built once a process.
type fakeBuild struct {
	once sync.Once
	path string
	out  []byte
	err  error
}

var (
	fullFake, leanFake fakeBuild
	fakeDir            string
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "fakeverbs")
	if err != nil {
		panic(err)
	}
	fakeDir = dir
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// newFake installs a fake library for the test; flags "-DLEAN" leaves out what a
// library may lack.
func newFake(t testing.TB, flags ...string) *fake {
	t.Helper()
	cc := compiler(t)
	build := &fullFake
	if len(flags) > 0 {
		build = &leanFake
	}
	build.once.Do(func() {
		build.path = filepath.Join(fakeDir, "libfake"+map[bool]string{true: "lean"}[len(flags) > 0]+".so")
		args := append([]string{"-shared", "-fPIC", "-O1", "-Wall", "-o", build.path, "testdata/fakeverbs.c"}, flags...)
		build.out, build.err = exec.Command(cc, args...).CombinedOutput()
	})
	if build.err != nil {
		t.Fatalf("%s: %v\n%s", cc, build.err, build.out)
	}
	lib, err := Open(build.path)
	if err != nil {
		t.Fatal(err)
	}
	handle, err := purego.Dlopen(build.path, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{lib: lib, symbols: map[string]uintptr{}}
	for _, name := range []string{"fake_script", "fake_freed", "fake_count", "fake_watch", "fake_seen", "fake_empty", "fake_hold", "fake_wc", "fake_entry", "fake_caller", "fake_endless"} {
		if f.symbols[name], err = purego.Dlsym(handle, name); err != nil {
			t.Fatal(err)
		}
	}
	restore := Use(lib)
	t.Cleanup(func() {
		f.script("", 0, 0)
		f.count(false, 0)
		f.tell("fake_empty", 0)
		f.tell("fake_wc", 12, 0)
		f.tell("fake_hold", 0)
		f.tell("fake_entry", 1, 0)
		restore()
	})
	return f
}

// script makes one verb return ret and set errno, 0 = leave it.
func (f *fake) script(verb string, ret, errno int) {
	name := append([]byte(verb), 0)
	purego.SyscallN(f.symbols["fake_script"], uintptr(unsafe.Pointer(&name[0])), uintptr(ret), uintptr(errno))
	runtime.KeepAlive(name)
}

// tell calls one of the fake's own functions.
func (f *fake) tell(name string, args ...uintptr) int {
	r, _, _ := purego.SyscallN(f.symbols[name], args...)
	return int(int32(r))
}

// count makes the device list claim n entries.
func (f *fake) count(on bool, n int) {
	flag := uintptr(0)
	if on {
		flag = 1
	}
	purego.SyscallN(f.symbols["fake_count"], flag, uintptr(n))
}

// freed is how many device lists have been freed.
func (f *fake) freed() int {
	r, _, _ := purego.SyscallN(f.symbols["fake_freed"])
	return int(int32(r))
}

// fakeObjects is one of each object on fake_0.
type fakeObjects struct {
	device  RDMADevice
	context RDMAContext
	pd      RDMAPD
	mr      RDMAMR
	cq      RDMACQ
	qp      RDMAQP
	channel RDMACompChannel
	buffer  *Buffer
}

// open opens device i of the list and makes one of each object on it.
func (f *fake) open(t testing.TB, i int) fakeObjects {
	t.Helper()
	l, err := OpenDeviceList()
	check(t, err)
	t.Cleanup(func() { check(t, l.Close()) })
	o := fakeObjects{device: l.Devices()[i].Handle}
	o.context, err = l.Devices()[i].Open()
	check(t, err)
	o.pd, err = IbvAllocPd(o.context)
	check(t, err)
	o.buffer, err = MapBuffer(4096)
	check(t, err)
	o.mr, err = IbvRegMr(o.pd, o.buffer.Addr(), 4096, IBV_ACCESS_LOCAL_WRITE|IBV_ACCESS_REMOTE_WRITE)
	check(t, err)
	if f.lib.Has("ibv_create_comp_channel") {
		o.channel, err = IbvCreateCompChannel(o.context)
		check(t, err)
	}
	o.cq, err = IbvCreateCq(o.context, 16, 0x55, o.channel, 3)
	check(t, err)
	o.qp, err = IbvCreateQpAttr(o.pd, &IbvQPInitAttr{SendCQ: o.cq, RecvCQ: o.cq, QPType: IBV_QPT_UC})
	check(t, err)
	return o
}

// at is a T in the objects' mapped buffer.
func at[T any](o fakeObjects, offset int) *T {
	return (*T)(unsafe.Pointer(&o.buffer.Bytes()[offset]))
}
