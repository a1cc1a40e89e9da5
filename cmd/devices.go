package cmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
)

// checkTimeout refuses the zero value, which would be taken for the default.
func checkTimeout(d time.Duration) error {
	if d <= 0 {
		return &probe.UsageError{Text: fmt.Sprintf("--timeout %v: want more than 0", d)}
	}
	return nil
}

// devices lists the devices.
func (a *app) devices() *cobra.Command {
	var names []string
	var timeout time.Duration
	var verify bool
	c := &cobra.Command{
		Use:   "devices",
		Short: "List the devices with their ports, GIDs and links",
		Long: "List the devices that the verbs library has, and those that only the kernel has.\n" +
			"Ports are read and GID tables scanned; nothing is created on any device.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := a.options()
			if err != nil {
				return err
			}
			if err := checkTimeout(timeout); err != nil {
				return err
			}
			o.Devices, o.Timeout, o.Verify = names, timeout, verify
			a.stream(&o)
			d, err := probe.ListDevices(c.Context(), o)
			return a.show(d, "devices", err)
		},
	}
	c.Flags().VarP((*deviceNames)(&names), "device", "d", "only these devices (repeatable, or a,b)")
	c.Flags().DurationVar(&timeout, "timeout", probe.DefaultTimeout, "deadline for the listing and for each device")
	c.Flags().BoolVar(&verify, "verify", false, "compare with what the system's own ibv_devinfo -v says, field by field")
	a.completeDevices(c)
	return c
}
