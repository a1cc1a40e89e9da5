package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func TestRequestRoundTrip(t *testing.T) {
	for _, request := range []string{"", "{}", "a\nb\x00", strings.Repeat("x", 1<<20)} {
		b, err := encodeRequest(header{Nonce: "n", Soft: time.Second, Lock: true}, []byte(request))
		if err != nil {
			t.Fatal(err)
		}
		h, got, err := decodeRequest(iotest.OneByteReader(bytes.NewReader(b)))
		if err != nil || string(got) != request || h.Nonce != "n" || h.Soft != time.Second || !h.Lock {
			t.Errorf("%d bytes: %+v, %d bytes, %v", len(request), h, len(got), err)
		}
	}
}

func TestRequestRefused(t *testing.T) {
	for name, in := range map[string]string{
		"empty":        "",
		"no line":      `{"guard":3`,
		"long line":    strings.Repeat(" ", 2*maxHeader) + "\n",
		"not JSON":     "hello\n",
		"other build":  `{"guard":1,"nonce":"n","soft_ns":1}` + "\n",
		"no nonce":     `{"guard":3,"soft_ns":1}` + "\n",
		"no deadline":  `{"guard":3,"nonce":"n"}` + "\n",
		"negative":     `{"guard":3,"nonce":"n","soft_ns":1,"size":-1}` + "\n",
		"too large":    `{"guard":3,"nonce":"n","soft_ns":1,"size":99999999}` + "\n",
		"cut short":    `{"guard":3,"nonce":"n","soft_ns":1,"size":4}` + "\nabc",
		"wrong fields": `{"guard":"1"}` + "\n",
	} {
		if _, _, err := decodeRequest(strings.NewReader(in)); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// read collects what readMessages finds.
func read(r io.Reader, nonce string) (got []string, foreign int64) {
	foreign = readMessages(r, nonce, func(m Message) bool {
		got = append(got, m.Type+" "+string(m.Body))
		return true
	})
	return got, foreign
}

func TestReadMessages(t *testing.T) {
	message := func(nonce, typ string, body any) string {
		b, err := encodeMessage(nonce, typ, body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	large := strings.Repeat("y", MaxMessage-200)
	for name, tc := range map[string]struct {
		in      string
		want    []string
		foreign int64
	}{
		"nothing":             {"", nil, 0},
		"two":                 {message("n", "a", 1) + message("n", "b", "x\ny"), []string{"a 1", `b "x\ny"`}, 0},
		"text before":         {"text" + message("n", "a", nil), []string{"a null"}, 5},
		"text after":          {message("n", "a", nil) + "text", []string{"a null"}, 4},
		"other nonce":         {message("m", "done", 1), nil, int64(len(message("m", "done", 1)) - 1)},
		"no nonce":            {"{\"type\":\"done\"}\n", nil, 16},
		"torn":                {message("n", "a", 1)[:20] + message("n", "b", 1), []string{"b 1"}, 20},
		"empty type":          {"{\"nonce\":\"n\",\"type\":\"\",\"body\":1}\n", nil, 33},
		"large":               {message("n", "a", large), []string{`a "` + large + `"`}, 0},
		"too long":            {prefix("n") + `"type":"a","body":"` + strings.Repeat("z", 2*MaxMessage) + "\"}\n" + message("n", "b", 1), []string{"b 1"}, 2*MaxMessage + 35},
		"long without a line": {strings.Repeat("z", 5*MaxMessage), nil, 5 * MaxMessage},
	} {
		for _, r := range []io.Reader{strings.NewReader(tc.in), iotest.HalfReader(strings.NewReader(tc.in))} {
			got, foreign := read(r, "n")
			if !slices.Equal(got, tc.want) || foreign != tc.foreign {
				t.Errorf("%s: %.100q, %d foreign bytes of %d", name, got, foreign, tc.foreign)
			}
		}
	}
}

func TestReadMessagesStops(t *testing.T) {
	b, _ := encodeMessage("n", "a", 1)
	calls := 0
	readMessages(bytes.NewReader(bytes.Repeat(b, 3)), "n", func(Message) bool { calls++; return false })
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

func TestEncodeMessageErrors(t *testing.T) {
	for name, body := range map[string]any{"not JSON": func() {}, "too large": strings.Repeat("x", MaxMessage)} {
		if _, err := encodeMessage("n", "a", body); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzReadMessages(f *testing.F) {
	b, _ := encodeMessage("n", "a", 1)
	for _, seed := range []string{"", "\n", string(b), string(b[:12]), "x" + string(b)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		_, foreign := read(bytes.NewReader(in), "n")
		if foreign < 0 || foreign > int64(len(in)) {
			t.Fatalf("%d foreign bytes of %d", foreign, len(in))
		}
		// A message behind anything is still found.
		got, _ := read(io.MultiReader(bytes.NewReader(in), bytes.NewReader(b)), "n")
		if len(in) < MaxMessage && (len(got) == 0 || got[len(got)-1] != "a 1") {
			t.Fatalf("lost behind %q", in)
		}
	})
}

func TestNonceIsNew(t *testing.T) {
	if a, b := newNonce(), newNonce(); a == b || len(a) != 32 {
		t.Error(a, b)
	}
	if got := prefix("n"); got != fmt.Sprintf("{%q:%q,", "nonce", "n") {
		t.Error(got)
	}
}
