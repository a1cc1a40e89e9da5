package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// ledgerText writes a ledger by hand, with runs of any day.
type ledgerText struct {
	b   bytes.Buffer
	n   int
	seq int
	day int
	id  string
}

func (l *ledgerText) record(kind, extra, body string) {
	l.seq++
	at := mergeClock.AddDate(0, 0, l.day).Format(time.RFC3339)
	fmt.Fprintf(&l.b, `{"v":1,"kind":%q,"run":%q,"n":%d,"seq":%d,"at":%q%s,"body":%s}`+"\n", kind, l.id, l.n, l.seq, at, extra, body)
}

// run begins a run on a day, in a boot and under a build, with one device.
func (l *ledgerText) run(day int, boot, build string) *ledgerText {
	l.n, l.seq, l.day = l.n+1, 0, day
	l.id = mergeClock.AddDate(0, 0, day).Format("20060102T150405") + fmt.Sprintf("-%012d", l.n)
	l.record("run", `,"provider":"native"`, fmt.Sprintf(`{"run":{"id":%q,"boot_id":%q,"started_at":%q},"provider":{"kind":"native","library":{"loaded":true,"id":"lib"}},"host":{"name":"node-a","os":"macos","os_build":%q}}`,
		l.id, boot, mergeClock.AddDate(0, 0, day).Format(time.RFC3339), build))
	l.record("device", "", `{"name":"rdma_en3","node_guid":"0000:5eff:fe00:5303","transport":"thunderbolt","listed":true,"ports":[]}`)
	return l
}

func (l *ledgerText) row(id string, level rdma.Capability, extra string) *ledgerText {
	l.record("observation", "", fmt.Sprintf(`{"id":%q,"device":"rdma_en3","level":%q%s}`, id, level, extra))
	return l
}

func (l *ledgerText) end() *ledgerText { l.record("end", "", `{"exit":0}`); return l }

func (l *ledgerText) write(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "evidence.jsonl")
	if err := os.WriteFile(path, l.b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	confirmed = rdma.CapabilityConfirmed
	rejected  = rdma.CapabilityRejected
	notKnown  = rdma.CapabilityUnknown
)

const day = 24 * time.Hour

