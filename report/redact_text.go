package report

import (
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode"
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
		{`https?://[^\s"'<>]+`, (*Redactor).urlToken},
		{`[A-Za-z0-9._%+-]+@[A-Za-z0-9][A-Za-z0-9.-]*`, (*Redactor).mailToken},
		{`[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`, (*Redactor).uuidToken},
		{`[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5,19}|[0-9A-Fa-f]{2}(?:-[0-9A-Fa-f]{2}){5,19}`, (*Redactor).octetsToken},
		{`[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}`, (*Redactor).dottedToken},
		{`(?i:serial|s/n|ecid|udid|uuid|asset)(?i:[ _-]?(?:number|num|no|tag))?["']?\s*[:=#]?\s*["']?[0-9A-Za-z-]{4,}`, (*Redactor).labelledToken},
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

// find is the leftmost match of pattern in s[from:], with indices into s. A match
// that goes to the end of what was looked at is looked for in twice as much.
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
		case end < len(s) && from+m[1] == end:
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

func wordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

func alone(before, after rune) bool { return !wordRune(before) && !wordRune(after) }

func keepToken(_ *Redactor, s string, before, after rune) (string, bool) {
	return s, alone(before, after)
}

func (r *Redactor) uuidToken(s string, before, after rune) (string, bool) {
	if !alone(before, after) {
		return "", false
	}
	if strings.EqualFold(s, efiGlobal) {
		return s, true
	}
	return r.uuid(s), true
}

// efiGlobal is the vendor of the variables that every EFI machine has, SecureBoot
// among them (UEFI specification 3.3).
const efiGlobal = "8be4df61-93ca-11d2-aa0d-00e098032b8c"

// uuid stands in for a UUID.
func (r *Redactor) uuid(s string) string {
	h := hex.EncodeToString(r.hash("uuid", strings.ToLower(s)))
	out := h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-8" + h[17:20] + "-" + h[20:32]
	if strings.ToUpper(s) == s && strings.ToLower(s) != s {
		return strings.ToUpper(out)
	}
	return out
}

func (r *Redactor) octetsToken(s string, before, after rune) (string, bool) {
	sep := s[2:3]
	b, err := hex.DecodeString(strings.ReplaceAll(s, sep, ""))
	if err != nil || !alone(before, after) || string(before) == sep || string(after) == sep {
		return "", false
	}
	var parts []string
	for _, o := range r.octets(b) {
		parts = append(parts, hex.EncodeToString([]byte{o}))
	}
	return sameCase(s, strings.Join(parts, sep)), true
}

func (r *Redactor) dottedToken(s string, before, after rune) (string, bool) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, ".", ""))
	if err != nil || !alone(before, after) || before == '.' {
		return "", false
	}
	h := hex.EncodeToString(r.octets(b))
	return sameCase(s, h[:4]+"."+h[4:8]+"."+h[8:]), true
}

// sameCase writes hexadecimal digits in the case of the original.
func sameCase(original, s string) string {
	if strings.ContainsAny(original, "ABCDEF") {
		return strings.ToUpper(s)
	}
	return s
}

// addrToken handles addresses, networks and GUIDs.
func (r *Redactor) addrToken(s string, before, after rune) (string, bool) {
	if !alone(before, after) || before == ':' || before == '.' || after == ':' && strings.HasSuffix(s, ":") {
		return "", false
	}
	if g, ok := guidOf(s); ok {
		return sameCase(s, guidText(r.guid(g))), true
	}
	host, prefix, _ := strings.Cut(s, "/")
	out, ok := r.addrText(host)
	if !ok {
		return r.shortMAC(s)
	}
	if prefix != "" {
		out += "/" + prefix
	}
	return out, true
}

// shortMAC stands in for a MAC address without leading zeros, as macOS writes it
// in its tables: 0:0:5e:0:53:1.
func (r *Redactor) shortMAC(s string) (string, bool) {
	groups := strings.Split(s, ":")
	if len(groups) != 6 {
		return "", false
	}
	var m [6]byte
	for i, g := range groups {
		n, err := strconv.ParseUint(g, 16, 8)
		if err != nil {
			return "", false
		}
		m[i] = byte(n)
	}
	for i, b := range r.mac(m) {
		groups[i] = strconv.FormatUint(uint64(b), 16)
	}
	return sameCase(s, strings.Join(groups, ":")), true
}

// hexToken handles digits without separators, as in enx001122334455.
func (r *Redactor) hexToken(s string, before, after rune) (string, bool) {
	decimal := strings.Trim(s, "0123456789") == ""
	if unicode.IsLetter(after) || unicode.IsDigit(before) || unicode.IsLetter(before) && decimal && before != 'x' {
		return "", false
	}
	switch {
	case strings.Trim(s, s[:1]) == "": // all zeros, all ones
		return s, true
	case decimal && before != 'x':
		return r.decimal(s), true
	}
	b, err := hex.DecodeString(s)
	if err != nil { // an odd number of digits
		b, _ = hex.DecodeString(s[1:])
		return sameCase(s, s[:1]+hex.EncodeToString(r.octets(b))), true
	}
	return sameCase(s, hex.EncodeToString(r.octets(b))), true
}

// decimal stands in for a long decimal number.
func (r *Redactor) decimal(s string) string {
	out := make([]byte, len(s))
	for i := range out {
		h := r.hash("decimal", s+"/"+string(rune('0'+i/32)))
		out[i] = '0' + h[i%32]%10
	}
	if out[0] == '0' {
		out[0] = '1'
	}
	return string(out)
}

// serialToken handles what looks like a serial number: capitals with digits.
func (r *Redactor) serialToken(s string, before, after rune) (string, bool) {
	if !alone(before, after) || before == '_' || after == '_' ||
		!strings.ContainsAny(s, "0123456789") || !strings.ContainsAny(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return "", false
	}
	return r.serial(s), true
}

// serial stands in for a serial number: as many letters and digits, where they
// were.
func (r *Redactor) serial(s string) string {
	out := []byte(s)
	for i := range out {
		h := r.hash("serial", s+"/"+string(rune('0'+i/32)))[i%32]
		switch c := out[i]; {
		case c >= '0' && c <= '9':
			out[i] = '0' + h%10
		case c >= 'A' && c <= 'Z':
			out[i] = 'A' + h%26
		case c >= 'a' && c <= 'z':
			out[i] = 'a' + h%26
		}
	}
	return string(out)
}

// labelledToken handles "serial number: X"; a word without a digit is none.
func (r *Redactor) labelledToken(s string, before, _ rune) (string, bool) {
	i := strings.LastIndexAny(s, " \t:=#\"'")
	if wordRune(before) || i < 0 || !strings.ContainsAny(s[i:], "0123456789") {
		return "", false
	}
	value := s[i+1:]
	if u, ok := r.uuidToken(value, ' ', ' '); ok && len(value) == 36 && strings.Count(value, "-") == 4 {
		return s[:i+1] + u, true
	}
	return s[:i+1] + r.serial(value), true
}
