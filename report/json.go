package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"rdmaprobe/probe"
)

// renderJSON writes the document, indented. Keys come in the order of the
// types, those of maps sorted: equal documents are equal bytes.
func renderJSON(w io.Writer, d *probe.Document, _ Options) error {
	b, err := encode(whole(d), "  ")
	if err != nil {
		return fmt.Errorf("encode document: %w", err)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write document: %w", err)
	}
	return nil
}

// encode is a value as one JSON text with a line feed. Beyond what encoding/json
// escapes, it escapes what a terminal could act upon: control characters above
// ASCII and format characters. Such a character can only stand in a string.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	text := b.Bytes()
	if !bytes.ContainsFunc(text, mustEscape) {
		return text, nil
	}
	escaped := make([]byte, 0, len(text)+64)
	for _, r := range string(text) {
		if !mustEscape(r) {
			escaped = utf8.AppendRune(escaped, r)
			continue
		}
		for _, u := range utf16.AppendRune(nil, r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, u)
		}
	}
	return escaped, nil
}

// mustEscape tells which characters encode escapes. The replacement character is
// among them since encoding/json escapes the one that it puts for a broken byte.
func mustEscape(r rune) bool {
	return r == utf8.RuneError || r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// whole is the document with every array that is always there, though its maker
// may have left one nil. The original is not touched.
func whole(d *probe.Document) *probe.Document {
	c := *d
	c.Devices = make([]probe.Device, len(d.Devices))
	for i, dev := range d.Devices {
		ports := make([]probe.Port, len(dev.Ports))
		for k, p := range dev.Ports {
			p.GIDs = orEmpty(p.GIDs)
			ports[k] = p
		}
		dev.Ports = ports
		c.Devices[i] = dev
	}
	c.Observations = orEmpty(d.Observations)
	c.Findings = orEmpty(d.Findings)
	c.Run.Command = orEmpty(d.Run.Command)
	if d.Verify != nil {
		v := *d.Verify
		v.Differences = orEmpty(v.Differences)
		c.Verify = &v
	}
	c.Sources = slices.Clone(d.Sources)
	for i := range c.Sources {
		source := &c.Sources[i]
		source.Run.Command = orEmpty(source.Run.Command)
		if source.Provider.Library.Symbols == nil {
			source.Provider.Library.Symbols = map[string]bool{}
		}
	}
	if c.Provider.Library.Symbols == nil {
		c.Provider.Library.Symbols = map[string]bool{}
	}
	return &c
}

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
