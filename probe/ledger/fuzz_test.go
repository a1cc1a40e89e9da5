package ledger

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Whatever a file holds: no panic, the counts add up, every record that comes
// out is sound, both parsers agree on it, and written again it reads the same.
func FuzzScan(f *testing.F) {
	whole, _ := sample(f)
	f.Add(whole)
	f.Add(whole[:len(whole)-7])
	f.Add(append([]byte("x"), whole...))
	f.Add([]byte(`{"v":2,"kind":"observation"}` + "\n" + `{ "v":1 }`))
	f.Add(bytes.ReplaceAll(whole, []byte("\n"), []byte(" ")))
	f.Add(bytes.ReplaceAll(whole, []byte(`,"`), []byte(`, "`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		records, st := scanBytes(t, b)
		if st.Lines < st.Newer+st.Skipped || st.Lines > st.Newer+st.Skipped+st.Records {
			t.Fatalf("%+v", st)
		}
		for _, r := range records {
			if !r.usable() || !json.Valid(r.Body) {
				t.Fatalf("unsound: %s", text(t, r))
			}
			line, err := r.line(r.Body)
			if err != nil {
				t.Fatal(err)
			}
			var fast, slow parser
			if v := slow.general(bytes.TrimSpace(line)); v != good {
				t.Fatalf("general: %d for %s", v, line)
			}
			head, sealed := unsealed(bytes.TrimSpace(line))
			if !sealed {
				t.Fatalf("the sum is wrong: %s", line)
			}
			if !fast.canonical(head) {
				header := line[:bytes.Index(line, []byte(`,"body":`))]
				if r.Kind != KindRun { // a provider may hold what the fast parser leaves to the other
					t.Fatalf("not canonical: %s", header)
				}
				continue
			}
			if d := cmp.Diff(slow.rec, fast.rec); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// What is written is what is read.
func FuzzRoundTrip(f *testing.F) {
	f.Add(0, "id", "qp.uc.create", int64(1), int64(1), int64(0))
	f.Add(3, "", "\x00\xff\n\r\u2028<&>\"}", int64(maxNumber), int64(maxNumber), int64(-1))
	f.Add(4, "body", `{"v":1,"kind":"run"`, int64(12), int64(99), int64(4102444800e9))
	f.Fuzz(func(t *testing.T, k int, name, value string, n, seq, at int64) {
		r := Record{V: Version, Run: "20260102T030405-6f1d0c2b9a83", N: n, Seq: seq, At: time.Unix(0, at).UTC()}
		r.Kind = kinds[uint(k)%uint(len(kinds))]
		if r.Kind == KindRun {
			r.Provider = "simulated:" + name
		}
		if !r.usable() || (r.Provider != "" && !validProvider(r.Provider)) {
			t.Skip("nothing that a ledger would be given")
		}
		body := map[string]any{name: value, "list": []any{value, nil, 1.5}}
		line, err := r.line(body)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(line, '\n') != len(line)-1 {
			t.Fatalf("more than one line: %q", line)
		}
		got, st := scanBytes(t, line)
		if st != (Stats{Lines: 1, Records: 1}) {
			t.Fatalf("%+v for %s", st, line)
		}
		want, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(got[0].Body, &b) != nil {
			t.Fatal("body does not decode")
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Fatal(d)
		}
		r.Body = got[0].Body
		if d := cmp.Diff(r, got[0]); d != "" {
			t.Fatal(d)
		}
	})
}
