package hostfacts

import (
	"context"
	"errors"
	"testing"
)

// Holders asks one program, on macOS only, and says when it gave no answer.
func TestHolders(t *testing.T) {
	asked := 0
	s := &System{OS: MacOS, Run: func(context.Context, string, ...string) ([]byte, error) {
		asked++
		return nil, errors.New("no such program")
	}}
	if p, missing := Holders(t.Context(), s); p != nil || len(missing) != 1 || missing[0].Fact != "rdma_processes" || asked != 1 {
		t.Errorf("%v, %v after %d calls", p, missing, asked)
	}
	s.Run = func(context.Context, string, ...string) ([]byte, error) { return []byte("\n"), nil }
	if p, missing := Holders(t.Context(), s); len(p) != 0 || len(missing) != 0 {
		t.Errorf("nobody holds one: %v, %v", p, missing)
	}
	s.OS = "linux"
	if p, missing := Holders(t.Context(), s); p != nil || missing != nil {
		t.Errorf("linux: %v, %v", p, missing)
	}
}
