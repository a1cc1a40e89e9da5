//go:build linux

package faulttest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"rdmaprobe/probe/guard"
)

// reliability is the document that holds the summary.
const reliability = "../../docs/reliability.md"

// summary counts cells by kind of fault and machine.
type summary struct {
	mu    sync.Mutex
	cells map[[2]string]*count
}

type count struct {
	cells, passed int
	outcomes      map[guard.Outcome]int
}

func newSummary() *summary { return &summary{cells: map[[2]string]*count{}} }

func (s *summary) add(kind, machine string, w want, passed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := [2]string{kind, machine}
	if s.cells[k] == nil {
		s.cells[k] = &count{outcomes: map[guard.Outcome]int{}}
	}
	n := s.cells[k]
	n.cells++
	if w.outcome == "" {
		w.outcome = guard.Completed
	}
	n.outcomes[w.outcome]++
	if passed {
		n.passed++
	}
}

// kinds of fault, in the order of the summary.
var kinds = []struct{ kind, about string }{
	{"dies", "crash, abort or exit in the call"},
	{"hangs", "the call does not return; SIGTERM ignored; cannot be killed"},
	{"errno", "fails with an errno of each class, or with none"},
	{"value", "impossible results, attributes and completions"},
	{"noise", "floods and forgeries on stdout, stderr and the message channel"},
	{"grandchild", "a process that holds the child's pipes open"},
}

// table is the summary in Markdown.
func (s *summary) table() (text string, total, passed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	b.WriteString("| fault | machine | cells | as promised | how their children ended |\n|---|---|---|---|---|\n")
	for _, k := range kinds {
		for _, m := range []string{"linux", "thunderbolt", inC} {
			n := s.cells[[2]string{k.kind, m}]
			if n == nil {
				continue
			}
			var ends []string
			for _, o := range []guard.Outcome{guard.Completed, guard.Crashed, guard.TimedOut, guard.Stuck, guard.Left} {
				if n.outcomes[o] > 0 {
					ends = append(ends, fmt.Sprintf("%d %s", n.outcomes[o], o))
				}
			}
			fmt.Fprintf(&b, "| %s: %s | %s | %d | %d | %s |\n", k.kind, k.about, m, n.cells, n.passed, strings.Join(ends, ", "))
			total, passed = total+n.cells, passed+n.passed
		}
	}
	fmt.Fprintf(&b, "| all | | %d | %d | |\n", total, passed)
	return b.String(), total, passed
}

// tell prints the summary, and writes it into the document when all of it was run
// and it was asked for.
func (s *summary) tell(t *testing.T) {
	text, total, _ := s.table()
	if total == 0 {
		t.Fatal("no cell was run")
	}
	t.Logf("\n%s", text)
	if *faults == "all" && *update {
		writeBlock(t, text)
	}
}

// block is the generated part of the document.
var block = regexp.MustCompile(`(?s)(<!-- faults: written by make faults -->\n)(.*?)(<!-- faults end -->)`)

func writeBlock(t *testing.T, text string) {
	t.Helper()
	b, err := os.ReadFile(reliability)
	if err != nil {
		t.Fatal(err)
	}
	if !block.Match(b) {
		t.Fatalf("%s has no place for the summary", reliability)
	}
	b = block.ReplaceAll(b, []byte("${1}"+text+"${3}"))
	if err := os.WriteFile(reliability, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The summary in the document counts the cells that there are, and all of them
// were as promised.
func TestSummaryIsCurrent(t *testing.T) {
	t.Parallel()
	want := newSummary()
	for _, m := range machines(t) {
		for _, c := range trials(t, m) {
			want.add(c.f.kind, c.m.name, c.f.want(c.m, c.p), true)
		}
	}
	for _, c := range nativeCells() {
		want.add(c.kind, inC, c.want, true)
	}
	text, total, _ := want.table()
	b, err := os.ReadFile(reliability)
	if err != nil {
		t.Fatal(err)
	}
	m := block.FindSubmatch(b)
	if m == nil {
		t.Fatalf("%s has no summary", reliability)
	}
	if have := string(m[2]); have != text {
		i := slices.IndexFunc(strings.Split(text, "\n"), func(l string) bool { return !strings.Contains(have, l) })
		t.Errorf("%s is not the summary of these %d cells, all passed (line %d); run: make faults", reliability, total, i+1)
	}
}
