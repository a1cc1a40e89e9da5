package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Canonical is a profile in the one form that its contents have: keys in the
// order of the format, those of maps by name, two spaces, and in texts nothing
// that a terminal would take for more than text. host is as for Parse, and so are
// the errors.
func Canonical(data []byte, host any) ([]byte, error) {
	if _, err := Parse(data, host); err != nil {
		return nil, err
	}
	root, err := parseTree(data)
	if err != nil {
		return nil, err
	}
	w := canonical{host: reflect.TypeOf(host)}
	w.value(root, reflect.TypeFor[Profile]())
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(w.out.String()), "", "  "); err != nil {
		return nil, fmt.Errorf("write profile: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// canonical writes a tree by the types that it is decoded into.
type canonical struct {
	out  strings.Builder
	host reflect.Type
}

func (w *canonical) value(n *node, t reflect.Type) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n.kind {
	case '{':
		w.object(n, t)
	case '[':
		w.list(n, elem(t))
	case '"':
		w.text(n.raw)
	default:
		w.out.Write(n.raw)
	}
}

// object writes members by the order of a struct's fields, else by name.
func (w *canonical) object(n *node, t reflect.Type) {
	var fields map[string]reflect.Type
	var names []string
	if t != nil && t.Kind() == reflect.Struct {
		fields, names = jsonFields(t)
	}
	members := slices.Clone(n.members)
	sort.SliceStable(members, func(i, j int) bool {
		a, b := members[i].key, members[j].key
		if names != nil {
			return slices.Index(names, a) < slices.Index(names, b)
		}
		return a < b
	})
	w.out.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			w.out.WriteByte(',')
		}
		key, _ := json.Marshal(m.key) // of a string it never fails
		w.text(key)
		w.out.WriteByte(':')
		of := elem(t)
		if fields != nil {
			of = fields[m.key]
		}
		if t == reflect.TypeFor[Profile]() && m.key == "host" {
			of = w.host
		}
		w.value(m.node, of)
	}
	w.out.WriteByte('}')
}

func (w *canonical) list(n *node, t reflect.Type) {
	w.out.WriteByte('[')
	for i, item := range n.items {
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.value(item, t)
	}
	w.out.WriteByte(']')
}

// elem is what a map or a list holds, nil where the type does not say.
func elem(t reflect.Type) reflect.Type {
	if t != nil && (t.Kind() == reflect.Map || t.Kind() == reflect.Slice) && t.Elem().Kind() != reflect.Uint8 {
		return t.Elem()
	}
	return nil
}

// text writes a string, with escapes for all that is not printable.
func (w *canonical) text(raw []byte) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw) // a tree holds only what was JSON
	}
	w.out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.out.WriteByte('\\')
			w.out.WriteRune(r)
		case strconv.IsPrint(r):
			w.out.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&w.out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&w.out, `\u%04x`, r)
		}
	}
	w.out.WriteByte('"')
}
