package report

import (
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rdmaprobe/probe/jsonlimit"
)

// Raw is a program's output, or a file's contents, with stand-ins: what Text
// recognises, and what only such texts have: values behind the names that macOS
// gives to serial numbers and identifiers, networks written short, addresses as
// the kernel's tables have them.
func (r *Redactor) Raw(s string) string {
	if r.raw == nil {
		list := append(rawTokenList(), r.tokens...)
		r.raw = &rawTokens{list, patternOf(list)}
	}
	return r.replace(s, r.raw.list, r.raw.pattern)
}

type rawTokens struct {
	list    []token
	pattern *regexp.Regexp
}

// rawTokenList is tried before the tokens of all texts.
func rawTokenList() []token {
	// A key is found by its end: what may begin anywhere in a long word makes the
	// search quadratic.
	const is = `["']?[ \t]*(?:\([^)\n]*\)[ \t]*)?[:=][ \t]*["'<]?` // "key" = "value", key (type): value
	return []token{
		// IOPlatformSerialNumber, serial_number_key, serial_num, Serial Number (system)
		{`(?i:serial)(?i:[ _-]?(?:number|num|no))?[A-Za-z_]*` + is + `[0-9A-Za-z][0-9A-Za-z._/+-]{2,}`, (*Redactor).serialLine},
		// domain_uuid_key, switch_uid_key, IOPlatformUUID, node_guid, Hardware UDID, ECID
		{`(?i:uuid|guid|udid|ecid|_uid|unique_id|UniqueID)[A-Za-z0-9_]*` + is + `(?:0[xX])?[0-9A-Fa-f][0-9A-Fa-f:-]{3,}`, (*Redactor).identifierLine},
		// SSID, SSID_STR, current network
		{`(?i:\bssid(?:_str)?|networkname|network_name|current_network)` + is + `[^"'<>\n]+`, (*Redactor).networkLine},
		// names that are told to be names, however short
		{`kern\.hostname = [^\n]+|/proc/sys/kernel/(?:hostname|domainname)\n[^\n]+`, (*Redactor).hostLine},
		{`\n[ \t]*@?[^\s#*%@:"]+[ \t]+(?:soft|hard|-)[ \t]+[a-z]+[ \t]`, (*Redactor).limitLine},
		// netstat writes 192.0.2.0/24 as 192.0.2, and 169.254.0.0/16 as 169.254.
		{`\n\d{1,3}(?:\.\d{1,3}){1,2}(?:/\d{1,2})?[ ]{2,}`, (*Redactor).shortNetLine},
		// /proc/net/route has addresses as hexadecimal numbers in the machine's byte order.
		{`\t[0-9A-F]{8}`, (*Redactor).kernelRoute},
		{`[0-9A-Fa-f]{32}`, (*Redactor).wholeAddress},
	}
}

// valueOf splits what an is-pattern found into key and value.
func valueOf(s string) (key, value string) {
	value = strings.TrimLeft(s[strings.IndexAny(s, ":=")+1:], " \t\"'<")
	return s[:len(s)-len(value)], value
}

func (r *Redactor) serialLine(s string, _, after rune) (string, bool) {
	key, value := valueOf(s)
	if wordRune(after) || !strings.ContainsAny(value, "0123456789") && strings.ToUpper(value) != value {
		return "", false // not a number, as in "serial: unknown"
	}
	return key + r.serial(value), true
}

// identifierLine stands in for a value as the token of its form would, and for any
// other as for a serial number.
func (r *Redactor) identifierLine(s string, _, after rune) (string, bool) {
	key, value := valueOf(s)
	if wordRune(after) {
		return "", false
	}
	if out := r.Text(value); out != value {
		return key + out, true
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(value, "0x"), "0X")
	if strings.Trim(digits, "0:-") == "" {
		return s, true
	}
	return key + value[:len(value)-len(digits)] + r.hexWord(digits), true
}

// hexWord stands in for hexadecimal digits of no known form.
func (r *Redactor) hexWord(s string) string {
	h, out := hex.EncodeToString(r.hash("hex", strings.ToLower(s))), []byte(s)
	for i := range out {
		if out[i] != ':' && out[i] != '-' {
			out[i] = h[i%len(h)]
		}
	}
	return sameCase(s, string(out))
}

