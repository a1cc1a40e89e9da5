package cmd

import (
	"time"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
)

// doctor says why RDMA does not work and what to do.
func (a *app) doctor() *cobra.Command {
	var names []string
	var timeout time.Duration
	var o probe.DoctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say why RDMA does not work here, and what to do next",
		Long: "Collect what the machine says about itself, read every port three times, create\n" +
			"and free queue pairs on active ports, and conclude. No queue pair goes beyond\n" +
			"INIT and nothing is sent. It runs as an ordinary user and changes nothing.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			base, err := a.options()
			if err != nil {
				return err
			}
			base.Devices, base.Timeout, base.Peer = names, timeout, o.Peer
			o.Options = base
			show, clear := a.progress()
			o.Progress = show
			d, err := probe.Doctor(c.Context(), o)
			clear()
			return a.show(d, "doctor", err)
		},
	}
	c.Flags().StringSliceVarP(&names, "device", "d", nil, "only these devices (repeatable, or a,b)")
	c.Flags().StringVar(&o.Peer, "peer", "", "also check the route and the side channel to this host")
	c.Flags().BoolVar(&o.ReadOnly, "read-only", false, "create nothing, read only")
	c.Flags().DurationVar(&timeout, "timeout", probe.DefaultTimeout, "deadline of each child")
	a.completeDevices(c)
	return c
}
