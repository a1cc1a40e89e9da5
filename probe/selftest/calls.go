package selftest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/cfunc"
)

// callChecks are made in one child, in this order.
var callChecks = []struct {
	name string
	run  func(*caller) (string, error)
}{
	{"call.errno", (*caller).errno},
	{"call.errno.unset", (*caller).errnoUnset},
	{"call.errno.threads", (*caller).errnoThreads},
	{"call.sign", (*caller).sign},
	{"call.sign.inline", (*caller).signInline},
	{"call.arguments", (*caller).arguments},
	{"call.callback", (*caller).callback},
	{"arena", (*caller).arena},
	{"arena.line", (*caller).arenaLine},
}

func callNames() []string {
	var names []string
	for _, c := range callChecks {
		names = append(names, c.name)
	}
	return names
}

// Numbers that Linux and Darwin share, <errno.h>.
const (
	eNOENT  = 2
	eBADF   = 9
	eNOTDIR = 20
)

// caller makes checks in a child.
type caller struct {
	mark *rdma.CallMark
}

// install puts C functions in the places of verbs, by verb: names of the C
// library's, or addresses. callsBack is what it says of a simulated provider; the
// path of a native one is that without.
func (c *caller) install(callsBack bool, places map[string]any) (restore func(), err error) {
	if !cfunc.Supported {
		return nil, skipf("this system's C cannot be called")
	}
	config := rdma.LibraryConfig{Path: "selftest", Symbols: map[string]uintptr{}, CallsBack: callsBack}
	if config.ErrnoLocation, err = cfunc.ErrnoLocation(); err != nil {
		return nil, err
	}
	for verb, f := range places {
		switch f := f.(type) {
		case uintptr:
			config.Symbols[verb] = f
		case string:
			if config.Symbols[verb], err = cfunc.Symbol(f); err != nil {
				return nil, err
			}
		}
	}
	lib := rdma.NewLibrary(config)
	lib.SetMark(c.mark)
	return rdma.Use(lib), nil
}

// room is a page of mapped memory.
func room() (*rdma.Buffer, error) {
	b, err := rdma.MapBuffer(os.Getpagesize())
	if errors.Is(err, rdma.ErrSymbolUnavailable) {
		return nil, skipf("this system has no mapped memory")
	}
	return b, err
}

// stage is install with a page to work in; end takes both back.
func (c *caller) stage(callsBack bool, places map[string]any) (b *rdma.Buffer, end func(), err error) {
	restore, err := c.install(callsBack, places)
	if err != nil {
		return nil, nil, err
	}
	if b, err = room(); err != nil {
		restore()
		return nil, nil, err
	}
	return b, func() { b.Unmap(); restore() }, nil
}

// at is a T in mapped memory.
func at[T any](b *rdma.Buffer, offset int) *T { return (*T)(unsafe.Pointer(&b.Bytes()[offset])) }

// text writes a C string and gives its address.
func text(b *rdma.Buffer, offset int, s string) uintptr {
	copy(b.Bytes()[offset:], s+"\x00")
	return b.Addr() + uintptr(offset)
}

// want compares what the binding reported with what C did.
func want(call string, err error, ret, errno int) error {
	var e *rdma.ProviderError
	switch {
	case !errors.As(err, &e):
		return fmt.Errorf("%s: reported %v, want a failure", call, err)
	case e.Return != int64(ret) || !e.ReturnSet:
		return fmt.Errorf("%s: returned %d here, %d in C", call, e.Return, ret)
	case e.Errno != errno || e.ErrnoSet != (errno != 0):
		return fmt.Errorf("%s: errno %d here (set: %v), %d in C", call, e.Errno, e.ErrnoSet, errno)
	}
	return nil
}

