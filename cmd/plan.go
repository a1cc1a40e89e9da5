package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// showPlan prints what probe would do.
func (a *app) showPlan(c *cobra.Command, o probe.Options) error {
	if err := a.onlyText("probe --plan", "text or json"); err != nil {
		return err
	}
	p, err := probe.MakePlan(c.Context(), o)
	if err != nil {
		return err
	}
	a.exit = p.Exit
	if a.format == "json" {
		err = a.object(p)
	} else {
		err = a.printPlan(p)
	}
	if err == nil && a.exit != probe.ExitOK {
		return &toldError{}
	}
	return err
}

func (a *app) printPlan(p *probe.Plan) error {
	var b strings.Builder
	for _, d := range p.Devices {
		fmt.Fprintf(&b, "%s\n", report.Clean(d.Name))
		for _, s := range d.Steps {
			fmt.Fprintf(&b, "  %-6s %-10s %s\n", s.Probe, s.Class, s.About)
			fmt.Fprintln(&b, report.Wrap("calls "+strings.Join(s.Calls, " "), 78, "         "))
			if s.If != "" {
				fmt.Fprintln(&b, report.Wrap(s.If, 78, "         "))
			}
			if s.Refused != "" {
				fmt.Fprintln(&b, report.Wrap("not now: "+report.Clean(s.Refused), 78, "         "))
			}
		}
	}
	if len(p.Devices) == 0 {
		b.WriteString("no device is listed: nothing would be done\n")
	}
	for _, n := range p.Notes {
		fmt.Fprintln(&b, report.Wrap("note: "+report.Clean(n), 78, ""))
	}
	fmt.Fprintf(&b, "ends within %v; nothing was opened\n", p.Bound)
	_, err := fmt.Fprint(a.out, a.scrub(b.String()))
	return err
}
