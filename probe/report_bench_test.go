//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/rdma"
)

// The size of the ledger for BenchmarkReport, and where to leave it.
var (
	benchRows   = flag.Int("rows", 100_000, "observations in the ledger of BenchmarkReport and TestWriteLedger")
	benchLedger = flag.String("ledger", "", "where they write it")
)

// manyRuns writes a ledger of n observations, in runs of 30 rows over two
// devices, as a probe would.
func manyRuns(tb testing.TB, path string, n int) {
	tb.Helper()
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	enc := json.NewEncoder(w)
	write := func(r ledger.Record, body any) {
		if r.Body, err = json.Marshal(body); err == nil {
			err = enc.Encode(r)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	const perRun = 30
	for run := range (n + perRun - 1) / perRun {
		seq := int64(0)
		next := func(kind string) ledger.Record {
			seq++
			return ledger.Record{V: ledger.Version, Kind: kind, Run: fmt.Sprintf("20260102T030405-%012x", run), N: int64(run) + 1, Seq: seq, At: at}
		}
		first := next(ledger.KindRun)
		first.Provider = Native
		write(first, runBody{Run: RunInfo{BootID: fmt.Sprint("boot", run/10)}, Host: &hostfacts.Host{Name: "node1", OS: "linux", Kernel: "6.8"}})
		for d := range 2 {
			write(next(ledger.KindDevice), Device{
				Name: fmt.Sprint("mlx5_", d), NodeGUID: fmt.Sprintf("0000:5eff:fe00:530%d", d+1), Transport: "infiniband", Listed: true,
				Ports: []Port{{Num: 1, State: "active", GIDs: []GID{{Index: 0, GID: "::ffff:192.0.2.1", Class: "ipv4_mapped"}}}},
			})
		}
		for i := range min(perRun, n-run*perRun) {
			e := EvidenceIDs[3+i%15]
			o := Observation{
				ID: e.ID, Probe: "uc", Device: fmt.Sprint("mlx5_", i%2), Level: rdma.CapabilityConfirmed, Call: "ibv_create_qp", Return: &Return{Pointer: true},
				Params: map[string]any{"max_send_wr": 16, "max_recv_wr": 16, "max_send_sge": 1}, Data: map[string]any{"qp_num": i, "state": "reset"},
				StartedAt: &at, DurationNS: 41250, Child: &Child{Outcome: "completed", PID: 4711, Exit: "exit status 0"},
			}
			if e.Ports {
				o.Port = 1
			}
			write(next(ledger.KindObservation), o)
		}
		write(next(ledger.KindEnd), endBody{})
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
}

// TestWriteLedger only writes a ledger, for other programs to read.
func TestWriteLedger(t *testing.T) {
	if *benchLedger == "" {
		t.Skip("checks nothing: it writes a ledger where -ledger says")
	}
	manyRuns(t, *benchLedger, *benchRows)
}

// BenchmarkReport rebuilds a document from a large ledger. held-MB is what the
// history keeps of it.
func BenchmarkReport(b *testing.B) {
	path := *benchLedger
	if path == "" {
		path = filepath.Join(b.TempDir(), "many.jsonl")
	}
	manyRuns(b, path, *benchRows)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		d, err := Report(ReportOptions{Options: Options{Store: path}})
		if err != nil || len(d.Devices) != 2 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(*benchRows), "ns/row")
	h := newHistory()
	h.path = path
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if _, err := h.read(func(string) bool { return false }); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "held-MB")
	runtime.KeepAlive(h)
}

// What is kept of a ledger does not grow with its rows.
func TestHistoryIsFlat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "many.jsonl")
	const rows = 3000
	manyRuns(t, path, rows)
	h := newHistory()
	h.path = path
	stats, err := h.read(func(string) bool { return false })
	if err != nil || stats.Records < rows || stats.Skipped > 0 {
		t.Fatalf("%+v, %v", stats, err)
	}
	keys := 0
	for _, of := range h.newest {
		keys += len(of)
	}
	if keys > 40 || len(h.rows) != 0 || len(h.closures) != 0 || len(h.sights) != 2 {
		t.Errorf("%d keys, %d rows, %d closures, %d devices are held", keys, len(h.rows), len(h.closures), len(h.sights))
	}
	for _, r := range h.runs {
		if r.devices != nil || r.intents != nil || r.outcomes != nil {
			t.Fatal("a run that is over still holds its devices")
		}
	}
}
