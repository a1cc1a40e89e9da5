package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
)

// native is the provider of the machine itself.
const native = "native"

// DefaultPath is where the ledger of a provider lies when no other file is
// named: for "native" $XDG_STATE_HOME/rdmaprobe/evidence.jsonl (by default
// ~/.local/state; on macOS ~/Library/Application Support/rdmaprobe/, on Windows
// %LocalAppData%\rdmaprobe\), for "sim:NAME" sim/NAME.jsonl beside it, for
// "sim:FILE" a name made of the file's and a hash of its absolute path. Under
// sudo all of this is the invoking user's. Nothing is created.
func DefaultPath(provider string) (string, error) {
	dir, err := folder(currentInvoker())
	if err != nil {
		return "", fmt.Errorf("default store: %w", err)
	}
	if provider == native {
		return filepath.Join(dir, "evidence.jsonl"), nil
	}
	profile, ok := strings.CutPrefix(provider, "sim:")
	if !ok {
		return "", fmt.Errorf("default store: unknown provider %q", provider)
	}
	name, err := simulatedName(profile)
	if err != nil {
		return "", fmt.Errorf("default store: %w", err)
	}
	return filepath.Join(dir, "sim", name+".jsonl"), nil
}

// folder is the program's own state folder.
func folder(in *invoker) (string, error) {
	if in != nil {
		return stateFolder(runtime.GOOS, in.home, within(in.home, os.Getenv("XDG_STATE_HOME"))), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserCacheDir() // %LocalAppData%
		return filepath.Join(dir, "rdmaprobe"), err
	}
	xdg := os.Getenv("XDG_STATE_HOME")
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		u, uerr := user.Current()
		if uerr == nil && filepath.IsAbs(u.HomeDir) {
			home = u.HomeDir
		} else if runtime.GOOS == "darwin" || !filepath.IsAbs(xdg) {
			return "", errors.New("no home folder: set HOME, or name a file with --store FILE")
		}
	}
	return stateFolder(runtime.GOOS, home, xdg), nil
}

// stateFolder follows the XDG base directory specification, which wants
// relative paths ignored, and Apple's convention on macOS.
func stateFolder(goos, home, xdg string) string {
	switch {
	case goos == "darwin":
		return filepath.Join(home, "Library", "Application Support", "rdmaprobe")
	case filepath.IsAbs(xdg):
		return filepath.Join(xdg, "rdmaprobe")
	}
	return filepath.Join(home, ".local", "state", "rdmaprobe")
}

// within returns path if it lies in home, else "": under sudo the variable may
// be root's own.
func within(home, path string) string {
	rel, err := filepath.Rel(home, path)
	if !filepath.IsAbs(path) || err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return path
}

// simulatedName is the base name, without ending, of a profile's ledger.
func simulatedName(profile string) (string, error) {
	if !strings.ContainsAny(profile, `/\`) && !strings.HasSuffix(profile, ".json") {
		if profile == "" || profile[0] == '.' || profile != tame(profile) {
			return "", fmt.Errorf("%q is no name of a profile", profile)
		}
		return profile, nil
	}
	abs, err := filepath.Abs(profile)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(abs))
	base := strings.TrimLeft(tame(strings.TrimSuffix(filepath.Base(abs), ".json")), ".")
	return base + "-" + hex.EncodeToString(sum[:4]), nil
}

// tame keeps at most 64 bytes of s and replaces what has no place in a file name.
func tame(s string) string {
	s = s[:min(len(s), 64)]
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '_' || validRunID(string(r))) {
			return r
		}
		return '_'
	}, s)
}
