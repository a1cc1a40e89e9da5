package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
	"rdmaprobe/probe/ledger"
	"rdmaprobe/probe/replay"
	"rdmaprobe/report"
	"rdmaprobe/report/bundle"
)

// importProfile makes a simulated machine of what was recorded on a real one.
func (a *app) importProfile() *cobra.Command {
	return &cobra.Command{
		Use: "import BUNDLE", Short: "Make a simulated machine from a bundle, and check that it answers the same", Args: cobra.ExactArgs(1),
		Long: "Derive a profile from the document in a bundle (report --bundle; - is stdin), play\n" +
			"what was recorded on it, and compare. Where an answer differs nothing is written:\n" +
			"the differences are told with their places, and the exit status is 1. What cannot\n" +
			"be played again, such as a ping-pong with another host, is an error too: 2.",
		Example: "  rdmaprobe profiles import machine.tar.gz --out machine.json\n  rdmaprobe --provider sim:./machine.json doctor",
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.onlyText("profiles import", "json"); err != nil {
				return err
			}
			return a.runImport(c.Context(), args[0])
		},
	}
}

func (a *app) runImport(ctx context.Context, name string) error {
	b, err := a.readBundle(name)
	if err != nil {
		return err
	}
	if isStdin(name) {
		name = "stdin"
	}
	d, err := b.Document()
	if err != nil {
		return &probe.UsageError{Text: fmt.Sprintf("%s: %v", name, err)}
	}
	profile, err := a.replayed(ctx, b, d)
	var differs *replay.DifferError
	var no *replay.CannotError
	switch {
	case errors.As(err, &differs):
		a.exit = probe.ExitFinding
		return a.tellDifferences(name, differs)
	case errors.As(err, &no):
		return &probe.UsageError{Text: fmt.Sprintf("%s %v", name, err)}
	case err != nil:
		return fmt.Errorf("import %s: %w", name, err)
	}
	return a.writeProfile(name, profile)
}

// tellDifferences writes each difference on a line of its own.
func (a *app) tellDifferences(name string, e *replay.DifferError) error {
	text := fmt.Sprintf("rdmaprobe: %s: no profile was written: ", report.Clean(name))
	for i, line := range strings.Split(e.Error(), "\n") {
		if i > 0 {
			text += "  "
		}
		text += report.Clean(line) + "\n"
	}
	if _, err := io.WriteString(a.err, text); err != nil {
		return err
	}
	return &toldError{}
}

// readBundle reads a bundle from a file, or from stdin.
func (a *app) readBundle(name string) (*bundle.Bundle, error) {
	in := a.in
	if isStdin(name) {
		name = "stdin"
	} else {
		f, err := openInput(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	b, err := bundle.Read(in)
	switch {
	case errors.Is(err, errInterrupted):
		return nil, fmt.Errorf("read %s: %w", name, errInterrupted)
	case err != nil:
		return nil, &probe.UsageError{Text: fmt.Sprintf("%s: %v", name, err)}
	}
	return b, nil
}

// replayed is the profile of a bundle's document, once it has answered as the
// document says.
func (a *app) replayed(ctx context.Context, b *bundle.Bundle, d *probe.Document) ([]byte, error) {
	commands, rebuilt := [][]string{d.Run.Command}, false
	if records := b.Files[bundle.LedgerFile]; records != nil {
		var err error
		if commands, err = recordedCommands(records, d); err != nil {
			return nil, err
		}
		rebuilt = true
	}
	play, err := a.player(commands, rebuilt)
	if err != nil {
		return nil, err
	}
	return replay.Import(ctx, d, play)
}

// recordedCommands are the commands of the runs whose rows a document has, in
// their order in the ledger.
func recordedCommands(records []byte, d *probe.Document) ([][]string, error) {
	type oneRun struct {
		id      string
		n       int64
		command []string
	}
	wanted := map[string]bool{d.Run.ID: true}
	for _, o := range d.Observations {
		wanted[o.Run] = true
	}
	var runs []oneRun
	_, err := ledger.ScanReader(bytes.NewReader(records), func(rec *ledger.Record) error {
		var body struct{ Run probe.RunInfo }
		if rec.Kind != ledger.KindRun || !wanted[rec.Run] || json.Unmarshal(rec.Body, &body) != nil {
			return nil
		}
		delete(wanted, rec.Run)
		runs = append(runs, oneRun{rec.Run, rec.N, body.Run.Command})
		return nil
	})
	if err != nil {
		return nil, &replay.CannotError{Where: bundle.LedgerFile, Why: err.Error()}
	}
	for id := range wanted {
		return nil, &replay.CannotError{Where: bundle.LedgerFile, Why: fmt.Sprintf("it has no record of the run %q, whose rows the document has", id)}
	}
	sort.SliceStable(runs, func(i, j int) bool { return runs[i].n < runs[j].n })
	commands := make([][]string, len(runs))
	for i, r := range runs {
		commands[i] = r.command
	}
	return commands, nil
}
