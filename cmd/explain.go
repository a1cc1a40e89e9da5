package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// explain tells what a code, an errno, a level or an id means.
func (a *app) explain() *cobra.Command {
	c := &cobra.Command{
		Use:   "explain CODE | ERRNO | LEVEL | REASON | ID | CAPABILITY",
		Short: "Say what a finding, an errno, a level, an id or a capability means",
		Long: "Offline, from the tables that the program itself works with. An errno, by\n" +
			"number or name (explain 45, explain EBUSY, explain errno -- -5), is told for\n" +
			"macOS and for Linux, whose numbers differ. Without a name: all names.",
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return a.runExplain(args) },
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return c.Parent().FlagErrorFunc()(c, negativeErrno(err)) })
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append(probe.FindingCodes(), termNames()...), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

func (a *app) runExplain(args []string) error {
	if err := a.onlyText("explain", "text or json"); err != nil {
		return err
	}
	switch {
	case len(args) == 0:
		return a.explainNames()
	case args[0] == "errno" || len(args) == 2:
		return a.explainErrno(args)
	}
	name := args[0]
	if e, ok := probe.ExplainFinding(asCode(name)); ok {
		return a.print(e, func(w io.Writer) { printFinding(w, e) })
	}
	if t, ok := probe.ExplainTerm(asCode(name)); ok {
		return a.print(t, func(w io.Writer) {
			fmt.Fprintf(w, "%s  (%s)\n%s\n", t.Name, strings.TrimSpace(t.Kind+" "+t.Class), report.Wrap(t.Meaning, 78, "  "))
		})
	}
	if all := probe.ExplainErrnoText(name); len(all) > 0 {
		return a.printErrnos(all)
	}
	return &probe.UsageError{Text: fmt.Sprintf("nothing is named %q; rdmaprobe explain lists all names", name)}
}

// asCode is a name as the tables have it: people write it in capitals or with dashes.
func asCode(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "_") }

// negativeErrno says how a negative number is given, which looks like a flag.
func negativeErrno(err error) error {
	if _, rest, ok := strings.Cut(err.Error(), "unknown shorthand flag: '"); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		return &probe.UsageError{Text: "a negative errno needs -- before it: rdmaprobe explain errno -- -22"}
	}
	return err
}

func (a *app) explainErrno(args []string) error {
	if args[0] != "errno" || len(args) != 2 {
		return &probe.UsageError{Text: "want one name, or errno and its number or name"}
	}
	all := probe.ExplainErrnoText(args[1])
	if len(all) == 0 {
		return &probe.UsageError{Text: fmt.Sprintf("errno %s: want a number other than 0, or a name", args[1])}
	}
	return a.printErrnos(all)
}

func (a *app) printErrnos(all []probe.ErrnoExplanation) error {
	return a.print(map[string]any{"errno": all}, func(w io.Writer) {
		for _, e := range all {
			printErrno(w, e)
		}
	})
}

func (a *app) explainNames() error {
	names := map[string]any{"findings": probe.FindingCodes(), "terms": termNames()}
	return a.print(names, func(w io.Writer) {
		fmt.Fprintf(w, "findings:\n%s\n", report.Wrap(strings.Join(probe.FindingCodes(), " "), 78, "  "))
		fmt.Fprintf(w, "levels, reasons, outcomes, evidence, capabilities:\n%s\n", report.Wrap(strings.Join(termNames(), " "), 78, "  "))
		fmt.Fprintln(w, "and errnos, by number or name")
	})
}

func termNames() []string {
	var names []string
	for _, t := range probe.Terms() {
		names = append(names, t.Name)
	}
	return names
}

// print writes an object as JSON, or as text.
func (a *app) print(v any, text func(io.Writer)) error {
	if a.format == "json" {
		return a.object(v)
	}
	var b strings.Builder
	text(&b)
	_, err := io.WriteString(a.out, b.String())
	return err
}

func printFinding(w io.Writer, e probe.Explanation) {
	article := "a"
	if strings.HasPrefix(e.Scope, "i") {
		article = "an"
	}
	fmt.Fprintf(w, "%s  (%s, about %s %s)\n", e.Code, e.Severity, article, e.Scope)
	for _, p := range []struct{ head, text string }{
		{"What it means", e.Meaning}, {"How it is concluded", e.Concluded}, {"What to do", e.Do}, {"How to see that it is cured", e.Verify},
		{"Not raised beside it", strings.Join(e.Replaces, ", ")},
	} {
		if p.text != "" {
			fmt.Fprintf(w, "\n%s\n%s\n", p.head, report.Wrap(p.text, 78, "  "))
		}
	}
	if len(e.Sources) > 0 {
		fmt.Fprintln(w, "\nSources")
		for _, s := range e.Sources {
			fmt.Fprintf(w, "  %s\n", s)
		}
	}
}

func printErrno(w io.Writer, e probe.ErrnoExplanation) {
	name := e.Name
	if name == "" {
		name = "no name"
	}
	fmt.Fprintf(w, "%d on %s: %s", e.Number, e.Platform, name)
	if e.Text != "" {
		fmt.Fprintf(w, ", %s", e.Text)
	}
	fmt.Fprintln(w)
	if e.Unsupported {
		fmt.Fprintln(w, report.Wrap("a provider's own \"not supported\": where something was to be created, the level is rejected", 78, "  "))
	}
	for _, c := range e.Calls {
		text := c.Call + ": " + c.Meaning
		if c.Finding != "" {
			text += " (finding " + c.Finding + ")"
		}
		fmt.Fprintln(w, report.Wrap(text, 78, "  "))
	}
}
