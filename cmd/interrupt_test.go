package cmd

import (
	"bytes"
	"context"
	"io"
	"testing"

	"rdmaprobe/probe"
)

// asked tells when something is read from it, and answers when all tests are over.
type asked struct{ reading chan struct{} }

func (a asked) Read([]byte) (int, error) {
	close(a.reading)
	<-testsOver
	return 0, io.EOF
}

// An interrupt ends a command that waits for a document on stdin.
func TestInterruptEndsReading(t *testing.T) {
	for _, args := range [][]string{{"report", "-"}, {"report", "-", "--json"}, {"report", "--diff", "-", "interrupt_test.go"}} {
		ctx, cancel := context.WithCancel(t.Context())
		in := asked{make(chan struct{})}
		go func() { <-in.reading; cancel() }()
		var out, errs bytes.Buffer
		s := streams{in: in, out: &out, err: &errs, terminal: func(io.Writer) (int, bool) { return 0, false }, env: func(string) string { return "" }}
		if got := run(ctx, s, args); got != probe.ExitInterrupted {
			t.Errorf("%v: status %d, %s%s", args, got, &out, &errs)
		}
		if told := out.String() + errs.String(); !bytes.Contains([]byte(told), []byte("read stdin: interrupted")) {
			t.Errorf("%v: %q", args, told)
		}
		cancel()
	}
}
