package report

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// systemRoots are folders whose contents every machine of a kind has; what lies
// elsewhere was named by somebody.
var systemRoots = []string{
	"usr", "lib", "lib64", "lib32", "etc", "dev", "sys", "proc", "bin", "sbin",
	"System", "Library", "boot", "run", "var", "Applications", "cores",
}

// plainNames are parts of paths that say nothing about anybody.
var plainNames = []string{
	"", ".", "..", "~", "home", "Users", "root", "tmp", "private", "var", "folders", "mnt",
	"srv", "data", "nfs", "net", "work", "scratch", "media", "Volumes", "Shared", ".local",
	"state", "share", ".config", ".cache", "Library", "Application", "Application Support",
	"rdmaprobe", "opt", "homebrew", "rocm", "mellanox", "bin", "lib", "lib64", "include", "src", "sim", "locks", "evidence.jsonl", "rdmaprobe.exe",
}

// libraryName is a shared library's name.
var libraryName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^lib[a-z]+(-[a-z0-9]+)?\.(so(\.\d+)*|dylib|[0-9.]+\.dylib)$`)
})

// knownExt are endings that say what a file is.
var knownExt = []string{
	".json", ".jsonl", ".txt", ".log", ".html", ".md", ".prom", ".xml", ".so",
	".dylib", ".conf", ".sh", ".ips", ".gz",
}

// limitsFolder is a system's folder whose files are named by its administrators.
const limitsFolder = "etc/security/limits.d/"

// part stands in for one name in a path.
func (r *Redactor) part(s string) string {
	if slices.Contains(plainNames, s) || libraryName().MatchString(s) {
		return s
	}
	r.note(pathNames, s)
	ext := path.Ext(s)
	if !slices.Contains(knownExt, ext) {
		ext = ""
	}
	return r.word("path-", s, 6) + ext
}

// path stands in for an absolute path or one from the home folder.
func (r *Redactor) path(s string) string {
	for _, home := range r.homes {
		if s == home || strings.HasPrefix(s, home+"/") {
			user := home[strings.LastIndexByte(home, '/')+1:]
			return "/home/" + r.user(user) + r.parts(s[len(home):])
		}
	}
	lead := s[:len(s)-len(strings.TrimLeft(s, "~./"))]
	lead = lead[:strings.LastIndexByte(lead, '/')+1]
	rest := s[len(lead):]
	if lead != "/" {
		return lead + r.parts(rest)
	}
	if inner, ok := strings.CutPrefix(rest, "private/"); ok { // macOS: /tmp and /var are links into it
		return "/private" + r.path("/"+inner)
	}
	root, below, _ := strings.Cut(rest, "/")
	switch {
	case root == "home" || root == "Users":
		user, more, deeper := strings.Cut(below, "/")
		out := "/" + root + "/" + r.user(user)
		if slices.Contains(plainNames, user) {
			out = "/" + root + "/" + user
		}
		if deeper {
			out += "/" + r.parts(more)
		}
		return out
	case strings.HasPrefix(rest, "var/folders/"), strings.HasPrefix(rest, "run/user/"):
		return "/" + r.parts(rest)
	case strings.HasPrefix(rest, limitsFolder):
		return "/" + limitsFolder + r.part(rest[len(limitsFolder):])
	case slices.Contains(systemRoots, root):
		return "/" + r.systemParts(rest)
	}
	return "/" + r.parts(rest)
}

// parts stands in for each name of a path.
func (r *Redactor) parts(s string) string {
	list := strings.Split(s, "/")
	for i := range list {
		if list[i] != "user" && list[i] != "run" {
			list[i] = r.part(list[i])
		}
	}
	return strings.Join(list, "/")
}

// systemParts keeps the names of a path but for addresses and names in them.
func (r *Redactor) systemParts(s string) string {
	list := strings.Split(s, "/")
	for i := range list {
		list[i] = r.Text(list[i])
	}
	return strings.Join(list, "/")
}

// pathToken handles an absolute path in a text.
func (r *Redactor) pathToken(s string, before, _ rune) (string, bool) {
	if wordRune(before) || strings.ContainsRune("._-/~%)]}*", before) || strings.Trim(s, "/.~") == "" {
		return "", false
	}
	body := strings.TrimRight(s, ".`!?") // the end of a sentence, not of a path
	return r.path(body) + s[len(body):], true
}

