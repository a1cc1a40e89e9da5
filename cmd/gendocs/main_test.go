package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The committed pages are what the command tree says now.
func TestPagesAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := generate(filepath.Join(dir, "man"), filepath.Join(dir, "cli")); err != nil {
		t.Fatal(err)
	}
	for _, pair := range []struct{ fresh, committed string }{{"man", "../../packaging/man"}, {"cli", "../../docs/cli"}} {
		fresh, err := os.ReadDir(filepath.Join(dir, pair.fresh))
		if err != nil || len(fresh) < 8 {
			t.Fatalf("%d pages in %s: %v", len(fresh), pair.fresh, err)
		}
		committed, err := os.ReadDir(pair.committed)
		if err != nil {
			t.Fatalf("%v: run make docs", err)
		}
		if len(fresh) != len(committed) {
			t.Errorf("%s has %d pages, want %d: run make docs", pair.committed, len(committed), len(fresh))
		}
		for _, f := range fresh {
			want, _ := os.ReadFile(filepath.Join(dir, pair.fresh, f.Name()))
			got, _ := os.ReadFile(filepath.Join(pair.committed, f.Name()))
			if string(got) != string(want) {
				t.Errorf("%s is not current: run make docs", filepath.Join(pair.committed, f.Name()))
			}
		}
	}
}
