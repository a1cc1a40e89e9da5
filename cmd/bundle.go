package cmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/report"
	"rdmaprobe/report/bundle"
)

// bundleFlags are the flags of report that are about a bundle.
type bundleFlags struct {
	asked  bool
	path   string
	dryRun bool
	redact bool // asked for by the flag, or not spoken of
}

// checkBundle refuses what a bundle cannot be made with.
func (a *app) checkBundle(f *reportFlags, args []string) error {
	switch {
	case f.bundle.path == "":
		return &probe.UsageError{Text: "--bundle wants a file, such as rdma.tar.gz"}
	case len(args) > 0 || f.diff || f.prune > 0 || f.failOn != "":
		return &probe.UsageError{Text: "--bundle is about this machine: it goes with no file, and not with --diff, --prune or --fail-on"}
	case a.format != "table" || a.outPath != "":
		return &probe.UsageError{Text: "--bundle writes its own file: drop -o, --json and --out"}
	case !f.bundle.redact && a.redactKey != "":
		return &probe.UsageError{Text: "--redact=false and --redact-key ask for opposite things: drop one"}
	case a.isLedger(f.bundle.path):
		return &probe.UsageError{Text: fmt.Sprintf("--bundle %s: that is the ledger", f.bundle.path)}
	}
	return nil
}

// writeBundle gathers what this machine tells and packs it into one file.
func (a *app) writeBundle(ctx context.Context, f *reportFlags, args []string) error {
	if err := a.checkBundle(f, args); err != nil {
		return err
	}
	a.redact = f.bundle.redact
	if !f.bundle.dryRun {
		file, err := openFile("--bundle", f.bundle.path, 0o600, false)
		if err != nil {
			return err
		}
		file.told = true
		a.file = file // given up or put in its place at the end, like that of --out
	}
	b, err := a.makeBundle(ctx, f.ReportOptions)
	if err != nil {
		return err
	}
	if f.bundle.dryRun {
		if err := listBundle(a.out, b); err != nil {
			return err
		}
		return printBundle(a.out, b)
	}
	if err := listBundle(a.err, b); err != nil {
		return err
	}
	if err := bundle.Write(a.file, b); err != nil {
		return err
	}
	if a.exit != probe.ExitOK {
		return &toldError{}
	}
	return nil
}

// makeBundle gathers all parts. What the devices are like is no failure of it; a
// child that had to be contained is told by the status.
func (a *app) makeBundle(ctx context.Context, o probe.ReportOptions) (*bundle.Bundle, error) {
	g, err := probe.Gather(ctx, o)
	switch d := g.Document; {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("nothing was packed: %w", errInterrupted)
	case d.Exit == probe.ExitUsage:
		return nil, err
	case err != nil:
		a.complain(err)
		a.exit = probe.Worst(a.exit, d.Exit)
	case d.Exit == probe.ExitContained:
		a.exit = d.Exit
	}
	p := bundle.Parts{Tool: a.tool(), Gathered: g}
	if o.Provider.Profile != nil {
		p.Missing = "the machine is simulated: it would tell of the one that plays it"
	} else if r, err := selfTested(ctx, probe.SelfTestOptions{Library: a.library}); err != nil {
		p.Missing = err.Error()
	} else {
		t := selfTestReport{Tool: a.tool(), Report: r}
		if r.Failed > 0 {
			t.Exit = probe.ExitFinding
		}
		p.SelfTest = t
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("nothing was packed: %w", errInterrupted)
	}
	if a.redacts() {
		p.Redactor = a.stand()
	}
	return bundle.Make(p)
}

// listBundle says what is in a bundle and what is not.
func listBundle(w io.Writer, b *bundle.Bundle) error {
	var out strings.Builder
	for _, f := range b.Manifest.Files {
		fmt.Fprintf(&out, "%9d  %-32s %s\n", f.Bytes, f.Name, report.Clean(f.What))
	}
	for _, l := range b.Manifest.LeftOut {
		fmt.Fprintf(&out, "%9s  %s: %s\n", "not in it", report.Clean(l.What), report.Clean(l.Why))
	}
	if b.Manifest.Redacted {
		out.WriteString("Names and addresses are stand-ins. A word that looks like neither is not recognised: look before you send it.\n")
	} else {
		out.WriteString("Names, addresses and serial numbers are in it as they are, since --redact=false was given: send it to nobody you would not tell them.\n")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// printBundle prints the files as they would be packed.
func printBundle(w io.Writer, b *bundle.Bundle) error {
	for _, f := range b.Manifest.Files {
		if _, err := fmt.Fprintf(w, "\n==> %s <==\n%s", f.Name, report.CleanLines(b.Files[f.Name])); err != nil {
			return err
		}
	}
	return nil
}
