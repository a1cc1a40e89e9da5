//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"runtime"
	"strings"

	"github.com/ebitengine/purego"
)

// Open loads a verbs library; "" stands for DefaultPath. A name without a slash
// is one of the system's, never a file of the working directory. The error is a
// *LoadError. A missing symbol is not an error here: see Has.
func Open(path string) (*Library, error) {
	path = loadPath(hostPlatform(), path)
	if strings.ContainsRune(path, 0) { // C would load what stands before it
		return nil, NewLoadError(path, "a name with a NUL byte names no file")
	}
	// dlerror is kept per thread, and purego asks for it in a second call.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, NewLoadError(path, err.Error())
	}
	l := &Library{path: path, platform: hostPlatform()}
	for v, row := range verbTable {
		if row.inline() {
			continue
		}
		if addr, err := purego.Dlsym(handle, row.name); err == nil {
			l.addr[v] = addr
		}
	}
	errno := "__errno_location"
	if l.platform == PlatformDarwin {
		errno = "__error"
	}
	l.errnoLoc, err = purego.Dlsym(purego.RTLD_DEFAULT, errno)
	if err != nil {
		return nil, NewLoadError(path, err.Error())
	}
	if found := imagePath(l.addr[:]); found != "" {
		l.path = found
	}
	return l, nil
}
