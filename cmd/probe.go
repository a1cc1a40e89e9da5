package cmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
)

// probeFlags are the flags of probe.
type probeFlags struct {
	devices, only, require []string
	asks                   map[string]*bool // by the word of a probe
	all, allowRTR          bool
	sizes                  []string
	iters                  int
	force, kill, plan      bool
	port, gidIndex         int
	mrSize                 size
	peer, peerDevice       string
	handshake              string
	timeout                time.Duration
}

// probe probes the devices.
func (a *app) probe() *cobra.Command {
	var f probeFlags
	c := &cobra.Command{
		Use:   "probe",
		Short: "Try what each device can do, one guarded attempt each",
		Long: "Probe each device: port, GID table, memory region and rkey, UC queue pair; more\n" +
			"when asked. Each probe is one attempt in a child process, never retried.\n" +
			"What earlier runs found dangerous in this boot is not tried again.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runProbe(c, &f) },
	}
	f.register(c)
	a.completeDevices(c)
	complete(c, "only", func(*cobra.Command) []string { return probe.Words() })
	complete(c, "require", func(*cobra.Command) []string { return probe.CapabilityKeys() })
	return c
}

func (f *probeFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.VarP((*deviceNames)(&f.devices), "device", "d", "only these devices (repeatable, or a,b)")
	fl.IntVarP(&f.port, "port", "i", 0, "port to use (default: the first active one)")
	f.asks = map[string]*bool{}
	var all []string
	for _, ask := range probe.Asks() {
		f.asks[ask.Word] = fl.Bool(ask.Word, false, ask.Help)
		if ask.All {
			all = append(all, "--"+ask.Word)
		}
	}
	fl.BoolVar(&f.all, "all", false, "the same as "+strings.Join(all, " "))
	fl.BoolVar(&f.allowRTR, "allow-rtr", false, "take connected queue pairs to RTR and RTS, one attempt, sending nothing")
	fl.Var((*list)(&f.sizes), "size", "size of a message (repeatable, or a,b; default 64, with --handshake ibv 4096)")
	fl.IntVar(&f.iters, "iters", 100, "messages of a ping-pong (with --handshake ibv: 1000)")
	fl.StringVar(&f.peer, "peer", "", "the other end: HOST[:PORT] where rdmaprobe serve runs")
	fl.StringVar(&f.handshake, "handshake", "", "how --peer is spoken to: rdmaprobe (the default) or ibv (rdma-core's ping-pong tools)")
	fl.StringVar(&f.peerDevice, "peer-device", "", "the other end: another device of this machine")
	fl.Var((*list)(&f.only), "only", "instead of the usual set: "+fmt.Sprint(probe.Words()))
	fl.Var((*list)(&f.require), "require", "fail unless this capability or evidence id is confirmed")
	fl.IntVar(&f.gidIndex, "gid-index", -1, "GID table entry to use, taken as given")
	fl.Var(&f.mrSize, "mr-size", "size of the memory region, such as 64KiB (default 4KiB)")
	fl.DurationVar(&f.timeout, "timeout", probe.DefaultTimeout, "deadline of each child; with --peer its messages end a second before")
	fl.BoolVar(&f.plan, "plan", false, "say what would be done, and open nothing")
	fl.BoolVar(&f.force, "force", false, "try also what earlier events in this boot have closed")
	fl.BoolVar(&f.kill, "kill", false, "kill a Thunderbolt child even inside a provider call; this can wedge the port")
}

func (a *app) runProbe(c *cobra.Command, f *probeFlags) error {
	o, err := a.options()
	if err != nil {
		return err
	}
	if err := f.apply(c, &o); err != nil {
		return err
	}
	if f.plan {
		return a.showPlan(c, o)
	}
	show, clear := a.progress()
	o.Progress = show
	a.stream(&o)
	d, err := probe.Run(c.Context(), o)
	clear()
	return a.show(d, "probe", err)
}

// apply puts the flags into the options.
func (f *probeFlags) apply(c *cobra.Command, o *probe.Options) error {
	o.Devices, o.Port, o.Only, o.Require = f.devices, f.port, f.only, f.require
	o.Force, o.Kill, o.Timeout, o.MRSize = f.force, f.kill, f.timeout, int(f.mrSize)
	for _, ask := range probe.Asks() {
		if *f.asks[ask.Word] || f.all && ask.All {
			o.More = append(o.More, ask.Word)
		}
	}
	for _, t := range []string{"uc", "rc"} {
		if *f.asks[t] {
			o.Types = append(o.Types, t)
		}
	}
	for _, text := range f.sizes {
		var n size
		if err := n.Set(text); err != nil {
			return &probe.UsageError{Text: fmt.Sprintf("--size %s: %v", text, err)}
		}
		o.Sizes = append(o.Sizes, int(n))
	}
	o.AllowRTR, o.Peer, o.PeerDevice, o.Handshake = f.allowRTR, f.peer, f.peerDevice, f.handshake
	if c.Flags().Changed("iters") {
		o.Iterations = f.iters
	}
	if c.Flags().Changed("iters") && f.iters < 1 {
		return &probe.UsageError{Text: fmt.Sprintf("--iters %d: want at least 1", f.iters)}
	}
	if err := checkTimeout(f.timeout); err != nil {
		return err
	}
	if c.Flags().Changed("gid-index") {
		o.GIDIndex = &f.gidIndex
	}
	if c.Flags().Changed("port") && f.port < 1 {
		return &probe.UsageError{Text: fmt.Sprintf("--port %d: ports are numbered from 1", f.port)}
	}
	return nil
}
