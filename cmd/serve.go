package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"rdmaprobe/probe"
	"rdmaprobe/report"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	devices, listen, allow []string
	port, gidIndex         int
	once, write, uc, rc    bool
	force, kill            bool
	sessions, iters        int
	size                   size
	handshake              string
	timeout                time.Duration
}

// serve is the other end of a two-host ping-pong.
func (a *app) serve() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Be the other end of a two-host ping-pong",
		Long: "Answer the probes of another host: rdmaprobe probe --pingpong --peer THIS_HOST.\n" +
			"Every session runs in a guarded child. It listens on loopback and on the\n" +
			"link-local addresses of the RDMA ports, which nothing beyond the cable reaches;\n" +
			"--listen adds addresses, and --allow says who may connect to those. It writes\n" +
			"nothing into its memory for others without --write, and runs until it is told\n" +
			"to end: SIGTERM ends it with status 0.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runServe(c, &f) },
	}
	fl := c.Flags()
	fl.VarP((*deviceNames)(&f.devices), "device", "d", "only these devices (repeatable, or a,b)")
	fl.IntVarP(&f.port, "port", "i", 0, "port to use (default: the first active one)")
	fl.IntVar(&f.gidIndex, "gid-index", -1, "GID table entry to use, taken as given")
	fl.Var((*list)(&f.listen), "listen", "also listen on this ADDRESS:PORT (repeatable)")
	fl.Var((*list)(&f.allow), "allow", "networks that may connect beside loopback and link-local, such as 192.0.2.0/24")
	fl.BoolVar(&f.once, "once", false, "end after one completed session")
	fl.BoolVar(&f.write, "write", false, "let peers write into this end's memory")
	fl.IntVar(&f.sessions, "sessions", 4, "sessions at the same time")
	fl.StringVar(&f.handshake, "handshake", "", "how clients speak: rdmaprobe (the default) or ibv (rdma-core's ping-pong tools)")
	fl.BoolVar(&f.uc, "uc", false, "with --handshake ibv: the client is ibv_uc_pingpong")
	fl.BoolVar(&f.rc, "rc", false, "with --handshake ibv: the client is ibv_rc_pingpong")
	fl.Var(&f.size, "size", "with --handshake ibv: size of a message (default 4096)")
	fl.IntVar(&f.iters, "iters", 0, "with --handshake ibv: number of messages (default 1000)")
	fl.DurationVar(&f.timeout, "timeout", 0, "longest task that a client may ask for (default 1m)")
	fl.BoolVar(&f.force, "force", false, "serve also what earlier events in this boot have closed")
	fl.BoolVar(&f.kill, "kill", false, "kill a Thunderbolt child even inside a provider call; this can wedge the port")
	a.completeDevices(c)
	return c
}

func (a *app) runServe(c *cobra.Command, f *serveFlags) error {
	base, err := a.options()
	if err = cmp.Or(err, f.check(c)); err != nil {
		return err
	}
	o := probe.ServeOptions{Options: base, Listen: f.listen, Allow: f.allow, Once: f.once, Write: f.write, Sessions: f.sessions}
	o.Devices, o.Port, o.Force, o.Kill, o.Timeout, o.Handshake = f.devices, f.port, f.force, f.kill, f.timeout, f.handshake
	o.Iterations = f.iters
	if f.size > 0 {
		o.Sizes = []int{int(f.size)}
	}
	if f.uc {
		o.Types = append(o.Types, "uc")
	}
	if f.rc {
		o.Types = append(o.Types, "rc")
	}
	if c.Flags().Changed("gid-index") {
		o.GIDIndex = &f.gidIndex
	}
	o.Say = func(line string) { fmt.Fprintln(a.err, "rdmaprobe:", report.Clean(line)) }
	o.Orderly = func() bool { return errors.Is(context.Cause(c.Context()), endedBy{syscall.SIGTERM}) }
	d, err := probe.Serve(c.Context(), o)
	return a.show(d, "serve", err)
}

// check refuses numbers that a given flag cannot have; the zero of one that was not
// given is its default.
func (f *serveFlags) check(c *cobra.Command) error {
	given := c.Flags().Changed
	switch {
	case given("iters") && f.iters < 1:
		return &probe.UsageError{Text: fmt.Sprintf("--iters %d: want at least 1", f.iters)}
	case given("port") && f.port < 1:
		return &probe.UsageError{Text: fmt.Sprintf("--port %d: ports are numbered from 1", f.port)}
	case given("timeout") && f.timeout <= 0:
		return &probe.UsageError{Text: fmt.Sprintf("--timeout %v: want more than 0", f.timeout)}
	case f.sessions < 1:
		return &probe.UsageError{Text: fmt.Sprintf("--sessions %d: want 1 or more", f.sessions)}
	}
	return nil
}