func (r *Redactor) windowsToken(s string, before, _ rune) (string, bool) {
	if wordRune(before) {
		return "", false
	}
	return s[:2] + strings.ReplaceAll(r.path(strings.ReplaceAll(s[2:], `\`, "/")), "/", `\`), true
}

// shareToken handles a file on a server, as Windows names it.
func (r *Redactor) shareToken(s string, before, _ rune) (string, bool) {
	if wordRune(before) {
		return "", false
	}
	server, below, _ := strings.Cut(s[2:], `\`)
	return `\\` + r.host(server) + `\` + strings.ReplaceAll(r.parts(strings.ReplaceAll(below, `\`, "/")), "/", `\`), true
}

// quotedToken handles a path with blanks in it, which ends where the quotes do.
func (r *Redactor) quotedToken(s string, before, after rune) (string, bool) {
	path := s[1 : len(s)-1]
	if !alone(before, after) || !strings.Contains(path, " ") {
		return "", false
	}
	return `"` + r.path(path) + `"`, true
}

// pathField stands in for a field that is a path, or a name in its place.
func (r *Redactor) pathField(s string) string {
	if rest, ok := strings.CutPrefix(s, "sim:"); ok {
		return "sim:" + r.pathField(rest)
	}
	switch {
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~/"):
		return r.path(s)
	case strings.Contains(s, "/") || slices.Contains(knownExt, path.Ext(s)):
		return r.parts(s)
	case strings.Contains(s, `\`):
		return strings.ReplaceAll(r.parts(strings.ReplaceAll(s, `\`, "/")), "/", `\`)
	}
	return r.Text(s)
}

// File stands in for the name of a file.
func (r *Redactor) File(s string) string { return r.pathField(s) }

// env stands in for the value of an environment variable.
func (r *Redactor) env(name, value string) string {
	switch name {
	case "USER", "LOGNAME", "SUDO_USER", "USERNAME":
		return r.user(value)
	case "HOSTNAME":
		return r.host(value)
	}
	list := strings.Split(value, ":")
	for i := range list {
		if !strings.HasPrefix(list[i], "/") {
			return r.Text(value)
		}
		list[i] = r.path(list[i])
	}
	return strings.Join(list, ":")
}

// pathFlags are flags that name a file.
var pathFlags = []string{"--store", "--library", "--out", "--provider", "--bundle"}

var flagName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^--?[a-z]{1,12}(-[a-z]{1,12})*$`) })

// command stands in for a command line's words.
func (r *Redactor) command(args []any) []any {
	flag := ""
	for i, a := range args {
		s, ok := a.(string)
		if !ok {
			continue
		}
		name, value, joined := strings.Cut(s, "=")
		switch {
		case strings.HasPrefix(s, "-") && joined:
			args[i] = name + "=" + r.argument(name, value)
			flag = ""
		case flagName().MatchString(s):
			flag = s
		case strings.HasPrefix(s, "-") && s != "-":
			args[i], flag = r.Text(s), s
		default:
			args[i], flag = r.argument(flag, s), ""
		}
	}
	return args
}

// argument stands in for one word behind a flag.
func (r *Redactor) argument(flag, s string) string {
	switch {
	case flag == "--peer":
		return r.host(s)
	case vocabulary()[s] || s == "-" || s == "none":
		return s
	case flag == "--redact-key":
		return "***"
	case slices.Contains(pathFlags, flag), strings.ContainsAny(s, `/\`), slices.Contains(knownExt, path.Ext(s)):
		return r.pathField(s)
	}
	return r.Text(s)
}
