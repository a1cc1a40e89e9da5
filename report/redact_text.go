package report

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// token is one kind of text that may tell whose machine it is. Its handler sees
// the text and its neighbours, and says whether it is one.
type token struct {
	pattern string // without capturing groups
	handle  func(r *Redactor, s string, before, after rune) (string, bool)
}

// tokenList is tried in this order where several begin at one place.
func tokenList() []token {
	return []token{
		{`\d{8}T\d{6}-[0-9a-f]{12}`, keepToken}, // a run
		{`[a-z][a-z0-9+.-]{1,11}://[^\s"'<>]+`, (*Redactor).urlToken},
		{`[A-Za-z0-9._%+-]+@[A-Za-z0-9][A-Za-z0-9.-]*:[0-9A-Za-z~._-]+(?:/[^\s"'<>|,;]*)?`, (*Redactor).copyToken},
		{`[A-Za-z0-9._%+-]+@[A-Za-z0-9][A-Za-z0-9.-]*`, (*Redactor).mailToken},
		{`[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`, (*Redactor).uuidToken},
		{`[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){4,19}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){4,19}`, (*Redactor).octetsToken},
		{`[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}`, (*Redactor).dottedToken},
		{`(?i:serial|s/n|ecid|udid|uuid|asset)(?i:[ _-]?(?:number|num|no|tag))?["']?\s*[:=#]?\s*["']?[0-9A-Za-z-]{4,}`, (*Redactor).labelledToken},
		{`[0-9A-Za-z][0-9A-Za-z._-]+:/[^\s"'<>|,;:()\[\]{}]*`, (*Redactor).exportToken},
		{`[A-Za-z]:\\[^\s"'<>|:]+`, (*Redactor).windowsToken},
		{`\\\\[0-9A-Za-z._-]+(?:\\[^\s"'<>|:\\]+)+`, (*Redactor).shareToken},
		{`"(?:~|\.\.?)?/[^"\n:]*"`, (*Redactor).quotedToken},
		{`(?:~|\.\.?)?(?:/[^\s"'<>|,;:()\[\]{}]+)+/?`, (*Redactor).pathToken},
		{`\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?`, (*Redactor).addrToken},
		{`(?:[0-9A-Fa-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f]{0,4})(?:%[0-9A-Za-z._-]+)?(?:/\d{1,3})?`, (*Redactor).addrToken},
		{`(?:[0-9A-Za-z](?:[0-9A-Za-z-]*[0-9A-Za-z])?\.)+(?i:local|lan|internal|corp|home|localdomain|intranet|private|arpa|com|net|org|edu|gov|mil|io|cloud|de|uk|us|eu|cn|jp|fr|ch|example)`, (*Redactor).domainToken},
		{`[0-9A-Fa-f]{12,}`, (*Redactor).hexToken},
		{`[0-9A-Z]{8,20}`, (*Redactor).serialToken},
	}
}

// patternOf finds all tokens, each in a group of its own.
func patternOf(tokens []token) *regexp.Regexp {
	parts := make([]string, len(tokens))
	for i, t := range tokens {
		parts[i] = "(" + t.pattern + ")"
	}
	return regexp.MustCompile(strings.Join(parts, "|"))
}

// Text replaces everything in a text that is recognised.
func (r *Redactor) Text(s string) string {
	if vocabulary()[s] {
		return s
	}
	return r.replace(s, r.tokens, r.pattern)
}

// A token is looked for in so many bytes first, and what begins in the last half
// of them again in the next: in all that is left the search would go to the end of
// a long text once for each token.
const window = 1 << 10

// nearEnd is within what the last byte of an address may be cut off where what was
// looked at ends.
const nearEnd = 3

// find is the leftmost match of pattern in s[from:], with indices into s. A match
// that goes near the end of what was looked at is looked for in twice as much.
func find(pattern *regexp.Regexp, s string, from int) []int {
	for size := window; ; {
		end := min(from+size, len(s))
		for end < len(s) && !utf8.RuneStart(s[end]) {
			end++
		}
		m := pattern.FindStringSubmatchIndex(s[from:end])
		switch {
		case m == nil && end == len(s):
			return nil
		case m == nil:
			from, size = runeStart(s, end-window/2), window
		case end < len(s) && from+m[1] > end-nearEnd:
			size *= 2
		default:
			for i := range m {
				if m[i] >= 0 {
					m[i] += from
				}
			}
			return m
		}
	}
}

// runeStart is where the character at i begins.
func runeStart(s string, i int) int {
	for !utf8.RuneStart(s[i]) && i > 0 {
		i--
	}
	return i
}

// A word in which a token seems to begin at every letter would be read once for
// each of them. What is left after so many bytes of that is not passed on.
const (
	maxRefused = 64 << 10
	unseen     = " (the rest is left out: it has no end of what might be names)"
)

// replace handles the tokens that a pattern finds, and known names between them.
func (r *Redactor) replace(s string, tokens []token, pattern *regexp.Regexp) string {
	var b strings.Builder
	gap, from := 0, 0 // what is not yet written, and where to look
	left := maxRefused + 16*len(s)
	for from < len(s) {
		m := find(pattern, s, from)
		if m == nil {
			break
		}
		start, end, kind := m[0], m[1], 0
		for i := range tokens {
			if m[2+2*i] >= 0 {
				kind = i
			}
		}
		before, _ := utf8.DecodeLastRuneInString(s[:start])
		after, _ := utf8.DecodeRuneInString(s[end:])
		if start == 0 {
			before = ' '
		}
		if end == len(s) {
			after = ' '
		}
		out, ok := tokens[kind].handle(r, s[start:end], before, after)
		if !ok {
			_, size := utf8.DecodeRuneInString(s[start:])
			from = start + size
			if left -= end - start; left < 0 {
				return b.String() + r.known(s[gap:start]) + unseen
			}
			continue
		}
		b.WriteString(r.known(s[gap:start]))
		b.WriteString(out)
		gap, from = end, end
	}
	b.WriteString(r.known(s[gap:]))
	return b.String()
}
