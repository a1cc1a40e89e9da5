package ledger

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestRunWritesInOrder(t *testing.T) {
	path := ledgerPath(t)
	s := mustOpen(t, path)
	s.now = func() time.Time { return time.Date(2026, 1, 2, 4, 4, 5, 678, time.FixedZone("x", 3600)) }
	r := wholeRun(t, s)
	got, _ := all(t, path)
	want := []string{KindRun, KindDevice, KindIntent, KindObservation, KindEnd}
	for i, rec := range got {
		if rec.Kind != want[i] || rec.Seq != int64(i)+1 || rec.N != 1 || rec.Run != r.ID || rec.V != Version {
			t.Errorf("record %d: %s", i, text(t, rec))
		}
		if (rec.Provider == native) != (i == 0) || rec.At != time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC) {
			t.Errorf("record %d: %s", i, text(t, rec))
		}
	}
	var body struct{ Text string }
	if err := json.Unmarshal(got[1].Body, &body); err != nil || body.Text != "a\nb\"}\\<é>" {
		t.Errorf("body %q, %v", body.Text, err)
	}
	if r.ID[:16] != "20260102T030405-" || !validRunID(r.ID) || r.StartedAt.Location() != time.UTC {
		t.Errorf("id %s, started %v", r.ID, r.StartedAt)
	}
}

// Numbers go on from run to run, whatever the clock does, and from one process
// to the next.
func TestRunNumbers(t *testing.T) {
	path := ledgerPath(t)
	s := mustOpen(t, path)
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.now = func() time.Time { return clock }
	for n := int64(1); n <= 3; n++ {
		if r := wholeRun(t, s); r.N != n {
			t.Fatalf("run %d got number %d", n, r.N)
		}
		clock = clock.AddDate(-1, 0, 0)
	}
	other := mustOpen(t, path)
	if r := wholeRun(t, other); r.N != 4 {
		t.Errorf("another store: %d", r.N)
	}
	old, young := mustBegin(t, s), mustBegin(t, other)
	if old.N != 5 || young.N != 6 {
		t.Errorf("side by side: %d and %d", old.N, young.N)
	}
	if _, err := old.Append(KindObservation, nil); err != nil { // the older run writes last
		t.Fatal(err)
	}
	if r := wholeRun(t, mustOpen(t, path)); r.N != 7 {
		t.Errorf("after an older run's record: %d", r.N)
	}
	line := fmt.Sprintf(`{"v":%d,"kind":"run","run":"later","n":40,"provider":"native"}`+"\n", Version+1)
	writeFile(t, path, append(readFile(t, path), line...))
	if r := wholeRun(t, s); r.N != 41 {
		t.Errorf("after a newer version's run: %d", r.N)
	}
}

func TestRunNumbersEnd(t *testing.T) {
	path := ledgerPath(t)
	s := mustOpen(t, path)
	writeFile(t, path, fmt.Appendf(nil, `{"v":1,"kind":"end","run":"x","n":%d,"seq":1,"at":"2026-01-02T03:04:05Z","body":null}`+"\n", int64(maxNumber)))
	if _, err := s.Begin(nil); err == nil {
		t.Error("a number beyond the highest one")
	}
}

func TestAppendRefuses(t *testing.T) {
	path := ledgerPath(t)
	r := mustBegin(t, mustOpen(t, path))
	before := readFile(t, path)
	for name, err := range map[string]error{
		"run":     second(r.Append(KindRun, nil)),
		"end":     second(r.Append(KindEnd, nil)),
		"unknown": second(r.Append("rumour", nil)),
		"channel": second(r.Append(KindDevice, make(chan int))),
		"broken":  second(r.Append(KindDevice, json.RawMessage(`{"a":`))),
	} {
		if err == nil || errors.Is(err, ErrNotWritable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if string(before) != string(readFile(t, path)) {
		t.Error("a refused record left something behind")
	}
	if seq, err := r.Append(KindDevice, json.RawMessage("{\n\"a\":\n1}")); err != nil || seq != 2 {
		t.Errorf("record %d, %v", seq, err)
	}
	if got, st := all(t, path); st.Lines != 2 || string(got[1].Body) != `{"a":1}` {
		t.Errorf("%+v", st)
	}
	if err := r.End(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Append(KindDevice, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
	if err := r.End(nil); !errors.Is(err, ErrEnded) {
		t.Errorf("a second end: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestGoroutinesShareARun(t *testing.T) {
	path := ledgerPath(t)
	r := mustBegin(t, mustOpen(t, path))
	const workers, each = 8, 50
	seqs := make([][]int64, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				seq, err := r.Append(KindObservation, []int{w, i})
				if err != nil {
					t.Error(err)
					return
				}
				seqs[w] = append(seqs[w], seq)
			}
		})
	}
	wg.Wait()
	for w := range seqs {
		if !slices.IsSorted(seqs[w]) || len(seqs[w]) != each {
			t.Errorf("worker %d: %v", w, seqs[w])
		}
	}
	got, _ := all(t, path)
	for i, rec := range got {
		if rec.Seq != int64(i)+1 {
			t.Fatalf("record %d has number %d", i, rec.Seq)
		}
	}
	if len(got) != workers*each+1 {
		t.Errorf("%d records", len(got))
	}
}

func TestProcessesShareALedger(t *testing.T) {
	path := ledgerPath(t)
	const processes = 3
	var wg sync.WaitGroup
	for range processes {
		cmd := play(t, "write", path)
		wg.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("%v: %s", err, cmd.Stderr)
			}
		})
	}
	wg.Wait()
	got, st := all(t, path)
	if st.Skipped != 0 || st.Records != processes*(writes+2) {
		t.Errorf("%+v", st)
	}
	next, numbers := map[string]int64{}, map[int64]string{}
	for _, rec := range got {
		if next[rec.Run]++; rec.Seq != next[rec.Run] {
			t.Fatalf("run %s: record %d where %d was due", rec.Run, rec.Seq, next[rec.Run])
		}
		if id, ok := numbers[rec.N]; ok && id != rec.Run {
			t.Fatalf("number %d for %s and %s", rec.N, id, rec.Run)
		}
		numbers[rec.N] = rec.Run
	}
	if len(numbers) != processes || numbers[processes] == "" {
		t.Errorf("numbers %v", numbers)
	}
	if locks, err := runLocks(path); err != nil || len(locks) != 0 {
		t.Errorf("locks left: %v, %v", locks, err)
	}
}

