//go:build linux

package faulttest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// inC names the machine of the cells whose faults are C code in a shared library:
// what the simulator plays is done here for real.
const inC = "C library"

// nativeCell is one of them.
type nativeCell struct {
	kind, call, fault string
	id, word          string // the row
	want              want
	number            int // tells its devices, and so their locks, from all others
}

// nativeCalls are what the library has and a probe of regions and queue pairs
// calls, or a listing that reads the devices, each with the row that it is for.
var nativeCalls = []struct{ call, id, word string }{
	{dlopen, "lib.load", "list"},
	{"ibv_get_device_list", "dev.enumerate", "list"},
	{"ibv_get_device_name", "dev.enumerate", "list"},
	{"ibv_get_device_guid", "dev.enumerate", "list"},
	{"ibv_free_device_list", "teardown", "list"},
	{"ibv_open_device", "dev.open", "port"},
	{"ibv_query_device", "port.query", "port"},
	{"ibv_query_port", "port.query", "port"},
	{"ibv_close_device", "teardown", "port"},
	{"ibv_query_gid", "gid.usable", "gid"},
	{"ibv_alloc_pd", "pd.alloc", "mr"},
	{"ibv_reg_mr", "mr.register", "mr"},
	{"ibv_dereg_mr", "teardown", "mr"},
	{"ibv_dealloc_pd", "teardown", "mr"},
	{"ibv_create_cq", "cq.create", "uc"},
	{"ibv_create_qp", "qp.uc.create", "uc"},
	{"ibv_query_qp", "qp.uc.create", "uc"},
	{"ibv_modify_qp", "qp.uc.init", "uc"},
	{"ibv_destroy_qp", "teardown", "uc"},
	{"ibv_destroy_cq", "teardown", "uc"},

	{dlopen, "lib.load", surveying},
	{"ibv_get_device_list", "dev.enumerate", surveying},
	{"ibv_get_device_name", "dev.enumerate", surveying},
	{"ibv_get_device_guid", "dev.enumerate", surveying},
	{"ibv_open_device", "dev.open", surveying},
	{"ibv_query_device", "port.query", surveying},
	{"ibv_query_port", "port.query", surveying},
	{"ibv_query_gid", "gid.usable", surveying},
	{"ibv_close_device", "teardown", surveying},
	{"ibv_free_device_list", "teardown", surveying},
}

// nativeFaults are what a library can do in any call.
var nativeFaults = []struct {
	kind  string
	names []string
	want  want
}{
	{"dies", []string{"crash", "jump", "trap", "abort", "exit", "_exit", "recurse", "exec"}, dies(nil, point{})},
	{"hangs", []string{"hang", "hang_term", "spin", "stop", "thread"}, want{level: rdma.CapabilityUnknown, reason: probe.Timeout, outcome: guard.TimedOut}},
	{"noise", []string{"gibibyte", "fd3", "scribble", "signals"}, unharmed(nil, point{})},
	{"grandchild", []string{"grandchild", "daemon", "twin"}, unharmed(nil, point{})},
}

func nativeCells() []nativeCell {
	var all []nativeCell
	for _, c := range nativeCalls {
		for _, f := range nativeFaults {
			for _, name := range f.names {
				all = append(all, nativeCell{f.kind, c.call, name, c.id, c.word, f.want, 1000 + len(all)})
			}
		}
	}
	return all
}

// run makes the fault happen and looks at everything.
func (c nativeCell) run(t *testing.T, library string) {
	p := newPlace(t)
	number := strconv.Itoa(c.number)
	o := c.probe(t, p, library, number)
	p.endDaemon(t, c.fault == "daemon")
	o.leftovers(t, nil, "")
	o.once(t)
	switch {
	case c.want.same:
		o.confirms(t, "bad"+number, c.ids())
		o.confirms(t, "good"+number, c.ids())
	case c.listing(): // every child makes these calls
		c.checkRow(t, c.struck(o.doc, ""))
		if c.word == surveying && c.id == "teardown" { // when it has read all
			o.confirms(t, "good"+number, c.ids())
		}
	default:
		c.checkRow(t, c.struck(o.doc, "bad"+number))
		o.confirms(t, "good"+number, c.ids())
	}
	if contained := o.exit == probe.ExitContained; contained == c.want.same {
		t.Errorf("exit %d", o.exit)
	}
	if open, whole := p.intents(t); len(open) > 0 || !whole {
		t.Errorf("the ledger is not whole: %v", open)
	}
}

// listing tells that the call is of no device.
func (c nativeCell) listing() bool { return c.call == dlopen || slices.Contains(listing, c.call) }

// dlopen is when the library's constructor runs.
const dlopen = "dlopen"

// ids are what the run confirms on a device without a fault.
func (c nativeCell) ids() []string {
	if c.word == surveying {
		return []string{"dev.open", "port.query", "port.state", "gid.usable"} // what was closed in order has no row
	}
	return probed
}

// probe runs the program; where the machine was too slow for a short deadline,
// which the healthy device then shows, with a longer one.
func (c nativeCell) probe(t *testing.T, p place, library, number string) *outcome {
	t.Helper()
	args := []string{"probe", "--only", "mr,uc"}
	if c.word == surveying {
		args = survey.command()
	}
	run := func(timeout string) *outcome {
		return p.nativeRun(t, library, number, c.call, c.fault, append(slices.Clone(args), "--timeout", timeout)...)
	}
	if c.want.outcome != guard.TimedOut {
		return run("2m")
	}
	o := run("2s")
	late := func(r probe.Observation) bool { return r.Device == "good"+number && r.Reason == probe.Timeout }
	if !c.listing() && slices.ContainsFunc(o.doc.Observations, late) {
		p.forget(t)
		o = run("20s")
	}
	return o
}

// struck is the row of the fault.
func (c nativeCell) struck(d *probe.Document, device string) *probe.Observation {
	for i := range d.Observations {
		r := &d.Observations[i]
		if r.Device == device && r.ID == c.id && (r.Probe == c.word || device == "") && r.Level != rdma.CapabilityConfirmed {
			return r
		}
	}
	return nil
}

func (c nativeCell) checkRow(t *testing.T, r *probe.Observation) {
	t.Helper()
	switch {
	case r == nil:
		t.Errorf("%s of %s says nothing of it", c.id, c.word)
	case r.Level != c.want.level || r.Reason != c.want.reason || r.Child == nil || r.Child.Outcome != c.want.outcome:
		t.Errorf("%s is %s (%s), child %+v: %s", r.ID, r.Level, r.Reason, r.Child, r.Detail)
	case !strings.Contains(string(mustJSON(r)), c.call):
		t.Errorf("the row does not name %s: %s", c.call, mustJSON(r))
	}
}

// endDaemon checks that the process that has left the group and the session of the
// run was ended with it.
func (p place) endDaemon(t *testing.T, expected bool) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, "daemon.pid"))
	if !expected {
		return
	}
	must(t, err)
	pid, err := strconv.Atoi(string(b))
	must(t, err)
	if guard.ProcessAlive(pid) {
		t.Errorf("the daemon lives on")
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
