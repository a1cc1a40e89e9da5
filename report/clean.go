package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// How much of one text is printed, in characters. A device name has at most 63
// bytes (IBV_SYSFS_NAME_MAX); whatever is longer is not one.
const (
	maxText = 600
	maxName = 63
)

// ellipsis ends a text that was cut.
const ellipsis = "…"

// Clean makes a text safe to print: control characters (escape sequences lose
// their ESC), Unicode format characters (bidirectional overrides, zero-width
// ones) and invalid bytes are gone, line breaks and odd spaces are single
// spaces, and at most 600 characters are left.
func Clean(s string) string { return clip(s, maxText) }

// cleanName is Clean for what should be a name.
func cleanName(s string) string { return clip(s, maxName) }

// CleanLines is Clean for a text of many lines, which stay as they are otherwise.
func CleanLines(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r == utf8.RuneError || !unicode.IsGraphic(r)) {
			return -1
		}
		return r
	}, string(text))
}

// clip is Clean with a bound of its own.
func clip(s string, limit int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' {
			space = n > 0
			continue
		}
		if r == utf8.RuneError || !unicode.IsGraphic(r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		if n >= limit {
			return strings.TrimRight(b.String(), " ") + ellipsis
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// width is how many columns a clean text takes. It does not depend on the
// locale, unlike the table library's default.
func width(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// cut shortens a clean text to n columns.
func cut(s string, n int) string {
	if width(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		w := width(string(r))
		if used+w > n-1 {
			return s[:i] + ellipsis
		}
		used += w
	}
	return s
}

// wrap breaks a clean text into lines of at most n columns, between words and
// not within backticks: a command that is copied must stay in one piece.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range words(s) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) > n:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// words splits a clean text at its spaces; what stands in backticks is one word.
func words(s string) []string {
	var all []string
	inCode := false
	for _, w := range strings.Split(s, " ") {
		if inCode {
			all[len(all)-1] += " " + w
		} else {
			all = append(all, w)
		}
		if strings.Count(w, "`")%2 == 1 {
			inCode = !inCode
		}
	}
	return all
}
