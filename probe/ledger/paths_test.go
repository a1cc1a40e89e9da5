package ledger

import (
	"errors"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInvokedBy(t *testing.T) {
	lookup := func(uid string) (*user.User, error) {
		switch uid {
		case "1000":
			return &user.User{Uid: "1000", Gid: "100", Username: "ada", HomeDir: "/home/ada/"}, nil
		case "1001":
			return &user.User{Uid: "1001", Gid: "100", Username: "bob", HomeDir: "bob"}, nil
		case "1002":
			return &user.User{Uid: "1002", Gid: "x", Username: "eve", HomeDir: "/home/eve"}, nil
		case "0":
			return &user.User{Uid: "0", Gid: "0", Username: "root", HomeDir: "/root"}, nil
		}
		return nil, errors.New("unknown user")
	}
	ada := &invoker{uid: 1000, gid: 100, home: "/home/ada"}
	for name, tc := range map[string]struct {
		euid           int
		uid, gid, user string
		want           *invoker
	}{
		"by sudo":           {0, "1000", "100", "ada", ada},
		"another group":     {0, "1000", "27", "ada", ada},
		"not root":          {1000, "1000", "100", "ada", nil},
		"no sudo":           {0, "", "", "", nil},
		"no group":          {0, "1000", "", "ada", nil},
		"no name":           {0, "1000", "100", "", nil},
		"wrong name":        {0, "1000", "100", "bob", nil},
		"by root":           {0, "0", "0", "root", nil},
		"unknown":           {0, "4711", "100", "ada", nil},
		"relative home":     {0, "1001", "100", "bob", nil},
		"odd group":         {0, "1002", "100", "eve", nil},
		"negative":          {0, "-1", "100", "ada", nil},
		"minus one":         {0, "4294967295", "100", "ada", nil},
		"too large":         {0, "4294968296", "100", "ada", nil},
		"other spelling":    {0, "01000", "100", "ada", nil},
		"group is no one":   {0, "1000", "4294967295", "ada", nil},
		"with other things": {0, "1000 ", "100", "ada", nil},
	} {
		env := map[string]string{"SUDO_UID": tc.uid, "SUDO_GID": tc.gid, "SUDO_USER": tc.user}
		got := invokedBy(tc.euid, func(k string) string { return env[k] }, lookup)
		if d := cmp.Diff(tc.want, got, cmp.AllowUnexported(invoker{})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestStateFolder(t *testing.T) {
	for _, tc := range []struct{ goos, home, xdg, want string }{
		{"linux", "/home/ada", "", "/home/ada/.local/state/rdmaprobe"},
		{"linux", "/home/ada", "/srv/state", "/srv/state/rdmaprobe"},
		{"linux", "/home/ada", "state", "/home/ada/.local/state/rdmaprobe"},
		{"freebsd", "/home/ada", "", "/home/ada/.local/state/rdmaprobe"},
		{"darwin", "/Users/ada", "/srv/state", "/Users/ada/Library/Application Support/rdmaprobe"},
	} {
		if runtime.GOOS == "windows" {
			t.Skip("NOT CHECKED: paths of another kind")
		}
		if got := stateFolder(tc.goos, tc.home, tc.xdg); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
	for path, want := range map[string]string{
		"/home/ada/state": "/home/ada/state", "/home/ada": "/home/ada",
		"/home/adam": "", "/home/ada/../eve": "", "state": "", "": "",
	} {
		if runtime.GOOS == "windows" {
			continue
		}
		if got := within("/home/ada", path); got != want {
			t.Errorf("%s within home: %q", path, got)
		}
	}
}

func TestDefaultPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT CHECKED: the state folder cannot be moved here")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("SUDO_UID", "")
	t.Setenv("XDG_STATE_HOME", "")
	t.Chdir(home)
	own, err := DefaultPath(native)
	if err != nil {
		t.Fatal(err)
	}
	if own != filepath.Join(stateFolder(runtime.GOOS, home, ""), "evidence.jsonl") {
		t.Errorf("native: %s", own)
	}
	sim := filepath.Join(filepath.Dir(own), "sim")
	seen := map[string]string{}
	for _, p := range []string{"sim:tb5-pair", "sim:./tb5-pair", "sim:tb5-pair.json", "sim:/srv/tb5-pair.json", "sim:/srv/é x\x1b.json", "sim:/", "sim:/srv/..json", "sim:../" + strings.Repeat("x", 300)} {
		got, err := DefaultPath(p)
		if err != nil || filepath.Dir(got) != sim || seen[got] != "" {
			t.Errorf("%s: %s, as %q (%v)", p, got, seen[got], err)
		}
		base := strings.TrimSuffix(filepath.Base(got), ".jsonl")
		if base != tame(base) && len(base) <= 64 || len(base) > 80 || base[0] == '.' {
			t.Errorf("%s: name %q", p, base)
		}
		seen[got] = p
	}
	if got, _ := DefaultPath("sim:tb5-pair"); filepath.Base(got) != "tb5-pair.jsonl" {
		t.Errorf("a built-in one: %s", got)
	}
	abs, _ := DefaultPath("sim:" + filepath.Join(home, "x.json"))
	if rel, _ := DefaultPath("sim:x.json"); rel != abs {
		t.Errorf("one file, two ledgers: %s, %s", rel, abs)
	}
	for _, p := range []string{"", "sim", "sim:", "sim:..", "sim:.x", "sim:a b", "sim:\x1b", "simulated:x", "Native", "sim:" + strings.Repeat("x", 65)} {
		if got, err := DefaultPath(p); err == nil {
			t.Errorf("%q: %s", p, got)
		}
	}
}
