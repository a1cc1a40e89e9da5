package report

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// Names of what a machine's owner may be known by.
const (
	HostNames = "host"
	UserNames = "user"
	HomePaths = "home"
)

// Know tells of names that may stand in texts: of this machine, its user and the
// user's home folder. Those that a document itself names need not be told.
func (r *Redactor) Know(kind string, names ...string) {
	for _, n := range names {
		n = strings.TrimSpace(n)
		switch {
		case n == "":
		case kind == HomePaths:
			if n = strings.TrimRight(n, "/\\"); strings.Count(n, "/") > 1 {
				r.homes = append(r.homes, n)
			}
		case kind == UserNames:
			r.knowName(n, r.user(n))
		default:
			r.knowHost(n)
		}
	}
}

// shortest is the shortest name that is looked for in texts: a shorter one would
// stand in any word.
const shortest = 3

func (r *Redactor) knowName(name, standIn string) {
	name = strings.ToLower(name)
	if utf8.RuneCountInString(name) < shortest || vocabulary()[name] || slices.Contains(commonUser, name) || r.names[name] != "" {
		return
	}
	r.names[name], r.finds = standIn, nil
}

func (r *Redactor) knowHost(name string) {
	name = numbered().ReplaceAllString(name, "")
	if host, _, err := net.SplitHostPort(name); err == nil {
		name = host
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return
	}
	r.knowName(name, r.host(name))
	if short, _, ok := strings.Cut(name, "."); ok {
		r.knowName(short, r.host(short))
	}
}

// commonUser are users that every machine has.
var commonUser = []string{"root", "nobody", "daemon", "shared", "admin", "user"}

// user stands in for a user name.
func (r *Redactor) user(s string) string {
	if slices.Contains(commonUser, strings.ToLower(s)) {
		return s
	}
	r.note(UserNames, s)
	return r.word("user-", strings.ToLower(s), 8)
}

// numbered is what a merged report adds to the second host of one name.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \(\d+\)$`) })

// host stands in for a host name: each of the machine's names begins alike, a
// domain becomes one of .example, .local stays.
func (r *Redactor) host(s string) string {
	if n := numbered().FindString(s); n != "" {
		return r.host(strings.TrimSuffix(s, n)) + n
	}
	if s == "" || strings.EqualFold(s, "localhost") {
		return s
	}
	if a, ok := r.addrText(strings.Trim(s, "[]")); ok {
		return a
	}
	if host, port, err := net.SplitHostPort(s); err == nil && strings.Trim(port, "0123456789") == "" {
		return net.JoinHostPort(r.host(host), port)
	}
	name, domain, _ := strings.Cut(strings.ToLower(strings.TrimSuffix(s, ".")), ".")
	if strings.ContainsAny(name, " /") {
		name, domain = strings.ToLower(s), ""
	}
	r.note(HostNames, strings.TrimSuffix(s, "."))
	out := r.word("host-", name, 8)
	switch {
	case domain == "":
	case domain == "local":
		out += ".local"
	default:
		out += "." + r.word("net-", domain, 6) + ".example"
	}
	return out
}

// boot stands in for a boot's name.
func (r *Redactor) boot(s string) string {
	if runName().MatchString(s) {
		return s
	}
	if len(s) == 36 && strings.Count(s, "-") == 4 {
		return r.uuid(s)
	}
	return r.word("boot-", s, 8)
}

