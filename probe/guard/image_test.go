//go:build linux || darwin || freebsd

package guard

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Another program is run by its path; this one by the image that runs, also when its
// file was replaced, and where there is no such image not at all.
func TestImageOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rdmaprobe")
	write := func(text string) {
		if err := os.WriteFile(path+".new", []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	if got, err := imageOf(path); got != path || err != nil {
		t.Errorf("another program: %q, %v", got, err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := self
	file, err := os.Stat(self)
	if err != nil {
		t.Fatal(err)
	}
	if image, err := os.Stat(ownImage); err == nil && os.SameFile(file, image) { // QEMU shows its own
		want = ownImage
	}
	if got, err := imageOf(self); got != want || err != nil {
		t.Errorf("this program: %q, %v", got, err)
	}
	was := own
	defer func() { own = was }()
	own.path = path
	own.info, _ = os.Stat(path)
	if got, err := imageOf(path); got != path || err != nil {
		t.Errorf("its file alone: %q, %v", got, err)
	}
	write("two")
	if got, err := imageOf(path); !errors.Is(err, ErrReplaced) {
		t.Errorf("a replaced file: %q, %v", got, err)
	}
}
