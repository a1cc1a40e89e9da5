package hostfacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"sort"
	"syscall"
	"time"
)

// MacOS and Linux are the systems whose facts are read: Host.OS, System.OS.
const (
	MacOS = "macos"
	Linux = "linux"
)

// System is the machine as the sources see it. Native returns the real one. A
// function that is nil makes its facts absent, with a note in the list of what
// was not read.
type System struct {
	OS      string // MacOS or Linux; anything else has no facts
	Root    string // file system root of every file that is read
	Env     []string
	EUID    int    // effective user id, negative where there is none
	Machine string // uname -m, the architecture when nothing better is known
	Now     func() time.Time

	// Run runs a program of the system and returns its standard output. It ends
	// by itself within RunLimit, whatever the program does, and looks for the
	// name in the system's own directories only.
	Run func(ctx context.Context, name string, args ...string) (stdout []byte, err error)
	// Sysctl returns the raw value of a sysctl(3) name; fs.ErrNotExist: no such name.
	Sysctl func(name string) ([]byte, error)
	// Access says by access(2), with the effective ids, whether a file below Root
	// may be opened for reading and writing.
	Access func(path string) error
	// Memlock returns RLIMIT_MEMLOCK of this process in KiB, -1 for unlimited.
	Memlock func() (int64, error)
	// Interfaces lists the network interfaces of this process's namespace.
	Interfaces func() ([]NetInterface, error)

	// Record, where there is one, gets what all of these gave.
	Record *Record
}

// NetInterface is one network interface as the kernel lists it.
type NetInterface struct {
	Name     string
	Up       *bool // up, and its link is running; nil where flags do not tell
	Prefixes []netip.Prefix
}

// RunLimit is how long one outside program may take.
const RunLimit = 5 * time.Second

// Bounds of what is read from a machine that may be hostile.
const (
	maxFile    = 1 << 20 // bytes of an ordinary file
	maxBigFile = 8 << 20 // bytes of modules.dep or of a shared library
	maxEntries = 4096    // names taken from one directory
)

var (
	// errNoRun is the answer of a System without programs.
	errNoRun = errors.New("outside programs are not available")
	// errLeft: the program survived SIGKILL and was not waited for.
	errLeft = errors.New("it could not be killed")
)

func (s *System) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	if s.Run == nil {
		return nil, errNoRun
	}
	out, err := s.Run(ctx, name, args...)
	s.Record.program(append([]string{name}, args...), out, err)
	return out, err
}

// Program runs a program as the sources of facts do.
func (s *System) Program(ctx context.Context, name string, args ...string) ([]byte, error) {
	return s.run(ctx, name, args...)
}

func (s *System) interfaces() ([]NetInterface, error) {
	list, err := s.Interfaces()
	s.Record.interfaces(list, err)
	return list, err
}

func (s *System) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

func (s *System) path(elem ...string) string {
	return filepath.Join(append([]string{s.Root}, elem...)...)
}

// read returns the content of a regular file, at most limit bytes of it. A FIFO
// or a device in a file's place is an error: neither may hold us up.
func (s *System) read(limit int64, elem ...string) ([]byte, error) {
	b, err := s.readFile(limit, elem...)
	s.Record.file(filepath.Join(elem...), b, err)
	return b, err
}

func (s *System) readFile(limit int64, elem ...string) ([]byte, error) {
	f, err := os.OpenFile(s.path(elem...), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return nil, err
	} else if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", filepath.Join(elem...))
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("read %s: more than %d bytes", filepath.Join(elem...), limit)
	}
	return b, nil
}

// text returns a one-line file without its control characters; "" when it
// cannot be read.
func (s *System) text(elem ...string) string {
	b, err := s.read(maxFile, elem...)
	if err != nil {
		return ""
	}
	return clean(string(b))
}

// list returns the sorted names in a directory.
func (s *System) list(elem ...string) ([]string, error) {
	names, err := s.listNames(elem...)
	s.Record.list(filepath.Join(elem...), names, err)
	return names, err
}

func (s *System) listNames(elem ...string) ([]string, error) {
	d, err := os.Open(s.path(elem...))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	sort.Strings(names)
	return names, nil
}

// linkBase returns the last element of a symbolic link's target, "" without one.
func (s *System) linkBase(elem ...string) string {
	t, err := os.Readlink(s.path(elem...))
	if err != nil {
		return ""
	}
	s.Record.link(filepath.Join(elem...), t)
	return clean(filepath.Base(t))
}

// exists tells a file that is there from one that is not; known is false when
// neither can be said, as in a directory that may not be searched.
func (s *System) exists(elem ...string) (there, known bool) {
	_, err := os.Stat(s.path(elem...))
	switch {
	case err == nil:
		return true, true
	case errors.Is(err, fs.ErrNotExist):
		return false, true
	}
	return false, false
}

// env returns a variable of the environment, the last one as getenv has it.
func (s *System) env(name string) string {
	for i := len(s.Env) - 1; i >= 0; i-- {
		if len(s.Env[i]) > len(name) && s.Env[i][:len(name)] == name && s.Env[i][len(name)] == '=' {
			return s.Env[i][len(name)+1:]
		}
	}
	return ""
}

// realDir is the directory with its links resolved, so that two names of one
// directory are known to be the same.
func (s *System) realDir(elem ...string) string {
	if real, err := filepath.EvalSymlinks(s.path(elem...)); err == nil {
		return real
	}
	return s.path(elem...)
}
