package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// doctorTimeout leaves room for the open of a node that this user may not open:
// libibverbs waits five seconds for udev to make a better one
// (open_cdev_robust in util/open_cdev.c).
const doctorTimeout = probe.DefaultTimeout + 2*time.Second

// doctor says why RDMA does not work and what to do.
func (a *app) doctor() *cobra.Command {
	var names []string
	var timeout time.Duration
	var o probe.DoctorOptions
	var watch bool
	var interval time.Duration
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say why RDMA does not work here, and what to do next",
		Long: "Collect what the machine says about itself, read every port three times, create\n" +
			"and free queue pairs on active ports, and conclude. No queue pair goes beyond\n" +
			"INIT and nothing is sent. It runs as an ordinary user and changes nothing.\n" +
			"With --watch it repeats and prints what changes; each device is created on once,\n" +
			"later rounds read only.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			base, err := a.options()
			if err != nil {
				return err
			}
			if err := checkTimeout(timeout); err != nil {
				return err
			}
			base.Devices, base.Timeout, base.Peer = names, timeout, o.Peer
			o.Options = base
			if watch {
				return a.watch(c.Context(), o, interval)
			}
			if c.Flags().Changed("interval") {
				return &probe.UsageError{Text: "--interval is for --watch"}
			}
			show, clear := a.progress()
			o.Progress = show
			a.stream(&o.Options)
			d, err := probe.Doctor(c.Context(), o)
			clear()
			return a.show(d, "doctor", err)
		},
	}
	c.Flags().VarP((*deviceNames)(&names), "device", "d", "only these devices (repeatable, or a,b)")
	c.Flags().StringVar(&o.Peer, "peer", "", "also check the route and the side channel to this host")
	c.Flags().BoolVar(&o.ReadOnly, "read-only", false, "create nothing, read only")
	c.Flags().BoolVar(&watch, "watch", false, "repeat until interrupted and print what changes")
	c.Flags().DurationVar(&interval, "interval", 2*time.Second, "time between two rounds of --watch")
	c.Flags().DurationVar(&timeout, "timeout", doctorTimeout, "deadline of each child")
	a.completeDevices(c)
	return c
}

// watch prints a diagnosis and then what changes, until it is interrupted.
func (a *app) watch(ctx context.Context, o probe.DoctorOptions, interval time.Duration) error {
	if !a.rendering().People {
		return &probe.UsageError{Text: fmt.Sprintf("--watch prints changes for people: -o %s is for one diagnosis", a.format)}
	}
	if a.redacts() {
		return &probe.UsageError{Text: "--watch is for this terminal: --redact is for one diagnosis"}
	}
	d, err := probe.Watch(ctx, o, interval, a.tellRound)
	a.exit = d.Exit
	if err != nil {
		return err
	}
	a.exit = probe.ExitInterrupted
	return &toldError{}
}

// tellRound writes the first round of a watch in full, of the others the changes.
func (a *app) tellRound(d *probe.Document, at time.Time, changes []probe.Change) error {
	if changes == nil {
		return a.write(d, "doctor")
	}
	width, tty := a.terminal(a.out)
	o := report.Options{Now: at, Command: "doctor", Color: a.useColor(tty)}
	if tty {
		o.Width = width
	}
	if err := report.Changes(a.out, d, at, changes, o); err != nil {
		return fmt.Errorf("write the changes: %w", err)
	}
	return nil
}
