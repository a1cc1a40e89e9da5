package hostfacts

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Bounds of what a Record keeps.
const (
	maxRecordFile    = 64 << 10  // bytes of one file
	maxRecordProgram = 512 << 10 // bytes of one program's output
	maxRecordSource  = 2 << 20   // bytes of one source
	maxRecordSources = 128
	maxRecordLine    = 2 << 10 // bytes of one line: looking for names in longer ones takes too long
)

// Record keeps what the sources of facts gave, as they gave it, for whoever has to
// find out why a fact is wrong or absent. A System that has one fills it. It is
// safe for concurrent use: a source that is late may still write into it.
//
// What it keeps is text: control characters are escaped, and of what is not text
// only size and SHA-256 are kept. Of each file, output and source there is the
// beginning, up to a bound.
type Record struct {
	mu      sync.Mutex
	sources map[string]*strings.Builder
	seen    map[string]bool
}

// Raw is what one source gave. Name is of lower-case letters, digits, _ and -, at
// most 48 of them.
type Raw struct {
	Name string
	What string // one line for a person
	Text string
}

// Sources are the sources so far, sorted by name.
func (r *Record) Sources() []Raw {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Raw
	taken := map[string]bool{}
	for _, what := range slices.Sorted(maps.Keys(r.sources)) {
		name := slug(what)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%.42s-%d", slug(what), n)
		}
		taken[name] = true
		all = append(all, Raw{Name: name, What: what, Text: r.sources[what].String()})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// add keeps one piece of a source under a heading, the first one of each.
func (r *Record) add(source, heading, text string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources == nil {
		r.sources, r.seen = map[string]*strings.Builder{}, map[string]bool{}
	}
	b, key := r.sources[source], source+"\x00"+heading
	if r.seen[key] || b == nil && len(r.sources) == maxRecordSources || b != nil && b.Len() > maxRecordSource {
		return
	}
	r.seen[key] = true
	if b == nil {
		b = &strings.Builder{}
		r.sources[source] = b
	}
	b.WriteString(heading + "\n" + text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	if b.Len() > maxRecordSource {
		b.WriteString("== the rest was left out\n")
	}
}

// file keeps a file. Files are one source for each folder of the root. Comments in
// configuration are for people and name them: they are left out.
func (r *Record) file(path string, b []byte, err error) {
	if r == nil {
		return
	}
	heading := "== /" + clean(path)
	if err != nil {
		heading += ": " + clean(reason(err))
	}
	if strings.HasPrefix(path, "etc/") {
		b = slices.Concat(slices.DeleteFunc(slices.Collect(bytes.Lines(b)), func(line []byte) bool {
			return bytes.HasPrefix(bytes.TrimSpace(line), []byte("#"))
		})...)
	}
	r.add(folderSource(path), heading, printable(b, maxRecordFile))
}

// listed are the folders whose names are kept. Those of other folders are people's,
// or are every process.
var listed = []string{"sys/", "dev/", "etc/libibverbs.d"}

func (r *Record) list(path string, names []string, err error) {
	if r == nil || !slices.ContainsFunc(listed, func(p string) bool { return strings.HasPrefix(path, p) }) {
		return
	}
	heading := "== /" + clean(path) + "/"
	if err != nil {
		heading += ": " + clean(reason(err))
	}
	r.add(folderSource(path), heading, printable([]byte(strings.Join(names, "\n")), maxRecordFile))
}

func (r *Record) link(path, target string) {
	if r != nil {
		r.add(folderSource(path), "== /"+clean(path)+" -> "+clean(target), "")
	}
}

func folderSource(path string) string {
	top, _, _ := strings.Cut(path, "/")
	return "files below /" + clean(top)
}

// program keeps a program's output, also what a failed one had written.
func (r *Record) program(line []string, out []byte, err error) {
	if r == nil {
		return
	}
	command := clean(strings.Join(line, " "))
	heading := "== " + command
	if err != nil {
		heading += ": " + clean(reason(err))
	}
	r.add(command, heading, printable(out, maxRecordProgram))
}

// sysctl keeps a value in a line: a string, or its bytes.
func (r *Record) sysctl(name string, b []byte, err error) {
	if r == nil {
		return
	}
	switch text := string(bytes.TrimRight(b, "\x00")); {
	case err != nil:
		r.add("sysctl", name+": "+clean(reason(err)), "")
	case len(b) != 4 && len(b) != 8 && utf8.ValidString(text) && !strings.ContainsRune(text, 0):
		r.add("sysctl", name+" = "+clean(text), "")
	default:
		r.add("sysctl", fmt.Sprintf("%s: %d bytes %x", name, len(b), b[:min(len(b), 64)]), "")
	}
}

func (r *Record) interfaces(list []NetInterface, err error) {
	if r == nil {
		return
	}
	var b strings.Builder
	for _, n := range list[:min(len(list), maxInterfaces)] {
		b.WriteString(clean(n.Name))
		if n.Up != nil {
			fmt.Fprintf(&b, " up=%v", *n.Up)
		}
		for _, p := range n.Prefixes {
			b.WriteString(" " + p.String())
		}
		b.WriteByte('\n')
	}
	heading := "== name, whether it is up and running where that is known, addresses"
	if err != nil {
		heading += ": " + clean(reason(err))
	}
	r.add("network interfaces", heading, b.String())
}

// printable is the beginning of what was read as text for a person: lines and
// tabs stay, other control and formatting characters are escaped.
func printable(b []byte, limit int) string {
	b = bytes.TrimRight(b, "\x00")
	if bytes.IndexByte(b, 0) >= 0 {
		return fmt.Sprintf("== not text: %d bytes, sha256 %x\n", len(b), sha256.Sum256(b))
	}
	rest := len(b) - limit
	if rest > 0 {
		b = b[:limit]
		if i := bytes.LastIndexByte(b, '\n'); i > 0 {
			rest, b = rest+len(b)-i-1, b[:i+1]
		}
	}
	var out strings.Builder
	for line := range bytes.Lines(b) {
		if long := len(line) - maxRecordLine; long > 0 {
			line = fmt.Appendf(line[:maxRecordLine:maxRecordLine], "\n== %d more bytes of this line were left out\n", long)
		}
		escape(&out, line)
	}
	if rest > 0 {
		fmt.Fprintf(&out, "\n== %d more bytes were left out\n", rest)
	}
	return out.String()
}

// escape writes what is no character of a text as its number.
func escape(out *strings.Builder, b []byte) {
	for len(b) > 0 {
		c, size := utf8.DecodeRune(b)
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(out, `\x%02x`, b[0])
		case c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)):
			fmt.Fprintf(out, `\u%04x`, c)
		default:
			out.Write(b[:size])
		}
		b = b[size:]
	}
}

var notSlug = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9_]+`) })

// slug is a file name made of what a source is.
func slug(s string) string {
	s = strings.Trim(notSlug().ReplaceAllString(strings.ToLower(s), "-"), "-_")
	return cmp.Or(strings.TrimRight(s[:min(len(s), 48)], "-_"), "source")
}
