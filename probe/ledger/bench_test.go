package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// manyLines writes a ledger of n observations of about 300 bytes.
func manyLines(tb testing.TB, n int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "many.jsonl")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	body := map[string]any{
		"id": "qp.uc.create", "probe": "uc", "device": "rdma_en2", "port": 1, "level": "confirmed",
		"call": "ibv_create_qp", "params": map[string]any{"max_send_wr": 128, "max_recv_wr": 128},
		"return": "non-null", "duration_ns": 41250,
	}
	var buf []byte
	at := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC)
	for i := range n {
		r := Record{V: 1, Kind: KindObservation, Run: "20260102T030405-6f1d0c2b9a83", N: 7, Seq: int64(i) + 1, At: at}
		line, err := r.line(body)
		if err != nil {
			tb.Fatal(err)
		}
		if buf = append(buf, line...); len(buf) > 1<<20 || i == n-1 {
			if _, err := f.Write(buf); err != nil {
				tb.Fatal(err)
			}
			buf = buf[:0]
		}
	}
	return path
}

func BenchmarkScan(b *testing.B) {
	const records = 100_000
	path := manyLines(b, records)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	b.ReportAllocs()
	for b.Loop() {
		st, err := Scan(path, func(*Record) error { return nil })
		if err != nil || st.Records != records {
			b.Fatal(st, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
