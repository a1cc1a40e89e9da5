package rdma

import (
	"sync"
	"sync/atomic"
)

// Platform says whose numbers a library speaks: errno values differ between
// systems, and a simulated Mac on Linux speaks Darwin's.
type Platform string

// The platforms with a verbs library.
const (
	PlatformLinux  Platform = "linux"
	PlatformDarwin Platform = "darwin"
)

// Library is a table of provider functions: those of a shared library, or the
// callbacks of a simulated one. It is safe for use by several goroutines.
type Library struct {
	path      string
	platform  Platform
	addr      [verbCount]uintptr // by verb; 0 where the symbol is missing
	errnoLoc  uintptr            // address of a C function int *(void)
	callsBack bool

	onCall atomic.Pointer[func(verb string)]
	mark   atomic.Pointer[CallMark]

	idOnce sync.Once
	id     string
}

// LibraryConfig describes a library that is not opened by name.
type LibraryConfig struct {
	Path          string             // what Path reports
	Platform      Platform           // whose errno numbers it speaks; "" = the running system
	Symbols       map[string]uintptr // C-callable addresses by symbol; unknown names are ignored
	ErrnoLocation uintptr            // C-callable int *(void), this library's errno; 0 = it sets none
	CallsBack     bool               // the functions are Go callbacks: they may move the goroutine's stack; those of a Darwin library call no control verb
	ID            string             // what ID reports of callbacks, which have no file to read it from
}

// NewLibrary makes a library from a symbol table. Simulated providers use it.
func NewLibrary(c LibraryConfig) *Library {
	l := &Library{path: c.Path, platform: c.Platform, errnoLoc: c.ErrnoLocation, callsBack: c.CallsBack, id: c.ID}
	if l.platform == "" {
		l.platform = hostPlatform()
	}
	for v, row := range verbTable {
		if !row.inline() {
			l.addr[v] = c.Symbols[row.name]
		}
	}
	return l
}

var (
	installed   atomic.Pointer[Library] // nil: the system's
	systemMu    sync.Mutex              // one opens it
	systemCache atomic.Pointer[Library]
)

// Use installs l for the package; nil stands for the system's library. restore
// puts back what was installed before. Handles belong to the library they came
// from: do not switch while any are live.
func Use(l *Library) (restore func()) {
	previous := installed.Swap(l)
	return func() { installed.Store(previous) }
}

// Current is the installed library, or the system's, which it opens when that
// has not been done. The error is a *LoadError.
func Current() (*Library, error) {
	if l := installed.Load(); l != nil {
		return l, nil
	}
	systemMu.Lock()
	defer systemMu.Unlock()
	if l := systemCache.Load(); l != nil {
		return l, nil
	}
	l, err := Open("")
	if err != nil {
		return nil, err
	}
	systemCache.Store(l)
	return l, nil
}

// Available reports whether a library is there and has every symbol of
// RequiredSymbols, with which devices are listed. It says nothing about devices, nor
// about what a device can do.
func Available() bool {
	l, err := Current()
	if err != nil {
		return false
	}
	for _, name := range RequiredSymbols() {
		if !l.Has(name) {
			return false
		}
	}
	return true
}

// Path is where the library was found, or the name it was asked for by when
// the loader does not tell.
func (l *Library) Path() string { return l.path }

// Platform says whose errno numbers the library speaks.
func (l *Library) Platform() Platform { return l.platform }

// Has reports whether the library has the symbol and the package uses it. The
// four inline verbs (Verbs) are not symbols.
func (l *Library) Has(symbol string) bool {
	for v, row := range verbTable {
		if row.name == symbol {
			return l.addr[v] != 0
		}
	}
	return false
}

// Symbols lists every symbol the package uses and whether the library has it.
func (l *Library) Symbols() map[string]bool {
	m := make(map[string]bool, verbCount)
	for v, row := range verbTable {
		if !row.inline() {
			m[row.name] = l.addr[v] != 0
		}
	}
	return m
}

// OnCall registers f to run before each call of an exported symbol, with its
// name; nil removes it. The inline verbs (poll, post, notify) do not report
// here: see SetMark. f calls no verb: on a Darwin library its own call would be the
// one that f waits for.
func (l *Library) OnCall(f func(verb string)) {
	if f == nil {
		l.onCall.Store(nil)
		return
	}
	l.onCall.Store(&f)
}

// ID is the library's build identity, in lower-case hexadecimal: the ELF build
// id or the Mach-O UUID. It is "" when there is none to read.
func (l *Library) ID() string {
	l.idOnce.Do(func() {
		if !l.callsBack && canCall {
			l.id = imageID(l.addr[:])
		}
	})
	return l.id
}
