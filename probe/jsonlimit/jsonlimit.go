// Package jsonlimit bounds what a JSON text may grow to once it is read: small
// texts can be nested so deeply, or hold so many empty values, that decoding takes
// gigabytes, and indenting one byte a thousand. It looks at the bytes, before a
// decoder does, and knows nothing else of JSON.
package jsonlimit

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// What a text may be at most. Ours nest less than half as deep, and a document of
// the largest size has fewer values.
const (
	MaxDepth    = 32
	MaxValues   = 8 << 20   // brackets and commas
	MaxIndented = 256 << 20 // bytes, indented by two blanks a level
)

// Check tells why a text, of one JSON value or of several lines, is not to be read;
// nil for one that may be, whether it is JSON or not.
func Check(text []byte) error {
	depth, values, indented := 0, 1, len(text)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end := stringEnd(text[i+1:])
			i += end
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth = max(0, depth-1)
		case ',':
		default:
			continue
		}
		values++
		indented += 1 + 2*depth
		switch {
		case depth > MaxDepth:
			return fmt.Errorf("line %d: JSON nested deeper than %d", 1+bytes.Count(text[:i], []byte("\n")), MaxDepth)
		case values > MaxValues:
			return fmt.Errorf("JSON of more than %d values", MaxValues)
		case indented > MaxIndented:
			return fmt.Errorf("JSON of more than %d MiB, indented", MaxIndented>>20)
		}
	}
	return nil
}

// stringEnd is how far a string goes, with its closing quote.
func stringEnd(rest []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(rest[at:], '"')
		if i < 0 {
			return len(rest)
		}
		at += i + 1
		escapes := 0
		for k := at - 2; k >= 0 && rest[k] == '\\'; k-- {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}
}

// Valid tells whether a text is JSON that may be read.
func Valid(text []byte) bool { return Check(text) == nil && json.Valid(text) }
