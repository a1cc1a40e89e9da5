//go:build unix

package probe

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// mendTempDir makes TMPDIR name a folder that this user can write to, for this
// process and all that it starts. macOS gives each user one of their own, which is
// gone after a while in a session that stays open, and which another user that sudo
// makes of this one cannot enter.
func mendTempDir() {
	dir, is := os.LookupEnv("TMPDIR")
	if !is || dir == "" || usableDir(dir) {
		return
	}
	if fallback := systemTempDir(runtime.GOOS); usableDir(fallback) {
		_ = os.Setenv("TMPDIR", fallback) // without it what needs the folder fails and says so
	}
}

// systemTempDir is the folder for temporary files of all users.
func systemTempDir(system string) string {
	if system == "darwin" {
		return "/private/tmp"
	}
	return "/tmp"
}

func usableDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir() && unix.Access(path, unix.W_OK|unix.X_OK) == nil
}
