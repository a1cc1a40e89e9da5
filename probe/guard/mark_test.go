//go:build linux || darwin || freebsd

package guard

import (
	"os"
	"testing"

	"rdmaprobe/rdma"
)

// Both kinds of file must do: systems without memfd have the other one only.
func TestPage(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	verbs := rdma.Verbs()
	if len(verbs) == 0 {
		t.Fatal("no verbs")
	}
	last := len(verbs) - 1
	for name, file := range map[string]func() (*os.File, error){"preferred": pageFile, "unlinked": unlinkedFile} {
		f, err := file()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(pageSize); err != nil {
			t.Fatal(err)
		}
		parent, err := mapPage(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer parent.close()
		child, err := mapPage(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		defer child.close()
		if got := parent.read(); got != (call{known: true}) || got.inside() {
			t.Errorf("%s: empty page: %+v", name, got)
		}
		child.mark().Counts[last].Store(12)
		child.mark().Verb.Store(uint32(last) + 1)
		if got := parent.read(); got != (call{known: true, verb: verbs[last], calls: 12}) || !got.inside() {
			t.Errorf("%s: inside a call: %+v", name, got)
		}
		child.mark().Verb.Store(uint32(last) + 2)
		if got := parent.read(); got != (call{}) || !got.inside() {
			t.Errorf("%s: no such verb: %+v", name, got)
		}
		if err := f.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if got := parent.read(); got != (call{}) || !got.inside() {
			t.Errorf("%s: cut short: %+v", name, got)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestNoPage(t *testing.T) {
	t.Setenv("TMPDIR", "/nonexistent/dir")
	if f, err := unlinkedFile(); err == nil {
		f.Close()
		t.Error("no error")
	}
}