func TestPruneKeepsWhatStandsOnIt(t *testing.T) {
	crash := `,"reason":"crash","call":"ibv_create_qp","started_at":"2026-05-01T12:00:00Z","child":{"outcome":"crashed","pid":7}`
	for _, tt := range []struct {
		name string
		text *ledgerText
		age  time.Duration // counted from day 100
		drop []int
	}{
		{"a newer answer replaces an older", new(ledgerText).run(0, "b", "1").row("mr.rkey", confirmed, "").end().run(90, "b2", "1").row("mr.rkey", confirmed, "").end(), 30 * day, []int{1}},
		{"the only answer of an id stays", new(ledgerText).run(0, "b", "1").row("qp.rc.create", rejected, "").end().run(90, "b2", "1").row("mr.rkey", confirmed, "").end(), 30 * day, nil},
		{"an older build's answer stays", new(ledgerText).run(0, "b", "1").row("mr.rkey", confirmed, "").end().run(90, "b2", "2").row("mr.rkey", confirmed, "").end(), 30 * day, nil},
		{"an answer stays behind a later failure", new(ledgerText).run(0, "b", "1").row("mr.rkey", confirmed, "").end().run(90, "b2", "1").row("mr.rkey", notKnown, `,"reason":"timeout"`).end(), 30 * day, nil},
		{"young runs stay", new(ledgerText).run(0, "b", "1").row("mr.rkey", confirmed, "").end().run(90, "b2", "1").row("mr.rkey", confirmed, "").end(), 200 * day, nil},
		{"the newest run stays, however old", new(ledgerText).run(0, "b", "1").row("mr.rkey", confirmed, "").end().run(1, "b", "1").end(), day, nil},
		{"an intent without outcome stays", func() *ledgerText {
			l := new(ledgerText).run(0, "b", "1")
			l.record("intent", "", `{"device":"rdma_en3","node_guid":"0000:5eff:fe00:5303","probe":"rc","class":"create","ids":["qp.rc.create"],"boot_id":"b"}`)
			return l.run(90, "b2", "1").row("qp.rc.create", rejected, "").end()
		}(), 30 * day, nil},
		{"what closes a device in this boot stays", new(ledgerText).run(0, "b", "1").row("qp.rc.create", notKnown, crash).end().run(90, "b", "1").row("qp.rc.create", rejected, "").end(), 30 * day, nil},
		{"what closed it in an earlier boot goes", new(ledgerText).run(0, "b", "1").row("qp.rc.create", notKnown, crash).end().run(90, "b2", "1").row("qp.rc.create", rejected, "").end(), 30 * day, []int{1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := tt.text.write(t)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Prune(Options{Store: path}, tt.age, mergeClock.AddDate(0, 0, 100))
			if err != nil {
				t.Fatal(err)
			}
			var dropped []int
			for _, r := range p.Runs {
				dropped = append(dropped, int(r.N))
			}
			if !slices.Equal(dropped, tt.drop) {
				t.Errorf("dropped the runs %v, want %v", dropped, tt.drop)
			}
			after, _ := os.ReadFile(path)
			if got := bytes.Count(after, []byte("\n")); got != p.Kept || p.Kept+p.Dropped != bytes.Count(before, []byte("\n")) {
				t.Errorf("kept %d, dropped %d, %d lines are left", p.Kept, p.Dropped, got)
			}
			for _, n := range tt.drop {
				if bytes.Contains(after, fmt.Appendf(nil, `"n":%d,`, n)) {
					t.Errorf("records of run %d are left", n)
				}
			}
		})
	}
}

