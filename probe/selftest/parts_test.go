package selftest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/cfunc"
)

// A difference in any of return, errno, and whether there is one, is a failure.
func TestWant(t *testing.T) {
	failed := func(ret int64, set bool, errno int, errnoSet bool) error {
		return &rdma.ProviderError{Return: ret, ReturnSet: set, Errno: errno, ErrnoSet: errnoSet}
	}
	for _, tt := range []struct {
		name       string
		err        error
		ret, errno int
		text       string // "" = as wanted
	}{
		{"as it was", failed(-1, true, 9, true), -1, 9, ""},
		{"without errno", failed(0, true, 0, false), 0, 0, ""},
		{"no failure", nil, -1, 9, "want a failure"},
		{"another failure", errors.New("x"), -1, 9, "want a failure"},
		{"not extended", failed(4294967295, true, 0, false), -1, 9, "returned 4294967295 here, -1 in C"},
		{"not called", failed(-1, false, 9, true), -1, 9, "returned -1 here"},
		{"errno lost", failed(-1, true, 0, false), -1, 9, "errno 0 here (set: false), 9 in C"},
		{"errno of an earlier call", failed(0, true, 9, true), 0, 0, "errno 9 here (set: true), 0 in C"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := want("call", tt.err, tt.ret, tt.errno)
			if (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v, want %q", err, tt.text)
			}
		})
	}
}

// libraryWith has all symbols but some.
func libraryWith(lacking ...string) *rdma.Library {
	c := rdma.LibraryConfig{Path: "/lib/libverbs.so", CallsBack: true, Symbols: map[string]uintptr{}}
	for _, s := range symbols() {
		c.Symbols[s] = 1
	}
	for _, s := range lacking {
		delete(c.Symbols, s)
	}
	return rdma.NewLibrary(c)
}

func TestLibraryChecks(t *testing.T) {
	missing := rdma.NewLoadError("libibverbs.so.1", "libibverbs.so.1: cannot open shared object file: No such file or directory")
	foreign := rdma.NewLoadError("libibverbs.so.1", "wrong ELF class: ELFCLASS32")
	for _, tt := range []struct {
		name  string
		lib   *rdma.Library
		named bool
		err   error
		check string
		want  Result
	}{
		{"whole", libraryWith(), false, nil, loadName, OK},
		{"whole, a symbol", libraryWith(), false, nil, "library.ibv_alloc_pd", OK},
		{"without one that listing needs", libraryWith("ibv_get_device_name"), false, nil, "library.ibv_get_device_name", Failed},
		{"without one that nobody has confirmed", libraryWith("ibv_query_qp"), false, nil, "library.ibv_query_qp", Skipped},
		{"without one that is not", libraryWith("_ibv_query_gid_ex"), false, nil, "library._ibv_query_gid_ex", Skipped},
		{"none on this system", nil, false, missing, loadName, Skipped},
		{"none on this system, a symbol", nil, false, missing, "library.ibv_alloc_pd", Skipped},
		{"none where one was named", nil, true, missing, loadName, Failed},
		{"of another architecture", nil, false, foreign, loadName, Failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !cfunc.Supported && tt.want == Failed && tt.err != nil {
				t.Skip("NOT CHECKED: nothing is loaded here")
			}
			checks := libraryChecks(tt.lib, tt.named, tt.err)
			if len(checks) != len(libraryNames()) {
				t.Fatalf("%d checks, want %d", len(checks), len(libraryNames()))
			}
			for i, c := range checks {
				if c.Name != libraryNames()[i] {
					t.Errorf("check %d is %s, want %s", i, c.Name, libraryNames()[i])
				}
				if c.Name == tt.check && (c.Result != tt.want || c.Detail == "") {
					t.Errorf("%+v, want %s", c, tt.want)
				}
				if c.Name != tt.check && tt.err == nil && c.Result != OK {
					t.Errorf("%+v, want ok", c)
				}
			}
		})
	}
	if n := len(symbols()); n != 24 {
		t.Errorf("%d symbols, want 24: the inline verbs are none", n)
	}
}

// The conclusion follows from the results, and every check belongs to something.
func TestConclude(t *testing.T) {
	for _, name := range Names() {
		if subjectOf(name) == "" {
			t.Errorf("%s is about nothing", name)
		}
	}
	got := conclude([]Check{
		{"call.errno", OK, ""}, {"call.sign", Failed, ""}, {"arena", OK, ""}, {"arena.line", Skipped, ""},
		{"layout", OK, ""}, {"layout.header", Skipped, ""}, {"library.load", Skipped, ""}, {"lock", OK, ""},
	})
	want := "proven here: memory for regions, struct layouts, locks; disproven: calls to C with their errno; " +
		"not checked: struct layouts by the system's header, loading of the verbs library; " + needsDevice
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := conclude(nil); got != needsDevice {
		t.Errorf("nothing was checked: %s", got)
	}
}

func TestFew(t *testing.T) {
	for want, list := range map[string][]string{"a": {"a"}, "a; b; c": {"a", "b", "c"}, "a; b; c; and 2 more": {"a", "b", "c", "d", "e"}} {
		if got := few(list); got != want {
			t.Errorf("few(%v) = %q, want %q", list, got, want)
		}
	}
}

// A directory that cannot be written fails the checks that write, and says so.
func TestNowhereToWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: file}
	if _, err := keepLedger(t.Context(), &o); err == nil {
		t.Error("a ledger was kept below a file")
	}
	var s *skip
	if _, err := holdLock(t.Context(), &o); err == nil || errors.As(err, &s) && cfunc.Supported {
		t.Errorf("a lock was held below a file: %v", err)
	}
}
