package guard

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestOutputKeepsHeadAndTail(t *testing.T) {
	for _, size := range []int{0, 1, keepBytes, keepBytes + 1, 2 * keepBytes, 2*keepBytes + 1, 1 << 20} {
		in := strings.Repeat("0123456789abcde\n", size/16+1)[:size]
		for _, chunk := range []int{1000, 5000, 64 << 10} {
			var o output
			for rest := in; rest != ""; rest = rest[min(chunk, len(rest)):] {
				o.write([]byte(rest[:min(chunk, len(rest))]))
			}
			want := in
			if size > 2*keepBytes {
				want = in[:keepBytes] + "\n[" + strconv.Itoa(size-2*keepBytes) + " bytes left out]\n" + in[size-keepBytes:]
			}
			if got := o.text(); got != want || o.total != int64(size) {
				t.Errorf("%d bytes in pieces of %d: %d bytes kept, %d wanted, total %d", size, chunk, len(got), len(want), o.total)
			}
		}
	}
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain äöü 漢\n\ttext": "plain äöü 漢\n\ttext",
		"a\r\nb\rc":           "a\nb\\x0dc",
		"\x1b[31mred\x1b[0m":  `\x1b[31mred\x1b[0m`,
		"\x00\x07\x7f":        `\x00\x07\x7f`,
		"bad \xff\xc3":        `bad \xff\xc3`,
		"c1 \u009b31m":        `c1 \u009b31m`,
		"\u202eevil\u2066":    `\u202eevil\u2066`,
		"\ufffd stays":        "\ufffd stays",
		"":                    "",
	} {
		if got := escape([]byte(in)); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add([]byte("\x1b\xff\u202e\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got := escape(in)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) }); i >= 0 {
			t.Fatalf("control character in %q", got)
		}
		if again := escape([]byte(got)); again != got {
			t.Fatalf("%q is not stable: %q", got, again)
		}
	})
}
