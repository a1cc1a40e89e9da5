//go:build !((linux || darwin) && (amd64 || arm64))

package rdma

import "runtime"

// Open reports that this system has no verbs library. The error is a
// *LoadError.
func Open(path string) (*Library, error) {
	if path == "" {
		path = DefaultPath()
	}
	return nil, NewLoadError(path, "RDMA verbs are not bound on "+runtime.GOOS+"/"+runtime.GOARCH)
}

func imageID([]uintptr) string { return "" }
