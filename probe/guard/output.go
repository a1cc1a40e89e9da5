package guard

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keepBytes is how much of each end of a child's output is kept.
const keepBytes = 4 << 10

// output keeps the head and the tail of what a child writes, counts all of it
// and looks for the text of a crash as it passes. It is not safe for concurrent
// use: one goroutine writes, and the run reads when that has ended.
type output struct {
	head, tail []byte
	total      int64
	scan       scanner
}

// write takes the next piece of the stream.
func (o *output) write(p []byte) {
	o.total += int64(len(p))
	o.scan.write(p)
	n := min(len(p), keepBytes-len(o.head))
	o.head = append(o.head, p[:n]...)
	p = p[n:]
	if len(p) >= keepBytes {
		o.tail = append(o.tail[:0], p[len(p)-keepBytes:]...)
		return
	}
	o.tail = append(o.tail, p...)
	if extra := len(o.tail) - keepBytes; extra > 0 {
		o.tail = append(o.tail[:0], o.tail[extra:]...)
	}
}

// text is the kept output, escaped; a line says what was left out between.
func (o *output) text() string {
	left := o.total - int64(len(o.head)+len(o.tail))
	if left == 0 {
		return escape(append(o.head[:len(o.head):len(o.head)], o.tail...))
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", escape(o.head), left, escape(o.tail))
}

// escape makes foreign text safe to print and to store: valid UTF-8, in which
// line ends and tabs are the only control characters. What is not printable
// (escape sequences, direction overrides, broken bytes) becomes \x1b or \u202e.
func escape(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&s, `\x%02x`, b[0])
		case r == '\r' && len(b) > 1 && b[1] == '\n':
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			s.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&s, `\x%02x`, r)
		default:
			fmt.Fprintf(&s, `\u%04x`, r)
		}
		b = b[n:]
	}
	return s.String()
}
