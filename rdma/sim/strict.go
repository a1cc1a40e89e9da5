package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// decodeStrict fills v, a pointer, from n. Unlike encoding/json it refuses
// unknown keys, null for what cannot be null, and names the place of each error.
func decodeStrict(n *node, v any) error {
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Pointer || reflect.ValueOf(v).IsNil() {
		return fmt.Errorf("decode %s: the target is no pointer: %T", n.path, v)
	}
	if err := checkType(n, t.Elem()); err != nil {
		return err
	}
	if err := json.Unmarshal(n.raw, v); err != nil {
		return n.errorf("%v", err)
	}
	return nil
}

// checkType compares n with the Go type it is to be decoded into.
func checkType(n *node, t reflect.Type) error {
	if reflect.PointerTo(t).Implements(unmarshaler) {
		if err := reflect.New(t).Interface().(json.Unmarshaler).UnmarshalJSON(n.raw); err != nil {
			return n.errorf("%v", err)
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		if n.kind == 'n' {
			return nil
		}
		return checkType(n, t.Elem())
	case reflect.Struct:
		return checkStruct(n, t)
	case reflect.Map:
		return checkMap(n, t)
	case reflect.Slice, reflect.Array:
		return checkList(n, t)
	default:
		return checkScalar(n, t)
	}
}

func checkStruct(n *node, t reflect.Type) error {
	if n.kind != '{' {
		return n.errorf("must be an object, not %s", n.describe())
	}
	fields, names := jsonFields(t)
	var wrong error
	for _, m := range n.members {
		f, ok := fields[m.key]
		if !ok {
			wrong = errors.Join(wrong, &ParseError{Line: m.line, Key: m.node.path, Text: "unknown key; allowed: " + strings.Join(names, ", ")})
			continue
		}
		wrong = errors.Join(wrong, checkType(m.node, f))
	}
	return wrong
}

// jsonFields lists the keys of a struct in their order.
func jsonFields(t reflect.Type) (map[string]reflect.Type, []string) {
	fields, names := map[string]reflect.Type{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		fields[name] = f.Type
		names = append(names, name)
	}
	return fields, names
}

func checkMap(n *node, t reflect.Type) error {
	if n.kind == 'n' {
		return nil
	}
	if n.kind != '{' {
		return n.errorf("must be an object, not %s", n.describe())
	}
	var wrong error
	for _, m := range n.members {
		wrong = errors.Join(wrong, checkType(m.node, t.Elem()))
	}
	return wrong
}

func checkList(n *node, t reflect.Type) error {
	if n.kind == 'n' {
		return nil
	}
	if n.kind != '[' {
		return n.errorf("must be a list, not %s", n.describe())
	}
	var wrong error
	for _, item := range n.items {
		wrong = errors.Join(wrong, checkType(item, t.Elem()))
	}
	return wrong
}

func checkScalar(n *node, t reflect.Type) error {
	switch k := t.Kind(); {
	case k == reflect.String:
		if n.kind != '"' {
			return n.errorf("must be a text, not %s", n.describe())
		}
	case k == reflect.Bool:
		if n.kind != 't' {
			return n.errorf("must be true or false, not %s", n.describe())
		}
	case k >= reflect.Int && k <= reflect.Int64:
		if _, err := strconv.ParseInt(string(n.raw), 10, t.Bits()); err != nil {
			return n.errorf("must be a whole number of %d bits, not %s", t.Bits(), n.describe())
		}
	case k >= reflect.Uint && k <= reflect.Uint64:
		if _, err := strconv.ParseUint(string(n.raw), 10, t.Bits()); err != nil {
			return n.errorf("must be a whole number from 0, of %d bits, not %s", t.Bits(), n.describe())
		}
	case k == reflect.Float32 || k == reflect.Float64:
		if n.kind != '0' {
			return n.errorf("must be a number, not %s", n.describe())
		}
	}
	return nil
}

// describe is the value in an error message, bounded and printable.
func (n *node) describe() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return printable(n.raw)
}

// printable shows raw JSON of a scalar: without control characters, at most 60.
func printable(raw []byte) string {
	s := []rune(string(raw))
	s = slices.DeleteFunc(s, func(r rune) bool { return !strconv.IsPrint(r) })
	if len(s) > 60 {
		return string(s[:60]) + "..."
	}
	return string(s)
}
