//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"encoding/hex"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// dlInfo is Dl_info of dlfcn.h.
type dlInfo struct {
	fname uintptr // const char *
	fbase uintptr // where the image's header lies
	sname uintptr
	saddr uintptr
}

var dladdrAddress = sync.OnceValue(func() uintptr {
	addr, err := purego.Dlsym(purego.RTLD_DEFAULT, "dladdr")
	if err != nil {
		return 0
	}
	return addr
})

// imageOf asks the loader which image holds the first of the addresses that is
// not 0.
func imageOf(addrs []uintptr) (info dlInfo, ok bool) {
	dladdr := dladdrAddress()
	if dladdr == 0 {
		return dlInfo{}, false
	}
	for _, addr := range addrs {
		if addr == 0 {
			continue
		}
		found := new(dlInfo)
		r, _, _ := purego.SyscallN(dladdr, addr, uintptr(unsafe.Pointer(found)))
		return *found, int32(r) != 0
	}
	return dlInfo{}, false
}

// imagePath is the file that holds the addresses, or "".
func imagePath(addrs []uintptr) string {
	info, ok := imageOf(addrs)
	if !ok {
		return ""
	}
	return cString(info.fname, maxLoadText)
}

// imageID is the build identity of the image that holds the addresses, or "".
// The image is the loaded one in memory: on macOS there is no file.
func imageID(addrs []uintptr) string {
	info, ok := imageOf(addrs)
	if !ok || info.fbase == 0 {
		return ""
	}
	return hex.EncodeToString(headerID(info.fbase))
}
