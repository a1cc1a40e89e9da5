package cfunc

import (
	"errors"
	"testing"

	"rdmaprobe/rdma"
)

func TestSymbols(t *testing.T) {
	if !Supported {
		if _, err := Symbol("abs"); !errors.Is(err, rdma.ErrSymbolUnavailable) {
			t.Errorf("error %v, want ErrSymbolUnavailable", err)
		}
		return
	}
	for _, name := range []string{"abs", "close", "getenv", "opendir", "qsort"} {
		if address, err := Symbol(name); err != nil || address == 0 {
			t.Errorf("%s: %#x, %v", name, address, err)
		}
	}
	if address, err := Symbol("rdmaprobe_no_such_function"); err == nil || address != 0 {
		t.Errorf("a function that is not there is at %#x, %v", address, err)
	}
	if address, err := ErrnoLocation(); err != nil || address == 0 {
		t.Errorf("errno: %#x, %v", address, err)
	}
}

// A verb's wrapper calls a Go function as it calls C.
func TestCallback(t *testing.T) {
	if !Supported {
		t.Skip("NOT CHECKED: this system cannot call C")
	}
	var got uintptr
	lib := rdma.NewLibrary(rdma.LibraryConfig{CallsBack: true, Symbols: map[string]uintptr{
		"ibv_get_device_list": Callback(func(a uintptr) uintptr { got = a; return 0x7700 }),
	}})
	defer rdma.Use(lib)()
	if list, err := rdma.IbvGetDeviceList(5); err != nil || list != 0x7700 || got != 5 {
		t.Errorf("gave %d, %v and was called with %d; want 30464 and 5", list, err, got)
	}
}
