//go:build unix

package probe

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A TMPDIR that is gone, that is no folder or that cannot be written to gives way to
// the system's; one that can be used stays, and where none is set none is made up.
func TestMendTempDir(t *testing.T) {
	good := t.TempDir()
	file := filepath.Join(good, "file")
	locked := filepath.Join(good, "locked")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	fallback := systemTempDir(runtime.GOOS)
	want := map[string]string{
		good: good, "": "", filepath.Join(good, "gone"): fallback, file: fallback, file + "/below": fallback, "/nonexistent\x1b[2J": fallback,
	}
	if os.Geteuid() != 0 { // root may write to any
		want[locked] = fallback
	}
	for dir, want := range want {
		t.Setenv("TMPDIR", dir)
		mendTempDir()
		if got := os.Getenv("TMPDIR"); got != want {
			t.Errorf("TMPDIR=%q became %q, want %q", dir, got, want)
		}
	}
	t.Setenv("TMPDIR", "")
	os.Unsetenv("TMPDIR")
	mendTempDir()
	if dir, is := os.LookupEnv("TMPDIR"); is {
		t.Errorf("TMPDIR was made up: %q", dir)
	}
}
