package ledger

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func scanBytes(t testing.TB, b []byte) ([]Record, Stats) {
	t.Helper()
	var records []Record
	st, err := ScanReader(bytes.NewReader(b), func(r *Record) error {
		c := *r
		c.Body = bytes.Clone(r.Body)
		records = append(records, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if st.Records != len(records) {
		t.Fatalf("%d records counted, %d seen", st.Records, len(records))
	}
	return records, st
}

// A writer may die at any byte of its record. Readers see what was there
// before, and the next writer's records are whole.
func TestTornAtEveryByte(t *testing.T) {
	whole, records := sample(t)
	start := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for cut := start; cut < len(whole); cut++ {
		got, st := scanBytes(t, whole[:cut])
		want, torn := 9, cut > start
		if cut == len(whole)-1 { // only the newline is missing
			want, torn = 10, false
		}
		if len(got) != want || st.TornTail != torn || (st.Skipped == 1) != torn {
			t.Fatalf("cut at %d: %d records, %+v", cut-start, len(got), st)
		}
		if d := cmp.Diff(records[:want], got); d != "" {
			t.Fatalf("cut at %d: %s", cut-start, d)
		}
	}
}

func TestWriterRepairsTornAtEveryByte(t *testing.T) {
	whole, _ := sample(t)
	start := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	path := filepath.Join(t.TempDir(), "evidence.jsonl")
	for cut := start; cut < len(whole); cut++ {
		writeFile(t, path, whole[:cut])
		r := wholeRun(t, mustOpen(t, path))
		got, st := all(t, path)
		var mine []int64
		for _, rec := range got {
			if rec.Run == r.ID {
				mine = append(mine, rec.Seq)
			}
		}
		if !slices.Equal(mine, []int64{1, 2, 3, 4, 5}) || st.TornTail || r.N != 3 {
			t.Fatalf("cut at %d: records %v of run %d, %+v", cut-start, mine, r.N, st)
		}
		if lost := st.Skipped; lost > 1 || len(got)+lost < 14 {
			t.Fatalf("cut at %d: %d records, %+v", cut-start, len(got), st)
		}
	}
}

// Torn in the very first record: no record shows whose file it is.
func TestTornFirstRecord(t *testing.T) {
	whole, _ := sample(t)
	first := whole[:bytes.IndexByte(whole, '\n')]
	path := filepath.Join(t.TempDir(), "evidence.jsonl")
	for cut := range len(first) {
		writeFile(t, path, first[:cut])
		wholeRun(t, mustOpen(t, path))
		if got, st := all(t, path); len(got) != 5 || st.TornTail {
			t.Fatalf("cut at %d: %d records, %+v", cut, len(got), st)
		}
	}
}

// Whatever becomes of one byte, all records that it is not a part of survive.
func TestCorruptionAtEveryByte(t *testing.T) {
	whole, records := sample(t)
	want := keys(records)
	for at := range whole {
		for _, with := range []byte{0, '\n', '"', '}', '9', 0xff, whole[at] ^ 0x20} {
			if with == whole[at] {
				continue
			}
			hit := bytes.Count(whole[:at], []byte{'\n'}) // a newline belongs to the record before it
			b := bytes.Clone(whole)
			b[at] = with
			got, _ := scanBytes(t, b)
			have := keys(got)
			for i, k := range want {
				if i != hit && !slices.Contains(have, k) {
					t.Fatalf("byte %d of record %d became %q: record %d is lost", at, hit, with, i)
				}
			}
			if len(have) > len(want) {
				t.Fatalf("byte %d became %q: %d records", at, with, len(have))
			}
		}
	}
}

func TestLinesOfOtherSpelling(t *testing.T) {
	const header = `"kind":"observation","run":"r1","n":2,"seq":3,"at":"2026-01-02T03:04:05Z"`
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := Record{V: 1, Kind: KindObservation, Run: "r1", N: 2, Seq: 3, At: at, Body: []byte(`{"a":1}`)}
	for name, tc := range map[string]struct {
		line string
		st   Stats
	}{
		"canonical":       {`{"v":1,` + header + `,"body":{"a":1}}`, Stats{Lines: 1, Records: 1}},
		"spaces":          {` { "v": 1, ` + header + `, "body": {"a":1} } `, Stats{Lines: 1, Records: 1}},
		"windows newline": {`{"v":1,` + header + `,"body":{"a":1}}` + "\r", Stats{Lines: 1, Records: 1}},
		"other order":     {`{"body":{"a":1},` + header + `,"v":1}`, Stats{Lines: 1, Records: 1}},
		"one field more":  {`{"v":1,` + header + `,"body":{"a":1},"more":{"b":[]}}`, Stats{Lines: 1, Records: 1}},
		"other zone":      {strings.ReplaceAll(`{"v":1,`+header+`,"body":{"a":1}}`, "03:04:05Z", "04:04:05+01:00"), Stats{Lines: 1, Records: 1}},
		"escaped":         {strings.ReplaceAll(`{"v":1,`+header+`,"body":{"a":1}}`, `"r1"`, `"\u0072\u0031"`), Stats{Lines: 1, Records: 1}},
		"after a torn one": {`{"v":1,"kind":"obs{"v":1,` + header + `,"body":{"a":1}}`,
			Stats{Lines: 1, Records: 1, Skipped: 1}},
		"newer":                {`{"v":2,` + header + `,"body":{"a":1}}`, Stats{Lines: 1, Newer: 1}},
		"newer, other types":   {`{"v":3,"kind":["x"],"run":7}`, Stats{Lines: 1, Newer: 1}},
		"newer, broken":        {`{"v":2,"kind":`, Stats{Lines: 1, Skipped: 1}},
		"version 0":            {`{"v":0,` + header + `,"body":{}}`, Stats{Lines: 1, Skipped: 1}},
		"no version":           {`{` + header + `,"body":{}}`, Stats{Lines: 1, Skipped: 1}},
		"no body":              {`{"v":1,` + header + `}`, Stats{Lines: 1, Skipped: 1}},
		"broken body":          {`{"v":1,` + header + `,"body":{"a":}}`, Stats{Lines: 1, Skipped: 1}},
		"unknown kind":         {strings.ReplaceAll(`{"v":1,`+header+`,"body":{}}`, "observation", "rumour"), Stats{Lines: 1, Skipped: 1}},
		"negative":             {strings.ReplaceAll(`{"v":1,`+header+`,"body":{}}`, `"n":2`, `"n":-2`), Stats{Lines: 1, Skipped: 1}},
		"leading zero":         {strings.ReplaceAll(`{"v":1,`+header+`,"body":{}}`, `"n":2`, `"n":02`), Stats{Lines: 1, Skipped: 1}},
		"huge number":          {strings.ReplaceAll(`{"v":1,`+header+`,"body":{}}`, `"n":2`, `"n":9223372036854775807`), Stats{Lines: 1, Skipped: 1}},
		"path as run":          {strings.ReplaceAll(`{"v":1,`+header+`,"body":{}}`, `"r1"`, `"../r1"`), Stats{Lines: 1, Skipped: 1}},
		"no time":              {strings.ReplaceAll(`{"v":1,`+header+`,"body":{}}`, `03:04:05Z`, ``), Stats{Lines: 1, Skipped: 1}},
		"run without provider": {strings.ReplaceAll(`{"v":1,`+header+`,"body":{}}`, "observation", "run"), Stats{Lines: 1, Skipped: 1}},
		"a document":           {`{"schema":"rdmaprobe.report","schema_version":"1.0"}`, Stats{Lines: 1, Skipped: 1}},
		"null":                 {`null`, Stats{Lines: 1, Skipped: 1}},
		"a zero byte":          {"\x00", Stats{Lines: 1, Skipped: 1}},
		"blank":                {" \t", Stats{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, st := scanBytes(t, []byte(tc.line+"\n"))
			if st != tc.st {
				t.Fatalf("got %+v, want %+v", st, tc.st)
			}
			if tc.st.Records == 1 {
				if d := cmp.Diff([]Record{want}, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

func TestLongLines(t *testing.T) {
	whole, _ := sample(t)
	fits := bytes.Repeat([]byte{'x'}, MaxLine-1)
	for name, tc := range map[string]struct {
		in   [][]byte
		want Stats
	}{
		"longest":             {[][]byte{whole, fits, {'\n'}, whole}, Stats{Lines: 21, Records: 20, Skipped: 1}},
		"one more":            {[][]byte{whole, fits, {'x', '\n'}, whole}, Stats{Lines: 21, Records: 20, Skipped: 1}},
		"three times as long": {[][]byte{whole, fits, fits, fits, {'\n'}, whole}, Stats{Lines: 21, Records: 20, Skipped: 1}},
		"without end":         {[][]byte{whole, fits, fits}, Stats{Lines: 11, Records: 10, Skipped: 1, TornTail: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, st := scanBytes(t, bytes.Join(tc.in, nil)); st != tc.want {
				t.Errorf("got %+v, want %+v", st, tc.want)
			}
		})
	}
	body := strings.Repeat("y", MaxLine-200) // a record that just fits is read back
	r := Record{V: 1, Kind: KindObservation, Run: "r", N: 1, Seq: 1, At: time.Unix(1, 0)}
	line, err := r.line(body)
	if err != nil {
		t.Fatal(err)
	}
	if _, st := scanBytes(t, line); st.Records != 1 {
		t.Errorf("%d bytes: %+v", len(line), st)
	}
	if _, err := r.line(body + body); !errors.Is(err, ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
}

// The splitting must not depend on how the bytes arrive.
func TestReadersOfAllSpeeds(t *testing.T) {
	whole, records := sample(t)
	for name, r := range map[string]io.Reader{
		"one byte":     iotest.OneByteReader(bytes.NewReader(whole)),
		"half":         iotest.HalfReader(bytes.NewReader(whole)),
		"data and EOF": iotest.DataErrReader(bytes.NewReader(whole)),
	} {
		n := 0
		st, err := ScanReader(r, func(rec *Record) error {
			if key(rec) != key(&records[n]) {
				t.Errorf("%s: record %d is %s", name, n, key(rec))
			}
			n++
			return nil
		})
		if err != nil || n != len(records) || st.Skipped != 0 {
			t.Errorf("%s: %d records, %+v, %v", name, n, st, err)
		}
	}
	broken := errors.New("cable out")
	_, err := ScanReader(io.MultiReader(bytes.NewReader(whole[:100]), iotest.ErrReader(broken)), func(*Record) error { return nil })
	if !errors.Is(err, broken) {
		t.Errorf("reader's error: %v", err)
	}
}

func TestCallbackErrorEndsScan(t *testing.T) {
	whole, _ := sample(t)
	enough := errors.New("enough")
	n := 0
	_, err := ScanReader(bytes.NewReader(whole), func(*Record) error {
		if n++; n == 3 {
			return enough
		}
		return nil
	})
	if err != enough || n != 3 {
		t.Errorf("%d calls, %v", n, err)
	}
}

func TestMissingFileIsEmpty(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), ledgerPath(t)} {
		if got, st := all(t, path); got != nil || st != (Stats{}) {
			t.Errorf("%v %+v", got, st)
		}
	}
	if _, err := Scan(t.TempDir(), func(*Record) error { return nil }); !errors.Is(err, errNotRegular) {
		t.Errorf("a folder: %v", err)
	}
}

// A scan allocates for its buffer, not for records. The race detector makes
// sync.Pool forget things at random, and its own allocations count.
func TestScanMemoryIsFlat(t *testing.T) {
	if underRace {
		t.Skip("NOT CHECKED: allocations are counted without the race detector")
	}
	path := manyLines(t, 2000)
	allocs := testing.AllocsPerRun(3, func() {
		if _, err := Scan(path, func(*Record) error { return nil }); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 50 {
		t.Errorf("%v allocations for 2000 records", allocs)
	}
}
