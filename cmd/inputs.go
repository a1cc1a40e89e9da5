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
	"rdmaprobe/probe/place"
	"rdmaprobe/report"
)

// stdinName stands for stdin among files.
const stdinName = "-"

// stdinFile is the system's own name of it.
const stdinFile = "/dev/stdin"

func isStdin(name string) bool { return name == stdinName || name == stdinFile }

// openInput opens a file for reading, which has to be a regular one. Stdin may be
// anything.
func openInput(name string) (f *os.File, err error) {
	if name == stdinFile {
		f, err = os.Open(name)
	} else {
		f, err = place.Open(name)
	}
	switch {
	case errors.Is(err, place.ErrNotRegular):
		return nil, &probe.UsageError{Text: name + " is not a regular file"}
	case err != nil:
		return nil, &probe.UsageError{Text: strings.Replace(err.Error(), "stat ", "open ", 1)}
	}
	return f, nil
}

// readInputs reads documents and ledgers. A file that cannot be read or
// understood is a usage error that names it.
func (a *app) readInputs(names []string, o probe.ReportOptions) ([]probe.MergeInput, error) {
	var inputs []probe.MergeInput
	if i := slices.IndexFunc(names, isStdin); i >= 0 && slices.ContainsFunc(names[i+1:], isStdin) {
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
	if isStdin(name) {
		shown = "stdin"
	} else {
		f, err := openInput(name)
		if err != nil {
			return probe.MergeInput{}, err
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