func (r *Redactor) networkLine(s string, before, _ rune) (string, bool) {
	key, value := valueOf(s)
	if wordRune(before) {
		return "", false
	}
	return key + r.word("net-", strings.ToLower(strings.TrimSpace(value)), 6), true
}

func (r *Redactor) hostLine(s string, _, _ rune) (string, bool) {
	i := strings.IndexAny(s, "=\n") + 1
	i += len(s[i:]) - len(strings.TrimLeft(s[i:], " "))
	if s[i:] == "(none)" {
		return s, true
	}
	return s[:i] + r.host(s[i:]), true
}

func (r *Redactor) limitLine(s string, _, _ rune) (string, bool) {
	name := strings.TrimPrefix(strings.Fields(s)[0], "@")
	return strings.Replace(s, name, r.user(name), 1), true
}

func (r *Redactor) shortNetLine(s string, _, _ rune) (string, bool) {
	text := strings.TrimSpace(s)
	net, prefix, has := strings.Cut(text, "/")
	a, err := netip.ParseAddr(net + strings.Repeat(".0", 3-strings.Count(net, ".")))
	if err != nil {
		return "", false
	}
	out := r.ipv4(a).String()
	if has {
		out += "/" + prefix
	}
	return "\n" + out + s[1+len(text):], true
}

func (r *Redactor) kernelRoute(s string, _, after rune) (string, bool) {
	b, err := hex.DecodeString(s[1:])
	if err != nil || after != '\t' && after != ' ' {
		return "", false
	}
	slices.Reverse(b) // where this program runs, such a file is of a little-endian machine
	a := r.ipv4(netip.AddrFrom4([4]byte(b))).AsSlice()
	slices.Reverse(a)
	return "\t" + strings.ToUpper(hex.EncodeToString(a)), true
}

func (r *Redactor) wholeAddress(s string, before, after rune) (string, bool) {
	b, err := hex.DecodeString(s)
	if err != nil || !alone(before, after) {
		return "", false
	}
	return sameCase(s, hex.EncodeToString(r.octets(b))), true
}

// named finds names in raw texts by what stands before them.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^[ \t|]*"?(?:kern\.hostname|host_?name|computer ?name|localhostname|domain_?name)"?[ \t]*(?:\([^)\n]*\))?[ \t]*[:=][ \t]*"?([^"\n]+?)"?[ \t]*$` +
		`|^== /proc/sys/kernel/(?:hostname|domainname)\n(.+)$`)
})

// limitsLine is a line of limits.conf: a user, or a group.
var limitsLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*@?([^\s*#%@:"]+)[ \t]+(?:soft|hard|-)[ \t]+[a-z]+[ \t]+\S+[ \t]*$`)
})

// LearnRaw takes note of the names that a raw text gives, for this one and others.
func (r *Redactor) LearnRaw(s string) {
	r.learnFound(func() { r.Raw(s) })
	for _, m := range named().FindAllStringSubmatch(s, -1) {
		if name := strings.TrimSpace(m[1] + m[2]); name != "(none)" {
			r.Know(HostNames, name)
		}
	}
	for _, m := range limitsLine().FindAllStringSubmatch(s, -1) {
		r.Know(UserNames, m[1])
	}
	for _, m := range homeUser().FindAllStringSubmatch(s, -1) {
		r.Know(UserNames, m[1])
	}
	if i := strings.IndexByte(s, '{'); i >= 0 && jsonlimit.Check([]byte(s[i:])) == nil {
		var tree any
		if json.NewDecoder(strings.NewReader(s[i:])).Decode(&tree) == nil {
			r.learnPeers(tree)
		}
	}
}

// learnPeers takes note of the machines in what system_profiler says of
// Thunderbolt: items with a domain that are no bus.
func (r *Redactor) learnPeers(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			r.learnPeers(e)
		}
	case map[string]any:
		name, named := v["_name"].(string)
		if _, domain := v["domain_uuid_key"]; domain && named && !strings.HasPrefix(name, "thunderbolt") {
			r.Know(HostNames, name)
		}
		for _, e := range v {
			r.learnPeers(e)
		}
	}
}