// errno: NULL and -1 come with the errno of their call.
func (c *caller) errno() (string, error) {
	b, restore, err := c.stage(false, map[string]any{"ibv_get_device_list": "opendir", "ibv_close_device": "close"})
	if err != nil {
		return "", err
	}
	defer restore()
	_, err = rdma.IbvGetDeviceList(text(b, 0, "/nonexistent/rdmaprobe"))
	if err := want("opendir of nothing", err, 0, eNOENT); err != nil {
		return "", err
	}
	_, err = rdma.IbvGetDeviceList(text(b, 0, "/dev/null/rdmaprobe"))
	if err := want("opendir below a file", err, 0, eNOTDIR); err != nil {
		return "", err
	}
	_, err = rdma.IbvCloseDevice(math.MaxUint)
	return "opendir gave NULL with 2 and 20, close -1 with 9", want("close of no file", err, -1, eBADF)
}

// errnoUnset: a call that leaves errno alone has none, whatever one before it
// left on this thread.
func (c *caller) errnoUnset() (string, error) {
	b, restore, err := c.stage(false, map[string]any{"ibv_get_device_list": "getenv", "ibv_close_device": "close"})
	if err != nil {
		return "", err
	}
	defer restore()
	for range 100 {
		_, err := rdma.IbvCloseDevice(math.MaxUint)
		if err := want("close of no file", err, -1, eBADF); err != nil {
			return "", err
		}
		_, err = rdma.IbvGetDeviceList(text(b, 0, "RDMAPROBE_NO_SUCH_VARIABLE"))
		if err := want("getenv of nothing", err, 0, 0); err != nil {
			return "", err
		}
	}
	return "getenv gave NULL with errno unset, right after a failure", nil
}

// errnoThreads: errno belongs to a thread, and goroutines change threads.
func (c *caller) errnoThreads() (string, error) {
	b, restore, err := c.stage(false, map[string]any{"ibv_get_device_list": "opendir"})
	if err != nil {
		return "", err
	}
	defer restore()
	paths := []uintptr{text(b, 0, "/nonexistent/rdmaprobe"), text(b, 64, "/dev/null/rdmaprobe")}
	errnos := []int{eNOENT, eNOTDIR}
	const goroutines, rounds = 4, 250
	var wrong atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range rounds {
				k := (g + i) % len(paths)
				if _, err := rdma.IbvGetDeviceList(paths[k]); want("opendir", err, 0, errnos[k]) != nil {
					wrong.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := wrong.Load(); n != 0 {
		return "", fmt.Errorf("%d of %d calls from %d goroutines had the errno of another", n, goroutines*rounds, goroutines)
	}
	return fmt.Sprintf("%d calls from %d goroutines, each with its own errno", goroutines*rounds, goroutines), nil
}

// junk is what a C function may leave in the upper half of its result's register
// when it returns an int.
const junk = uintptr(0xdeadbeef) << 32

// sign: an int is the lower half of the register, with its sign.
func (c *caller) sign() (string, error) {
	restore, err := c.install(false, map[string]any{"ibv_close_device": "abs"})
	if err != nil {
		return "", err
	}
	defer restore()
	// abs(INT_MIN) is INT_MIN, and compilers zero the upper half.
	_, err = rdma.IbvCloseDevice(1 << 31)
	if err := want("abs of the least int", err, math.MinInt32, 0); err != nil {
		return "", err
	}
	for _, upper := range []uintptr{0, junk, 0xffffffff << 32} {
		for _, ret := range []int32{-22, 0, 22} {
			again, err := c.install(true, map[string]any{"ibv_query_device": cfunc.Callback(func(uintptr, uintptr) uintptr { return upper | uintptr(uint32(ret)) })})
			if err != nil {
				return "", err
			}
			r, _ := rdma.IbvQueryDeviceAttr(1, new(rdma.IbvDeviceAttr))
			again()
			if r != int(ret) {
				return "", fmt.Errorf("%d returned with %#x in the upper half was read as %d", ret, upper>>32, r)
			}
		}
	}
	return "-2147483648 of abs, and -22, 0, 22 with other bits above them", nil
}
