package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// streams are the command's connections to the world.
type streams struct {
	in       io.Reader
	out, err io.Writer
	terminal func(io.Writer) (width int, ok bool)
	env      func(string) string
}

// app is what all commands share: streams, global flags and the exit status.
type app struct {
	streams
	format   string
	json     bool
	color    string
	provider string
	library  string
	store    string
	args     []string
	exit     int

	stdout    *stdout
	outPath   string
	file      *outFile // of --out, once it is open
	redact    bool
	redactKey string
	redactor  *report.Redactor // once it was needed
	told      *teller          // of rows that have been printed as they came
}

// Main runs the command line of this process and returns its exit status.
func Main() int {
	ctx, stop := untilSignal()
	defer stop()
	context.AfterFunc(ctx, endAtSecond)
	return run(ctx, streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: terminal, env: os.Getenv}, os.Args[1:])
}

// run is Main over given streams and arguments.
func run(ctx context.Context, s streams, args []string) int {
	s.in = &untilDone{ctx: ctx, in: s.in}
	out := &stdout{out: s.out}
	s.out = out
	a := &app{streams: s, stdout: out, args: args}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(s.err)
	strictCompletion(root)
	err := root.ExecuteContext(ctx)
	if err == nil || errors.As(err, new(*toldError)) {
		err = cmp.Or(a.unwritten(), err)
	}
	if err != nil {
		return a.endOut(a.failed(root, err))
	}
	return a.endOut(a.exit)
}

// root is the command tree.
func (a *app) root() *cobra.Command {
	c := &cobra.Command{
		Use:           "rdmaprobe",
		Short:         "What this machine's RDMA devices can really do, and how we know",
		Long:          longHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
	}
	c.CompletionOptions.HiddenDefaultCmd = false
	f := c.PersistentFlags()
	f.StringVarP(&a.format, "output", "o", "table", "output format: "+strings.Join(formatNames(), ", "))
	f.BoolVar(&a.json, "json", false, "the same as -o json")
	f.StringVar(&a.color, "color", "auto", "auto, always or never")
	f.StringVar(&a.provider, "provider", "native", "native, sim:NAME (see profiles) or sim:FILE")
	f.StringVar(&a.library, "library", "", "verbs library to load instead of the system's")
	f.StringVar(&a.store, "store", "", "where the evidence is kept: a file, or none")
	f.StringVar(&a.outPath, "out", "", "write the result to this file, whole or not at all, and nothing on stdout")
	f.BoolVar(&a.redact, "redact", false, "put stand-ins for addresses, GUIDs, names of hosts and users, paths and serials")
	f.StringVar(&a.redactKey, "redact-key", "", "redact, with the same stand-ins wherever this key is used")
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		var own *probe.UsageError
		if errors.As(err, &own) {
			return own
		}
		return &probe.UsageError{Text: err.Error()}
	})
	c.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := cmp.Or(noEmptyFlag(c), noSwallowedFlag(c)); err != nil {
			return err
		}
		return a.checkGlobals(c)
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	a.completeGlobals(c)
	c.AddCommand(a.devices(), a.probe(), a.doctor(), a.serve(), a.report(), a.explain(), a.profiles(), a.schema(), a.selftest(), a.version())
	return c
}

// flagWants says what a flag is to be given, where its value is text.
var flagWants = map[string]string{
	"out": "a file, or - for stdout", "store": "a file, or none", "library": "a file", "bundle": "a file, such as rdma.tar.gz",
	"redact-key": "a key; --redact alone takes a random one", "peer": "a host, as HOST or HOST:PORT",
}

// noEmptyFlag refuses a flag that was given and is empty: that is what a variable
// gives that nobody has set, and whoever wrote it means anything but the default.
func noEmptyFlag(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = &probe.UsageError{Text: fmt.Sprintf("--%s wants %s", f.Name, cmp.Or(flagWants[f.Name], "a value"))}
		}
	})
	return err
}

// noSwallowedFlag refuses a file whose name is rather the flag that follows.
func noSwallowedFlag(c *cobra.Command) error {
	for _, name := range []string{"out", "bundle", "store", "library"} {
		if f := c.Flag(name); f != nil && len(f.Value.String()) > 1 && f.Value.String()[0] == '-' {
			return &probe.UsageError{Text: fmt.Sprintf("--%s wants a file, and %s is a flag: name the file before it, or write ./%[2]s", name, f.Value)}
		}
	}
	return nil
}

