package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/report"
)

// stdinName stands for stdin among files.
const stdinName = "-"

// readInputs reads documents and ledgers. A file that cannot be read or
// understood is a usage error that names it.
func (a *app) readInputs(names []string, o probe.ReportOptions) ([]probe.MergeInput, error) {
	var inputs []probe.MergeInput
	if i := slices.Index(names, stdinName); i >= 0 && slices.Contains(names[i+1:], stdinName) {
		return nil, &probe.UsageError{Text: "- is named twice, and stdin can be read once"}
	}
	for _, name := range names {
		in, err := a.readInput(name, o)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

// readInput reads one document or ledger.
func (a *app) readInput(name string, o probe.ReportOptions) (probe.MergeInput, error) {
	shown, in := name, a.in
	lo := probe.LedgerOptions{ReportOptions: o}
	if name == stdinName {
		shown = "stdin"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return probe.MergeInput{}, &probe.UsageError{Text: err.Error()}
		}
		defer f.Close()
		in = f
		lo.Live = func(run string) bool { return ledger.RunLive(name, run) }
	}
	d, err := readDocument(in, lo)
	if errors.Is(err, errInterrupted) {
		return probe.MergeInput{}, fmt.Errorf("read %s: %w", shown, errInterrupted)
	}
	if err != nil {
		return probe.MergeInput{}, &probe.UsageError{Text: fmt.Sprintf("%s: %s", shown, strings.TrimPrefix(err.Error(), "read document: "))}
	}
	return probe.MergeInput{File: shown, Document: d}, nil
}

// readDocument tells a ledger from a document by its beginning.
func readDocument(in io.Reader, o probe.LedgerOptions) (*probe.Document, error) {
	const look = 64 << 10
	r := bufio.NewReaderSize(in, look)
	head, _ := r.Peek(look) // an error comes again where all is read
	if report.IsLedger(head) {
		return probe.ReadLedger(r, o)
	}
	return report.Read(r)
}
