package rdma

import (
	"runtime"
	"strings"
)

// LoadClass is why a library could not be loaded, as far as the loader's text
// tells.
type LoadClass string

// Classes of load errors.
const (
	LoadMissingFile       LoadClass = "missing_file"       // the library, or one that it needs
	LoadSymbolVersion     LoadClass = "symbol_version"     // a symbol, or the version of one, that it needs
	LoadWrongArchitecture LoadClass = "wrong_architecture" // built for another processor
	LoadUnknown           LoadClass = "unknown"            // any other text
)

// LoadError reports a library that could not be loaded. It is an
// ErrSymbolUnavailable: nothing of the library can be called.
type LoadError struct {
	Path  string    // as passed to dlopen
	Text  string    // the loader's words, at most 4 KiB; they come from outside
	Class LoadClass // from the text; unknown text stays unknown
}

// Error is the path and the loader's words, made safe for a terminal.
func (e *LoadError) Error() string { return "load " + printable(e.Path) + ": " + printable(e.Text) }

// Unwrap is ErrSymbolUnavailable.
func (e *LoadError) Unwrap() error { return ErrSymbolUnavailable }

// maxLoadText bounds what is kept of a loader's text: dyld lists every place
// it has tried.
const maxLoadText = 4096

// NewLoadError makes the error of a loader that said text; a simulator's loader
// says what its profile does. Text beyond 4 KiB is cut.
func NewLoadError(path, text string) *LoadError {
	if len(text) > maxLoadText {
		text = text[:maxLoadText]
	}
	return &LoadError{Path: path, Text: text, Class: classifyLoadText(text)}
}

// loadTexts is searched from the top: dyld's text names every place it tried,
// so a missing file is the weakest hint.
var loadTexts = []struct {
	class LoadClass
	parts []string
}{
	{LoadWrongArchitecture, []string{
		"wrong ELF class", "incompatible architecture", "wrong architecture",
		"no matching architecture", "cannot open shared object file: Exec format error",
	}},
	{LoadSymbolVersion, []string{
		"not found (required by", "undefined symbol", "Symbol not found", "no version information",
		"symbol lookup error", "symbol not found",
	}},
	{LoadMissingFile, []string{
		"cannot open shared object file: No such file", "No such file or directory", "no such file",
		"image not found", "not in dyld cache",
	}},
}

// classifyLoadText finds the class in the words of glibc, musl or dyld.
func classifyLoadText(text string) LoadClass {
	for _, row := range loadTexts {
		for _, part := range row.parts {
			if strings.Contains(text, part) {
				return row.class
			}
		}
	}
	return LoadUnknown
}

// DefaultPath is the name of this system's verbs library.
func DefaultPath() string { return DefaultPathOn(hostPlatform()) }

// DefaultPathOn is the name of a platform's verbs library. Apple's is in the
// dyld cache, not on disk: only loading tells whether it is there.
func DefaultPathOn(p Platform) string {
	if p == PlatformDarwin {
		return "/usr/lib/librdma.dylib"
	}
	return "libibverbs.so.1"
}

// loadPath is what dlopen is given for path on a platform. dyld looks for a name
// without a slash in the working directory too (dlopen(3) of macOS): there it is
// one of the system's.
func loadPath(p Platform, path string) string {
	switch {
	case path == "":
		return DefaultPathOn(p)
	case p == PlatformDarwin && !strings.Contains(path, "/"):
		return "/usr/lib/" + path
	}
	return path
}

// hostPlatform is the platform of the running system; systems without a
// library count as Linux.
func hostPlatform() Platform {
	if runtime.GOOS == "darwin" {
		return PlatformDarwin
	}
	return PlatformLinux
}