func longHelp() string {
	var b strings.Builder
	b.WriteString("rdmaprobe asks the verbs library of this machine what each RDMA device can do.\n")
	b.WriteString("Every answer is evidence: one guarded attempt in a child process of its own,\n")
	b.WriteString("recorded with what was called and what came back.\n\nExit status:\n\n") // as code, in manual page and Markdown too
	for _, e := range probe.ExitCodes {
		fmt.Fprintf(&b, "    %-4d %s\n", e.Code, strings.TrimLeft(report.Wrap(e.Means, 72, "         "), " "))
	}
	return strings.TrimRight(b.String(), "\n")
}

func formatNames() []string {
	names := make([]string, len(report.Formats))
	for i, f := range report.Formats {
		names[i] = f.Name
	}
	return names
}

// checkGlobals refuses global flags that cannot be meant together.
func (a *app) checkGlobals(c *cobra.Command) error {
	if a.json {
		if c.Flags().Changed("output") && a.format != "json" {
			return &probe.UsageError{Text: fmt.Sprintf("-o %s and --json ask for two formats: drop one", a.format)}
		}
		a.format = "json"
	}
	if _, err := report.Lookup(a.format); err != nil {
		return &probe.UsageError{Text: err.Error()}
	}
	if !slices.Contains([]string{"auto", "always", "never"}, a.color) {
		return &probe.UsageError{Text: fmt.Sprintf("--color %s: want auto, always or never", a.color)}
	}
	return a.startOut()
}

// failed tells of an error that no document has told of, and gives the status.
func (a *app) failed(root *cobra.Command, err error) int {
	var done *toldError
	if errors.As(err, &done) {
		return a.exit
	}
	status := probe.Worst(a.exit, probe.ExitOwn)
	var usage *probe.UsageError
	if errors.As(err, &usage) || isCobraUsage(err) {
		status = probe.Worst(a.exit, probe.ExitUsage)
	}
	if errors.Is(err, errInterrupted) {
		status = probe.Worst(a.exit, probe.ExitInterrupted)
	}
	if a.file != nil && a.file.failed != nil {
		if !errors.Is(err, a.file.failed) { // that one is told when the file is given up
			a.complain(err)
		}
		return status
	}
	if a.stdout.failed != nil { // no document can tell of it
		a.complain(err)
		return status
	}
	if wantsJSON(a.args) {
		d := probe.NewDocument(a.tool(), a.command())
		d.Error, d.Exit = err.Error(), status
		a.json, a.format = true, "json"
		if werr := a.write(d, ""); werr != nil {
			a.complain(err)
			a.complain(werr)
			status = probe.Worst(status, probe.ExitOwn)
		}
		return status
	}
	a.complain(err)
	if status == probe.ExitUsage {
		fmt.Fprintf(a.err, "rdmaprobe: see %s --help\n", commandOf(root, a.args))
	}
	return status
}

// unwritten is why stdout did not take all of the result, nil when it did.
func (a *app) unwritten() error {
	if a.stdout.failed == nil {
		return nil
	}
	return fmt.Errorf("write the result: %w", a.stdout.failed)
}

// toldError ends a command whose document has already been written.
type toldError struct{}

func (*toldError) Error() string { return "" }

// isCobraUsage recognises cobra's own complaints, which have no type.
func isCobraUsage(err error) bool {
	for _, p := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "required flag", "invalid argument", "flag needs"} {
		if strings.HasPrefix(err.Error(), p) {
			return true
		}
	}
	return false
}

// wantsJSON looks for the format where the flags could not be parsed.
func wantsJSON(args []string) bool {
	for i, s := range args {
		if s == "--" {
			return false
		}
		if on, ok := strings.CutPrefix(s, "--json="); ok {
			if yes, err := strconv.ParseBool(on); err == nil && yes {
				return true
			}
		}
		if s == "--json" || s == "-ojson" || s == "-o=json" || s == "--output=json" ||
			(s == "-o" || s == "--output") && i+1 < len(args) && args[i+1] == "json" {
			return true
		}
	}
	return false
}

// commandOf is the command whose help would have answered.
func commandOf(root *cobra.Command, args []string) string {
	c, _, err := root.Find(args)
	if err != nil {
		return root.CommandPath()
	}
	return c.CommandPath()
}
