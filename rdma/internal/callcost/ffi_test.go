//go:build bench && cgo && linux

package callcost

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ffi calls C as the libffi bindings for Go without cgo do: purego enters
// ffi_call, which lays out the arguments by a description made before.
type ffi struct {
	fn  uintptr
	cif [4]uint64 // struct ffi_cif, 32 bytes
	typ [3]uintptr
}

// FFI_DEFAULT_ABI of ffitarget.h.
var defaultABI = map[string]uintptr{"amd64": 2, "arm64": 1}

func newFFI(tb testing.TB) *ffi {
	tb.Helper()
	h, err := purego.Dlopen("libffi.so.8", purego.RTLD_NOW)
	if err != nil {
		tb.Fatalf("the comparison needs libffi (apt-get install libffi8): %v", err)
	}
	f := &ffi{}
	sym := func(name string) uintptr {
		p, err := purego.Dlsym(h, name)
		if err != nil {
			tb.Fatal(err)
		}
		return p
	}
	word, number, prepare := sym("ffi_type_pointer"), sym("ffi_type_sint32"), sym("ffi_prep_cif")
	f.fn, f.typ = sym("ffi_call"), [3]uintptr{word, number, word}
	r, _, _ := purego.SyscallN(prepare, uintptr(unsafe.Pointer(&f.cif)), defaultABI[runtime.GOARCH], 3, number, uintptr(unsafe.Pointer(&f.typ)))
	if r != 0 {
		tb.Fatalf("ffi_prep_cif returned %d", r)
	}
	return f
}

func (f *ffi) call(fn, a uintptr, n int32, c uintptr) int {
	var result int64
	args := [3]unsafe.Pointer{unsafe.Pointer(&a), unsafe.Pointer(&n), unsafe.Pointer(&c)}
	purego.SyscallN(f.fn, uintptr(unsafe.Pointer(&f.cif)), fn, uintptr(unsafe.Pointer(&result)), uintptr(unsafe.Pointer(&args)))
	return int(int32(result))
}
