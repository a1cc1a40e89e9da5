package rdma

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestOpenMissing(t *testing.T) {
	_, err := Open("libdoes-not-exist.so.9")
	var le *LoadError
	if !errors.As(err, &le) || !errors.Is(err, ErrSymbolUnavailable) {
		t.Fatalf("Open = %v, want a *LoadError that is ErrSymbolUnavailable", err)
	}
	if canCall && le.Class != LoadMissingFile {
		t.Errorf("class %q for %q, want %q", le.Class, le.Text, LoadMissingFile)
	}
}

// A name is never cut: what stands before a NUL is another library.
func TestOpenWithNUL(t *testing.T) {
	l, err := Open(DefaultPath() + "\x00.mine")
	var le *LoadError
	if l != nil || !errors.As(err, &le) || canCall && !strings.Contains(le.Text, "NUL") {
		t.Errorf("%v, %v", l, err)
	}
}

func TestUseRestores(t *testing.T) {
	a, b := NewLibrary(LibraryConfig{Path: "a"}), NewLibrary(LibraryConfig{Path: "b"})
	restoreA := Use(a)
	restoreB := Use(b)
	if l, err := Current(); err != nil || l != b {
		t.Fatalf("Current = %v, %v, want b", l, err)
	}
	restoreB()
	if l, _ := Current(); l != a {
		t.Fatal("restore did not bring back a")
	}
	restoreA()
	if installed.Load() != nil {
		t.Fatal("restore did not bring back the default")
	}
}

func TestCurrentIsTheSystems(t *testing.T) {
	_, openErr := Open("")
	first, err := Current()
	var le *LoadError
	if openErr != nil {
		if !errors.As(err, &le) || Available() {
			t.Fatalf("Current = %v, want the load error %v", err, openErr)
		}
		if _, err := OpenDeviceList(); !errors.Is(err, ErrSymbolUnavailable) || !errors.As(err, &le) {
			t.Errorf("OpenDeviceList = %v, want the load error inside", err)
		}
		return
	}
	if second, _ := Current(); err != nil || first != second {
		t.Errorf("Current = %p, then %p, %v", first, second, err)
	}
	if !Available() {
		t.Errorf("the system's library lacks something: %v", first.Symbols())
	}
}

func TestWithoutSymbolsNothingIsCalled(t *testing.T) {
	defer Use(NewLibrary(LibraryConfig{}))()
	if Available() {
		t.Error("a library without symbols is available")
	}
	handle := uintptr(0x10) // not a pointer: it must not be followed
	for name, call := range map[string]func() error{
		"list":    func() error { _, err := OpenDeviceList(); return err },
		"open":    func() error { _, err := IbvOpenDevice(handle); return err },
		"dealloc": func() error { _, err := IbvDeallocPd(handle); return err },
		"modify":  func() error { _, err := IbvModifyQpAttr(handle, new(IbvQPAttr), 1); return err },
		"free":    func() error { return IbvFreeDeviceList(handle) },
		"device":  func() error { _, err := Device{Handle: handle}.Open(); return err },
	} {
		var e *ProviderError
		if err := call(); !errors.Is(err, ErrSymbolUnavailable) || !errors.As(err, &e) || e.ReturnSet {
			t.Errorf("%s: %v, want ErrSymbolUnavailable", name, err)
		}
	}
}

func TestVerbTable(t *testing.T) {
	seen := map[string]bool{}
	for v, name := range Verbs() {
		if name == "" || seen[name] {
			t.Errorf("verb %d has the name %q", v, name)
		}
		seen[name] = true
	}
	if max := len(new(CallMark).Counts); len(Verbs()) > max {
		t.Fatalf("%d verbs, CallMark counts %d", len(Verbs()), max)
	}
	l := NewLibrary(LibraryConfig{Symbols: map[string]uintptr{"ibv_open_device": 1, "other": 2}})
	symbols := l.Symbols()
	for _, name := range RequiredSymbols() {
		if _, ok := symbols[name]; !ok {
			t.Errorf("required symbol %s is not in Symbols", name)
		}
	}
	for _, inline := range []string{"ibv_poll_cq", "ibv_req_notify_cq", "ibv_post_send", "ibv_post_recv"} {
		if _, ok := symbols[inline]; ok || !seen[inline] {
			t.Errorf("%s must be a verb and not a symbol", inline)
		}
	}
	if !l.Has("ibv_open_device") || l.Has("ibv_alloc_pd") || l.Has("other") || l.Has("ibv_poll_cq") {
		t.Error("Has does not follow the symbol table")
	}
	if reflect.DeepEqual(symbols, NewLibrary(LibraryConfig{}).Symbols()) {
		t.Error("Symbols does not follow the symbol table")
	}
}

func TestClassifyLoadText(t *testing.T) {
	for _, tt := range []struct {
		text string
		want LoadClass
	}{
		{"libibverbs.so.1: cannot open shared object file: No such file or directory", LoadMissingFile},
		{"libnl-3.so.200: cannot open shared object file: No such file or directory", LoadMissingFile},
		{"Error loading shared library libibverbs.so.1: No such file or directory", LoadMissingFile},
		{"dlopen(/usr/lib/librdma.dylib, 0x0006): tried: '/usr/lib/librdma.dylib' (no such file, not in dyld cache)", LoadMissingFile},
		{"dlopen(librdma.dylib, 2): image not found", LoadMissingFile},
		{"/lib/libibverbs.so.1: version `IBVERBS_1.14' not found (required by /lib/x.so)", LoadSymbolVersion},
		{"/lib/libibverbs.so.1: undefined symbol: nl_connect, version libnl_3", LoadSymbolVersion},
		{"dlopen(x): Symbol not found: _ibv_cmd_reg_mr", LoadSymbolVersion},
		{"libibverbs.so.1: wrong ELF class: ELFCLASS32", LoadWrongArchitecture},
		{"tried: '/a' (no such file), '/b' (mach-o file, but is an incompatible architecture (have 'x86_64', need 'arm64'))", LoadWrongArchitecture},
		{"libibverbs.so.1: cannot open shared object file: Permission denied", LoadUnknown},
		{"file too short", LoadUnknown},
		{"", LoadUnknown},
	} {
		if got := classifyLoadText(tt.text); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.text, got, tt.want)
		}
	}
	if n := len(NewLoadError("p", string(make([]byte, 1<<20))).Text); n != maxLoadText {
		t.Errorf("a long text keeps %d bytes, want %d", n, maxLoadText)
	}
}

func TestLoadPath(t *testing.T) {
	for _, tt := range []struct {
		platform Platform
		asked    string
		want     string
	}{
		{PlatformDarwin, "", "/usr/lib/librdma.dylib"},
		{PlatformDarwin, "librdma.dylib", "/usr/lib/librdma.dylib"},
		{PlatformDarwin, "./librdma.dylib", "./librdma.dylib"},
		{PlatformDarwin, "/opt/x.dylib", "/opt/x.dylib"},
		{PlatformLinux, "", "libibverbs.so.1"},
		{PlatformLinux, "libibverbs.so.1", "libibverbs.so.1"},
		{PlatformLinux, "./x.so", "./x.so"},
	} {
		if got := loadPath(tt.platform, tt.asked); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.platform, tt.asked, got, tt.want)
		}
	}
}
