package hostfacts

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixtures lists the archives of a system and fails when there is none.
func fixtures(t testing.TB, system string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", system, "*.txtar"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no fixture of %s: %v", system, err)
	}
	return list
}

type entry struct {
	name string
	data []byte
}

// archive reads a text archive: a comment, then files that begin with a line
// "-- NAME --". The comment must say where the shapes come from.
func archive(t testing.TB, file string) []entry {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	for _, line := range strings.SplitAfter(string(b), "\n") {
		name, ok := strings.CutPrefix(strings.TrimSuffix(line, " --\n"), "-- ")
		switch {
		case ok && strings.HasSuffix(line, " --\n"):
			entries = append(entries, entry{name: name})
		case len(entries) > 0:
			last := &entries[len(entries)-1]
			last.data = append(last.data, line...)
		}
	}
	if len(entries) == 0 || strings.HasPrefix(string(b), "-- ") {
		t.Fatalf("%s: no entries, or no comment that says where the shapes come from", file)
	}
	return entries
}

// load unpacks an archive and makes the system of it: root/ is the file tree,
// links its symbolic links, run/ the outputs of programs by their arguments (a
// prefix is enough), fail/ and hang/ those that fail and hang, sysctl the values.
func load(t testing.TB, file string) *System {
	t.Helper()
	entries := archive(t, file)
	f := fixture{run: map[string]string{}, fail: map[string]string{}, hang: map[string]bool{}, sysctl: map[string][]byte{}}
	root := t.TempDir()
	for _, m := range entries {
		kind, name, _ := strings.Cut(m.name, "/")
		switch kind {
		case "root":
			put(t, filepath.Join(root, name), m.data)
		case "links":
			putLinks(t, root, string(m.data))
		case "secureboot":
			put(t, filepath.Join(root, secureBootVar), []byte{6, 0, 0, 0, 1})
		case "run":
			f.run[name] = string(m.data)
		case "fail":
			f.fail[name] = strings.TrimSpace(string(m.data))
		case "hang":
			f.hang[name] = true
		case "sysctl":
			f.readSysctl(t, string(m.data))
		default:
			t.Fatalf("%s: unknown entry %s", file, m.name)
		}
	}
	return f.system(root, filepath.Base(filepath.Dir(file)))
}

type fixture struct {
	run, fail map[string]string
	hang      map[string]bool
	sysctl    map[string][]byte
}

func (f fixture) system(root, system string) *System {
	s := &System{
		OS: system, Root: root, EUID: 501, Machine: "x86_64", Run: f.program,
		Env:     []string{"HOME=/Users/user", "USER=user", "NCCL_IB_GID_INDEX=1", "NCCL_IB_GID_INDEX=3", "SECRET=x", "UCX_TLS=rc\x1b[31m"},
		Now:     func() time.Time { return time.Unix(1790000060, 0) },
		Memlock: func() (int64, error) { return 64, nil },
		Access: func(path string) error {
			if strings.HasSuffix(path, "uverbs1") {
				return fs.ErrPermission
			}
			return nil
		},
		Interfaces: func() ([]NetInterface, error) {
			return []NetInterface{{Name: "eth1", Up: ptr(true), Prefixes: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/24")}}}, nil
		},
	}
	if system == MacOS {
		s.Sysctl = func(name string) ([]byte, error) {
			if b, ok := f.sysctl[name]; ok {
				return b, nil
			}
			return nil, fs.ErrNotExist
		}
	}
	return s
}

func (f fixture) program(ctx context.Context, name string, args ...string) ([]byte, error) {
	line := strings.Join(append([]string{name}, args...), " ")
	for prefix := range f.hang {
		if strings.HasPrefix(line, prefix) {
			return nil, fmt.Errorf("run %s: %w", name, context.DeadlineExceeded)
		}
	}
	for prefix, text := range f.fail {
		if strings.HasPrefix(line, prefix) {
			return nil, errors.New("run " + name + ": " + text)
		}
	}
	for prefix, out := range f.run {
		if strings.HasPrefix(line, prefix) {
			return []byte(out), nil
		}
	}
	return nil, fmt.Errorf("run %s: %w", name, fs.ErrNotExist)
}

// readSysctl reads "NAME text", "NAME int N", "NAME time SECONDS", "NAME odd".
func (f fixture) readSysctl(t testing.TB, text string) {
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		name, value, _ := strings.Cut(line, " ")
		kind, number, _ := strings.Cut(value, " ")
		n, err := strconv.ParseInt(number, 10, 64)
		switch {
		case kind == "int" && err == nil:
			f.sysctl[name] = binary.LittleEndian.AppendUint32(nil, uint32(n))
		case kind == "time" && err == nil:
			f.sysctl[name] = append(binary.LittleEndian.AppendUint64(nil, uint64(n)), make([]byte, 8)...)
		case kind == "odd":
			f.sysctl[name] = []byte{1, 2, 3}
		default:
			f.sysctl[name] = append([]byte(value), 0)
		}
	}
}

func put(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func putLinks(t testing.TB, root, text string) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		path, target, ok := strings.Cut(line, " -> ")
		if !ok {
			continue
		}
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCollectFixtures compares what comes out of each archive with the golden
// file beside it: the host, and what was not read.
func TestCollectFixtures(t *testing.T) {
	for _, system := range []string{MacOS, Linux} {
		for _, file := range fixtures(t, system) {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			t.Run(system+"/"+name, func(t *testing.T) {
				s := load(t, file)
				h, missing := Collect(t.Context(), s)
				got := golden(t, h, missing)
				if strings.Contains(got, "\x1b") || strings.Contains(got, `\u001b`) || strings.Contains(got, "SECRET") {
					t.Errorf("an escape sequence or a foreign variable came through:\n%s", got)
				}
				want := filepath.Join("testdata", system, name+".json")
				if *update {
					if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				b, err := os.ReadFile(want)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(string(b), got); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
			})
		}
	}
}

func golden(t *testing.T, h *Host, missing []NotRead) string {
	t.Helper()
	b, err := json.MarshalIndent(struct {
		Host    *Host
		NotRead []NotRead
	}{h, missing}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}
