package report

import (
	"io"
	"testing"
)

func BenchmarkTable(b *testing.B) {
	d := macSix()
	for b.Loop() {
		if err := renderTable(io.Discard, d, Options{Now: clock, Command: "probe"}); err != nil {
			b.Fatal(err)
		}
	}
}