// What a report says is the same before and after, whatever went.
func TestPruneChangesNoReport(t *testing.T) {
	l := new(ledgerText)
	for d := range 40 {
		l.run(d, fmt.Sprintf("boot-%d", d/5), fmt.Sprintf("build-%d", d/20))
		for i, id := range []string{"mr.rkey", "qp.uc.create", "qp.rc.create"} {
			if d%(i+2) == 0 {
				l.row(id, []rdma.Capability{confirmed, rejected, notKnown}[(d+i)%3], `,"reason":"timeout"`)
			}
		}
		l.end()
	}
	path := l.write(t)
	before, err := Report(ReportOptions{Options: Options{Store: path}, AllBuilds: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prune(Options{Store: path}, 5*day, mergeClock.AddDate(0, 0, 40))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Runs) < 20 {
		t.Errorf("only %d runs went", len(p.Runs))
	}
	after, err := Report(ReportOptions{Options: Options{Store: path}, AllBuilds: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Observations) == 0 || len(before.Observations) != len(after.Observations) {
		t.Fatalf("%d rows before, %d after", len(before.Observations), len(after.Observations))
	}
	for i := range before.Observations {
		if a, b := before.Observations[i], after.Observations[i]; a.Run != b.Run || a.Seq != b.Seq || a.Level != b.Level {
			t.Errorf("row %d was %+v and is %+v", i, a, b)
		}
	}
	a, b := before.Devices[0].Capabilities, after.Devices[0].Capabilities
	for key, s := range a.each() {
		if q := b.each()[key]; q.State != s.State || (q.LastAttempt == nil) != (s.LastAttempt == nil) {
			t.Errorf("%s was %+v and is %+v", key, s, q)
		}
	}
}

func TestPruneRefusals(t *testing.T) {
	live := filepath.Join(t.TempDir(), "live.jsonl")
	store, err := ledger.Open(live, Native)
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Begin(map[string]any{"host": map[string]any{"name": "node-a"}})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	if _, err := Prune(Options{Store: live}, day, time.Now().Add(10*day)); !errors.Is(err, ledger.ErrLive) {
		t.Errorf("while a run goes on: %v", err)
	}
	letter := filepath.Join(t.TempDir(), "letter.txt")
	if err := os.WriteFile(letter, []byte("Dear all,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var usage *UsageError
	if _, err := Prune(Options{Store: letter}, day, time.Now()); !errors.As(err, &usage) {
		t.Errorf("a file that is no ledger: %v", err)
	}
	if b, _ := os.ReadFile(letter); string(b) != "Dear all,\n" {
		t.Error("the letter was changed")
	}
	if _, err := Prune(Options{Store: "none"}, day, time.Now()); !errors.As(err, &usage) {
		t.Errorf("no store: %v", err)
	}
	if p, err := Prune(Options{Store: filepath.Join(t.TempDir(), "absent.jsonl")}, day, time.Now()); err != nil || len(p.Runs) != 0 {
		t.Errorf("nothing recorded: %+v, %v", p, err)
	}
}

// A store that is there and cannot be read is no store without evidence.
func TestReportRefusesWhatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"letter.txt": "Dear all,\n", "torn.txt": "Dear", "object.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"letter.txt", "torn.txt", "object.json", "."} {
		var usage *UsageError
		d, err := Report(ReportOptions{Options: Options{Store: filepath.Join(dir, name)}})
		if !errors.As(err, &usage) || d.Exit != ExitUsage || d.Error != err.Error() || len(d.Notes) > 0 {
			t.Errorf("report on %s: %v, status %d, %q, notes %q", name, err, d.Exit, d.Error, d.Notes)
		}
		if _, err := Prune(Options{Store: filepath.Join(dir, name)}, day, time.Now()); !errors.As(err, &usage) {
			t.Errorf("prune of %s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 3 {
		t.Errorf("there is %v, %v", left, err)
	}
	if d, err := Report(ReportOptions{Options: Options{Store: filepath.Join(dir, "absent.jsonl")}}); err != nil || d.Exit != ExitOK {
		t.Errorf("nothing recorded: %v, %d", err, d.Exit)
	}
}

func TestReadLedger(t *testing.T) {
	l := new(ledgerText).run(0, "b", "25F84").row("qp.rc.create", rejected, "").row("mr.rkey", confirmed, "").end()
	l.run(9, "b2", "25G10").row("qp.rc.create", confirmed, "").end()
	text := l.b.String()
	for _, tt := range []struct {
		build string
		all   bool
		rc    rdma.Capability
		rows  int // that were tried
	}{{"", false, confirmed, 1}, {"", true, confirmed, 3}, {"25F84", false, rejected, 2}, {"25G10", false, confirmed, 1}} {
		o := LedgerOptions{Build: tt.build}
		o.AllBuilds = tt.all
		d, err := ReadLedger(strings.NewReader(text), o)
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for i := range d.Observations {
			if d.Observations[i].tried() {
				rows++
			}
		}
		if s := d.Devices[0].Capabilities.QueuePairRC; s.State != tt.rc || rows != tt.rows || s.Stale {
			t.Errorf("build %q: %s (stale %v), %d rows; want %s, %d", tt.build, s.State, s.Stale, rows, tt.rc, tt.rows)
		}
		if d.Host.Name != "node-a" || tt.build != "" && d.Host.OSBuild != tt.build {
			t.Errorf("build %q: host %+v", tt.build, d.Host)
		}
	}
	if _, err := ReadLedger(strings.NewReader(text), LedgerOptions{Build: "nosuch"}); !errors.Is(err, ErrNoBuild) {
		t.Errorf("a build that is not there: %v", err)
	}
	if _, err := ReadLedger(strings.NewReader("hello\n"), LedgerOptions{}); !errors.Is(err, ledger.ErrNotLedger) {
		t.Errorf("no ledger: %v", err)
	}
	builds, err := LedgerBuilds(l.write(t))
	if err != nil || !slices.Equal(builds, []string{"25F84", "25G10"}) {
		t.Errorf("builds %q, %v", builds, err)
	}
}
