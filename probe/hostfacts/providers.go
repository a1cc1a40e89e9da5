package hostfacts

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// libDirs are where distributions put libibverbs; the directories of Debian's
// architectures come beside them. A library of another architecture may lie in
// one of them: its providers are listed by their paths.
var libDirs = []string{"usr/lib64", "usr/lib", "lib64", "lib", "usr/local/lib64", "usr/local/lib"}

const (
	driverDir   = "etc/libibverbs.d"
	verbsSoname = "libibverbs.so.1"
)

// providerFile is the name of a provider; the number is the private ABI between
// it and libibverbs (rdma-core, CMakeLists.txt: IBVERBS_PABI_VERSION).
var providerFile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^lib[A-Za-z0-9_]+-rdmav[0-9]{1,4}\.so$`) })

// wantedFormat is the text in libibverbs from which it makes a provider's file
// name (libibverbs/dynamic_driver.c), with the directory in packaged builds.
var wantedFormat = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([ -~]{0,256}?)lib%s(-rdmav[0-9]{1,4})\.so`) })

// readProviders reads which providers are installed, which are configured, and
// which private ABI the installed library asks for. The library is read as a
// file and never loaded.
func readProviders(_ context.Context, s *System) (p part) {
	entries, err := driverEntries(s)
	entriesKnown := err == nil || errors.Is(err, fs.ErrNotExist)
	if !entriesKnown {
		p.missFile("userspace_providers", driverDir, err)
	}
	dirs := libraryDirs(s)
	abi, dir, why := wantedABI(s, dirs)
	if abi == "" {
		p.miss("provider_abi_wanted", verbsSoname, why)
	}
	files := providerFiles(s, dirs, dir)
	p.apply = func(h *Host) {
		h.ProviderFiles = files
		if entriesKnown {
			h.ProviderEntries = entries
			h.Providers = ptr(len(entries) > 0 && len(files) > 0)
		}
		h.ProviderABI = abi
	}
	return p
}

// driverEntries reads the names after "driver" in libibverbs.d (libibverbs.md).
func driverEntries(s *System) ([]string, error) {
	entries := []string{}
	names, err := s.list(driverDir)
	if err != nil {
		return entries, err
	}
	for _, name := range names {
		// The library reads every file that is not hidden, whatever its ending.
		if strings.HasPrefix(name, ".") {
			continue
		}
		b, err := s.read(maxFile, driverDir, name)
		if err != nil {
			continue
		}
		entries = append(entries, parseDriverFile(b)...)
	}
	slices.Sort(entries)
	return slices.Compact(entries), nil
}

// parseDriverFile reads "driver NAME" lines; # starts a comment. A NAME may be a
// path without ending (/opt/lib/libfoo): it is kept as it is.
func parseDriverFile(b []byte) []string {
	var names []string
	lines(b, 1024, func(line string) bool {
		f := strings.Fields(line)
		if len(f) >= 2 && f[0] == "driver" {
			names = append(names, clean(f[1]))
		}
		return len(names) < maxDevices
	})
	return names
}

// libraryDirs adds Debian's directories of one architecture to libDirs.
func libraryDirs(s *System) []string {
	dirs := slices.Clone(libDirs)
	for _, parent := range []string{"usr/lib", "lib"} {
		names, err := s.list(parent)
		if err != nil {
			continue
		}
		for _, n := range names {
			if strings.Contains(n, "-linux-gnu") {
				dirs = append(dirs, path.Join(parent, n))
			}
		}
	}
	return dirs
}

// wantedABI returns "rdmav34" and the directory that the library looks into, if
// its text names one; else why not.
func wantedABI(s *System, dirs []string) (abi, dir, why string) {
	why = "it is in none of the library directories"
	for _, d := range dirs {
		b, err := s.read(maxBigFile, d, verbsSoname)
		if err != nil {
			continue
		}
		if abi, dir = parseWantedABI(b); abi != "" {
			return abi, dir, ""
		}
		why = "/" + path.Join(d, verbsSoname) + " does not show it"
	}
	return "", "", why
}

// parseWantedABI finds the file name format in the bytes of libibverbs. It may
// occur with and without directory.
func parseWantedABI(b []byte) (abi, dir string) {
	for len(b) > 0 {
		i := bytes.Index(b, []byte("lib%s-rdmav"))
		if i < 0 {
			return abi, dir
		}
		start := bytes.LastIndexByte(b[max(0, i-256):i], 0) + 1 + max(0, i-256)
		if m := wantedFormat().FindSubmatch(b[start:min(len(b), i+32)]); m != nil {
			abi = strings.TrimPrefix(string(m[2]), "-")
			if d := string(m[1]); strings.HasPrefix(d, "/") {
				return abi, path.Clean(strings.TrimPrefix(d, "/"))
			}
		}
		b = b[i+1:]
	}
	return abi, dir
}

// providerFiles lists the paths of all installed providers, sorted. Directories
// that are links to one another (usr-merge) count once, by file name and content
// directory: the first wins.
func providerFiles(s *System, dirs []string, named string) []string {
	files, seen := []string{}, map[string]bool{}
	if named != "" {
		dirs = append([]string{path.Dir(named)}, dirs...)
	}
	for _, d := range dirs {
		names, err := s.list(d, "libibverbs")
		if err != nil {
			continue
		}
		real := s.realDir(path.Join(d, "libibverbs"))
		if seen[real] {
			continue
		}
		seen[real] = true
		for _, n := range names {
			// A dangling link is no provider: the file behind it is gone.
			if there, _ := s.exists(d, "libibverbs", n); there && providerFile().MatchString(n) {
				files = append(files, "/"+path.Join(d, "libibverbs", n))
			}
		}
	}
	slices.Sort(files)
	return files
}
