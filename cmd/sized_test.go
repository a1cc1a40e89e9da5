package cmd

import (
	"bytes"
	"strings"
	"testing"
)

// A document that report will not read is told of before what is too much is written,
// once, and is written whole.
func TestSizedOut(t *testing.T) {
	var out bytes.Buffer
	var told []string
	s := &sizedOut{out: &out, most: 10, tell: func(err error) {
		told = append(told, err.Error()+" after "+out.String())
	}}
	for _, text := range []string{"12345", "67890", "abc", "def"} {
		if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
	}
	if out.String() != "1234567890abcdef" || len(told) != 1 || !strings.HasSuffix(told[0], " after 1234567890") || !strings.Contains(told[0], "-d") {
		t.Errorf("%q, told %q", &out, told)
	}
}
