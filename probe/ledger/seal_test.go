package ledger

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever bit of a ledger is flipped, it is told, the record that it stands in is
// gone, and all others are what they were.
func TestFlippedBits(t *testing.T) {
	whole, records := sample(t)
	for at := range whole {
		hit := bytes.Count(whole[:at], []byte{'\n'}) // a newline belongs to the record before it
		want := slices.Delete(slices.Clone(records), hit, hit+1)
		for bit := range 8 {
			if hit > 0 && bit != at%8 {
				continue // every bit of one record, and one of each byte of the others
			}
			b := bytes.Clone(whole)
			b[at] ^= 1 << bit
			got, st := scanBytes(t, b)
			if st.Skipped == 0 {
				t.Fatalf("bit %d of byte %d, %q: not told: %+v", bit, at, b[max(0, at-20):min(len(b), at+20)], st)
			}
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("bit %d of byte %d: %s", bit, at, cmp.Diff(want, got))
			}
		}
	}
}

// unsum takes the sums away, as a program wrote records that knew none.
func unsum(t *testing.T, whole []byte) []byte {
	var old bytes.Buffer
	for line := range bytes.Lines(whole) {
		head, ok := unsealed(bytes.TrimSpace(line))
		if !ok {
			t.Fatalf("the sum is wrong: %s", line)
		}
		old.Write(append(head, "}\n"...))
	}
	return old.Bytes()
}

// A ledger without sums reads as one with them, alone and with newer records.
func TestLedgerWithoutSums(t *testing.T) {
	whole, records := sample(t)
	old := unsum(t, whole)
	if bytes.Contains(old, []byte(`"sum"`)) || len(old) != len(whole)-len(records)*(sealSize-1) {
		t.Fatalf("that is no old ledger: %s", old)
	}
	half := len(records) / 2
	lines := slices.Collect(bytes.Lines(whole))
	mixed := append(slices.Concat(slices.Collect(bytes.Lines(old))[:half]...), slices.Concat(lines[half:]...)...)
	for name, b := range map[string][]byte{"old": old, "mixed": mixed} {
		got, st := scanBytes(t, b)
		if st.Skipped > 0 || st.Lines != len(records) {
			t.Errorf("%s: %+v", name, st)
		}
		if d := cmp.Diff(records, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestUnsealed(t *testing.T) {
	line := string(appendSeal([]byte(`{"v":1`), []byte(`{"v":1`)))
	for name, c := range map[string]struct {
		line, head string
		ok         bool
	}{
		"whole":              {line, `{"v":1`, true},
		"of Windows":         {line + "\r", `{"v":1`, true},
		"without":            {`{"v":1}`, `{"v":1`, true},
		"cut":                {line[:len(line)-1], "", false},
		"no object":          {`[]`, "", false},
		"two letters wrong":  {strings.Replace(line, `"sum"`, `"bun"`, 1), "", false},
		"wrong digit":        {strings.Replace(line, `{"v"`, `{"w"`, 1), "", false},
		"nothing":            {"", "", false},
		"nothing but a sum":  {line[len(line)-sealSize:], "", false},
		"another last field": {`{"v":1,"some":"12345678"}`, `{"v":1,"some":"12345678"`, true},
	} {
		head, ok := unsealed([]byte(c.line))
		if ok != c.ok || ok && string(head) != c.head {
			t.Errorf("%s: %q, %v", name, head, ok)
		}
	}
}
