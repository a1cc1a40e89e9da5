package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
)

// report shows what the ledger knows.
func (a *app) report() *cobra.Command {
	var o probe.ReportOptions
	c := &cobra.Command{
		Use:   "report",
		Short: "Show the evidence that is on record",
		Long: "Rebuild a document from the ledger of earlier runs: the newest row of each kind,\n" +
			"for the current OS build. No device is opened and no library loaded.",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := a.options()
			if err != nil {
				return err
			}
			o.Options = p
			d, err := probe.Report(o)
			if err == nil && len(d.Devices) == 0 && len(d.Observations) == 0 {
				fmt.Fprintln(a.err, "rdmaprobe: nothing on record yet; run rdmaprobe probe first")
			}
			return a.show(d, "report", err)
		},
	}
	c.Flags().StringSliceVarP(&o.Devices, "device", "d", nil, "only these devices (repeatable, or a,b)")
	c.Flags().BoolVar(&o.AllBuilds, "all-builds", false, "also evidence from other OS builds")
	return c
}
