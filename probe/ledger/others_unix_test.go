//go:build unix

package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"rdmaprobe/probe/place"
)

// In a folder that everybody can write to another user has put something where the
// ledger, its lock or its runs would be, or into the way there.
func TestPlaceOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT CHECKED: only root can give files to another user")
	}
	const other = 12345
	for name, c := range map[string]struct {
		put string // what the other user makes
		how func(path, victim string) error
	}{
		"a link for the folder": {"sub", func(p, victim string) error { return os.Symlink(filepath.Dir(victim), p) }},
		"a link":                {"e.jsonl", func(p, victim string) error { return os.Symlink(victim, p) }},
		"a file":                {"e.jsonl", func(p, _ string) error { return os.WriteFile(p, nil, 0o666) }},
		"a link for the lock":   {"e.jsonl.lock", func(p, victim string) error { return os.Symlink(victim, p) }},
		"a lock":                {"e.jsonl.lock", func(p, _ string) error { return os.WriteFile(p, nil, 0o666) }},
		"a folder for the runs": {"e.jsonl.runs", func(p, _ string) error { return os.Mkdir(p, 0o777) }},
		"a link for the runs":   {"e.jsonl.runs", func(p, victim string) error { return os.Symlink(filepath.Dir(victim), p) }},
	} {
		t.Run(name, func(t *testing.T) {
			victim := filepath.Join(t.TempDir(), "e.jsonl")
			writeFile(t, victim, []byte("precious"))
			shared := filepath.Join(t.TempDir(), "shared")
			if err := errors.Join(os.Mkdir(shared, 0o700), os.Chmod(shared, os.ModeSticky|0o777)); err != nil {
				t.Fatal(err)
			}
			put := filepath.Join(shared, c.put)
			if err := errors.Join(c.how(put, victim), os.Lchown(put, other, other)); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(shared, "e.jsonl")
			if c.put == "sub" {
				path = filepath.Join(put, "new.jsonl")
			}
			var theirs *place.OthersError
			if _, err := Open(path, native); !errors.As(err, &theirs) || theirs.UID != other || !errors.Is(err, ErrNotWritable) {
				t.Errorf("open: %v", err)
			}
			if _, err := Prune(path, func(*Record) bool { return false }); !errors.As(err, &theirs) && readSize(path) > 0 {
				t.Errorf("prune: %v", err)
			}
			if got := string(readFile(t, victim)); got != "precious" {
				t.Errorf("the victim has %q", got)
			}
			if names, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(names) != 1 {
				t.Errorf("beside the victim: %v, %v", names, err)
			}
		})
	}
}

func readSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
