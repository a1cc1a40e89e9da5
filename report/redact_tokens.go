package report

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
)

// The handlers of tokenList. Each sees what its pattern found with the characters
// before and behind it, gives the stand-in, and says whether it was one at all.

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
