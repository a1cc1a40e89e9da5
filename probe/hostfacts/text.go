package hostfacts

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds every string that comes from a file or a program.
const maxText = 512

// clean makes foreign text safe to print and to store: valid UTF-8, one line, no
// control or formatting characters (which reorder a line), bounded, trimmed.
func clean(s string) string {
	if len(s) > 8*maxText {
		s = s[:8*maxText]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.TrimSpace(s)
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// lines calls f for each line of b, without its end, until f says false. No line
// is longer than limit: the rest of a longer one is dropped.
func lines(b []byte, limit int, f func(line string) bool) {
	for len(b) > 0 {
		line := b
		if i := bytes.IndexByte(b[:min(len(b), limit)], '\n'); i >= 0 {
			line, b = b[:i], b[i+1:]
		} else if len(b) > limit {
			line, b = b[:limit], afterNewline(b[limit:])
		} else {
			b = nil
		}
		if !f(strings.TrimSuffix(string(line), "\r")) {
			return
		}
	}
}

func afterNewline(b []byte) []byte {
	_, rest, _ := bytes.Cut(b, []byte{'\n'})
	return rest
}

func ptr[T any](v T) *T { return &v }
