package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
	"rdmaprobe/probe/selftest"
	"rdmaprobe/report"
)

// selfTestReport is what selftest prints with --json.
type selfTestReport struct {
	Tool probe.Tool `json:"tool"`
	*selftest.Report
	Exit int `json:"exit"`
}

// selftest checks this build.
func (a *app) selftest() *cobra.Command {
	var o probe.SelfTestOptions
	c := &cobra.Command{
		Use:   "selftest",
		Short: "Check that this build works on this machine, without touching a device",
		Long: "Check what all answers rest on: the way to C and back, the layout of structs, the\n" +
			"containment of children that crash, hang or flood, the evidence file and the locks.\n" +
			"The verbs library is loaded in a child, and nothing in it is called. The last line\n" +
			"says what that has proven, and what only a device can prove.\n\n" +
			"Exit status 1 when a check failed. One that cannot be made here is skipped.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if a.provider != "native" {
				return &probe.UsageError{Text: "selftest asks no provider: drop --provider"}
			}
			if a.format != "table" && a.format != "json" {
				return &probe.UsageError{Text: fmt.Sprintf("-o %s: selftest has table and json", a.format)}
			}
			o.Library = a.library
			r, err := selfTested(c.Context(), o)
			if err != nil {
				return err
			}
			if c.Context().Err() != nil {
				a.exit = probe.ExitInterrupted
			}
			if r.Failed > 0 {
				a.exit = probe.Worst(a.exit, probe.ExitFinding)
			}
			if err := a.showSelfTest(r); err != nil {
				return err
			}
			if a.exit != probe.ExitOK {
				return &toldError{}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&o.Header, "header", false, "also compile struct layouts and constants against the system's infiniband/verbs.h, with cc")
	return c
}

// selfTested runs the checks in a folder that a second signal removes as well.
func selfTested(ctx context.Context, o probe.SelfTestOptions) (*selftest.Report, error) {
	dir, gone, err := scratch("rdmaprobe-selftest-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the checks: %w", err)
	}
	defer gone()
	o.Dir = dir
	return probe.SelfTest(ctx, o)
}

// showSelfTest prints a line for each check, and what they come to.
func (a *app) showSelfTest(r *selftest.Report) error {
	if a.format == "json" {
		return a.object(selfTestReport{a.tool(), r, a.exit})
	}
	for _, check := range r.Checks {
		word := string(check.Result)
		if check.Result == selftest.Failed {
			word = "FAILED"
		}
		if _, err := fmt.Fprintf(a.out, "%-8s %-33s %s\n", word, check.Name, report.Clean(check.Detail)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.out, "\n%d ok, %d failed, %d skipped on %s/%s\n%s\n", r.OK, r.Failed, r.Skipped, r.OS, r.Arch, r.Proven)
	return err
}
