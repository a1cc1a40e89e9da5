package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
)

// ParseError says where a profile is wrong.
type ParseError struct {
	Line int    // from 1
	Key  string // path of the key, as devices[0].ports[1].state; "" for the whole file
	Text string // what is wrong and what is allowed
}

// Error is line, key and text.
func (e *ParseError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("profile line %d: %s", e.Line, e.Text)
	}
	return fmt.Sprintf("profile line %d: %s: %s", e.Line, e.Key, e.Text)
}

// Bounds of the input: a profile is a file from anywhere.
const (
	maxProfile = 1 << 20 // bytes
	maxDepth   = 24
)

// node is a JSON value that knows its place in the file.
type node struct {
	path    string
	line    int
	raw     []byte
	kind    byte // { [ " 0 t n
	members []member
	items   []*node
}

type member struct {
	key  string
	line int
	node *node
}

// member returns the value of a key, or nil.
func (n *node) member(key string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.key == key {
			return m.node
		}
	}
	return nil
}

// fields lists the members of an object; none when it is absent.
func (n *node) fields() []member {
	if n == nil {
		return nil
	}
	return n.members
}

// at follows keys and indexes to the deepest node that exists, so that an error
// about something absent names the line of what holds it.
func (n *node) at(path ...any) *node {
	for _, p := range path {
		var next *node
		switch p := p.(type) {
		case string:
			next = n.member(p)
		case int:
			if p < len(n.items) {
				next = n.items[p]
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

func (n *node) errorf(format string, args ...any) error {
	return &ParseError{Line: n.line, Key: n.path, Text: fmt.Sprintf(format, args...)}
}

// parseTree reads one JSON value with the lines of its parts.
func parseTree(data []byte) (*node, error) {
	if len(data) > maxProfile {
		return nil, &ParseError{Line: 1, Text: fmt.Sprintf("%d bytes, at most %d are allowed", len(data), maxProfile)}
	}
	t := &tree{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	for i, b := range data {
		if b == '\n' {
			t.lines = append(t.lines, i)
		}
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return nil, &ParseError{Line: 1, Text: "not JSON: it begins with a byte order mark; save it as UTF-8 without one"}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		var syntax *json.SyntaxError
		offset := len(data)
		if errors.As(err, &syntax) {
			offset = max(int(syntax.Offset)-1, 0)
		}
		return nil, &ParseError{Line: t.line(offset), Text: "not JSON: " + err.Error()}
	}
	t.dec.UseNumber()
	return t.value("", 0)
}

type tree struct {
	data  []byte
	lines []int // offsets of the newlines
	dec   *json.Decoder
}

func (t *tree) line(offset int) int { return sort.SearchInts(t.lines, offset) + 1 }

// start is the offset of the next token.
func (t *tree) start() int {
	i := int(t.dec.InputOffset())
	for i < len(t.data) && bytes.IndexByte([]byte(" \t\r\n:,"), t.data[i]) >= 0 {
		i++
	}
	return i
}

func (t *tree) value(path string, depth int) (*node, error) {
	start := t.start()
	n := &node{path: path, line: t.line(start), kind: 'n'}
	if depth > maxDepth {
		return nil, n.errorf("nested deeper than %d", maxDepth)
	}
	token, err := t.dec.Token()
	if err != nil {
		return nil, n.errorf("%v", err)
	}
	switch v := token.(type) {
	case json.Delim:
		n.kind = byte(v)
		if v == '{' {
			err = t.object(n, depth)
		} else {
			err = t.array(n, depth)
		}
		if err == nil {
			_, err = t.dec.Token()
		}
	case string:
		n.kind = '"'
	case json.Number:
		n.kind = '0'
	case bool:
		n.kind = 't'
	}
	if err != nil {
		return nil, err
	}
	n.raw = t.data[start:t.dec.InputOffset()]
	return n, nil
}

func (t *tree) object(n *node, depth int) error {
	seen := map[string]bool{}
	for t.dec.More() {
		line := t.line(t.start())
		token, err := t.dec.Token()
		if err != nil {
			return n.errorf("%v", err)
		}
		key := token.(string)
		path := joinPath(n.path, key)
		if seen[key] {
			return &ParseError{Line: line, Key: path, Text: "the key stands here twice"}
		}
		seen[key] = true
		v, err := t.value(path, depth+1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{key, line, v})
	}
	return nil
}

func (t *tree) array(n *node, depth int) error {
	for t.dec.More() {
		v, err := t.value(n.path+"["+strconv.Itoa(len(n.items))+"]", depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, v)
	}
	return nil
}

// joinPath appends a key, which comes from the file, in a printable form.
func joinPath(path, key string) string {
	if q := strconv.QuoteToASCII(key); q[1:len(q)-1] != key || len(key) > 64 {
		key = fmt.Sprintf("%.80s", q)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
