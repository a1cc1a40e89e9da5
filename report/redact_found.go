package report

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"rdmaprobe/probe"
)

// A name that one place of a text shows to be a name, as a server does in a URL, is
// a name wherever it stands. So a text is read twice: what is replaced in the first
// reading is known in the second.

// pathNames are what files and folders are called.
const pathNames = "path"

// maxPathNames bounds how many of those are looked for: each makes the search slower.
const maxPathNames = 200

// note takes down a name for which a stand-in is made, while a text is read for them.
func (r *Redactor) note(kind, name string) {
	if of := r.noted[kind]; of != nil {
		of[name] = true
	}
}

// learnFound reads once, and knows the names that were replaced then. What is a
// host's name is none of a folder, whatever comes first.
func (r *Redactor) learnFound(read func()) {
	r.noted = map[string]map[string]bool{HostNames: {}, UserNames: {}, pathNames: {}}
	read()
	noted := r.noted
	r.noted = nil
	for _, kind := range []string{HostNames, UserNames} {
		r.Know(kind, slices.Sorted(maps.Keys(noted[kind]))...)
	}
	left := maxPathNames
	for _, name := range slices.Sorted(maps.Keys(noted[pathNames])) {
		if left > 0 && telling(name) {
			r.knowName(name, r.part(name))
			left--
		}
	}
}

// telling tells whether a name of a file is more than a word of everybody's.
func telling(name string) bool {
	return len(name) > shortest && strings.ContainsFunc(name, unicode.IsLetter) && !everyday()[strings.ToLower(name)]
}

// everyday are the words that the program itself uses in its texts, and those by
// which many people call folders.
var everyday = sync.OnceValue(func() map[string]bool {
	text := strings.Builder{}
	for _, t := range probe.Terms() {
		text.WriteString(t.Name + " " + t.Meaning + " ")
	}
	for _, code := range probe.FindingCodes() {
		e, _ := probe.ExplainFinding(code) // it is one of them
		text.WriteString(e.Meaning + " " + e.Concluded + " " + e.Do + " " + e.Verify + " ")
	}
	text.WriteString(`backup backups build builds cluster code common config current desktop documents docs downloads files folder
		latest logs machine machines machine.json notes old output outputs project projects public report reports repo results scripts server
		servers temp test tests users utils venv workspace`)
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text.String()), func(c rune) bool { return !wordRune(c) && c != '-' && c != '_' && c != '.' }) {
		words[strings.Trim(w, ".-")] = true
	}
	return words
})

// copyToken handles user@host:file, as scp writes it.
func (r *Redactor) copyToken(s string, before, _ rune) (string, bool) {
	i := strings.IndexByte(s, ':')
	file := s[i+1:]
	if strings.Trim(file, "0123456789") == "" { // a port
		out, ok := r.mailToken(s[:i], before, ':')
		return out + s[i:], ok
	}
	out, ok := r.mailToken(s[:i], before, ':')
	body := strings.TrimRight(file, ".")
	return out + ":" + r.parts(body) + file[len(body):], ok
}

// exportToken handles host:/path, as NFS and scp write it.
func (r *Redactor) exportToken(s string, before, _ rune) (string, bool) {
	host, path, _ := strings.Cut(s, ":")
	if !alone(before, ':') || strings.ContainsRune("._-/\\", before) || everyday()[strings.ToLower(host)] || vocabulary()[host] {
		return "", false
	}
	body := strings.TrimRight(path, ".`!?")
	return r.host(host) + ":" + r.path(body) + path[len(body):], true
}
