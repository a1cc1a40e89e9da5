package hostfacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// versionFile says which macOS this is. The sysctl kern.osproductversion and the
// file SystemVersion.plist beside this one are rewritten for programs that were
// built against an old SDK: to them macOS 26 is 16. The build number is not.
const versionFile = "System/Library/CoreServices/.SystemVersionPlatform.plist"

// maxVersionFile bounds that file, bytes; it has a few hundred.
const maxVersionFile = 16 << 10

// MacOSVersion reads the version of a macOS, "26.5.1", as two numbers. Other text
// is none, and no release has ever had the numbers that macOS makes up for old
// programs: 10.16, and 16 to 25.
func MacOSVersion(text string) (version [2]int, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return version, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return [2]int{}, false
		}
		if i < len(version) {
			version[i] = int(n)
		}
	}
	return version, version[0] > 0 && !madeUp(version)
}

func madeUp(version [2]int) bool {
	return version[0] > 15 && version[0] < 26 || version == [2]int{10, 16}
}

// soundVersion is a version that a source gave, or why it is none.
func soundVersion(text string) (string, error) {
	text = clean(text)
	if version, ok := MacOSVersion(text); ok {
		return text, nil
	} else if madeUp(version) {
		return "", fmt.Errorf("it says %s, which is no release: macOS tells this to programs that were built for an older one", text)
	}
	return "", fmt.Errorf("it says %.64q, which is no version", text)
}

// fileVersion reads the version from its file.
func fileVersion(s *System) (string, error) {
	b, err := s.read(maxVersionFile, versionFile)
	if err != nil {
		return "", err
	}
	text, ok := plistString(b, "ProductVersion")
	if !ok {
		return "", errors.New("it is no XML property list with one ProductVersion")
	}
	return soundVersion(text)
}

// plistString finds the string of a key that an XML property list has once.
func plistString(b []byte, key string) (string, bool) {
	tag := []byte("<key>" + key + "</key>")
	_, rest, found := bytes.Cut(b, tag)
	if !found || bytes.Contains(rest, tag) {
		return "", false
	}
	rest, isString := bytes.CutPrefix(bytes.TrimSpace(rest), []byte("<string>"))
	text, _, ends := bytes.Cut(rest, []byte("</string>"))
	return string(text), isString && ends
}

// readOSVersion asks a program where the file does not tell. Quick leaves it at
// that.
func readOSVersion(ctx context.Context, s *System) (p part) {
	_, fileErr := fileVersion(s)
	if fileErr == nil {
		return p
	}
	out, err := s.run(ctx, "sw_vers", "-productVersion")
	version := ""
	if err == nil {
		version, err = soundVersion(string(out))
	}
	if err != nil {
		p.fail("os_version", "/"+versionFile, fileErr)
		p.fail("os_version", "sw_vers -productVersion", err)
		return p
	}
	p.apply = func(h *Host) { h.OSVersion = version }
	return p
}
