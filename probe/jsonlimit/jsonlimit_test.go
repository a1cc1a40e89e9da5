package jsonlimit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string // of the error; "" for none
	}{
		"nothing":              {"", ""},
		"a number":             {"1", ""},
		"as deep as may be":    {nested(MaxDepth), ""},
		"one deeper":           {nested(MaxDepth + 1), "line 1: JSON nested deeper than 32"},
		"objects":              {"\n\n" + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), "line 3: "},
		"in turn":              {strings.Repeat(`{"a":[`, 20), "deeper"},
		"only opened":          {strings.Repeat("[", 1<<20), "deeper"},
		"brackets in a string": {`["` + strings.Repeat("[{", 100) + `"]`, ""},
		"behind a quote in it": {`["\"` + strings.Repeat("[", 100) + `"]`, ""},
		"behind a backslash":   {`["\\"` + strings.Repeat("[", 100), "deeper"},
		"several lines":        {strings.Repeat(nested(MaxDepth)+"\n", 100), ""},
		"closed more often":    {strings.Repeat("]", 100) + nested(MaxDepth+1), "deeper"},
		"many values":          {"[" + strings.Repeat("{},", MaxValues/2), "more than 8388608 values"},
		"grows when indented":  {strings.Repeat("[", 31) + strings.Repeat("0,", MaxIndented/62), "256 MiB"},
		"a long string":        {`"` + strings.Repeat("x", 1<<20), ""},
	} {
		err := Check([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What is let through is no deeper and no larger than the bounds say, by the count
// of the decoder and of the encoder.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{nested(3), nested(33), `{"a":["\"[",{"b":"\\"}]}`, `["\\\"{"]`, `[[],{},[{}],"",1e5]`, `"\"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 || !Valid(text) {
			return
		}
		depth, deepest := 0, 0
		for dec := json.NewDecoder(bytes.NewReader(text)); ; {
			token, err := dec.Token()
			if err != nil {
				break
			}
			switch token {
			case json.Delim('['), json.Delim('{'):
				depth++
			case json.Delim(']'), json.Delim('}'):
				depth--
			}
			deepest = max(deepest, depth)
		}
		if deepest > MaxDepth {
			t.Errorf("%d deep: %q", deepest, text)
		}
		var out bytes.Buffer
		if err := json.Indent(&out, text, "", "  "); err != nil || out.Len() > len(text)*(4+2*MaxDepth) {
			t.Errorf("%d bytes of %d, %v: %q", out.Len(), len(text), err, text)
		}
	})
}
