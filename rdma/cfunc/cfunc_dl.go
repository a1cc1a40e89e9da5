//go:build (linux || darwin) && (amd64 || arm64)

package cfunc

import (
	"fmt"
	"runtime"

	"github.com/ebitengine/purego"
)

// Supported says that this system can call C, and be called by it.
const Supported = true

// Symbol is the address of a function of the C library.
func Symbol(name string) (uintptr, error) {
	runtime.LockOSThread() // dlerror is kept per thread
	defer runtime.UnlockOSThread()
	address, err := purego.Dlsym(purego.RTLD_DEFAULT, name)
	if err != nil {
		return 0, fmt.Errorf("the C library has no %s: %w", name, err)
	}
	return address, nil
}

// ErrnoLocation is the C library's accessor of errno, int *(void).
func ErrnoLocation() (uintptr, error) {
	if runtime.GOOS == "darwin" {
		return Symbol("__error")
	}
	return Symbol("__errno_location")
}

// Callback makes a Go function callable from C. It takes integers and pointers
// and returns one of them or nothing. There are 2000 in a process, and none is
// ever given back.
func Callback(f any) uintptr { return purego.NewCallback(f) }
