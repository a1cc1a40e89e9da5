//go:build linux || darwin || freebsd

package guard

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// ErrReplaced reports that the file of this executable is another one than when the
// process began: a child of it would be of another build.
var ErrReplaced = errors.New("the executable was replaced while it runs: start it again")

// own is the file of this executable as it was when the process began.
var own = func() (f struct {
	path string
	info os.FileInfo
}) {
	if path, err := os.Executable(); err == nil {
		f.path = path
		f.info, _ = os.Stat(path)
	}
	return f
}()

// ownImage is what Linux keeps of the running executable, whatever became of its file.
const ownImage = "/proc/self/exe"

// imageOf is the path by which an executable is run. Where that is this one, it is
// the image of this process, or else its file if it still is the same.
func imageOf(exe string) (string, error) {
	if exe != own.path || own.info == nil {
		return exe, nil
	}
	if running, err := os.Stat(ownImage); runtime.GOOS == "linux" && err == nil && sameImage(running, own.info) {
		return ownImage, nil
	}
	if now, err := os.Stat(exe); err != nil || !sameImage(now, own.info) {
		return "", fmt.Errorf("%s: %w", exe, ErrReplaced)
	}
	return exe, nil
}

// sameImage tells whether two looks at a file saw the same one, unchanged.
func sameImage(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
