package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// roles are what the test binary does when it is run again by a test, with
// LEDGER_ROLE in its environment and the ledger's path as its argument.
var roles = map[string]func(path string) error{
	"write":   roleWrite,
	"endless": roleEndless,
}

func TestMain(m *testing.M) {
	if role := os.Getenv("LEDGER_ROLE"); role != "" {
		if err := roles[role](os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// play prepares this binary in a role.
func play(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	if roles[role] == nil {
		t.Fatalf("no role %q", role)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$", path)
	cmd.Env = append(os.Environ(), "LEDGER_ROLE="+role)
	cmd.Stderr = new(bytes.Buffer)
	return cmd
}

const writes = 300

// roleWrite is a whole run of a few hundred records.
func roleWrite(path string) error {
	s, err := Open(path, native)
	if err != nil {
		return err
	}
	r, err := s.Begin(map[string]int{"pid": os.Getpid()})
	if err != nil {
		return err
	}
	for i := range writes {
		if _, err := r.Append(KindObservation, map[string]int{"i": i}); err != nil {
			return err
		}
	}
	return r.End(nil)
}

// roleEndless says its run's id and the number of each record that it wrote,
// until it is killed.
func roleEndless(path string) error {
	s, err := Open(path, native)
	if err != nil {
		return err
	}
	r, err := s.Begin(nil)
	if err != nil {
		return err
	}
	fmt.Println(r.ID)
	for {
		seq, err := r.Intent(map[string]string{"about": "to try something"})
		if err != nil {
			return err
		}
		fmt.Println(seq)
	}
}

// ledgerPath is a ledger's path in a fresh folder, two folders of which are missing.
func ledgerPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "a", "b", "evidence.jsonl")
}

func mustOpen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, native)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustBegin(t testing.TB, s *Store) *Run {
	t.Helper()
	r, err := s.Begin(map[string]string{"host": "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// wholeRun writes a run with one record of each kind.
func wholeRun(t testing.TB, s *Store) *Run {
	t.Helper()
	r := mustBegin(t, s)
	for _, kind := range []string{KindDevice, KindIntent, KindObservation} {
		if _, err := r.Append(kind, map[string]any{"kind": kind, "text": "a\nb\"}\\<é>"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.End(map[string]int{"exit": 0}); err != nil {
		t.Fatal(err)
	}
	return r
}

// all reads a ledger into memory.
func all(t testing.TB, path string) ([]Record, Stats) {
	t.Helper()
	var records []Record
	st, err := Scan(path, func(r *Record) error {
		c := *r
		c.Body = bytes.Clone(r.Body)
		records = append(records, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records, st
}

// key names a record in comparisons.
func key(r *Record) string { return fmt.Sprintf("%s/%d/%s", r.Run, r.Seq, r.Kind) }

func keys(records []Record) []string {
	var k []string
	for i := range records {
		k = append(k, key(&records[i]))
	}
	return k
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sample is a small ledger of two whole runs, as bytes and as records.
func sample(t testing.TB) ([]byte, []Record) {
	t.Helper()
	path := ledgerPath(t)
	s := mustOpen(t, path)
	wholeRun(t, s)
	wholeRun(t, s)
	records, st := all(t, path)
	if len(records) != 10 || st != (Stats{Lines: 10, Records: 10}) {
		t.Fatalf("sample: %d records, %+v", len(records), st)
	}
	return readFile(t, path), records
}

func text(t testing.TB, r Record) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// firstLine reads one line from a child.
func firstLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line[:len(line)-1]
}