// kill -9 in the middle: what was acknowledged is there, the run is over, its
// last intent is without an outcome, and the next run tidies up.
func TestKilledWriter(t *testing.T) {
	path := ledgerPath(t)
	for round := range 5 {
		cmd := play(t, "endless", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		id, last := firstLine(t, lines), ""
		for range 20 + round {
			last = firstLine(t, lines)
		}
		if !RunLive(path, id) {
			t.Error("a living run counts as over")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(lines)
		_ = cmd.Wait()
		if more := slices.Collect(linesOf(string(rest))); len(more) > 0 {
			last = more[len(more)-1]
		}
		if RunLive(path, id) {
			t.Error("a dead run counts as alive")
		}
		acknowledged, err := strconv.ParseInt(last, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := all(t, path)
		got = slices.DeleteFunc(got, func(r Record) bool { return r.Run != id })
		if n := int64(len(got)); n < acknowledged || got[n-1].Seq != n || got[n-1].Kind != KindIntent {
			t.Errorf("%d records, %d acknowledged", n, acknowledged)
		}
		if r := wholeRun(t, mustOpen(t, path)); r.N != int64(2*round+2) {
			t.Errorf("run number %d", r.N)
		}
		if locks, err := runLocks(path); err != nil || len(locks) != 0 {
			t.Errorf("locks left: %v, %v", locks, err)
		}
	}
}

// linesOf yields whole lines only: the last one may be cut.
func linesOf(s string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for start, i := 0, 0; i < len(s); i++ {
			if s[i] == '\n' {
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
	}
}

func TestLive(t *testing.T) {
	path := ledgerPath(t)
	s := mustOpen(t, path)
	live := func(want ...string) {
		t.Helper()
		got, err := s.Live()
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("live: %v, want %v (%v)", got, want, err)
		}
		for _, id := range want {
			if !RunLive(path, id) {
				t.Errorf("%s is not live", id)
			}
		}
	}
	live()
	a := mustBegin(t, s)
	live(a.ID)
	b := mustBegin(t, mustOpen(t, path))
	live(a.ID, b.ID)
	if err := a.End(nil); err != nil {
		t.Fatal(err)
	}
	live(b.ID)
	if err := b.Close(); err != nil { // interrupted
		t.Fatal(err)
	}
	live()
	if err := b.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	for _, id := range []string{a.ID, b.ID, "", "nobody", "../evidence", "a/b", "x\x00"} {
		if RunLive(path, id) {
			t.Errorf("%q is live", id)
		}
	}
	if RunLive(filepath.Join(t.TempDir(), "none"), "x") {
		t.Error("a run of no ledger is live")
	}
}

// A ledger that goes away under a run is noticed at the next record.
func TestReplacedUnderARun(t *testing.T) {
	path := ledgerPath(t)
	r := mustBegin(t, mustOpen(t, path))
	if err := os.Rename(path, path+".old"); err != nil {
		t.Skipf("NOT CHECKED: an open file cannot be moved here: %v", err) // Windows
	}
	if _, err := r.Intent(nil); !errors.Is(err, ErrNotWritable) || !errors.Is(err, errReplaced) {
		t.Errorf("removed: %v", err)
	}
	writeFile(t, path, nil)
	if _, err := r.Append(KindDevice, nil); !errors.Is(err, errReplaced) {
		t.Errorf("replaced: %v", err)
	}
	if err := r.End(nil); !errors.Is(err, errReplaced) {
		t.Errorf("end: %v", err)
	}
	if RunLive(path, r.ID) {
		t.Error("the run is not over")
	}
}
