package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/probe"

	"github.com/spf13/cobra"
)

// reportFlags are the flags of report.
type reportFlags struct {
	probe.ReportOptions
	diff   bool
	failOn string
	prune  age
	bundle bundleFlags
}

// failWords are what --fail-on takes.
var failWords = []string{"regression", "conflict", "error", "warning"}

// report shows what the ledger knows, or what files say.
func (a *app) report() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report [FILE...]",
		Short: "Show the evidence that is on record, or in files of any hosts",
		Long: "Rebuild a document from the ledger of earlier runs: the newest row of each kind,\n" +
			"for the current OS build. No device is opened and no library loaded.\n\n" +
			"With files, documents (--json or -o jsonl of any command) and ledgers of any hosts\n" +
			"become one report; - is stdin. Of two files of one host the newer run counts, and what they\n" +
			"saw differently is shown.\n\n" +
			"--diff A B tells what changed from A to B. Each is a file, or an OS build of the\n" +
			"ledger; build:NAME is always a build.\n\n" +
			"--prune AGE drops old runs from the ledger that nothing stands on any more.\n\n" +
			"--bundle FILE packs what a maintainer needs to see of this machine into one file:\n" +
			"the report after a listing, the ledger's rows, selftest, what each source of host\n" +
			"facts gave. Nothing is created on any device. All of it is redacted, unless\n" +
			"--redact=false is given; --dry-run prints it and writes nothing.",
		Example: "  rdmaprobe report\n  rdmaprobe report node-a.json node-b.json -o html --out cluster.html\n" +
			"  rdmaprobe report --diff before.json after.json --fail-on regression\n  rdmaprobe report --diff build:25F84 build:25G10\n" +
			"  rdmaprobe report --redact --redact-key SECRET --json\n  rdmaprobe report --prune 90d\n  rdmaprobe report --bundle rdma.tar.gz",
		RunE: func(c *cobra.Command, args []string) error {
			f.bundle.asked, f.bundle.redact = c.Flags().Changed("bundle"), a.redact || !c.Flags().Changed("redact")
			return a.runReport(c.Context(), &f, args)
		},
	}
	fl := c.Flags()
	fl.VarP((*deviceNames)(&f.Devices), "device", "d", "only these devices (repeatable, or a,b)")
	fl.BoolVar(&f.AllBuilds, "all-builds", false, "also evidence from other OS builds")
	fl.BoolVar(&f.diff, "diff", false, "say what changed from the first to the second file or OS build")
	fl.StringVar(&f.failOn, "fail-on", "", "exit 1 on: "+strings.Join(failWords, ", "))
	_ = c.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(failWords, cobra.ShellCompDirectiveNoFileComp)) // fails for a flag that is not there
	fl.StringVar(&f.bundle.path, "bundle", "", "pack what this machine tells about itself, redacted, into this file (.tar.gz)")
	fl.BoolVar(&f.bundle.dryRun, "dry-run", false, "with --bundle: print what would be packed, and write nothing")
	fl.Var(&f.prune, "prune", "drop runs older than this that nothing stands on, such as 90d or 12h")
	return c
}

func (a *app) runReport(ctx context.Context, f *reportFlags, args []string) error {
	var err error
	devices := f.Devices
	if f.Options, err = a.options(); err != nil {
		return err
	}
	f.Devices = devices
	switch {
	case f.failOn != "" && !slices.Contains(failWords, f.failOn):
		return &probe.UsageError{Text: fmt.Sprintf("--fail-on %s: want %s", f.failOn, strings.Join(failWords, ", "))}
	case f.failOn == "regression" && !f.diff:
		return &probe.UsageError{Text: "--fail-on regression goes with --diff"}
	case f.diff && f.failOn != "" && f.failOn != "regression":
		return &probe.UsageError{Text: fmt.Sprintf("--fail-on %s does not go with --diff, which has regression alone", f.failOn)}
	case f.bundle.asked:
		return a.writeBundle(ctx, f, args)
	case f.bundle.dryRun:
		return &probe.UsageError{Text: "--dry-run goes with --bundle"}
	case f.prune > 0 && (f.diff || len(args) > 0):
		return &probe.UsageError{Text: "--prune is about the ledger: it goes with no file and not with --diff"}
	case f.prune > 0:
		return a.prune(f)
	case f.diff:
		return a.diff(f, args)
	case len(args) > 0:
		return a.reportFiles(f, args)
	}
	f.AllRows = a.rendering().Row != nil
	f.AllBuilds = f.AllBuilds || f.AllRows
	d, err := probe.Report(f.ReportOptions)
	if err == nil && len(d.Devices) == 0 && len(d.Observations) == 0 {
		fmt.Fprintln(a.err, "rdmaprobe: nothing on record yet; run rdmaprobe probe first")
	}
	if err != nil && a.format == "json" {
		a.complain(err) // it is about a file that was named, so whoever typed it is told as well
	}
	f.judge(d)
	return a.show(d, "report", err)
}

// reportFiles merges files into one document.
func (a *app) reportFiles(f *reportFlags, names []string) error {
	ro := f.ReportOptions
	ro.Devices = nil // devices are chosen once they have their newest names
	ro.AllRows = a.rendering().Row != nil && len(names) == 1
	ro.AllBuilds = ro.AllBuilds || ro.AllRows
	inputs, err := a.readInputs(names, ro)
	if err != nil {
		return err
	}
	if err := a.redactInputs(inputs); err != nil {
		return err
	}
	d := probe.NewDocument(a.tool(), a.command())
	if err := probe.Merge(d, inputs, f.AllBuilds); err != nil {
		return &probe.UsageError{Text: err.Error()}
	}
	d.Redacted = d.Redacted || a.redacts()
	d.OnlyDevices(f.Devices)
	f.judge(d)
	return a.show(d, "report", nil)
}

// judge sets the status that --fail-on asks for.
func (f *reportFlags) judge(d *probe.Document) {
	has := func(severities ...string) bool {
		return slices.ContainsFunc(d.Findings, func(x probe.Finding) bool { return slices.Contains(severities, x.Severity) })
	}
	failed := false
	switch f.failOn {
	case "conflict":
		failed = len(d.Conflicts) > 0
	case "error":
		failed = has(probe.SeverityError)
	case "warning":
		failed = has(probe.SeverityError, probe.SeverityWarning)
	}
	if failed {
		d.Exit = probe.Worst(d.Exit, probe.ExitFinding)
	}
}
