package selftest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// Tasks of children.
const (
	taskCalls   = prefix + "calls"   // checks of the call path
	taskLibrary = prefix + "library" // loads the verbs library
	taskCrash   = prefix + "crash"   // reads through NULL in C
	taskHang    = prefix + "hang"    // waits in C and ignores SIGTERM
	taskStuck   = prefix + "stuck"   // the same, and plays that nothing kills it
	taskFlood   = prefix + "flood"   // writes much on everything it has
	taskKeeper  = prefix + "keeper"  // runs an orphan and dies before it
	taskOrphan  = prefix + "orphan"  // waits for its parent's end
)

// Messages of children beside msgCheck.
const (
	msgFault = "fault" // a simulated call is about to block; the guard reads it too
	msgReady = "ready" // an orphan waits, or a flood begins or is over
)

// Child does a task that IsTask knows. When it returns without error the caller
// has to send the result; some tasks never return.
func Child(c *guard.Child, r Request) error {
	switch r.Task {
	case taskCalls:
		return makeCallChecks(c)
	case taskLibrary:
		return loadLibrary(c, r.Library)
	case taskCrash:
		return suffer(c, "crash")
	case taskHang:
		return suffer(c, "hang_term")
	case taskStuck:
		return suffer(c, "stuck")
	case taskFlood:
		return pour(c)
	case taskKeeper:
		return keep(c)
	case taskOrphan:
		return outlive(c)
	}
	return fmt.Errorf("unknown task %q", r.Task)
}

func makeCallChecks(c *guard.Child) error {
	calls := &caller{mark: c.Mark()}
	for _, check := range callChecks {
		detail, err := check.run(calls)
		if err := c.Send(msgCheck, checkOf(check.name, detail, err)); err != nil {
			return err
		}
	}
	return nil
}

// orphanLimit ends a simulated fault whose parent has died.
const orphanLimit = 10 * time.Second

// suffer asks a simulated device, which answers with the fault.
func suffer(c *guard.Child, fault string) error {
	profile, err := sim.Parse([]byte(fmt.Sprintf(faultyProfile, fault)), nil)
	if err != nil {
		return err
	}
	c.OrphanLimit(orphanLimit)
	p, err := sim.New(profile, sim.Options{OnFault: func(kind string) {
		if kind == "hang_term" {
			c.IgnoreTerm()
		}
		_ = c.Send(msgFault, kind)
	}})
	if err != nil {
		return err
	}
	lib := p.Library()
	lib.SetMark(c.Mark())
	rdma.Use(lib)
	l, err := rdma.OpenDeviceList()
	if err != nil || len(l.Devices()) != 1 {
		return fmt.Errorf("list the simulated device: %d, %w", len(l.Devices()), err)
	}
	ctx, err := l.Devices()[0].Open()
	if err != nil {
		return err
	}
	_, err = rdma.IbvQueryDeviceAttr(ctx, new(rdma.IbvDeviceAttr))
	return fmt.Errorf("the call with the fault %s returned: %v", fault, err)
}

// faultVerb is the verb in which the fault happens.
const faultVerb = "ibv_query_device"

// faultyProfile is a machine with one device, that suffers when it is asked.
const faultyProfile = `{"profile": 1, "id": "selftest", "host": {"os": "linux"}, "devices": [
	{"name": "self0", "node_guid": "0000:5eff:fe00:5301", "transport": "infiniband",
	 "ports": [{"num": 1, "state": "active", "link_layer": "ethernet"}], "calls": {"` + faultVerb + `": [{"fault": "%s"}]}}]}`

// What a flood pours out, bytes. A terminal would act on it, and a reader of
// lines might take it for a crash or a message.
const (
	floodOutput   = 8 << 20
	floodMessages = 1 << 20
)

var floodText = []byte("\x1b[31mpanic: noise\x1b]0;noise\a {\"type\":\"done\"}\n")

// messages is the guard's message channel as the C library sees it. It is kept:
// a file that is collected is closed.
var messages *os.File

// pour writes more than any pipe holds on the standard streams, and on the
// message channel between two messages.
func pour(c *guard.Child) error {
	if err := c.Send(msgReady, "before"); err != nil {
		return err
	}
	messages = os.NewFile(3, "messages")
	for _, to := range []struct {
		f *os.File
		n int
	}{{os.Stdout, floodOutput / 2}, {os.Stderr, floodOutput / 2}, {messages, floodMessages}} {
		for n := to.n; n > 0; {
			piece := bytes.Repeat(floodText, 1000)
			piece = piece[:min(len(piece), n)]
			if _, err := to.f.Write(piece); err != nil {
				return err
			}
			n -= len(piece)
		}
	}
	return c.Send(msgReady, "after")
}

// keep runs an orphan, and dies as soon as that waits.
func keep(c *guard.Child) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	s, err := spec(exe, os.Args[1:], Request{Task: taskOrphan}, c.Conn())
	if err != nil {
		return err
	}
	res, err := guard.Run(c.Context(), s, func(m guard.Message) {
		if m.Type == msgReady {
			os.Exit(keeperExit)
		}
	})
	return fmt.Errorf("the orphan ended before its parent: %s, %w", ending(res), err)
}

// keeperExit is the status with which a keeper dies.
const keeperExit = 7

// outlive waits for the end of its parent, and tells the one that is left why it
// ended.
func outlive(c *guard.Child) error {
	if err := c.Send(msgReady, nil); err != nil {
		return err
	}
	<-c.Context().Done()
	_, err := fmt.Fprintln(c.Conn(), context.Cause(c.Context()))
	return err
}
