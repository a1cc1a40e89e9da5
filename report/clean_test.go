package report

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "rdma_en2", "rdma_en2"},
		{"empty", "", ""},
		{"escape sequence", "\x1b[31mred\x1b[0m", "[31mred[0m"},
		{"C1 control", "a\u009b2Jb", "a2Jb"},
		{"line breaks", " a\r\n\tb\n", "a b"},
		{"Unicode line breaks", "a\u2028b\u2029c\u0085d", "a b c d"},
		{"right-to-left override", "txt\u202egnp.exe", "txtgnp.exe"},
		{"isolates", "\u2066a\u2069", "a"},
		{"zero width", "a\u200b\u200d\ufeffb", "ab"},
		{"tag characters", "a\U000e0041b", "ab"},
		{"private use", "a\ue000b", "ab"},
		{"broken UTF-8", "a\xff\xc3b", "ab"},
		{"odd spaces", "a\u00a0\u3000b", "a b"},
		{"other scripts stay", "Gerät 端口", "Gerät 端口"},
		{"NUL and DEL", "a\x00\x7fb", "ab"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.in); got != tt.want {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestCleanIsBounded(t *testing.T) {
	for _, s := range []string{strings.Repeat("a", 10_000), strings.Repeat("端", 10_000), strings.Repeat("a ", 10_000)} {
		if got := utf8.RuneCountInString(Clean(s)); got > maxText+1 || got < maxText {
			t.Errorf("%d characters", got)
		}
	}
	exact := strings.Repeat("b", maxText)
	if Clean(exact) != exact {
		t.Error("a text of just the bound was cut")
	}
	if got := cleanName(strings.Repeat("n", 64)); got != strings.Repeat("n", 63)+ellipsis {
		t.Errorf("cleanName: %s", got)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"rdma_en2", 8, "rdma_en2"}, {"rdma_en2", 7, "rdma_e…"}, {"端口端口", 8, "端口端口"}, {"端口端口", 7, "端口端…"},
		{"端口端口", 6, "端口…"}, {"ab", 1, "…"}, {"", 0, ""},
	} {
		got := cut(tt.in, tt.n)
		if got != tt.want || width(got) > tt.n {
			t.Errorf("cut(%q, %d) = %q of width %d, want %q", tt.in, tt.n, got, width(got), tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want []string
	}{
		{"", 10, []string{""}},
		{"one two three", 7, []string{"one two", "three"}},
		{"a-long-command-word x", 5, []string{"a-long-command-word", "x"}},
		{"run `rdma_ctl enable now` there", 12, []string{"run", "`rdma_ctl enable now`", "there"}},
		{"an `open span stays together", 6, []string{"an", "`open span stays together"}},
	} {
		if got := wrap(tt.in, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("wrap(%q, %d) = %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add(evil)
	f.Add("a b\u0301 c")
	f.Fuzz(func(t *testing.T, s string) {
		c := Clean(s)
		if !utf8.ValidString(c) || Clean(c) != c && utf8.RuneCountInString(c) <= maxText {
			t.Errorf("Clean(%q) = %q, again %q", s, c, Clean(c))
		}
		if utf8.RuneCountInString(c) > maxText+1 {
			t.Errorf("%d characters", utf8.RuneCountInString(c))
		}
	})
}