var runName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{8}T\d{6}-[0-9a-f]{12}$`) })

// known replaces the names that are known in a piece of text.
func (r *Redactor) known(s string) string {
	if len(r.names) == 0 || s == "" {
		return s
	}
	if r.finds == nil {
		r.finds = r.namePattern()
	}
	var b strings.Builder
	gap, from := 0, 0
	for from < len(s) {
		m := r.finds.FindStringIndex(s[from:])
		if m == nil {
			break
		}
		start, end := from+m[0], from+m[1]
		before, _ := utf8.DecodeLastRuneInString(s[:start])
		after, _ := utf8.DecodeRuneInString(s[end:])
		if start > 0 && wordRune(before) || end < len(s) && wordRune(after) {
			_, size := utf8.DecodeRuneInString(s[start:])
			from = start + size
			continue
		}
		if last, ours := inIdentifier(s, start, end); ours {
			from = last
			continue
		}
		b.WriteString(s[gap:start])
		b.WriteString(r.names[strings.ToLower(s[start:end])])
		gap, from = end, end
	}
	b.WriteString(s[gap:])
	return b.String()
}

// namePattern finds all names, the longest first.
func (r *Redactor) namePattern() *regexp.Regexp {
	var all []string
	for n := range r.names {
		all = append(all, regexp.QuoteMeta(n))
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return len(a) > len(b) || len(a) == len(b) && a < b
	})
	return regexp.MustCompile("(?i:" + strings.Join(all, "|") + ")")
}

// homeUser finds the user in a path to a home folder.
var homeUser = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:/home/|/Users/|\\Users\\)([^/\\\s:"'<>|]+)`) })

// learn collects the names that a document itself gives.
func (r *Redactor) learn(v any, key, parent string) {
	switch v := v.(type) {
	case string:
		switch {
		case key == "name" && (parent == "host" || parent == "hosts"), key == "host", key == "hosts", key == "peer", key == "HOSTNAME":
			r.knowHost(v)
		case key == "USER", key == "LOGNAME", key == "SUDO_USER", key == "USERNAME":
			r.Know(UserNames, v)
		case key == "HOME":
			r.Know(HomePaths, v)
		}
		for _, m := range homeUser().FindAllStringSubmatch(v, -1) {
			r.Know(UserNames, m[1])
		}
	case []any:
		for i, e := range v {
			if s, ok := e.(string); ok && key == "command" {
				if p, found := strings.CutPrefix(s, "--peer="); found {
					r.knowHost(p)
				}
				if i > 0 && v[i-1] == "--peer" {
					r.knowHost(s)
				}
			}
			r.learn(e, key, parent)
		}
	case map[string]any:
		for k, e := range v {
			r.learn(e, k, key)
		}
	}
}

// mailToken handles user@host.
func (r *Redactor) mailToken(s string, _, _ rune) (string, bool) {
	user, host, _ := strings.Cut(s, "@")
	end := strings.TrimRight(host, ".-")
	return r.user(user) + "@" + r.host(end) + host[len(end):], true
}

// ours are domains that the program itself names.
var ours = []string{"apple.com", "github.com", "kernel.org", "iana.org", "rfc-editor.org", "debian.org"}

func isOurs(domain string) bool {
	domain = strings.ToLower(domain)
	return strings.HasPrefix(domain, "com.apple") || strings.HasPrefix(domain, "org.") ||
		slices.ContainsFunc(ours, func(o string) bool { return domain == o || strings.HasSuffix(domain, "."+o) })
}

func (r *Redactor) domainToken(s string, before, after rune) (string, bool) {
	if !alone(before, after) || before == '.' || before == '-' || after == '-' || strings.HasPrefix(s, "qp.") {
		return "", false
	}
	if isOurs(s) {
		return s, true
	}
	return r.host(s), true
}

// urlToken handles what is at a host, as https, smb and ssh write it.
func (r *Redactor) urlToken(s string, before, _ rune) (string, bool) {
	scheme, rest, _ := strings.Cut(s, "://")
	host, path, slash := strings.Cut(rest, "/")
	if wordRune(before) || host == "" && scheme != "file" {
		return "", false
	}
	if isOurs(host) {
		return s, true
	}
	out := scheme + "://"
	if user, at, both := strings.Cut(host, "@"); both {
		name, secret, has := strings.Cut(user, ":")
		if out += r.user(name); has {
			out += ":" + r.word("pass-", secret, 6)
		}
		out, host = out+"@", at
	}
	out += r.host(host)
	if slash {
		out += r.path("/" + path)
	}
	return out, true
}
