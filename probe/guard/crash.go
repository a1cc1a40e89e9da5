package guard

import (
	"bytes"
	"regexp"
	"sort"
	"sync"
)

// scanner looks for the text by which the Go runtime of a child announces its
// death. It sees the stream as it passes, so that noise around that text does
// not hide it, and is not bound to line starts, since C code may have written
// an unfinished line before. The last announcement counts: what stands before
// it was only text.
type scanner struct {
	buf  []byte // the end of the stream
	next int    // what of buf has been looked at

	crash    string // a fault in C, or in memory that the library gave us
	pending  string // "panic: ..." that no trace has followed yet
	panicked string // one that was followed by a trace
	starved  string // the system refused what our own runtime needs
}

// What has to be seen as a whole: before an announcement, and from it on.
const (
	lookBehind = 80
	lookAhead  = 400
)

// hit is one literal of the runtime found in the stream.
type hit struct {
	at   int
	kind int
}

// Kinds of hit.
const (
	hitPC = iota
	hitFault
	hitSignal
	hitPanic
	hitTrace
	hitStarved
)

// literals of the runtime: runtime/signal_unix.go (fatalsignal, sigpanic,
// badsignal) and runtime/panic.go (printpanics, fatalthrow).
var literals = []struct {
	kind int
	text []byte
}{
	{hitPC, []byte("\nPC=0x")},
	{hitFault, []byte("fatal: bad g in signal handler")},
	{hitSignal, []byte("[signal SIG")},
	{hitPanic, []byte("panic: ")},
	{hitPanic, []byte("fatal error: ")},
	{hitTrace, []byte("\ngoroutine ")},
	{hitTrace, []byte("\nruntime stack:")},
	// purego's start of a thread, and the runtime's own: no provider is to blame
	// for the abort that follows.
	{hitStarved, []byte("fakecgo: pthread_create failed")},
	{hitStarved, []byte("runtime: failed to create new OS thread")},
	{hitStarved, []byte("runtime: out of memory")},
	{hitStarved, []byte("runtime: cannot allocate memory")},
	{hitStarved, []byte("fatal error: out of memory")},
	{hitStarved, []byte("fatal error: failed to reserve page summary memory")},
	{hitStarved, []byte("runtime: eventfd failed with")},
	{hitStarved, []byte("runtime: epollcreate failed with")},
}

var (
	// faultLine ends before "\nPC=0x...". A panic of Go code has the same words,
	// but as "[signal SIGSEGV: segmentation violation code=...".
	faultLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:SIG[A-Z0-9]{2,10}: [a-zA-Z][a-zA-Z0-9 ,/-]{0,50}|Signal \d{1,3})$`)
	})
	signalLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[signal (SIG[A-Z0-9]{2,10}: [a-zA-Z][a-zA-Z0-9 ,/-]{0,50}?) code=`)
	})
	// memoryFault is Go code that ran into memory which is not there: its address
	// came from the library. A nil dereference is a panic, and our own fault.
	memoryFault = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^fatal error: (fault|unexpected signal during runtime execution)`)
	})
)

// write takes the next piece of the stream.
func (s *scanner) write(p []byte) {
	const step = 64 << 10 // bounds buf
	for len(p) > 0 {
		n := min(len(p), step)
		s.buf = append(s.buf, p[:n]...)
		p = p[n:]
		s.look(len(s.buf) - lookAhead)
		if extra := s.next - lookBehind; extra > 0 {
			s.buf = append(s.buf[:0], s.buf[extra:]...)
			s.next = lookBehind
		}
	}
}

// verdict is the text of a crash in C or that of a panic of our own code, never
// both. It is to be asked at the end of the stream.
func (s *scanner) verdict() (crash, panicked string) {
	s.look(len(s.buf))
	if s.starved != "" {
		return "", s.starved
	}
	return s.crash, s.panicked
}

// look takes what stands in buf up to limit, each announcement once.
func (s *scanner) look(limit int) {
	if limit <= s.next {
		return
	}
	var hits []hit
	for _, l := range literals {
		// A literal that begins before limit may end behind it.
		w := s.buf[s.next:min(len(s.buf), limit+len(l.text)-1)]
		for from := 0; ; {
			i := bytes.Index(w[from:], l.text)
			if i < 0 {
				break
			}
			hits = append(hits, hit{s.next + from + i, l.kind})
			from += i + len(l.text)
		}
	}
	sort.Slice(hits, func(i, j int) bool { return hits[i].at < hits[j].at })
	for _, h := range hits {
		s.take(h)
	}
	s.next = limit
}

// take moves the state by one hit.
func (s *scanner) take(h hit) {
	rest := firstLine(s.buf[h.at:])
	switch h.kind {
	case hitPC:
		if t := faultLine().Find(s.buf[max(0, h.at-lookBehind):h.at]); t != nil {
			s.crashed(string(t))
		}
	case hitFault:
		s.crashed(escape(rest))
	case hitSignal:
		if m := signalLine().FindSubmatch(rest); m != nil && s.crash != "" && s.pending == "" && s.panicked == "" {
			s.crash = string(m[1]) // says more than the memory fault before it
		}
	case hitPanic:
		if memoryFault().Match(rest) {
			s.crashed(escape(rest))
			return
		}
		s.pending = escape(rest)
	case hitStarved:
		s.starved = escape(rest)
	case hitTrace:
		if s.pending != "" {
			s.crash, s.pending, s.panicked = "", "", s.pending
		}
	}
}

// crashed notes a crash, which makes mere text of what was announced before.
func (s *scanner) crashed(text string) { s.crash, s.pending, s.panicked = text, "", "" }

// firstLine is the rest of the line, at most 300 bytes of it.
func firstLine(w []byte) []byte {
	w = w[:min(len(w), 300)]
	if i := bytes.IndexByte(w, '\n'); i >= 0 {
		w = w[:i]
	}
	return w
}
