package ledger

import (
	"bytes"
	"encoding/json"

	"rdmaprobe/probe/jsonlimit"
)

// verdict is what became of one line.
type verdict int

const (
	good  verdict = iota // a record of a version that is understood
	newer                // a record of a later version; header fields as far as they could be read
	bad                  // no record
)

// parser turns lines into records. Its zero value is ready.
type parser struct {
	headersOnly bool // leave bodies unchecked
	rec         Record
}

// parse reads line into p.rec. Body aliases line where it can.
func (p *parser) parse(line []byte) verdict {
	head, ok := unsealed(line)
	switch {
	case !ok:
		return bad
	case p.canonical(head):
		return good
	}
	return p.general(line)
}

// canonical reads a line as Record.line writes it, up to the body's end, without
// encoding/json: that would take most of the time of a scan. Anything unusual is
// left to general.
func (p *parser) canonical(head []byte) bool {
	c := cursor{rest: head}
	v := c.number(`{"v":`)
	kind := kindOf(c.text(`,"kind":"`))
	run := c.text(`,"run":"`)
	n := c.number(`,"n":`)
	seq := c.number(`,"seq":`)
	at := c.text(`,"at":"`)
	var provider []byte
	if kind == KindRun {
		provider = c.text(`,"provider":"`)
	}
	c.skip(`,"body":`)
	if c.failed || v != Version || len(c.rest) == 0 {
		return false
	}
	r := &p.rec
	if string(run) != r.Run { // most lines are of the run before: no allocation
		r.Run = string(run)
	}
	if r.At.UnmarshalText(at) != nil {
		return false
	}
	r.At = r.At.UTC()
	r.V, r.Kind, r.N, r.Seq, r.Provider = int(v), kind, n, seq, string(provider)
	r.Body = c.rest[:len(c.rest):len(c.rest)]
	return r.usable() && (p.headersOnly || jsonlimit.Valid(r.Body))
}

// general reads any spelling of a record that JSON allows.
func (p *parser) general(line []byte) verdict {
	var head struct {
		V        int64  `json:"v"`
		N        int64  `json:"n"`
		Kind     string `json:"kind"`
		Provider string `json:"provider"`
	}
	err := json.Unmarshal(line, &head)
	if head.V > Version && json.Valid(line) { // other fields may have changed their types
		p.rec = Record{V: Version + 1, N: min(max(head.N, 0), maxNumber), Kind: head.Kind, Provider: head.Provider}
		return newer
	}
	r := Record{}
	if err != nil || json.Unmarshal(line, &r) != nil || !r.usable() || r.Body == nil || jsonlimit.Check(r.Body) != nil {
		return bad
	}
	r.At = r.At.UTC()
	p.rec = r
	return good
}

// salvage finds the record at the end of a line that is none as a whole: a
// torn one which somebody wrote behind, or two whose newline was lost. There is
// one try, so a line made of nothing but beginnings costs no more than another.
func (p *parser) salvage(line []byte) (tail []byte, ok bool) {
	i := bytes.LastIndex(line, []byte(`{"v":`))
	if i <= 0 {
		return nil, false
	}
	head, ok := unsealed(line[i:])
	if !ok || !p.canonical(head) {
		return nil, false
	}
	return line[i:], true
}

// cursor reads tokens from the left; after a failure it reads nothing more.
type cursor struct {
	rest   []byte
	failed bool
}

func (c *cursor) skip(literal string) {
	if c.failed || len(c.rest) < len(literal) || string(c.rest[:len(literal)]) != literal {
		c.failed = true
		return
	}
	c.rest = c.rest[len(literal):]
}

// number reads literal and a JSON number that is a whole one, not negative.
func (c *cursor) number(literal string) (n int64) {
	c.skip(literal)
	i := 0
	for ; !c.failed && i < len(c.rest) && i < 17 && c.rest[i] >= '0' && c.rest[i] <= '9'; i++ {
		n = n*10 + int64(c.rest[i]-'0')
	}
	if c.failed || i == 0 || (i > 1 && c.rest[0] == '0') {
		c.failed = true
		return 0
	}
	c.rest = c.rest[i:]
	return n
}

// text reads literal, which ends in a quote, and a plain string with its
// closing quote. Escapes and control characters are not plain.
func (c *cursor) text(literal string) []byte {
	c.skip(literal)
	if c.failed {
		return nil
	}
	for i, b := range c.rest {
		switch {
		case b == '"':
			s := c.rest[:i]
			c.rest = c.rest[i+1:]
			return s
		case b == '\\' || b < 0x20 || b > 0x7e:
			c.failed = true
			return nil
		}
	}
	c.failed = true
	return nil
}
