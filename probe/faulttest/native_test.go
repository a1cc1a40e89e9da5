//go:build linux

package faulttest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// faultLibrary is testdata/faultverbs.c, compiled once.
var faultLibrary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(program), "libfaultverbs.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-O0", "-o", path, "testdata/faultverbs.c").CombinedOutput()
	if err != nil {
		os.Stderr.Write(out)
	}
	return path, err
})

func needLibrary(t *testing.T) string {
	t.Helper()
	_, err := exec.LookPath("cc")
	if err != nil {
		if os.Getenv("RDMAPROBE_MUST_RUN") != "" {
			t.Fatal(err)
		}
		t.Skipf("NOT CHECKED: no C compiler: %v", err)
	}
	path, err := faultLibrary()
	must(t, err)
	return path
}

// native probes the devices of the C library with a fault.
func (p place) native(t *testing.T, library, device, call, fault string, args ...string) *outcome {
	t.Helper()
	return p.nativeRun(t, library, device, call, fault, append([]string{"probe", "--only", "mr,uc"}, args...)...)
}

// nativeRun is a run of any command on them.
func (p place) nativeRun(t *testing.T, library, device, call, fault string, args ...string) *outcome {
	t.Helper()
	cmd := p.command(t.Context(), append(args, "--json", "--library", library, "--store", p.store())...)
	cmd.Env = append(cmd.Env, "FAULT_CALL="+call, "FAULT="+fault, "FAULT_DEVICE="+device)
	return p.finish(t, cmd)
}

// What a real library answers: nothing, junk, and "not supported". How it dies,
// hangs and makes noise is in the matrix. The healthy device never suffers.
func TestNativeLibrary(t *testing.T) {
	t.Parallel()
	library := needLibrary(t)
	dies := want{level: rdma.CapabilityUnknown, reason: probe.Crash, outcome: guard.Crashed}
	late := want{level: rdma.CapabilityUnknown, reason: probe.Timeout, outcome: guard.TimedOut}
	fails := want{level: rdma.CapabilityUnknown, reason: probe.ProviderError, outcome: guard.Completed}
	refuses := want{level: rdma.CapabilityRejected, outcome: guard.Completed}
	impossible := want{level: rdma.CapabilityUnknown, reason: probe.Invalid, outcome: guard.Completed}
	stands := want{level: rdma.CapabilityConfirmed, outcome: guard.Completed}
	for i, tt := range []struct {
		call, fault, id, word string
		want                  want
	}{
		{"ibv_reg_mr", "crash", "mr.register", "mr", dies},
		{"ibv_dereg_mr", "hang", "teardown", "mr", late},
		{"ibv_open_device", "null", "dev.open", "port", fails},
		{"ibv_reg_mr", "null", "mr.register", "mr", fails},
		{"ibv_create_qp", "null", "qp.uc.create", "uc", fails},
		{"ibv_modify_qp", "junk", "qp.uc.init", "uc", fails},
		{"ibv_dealloc_pd", "null", "teardown", "mr", fails},
		{"ibv_open_device", "unsupported", "dev.open", "port", fails},
		{"ibv_query_port", "unsupported", "port.query", "port", fails},
		{"ibv_alloc_pd", "unsupported", "pd.alloc", "mr", refuses},
		{"ibv_reg_mr", "unsupported", "mr.register", "mr", refuses},
		{"ibv_create_cq", "unsupported", "cq.create", "uc", refuses},
		{"ibv_create_qp", "unsupported", "qp.uc.create", "uc", refuses},
		{"ibv_modify_qp", "unsupported", "qp.uc.init", "uc", refuses},
		{"ibv_open_device", "offset", "dev.open", "port", impossible},
		{"ibv_alloc_pd", "offset", "pd.alloc", "mr", impossible},
		{"ibv_reg_mr", "offset", "mr.register", "mr", impossible},
		{"ibv_create_cq", "offset", "cq.create", "uc", impossible},
		{"ibv_create_qp", "offset", "qp.uc.create", "uc", impossible},
		{"ibv_query_port", "junk", "port.query", "port", stands},
		{"ibv_query_device", "junk", "port.query", "port", stands},
		{"ibv_create_qp", "junk", "qp.uc.create", "uc", stands},
		{"ibv_reg_mr", "scribble", "mr.register", "mr", stands},
		{"ibv_get_device_list", "junk", "dev.open", "port", stands},
	} {
		t.Run(tt.call+"/"+tt.fault, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			timeout := slow
			if tt.want.outcome == guard.TimedOut {
				timeout = "3s"
			}
			device := strconv.Itoa(i)
			o := p.native(t, library, device, tt.call, tt.fault, "--timeout", timeout)
			r := row(o.doc, "bad"+device, tt.id, tt.word, 0)
			switch {
			case r == nil:
				t.Fatalf("no row %s: %s %v", tt.id, o.doc.Error, o.doc.Notes)
			case r.Level != tt.want.level || r.Reason != tt.want.reason || r.Child == nil || r.Child.Outcome != tt.want.outcome:
				t.Errorf("%s is %s (%s), child %+v: %s", tt.id, r.Level, r.Reason, r.Child, r.Detail)
			case tt.want.level == rdma.CapabilityUnknown && !strings.Contains(string(mustJSON(r)), tt.call):
				t.Errorf("the row does not name %s: %s", tt.call, mustJSON(r))
			}
			o.healthyNeighbour(t, "good"+device)
			if wantExit := tt.want.outcome != guard.Completed; wantExit != (o.exit == probe.ExitContained) {
				t.Errorf("exit %d", o.exit)
			}
			if have := settle(t, o.session, nil, settleLimit); len(have) > 0 {
				t.Errorf("processes %v live on", have)
			}
			o.noFiles(t, o.tmp())
			if open, whole := p.intents(t); len(open) > 0 || !whole {
				t.Errorf("the ledger is not whole: %v", open)
			}
		})
	}
}

// probed are what a probe confirms on a device that has no fault.
var probed = []string{"dev.open", "port.query", "gid.usable", "mr.register", "qp.uc.create", "qp.uc.init", "teardown"}

// healthyNeighbour checks that device.
func (o *outcome) healthyNeighbour(t *testing.T, device string) {
	t.Helper()
	o.confirms(t, device, probed)
}

func (o *outcome) confirms(t *testing.T, device string, ids []string) {
	t.Helper()
	for _, id := range ids {
		if r := row(o.doc, device, id, "", 0); r == nil || r.Level != rdma.CapabilityConfirmed {
			t.Errorf("%s %s: %+v", device, id, r)
		}
	}
}

// An entry of the list that can be no device: the others have their rows, and the
// listing says what it was.
func TestNativeLibraryListsNowhere(t *testing.T) {
	t.Parallel()
	o := newPlace(t).native(t, needLibrary(t), "nowhere", "ibv_get_device_list", "offset", "--timeout", slow)
	r := row(o.doc, "", "dev.enumerate", "", 0)
	if r == nil || r.Level != rdma.CapabilityUnknown || r.Reason != probe.Invalid || !strings.Contains(r.Detail, "ibv_get_device_list: provider gave 0x8") {
		t.Errorf("dev.enumerate: %+v", r)
	}
	o.healthyNeighbour(t, "goodnowhere")
	if o.exit != probe.ExitOK && o.exit != probe.ExitFinding {
		t.Errorf("exit %d: %s", o.exit, o.doc.Error)
	}
}

// A library that closes every descriptor: the channel to the parent is gone, and
// so is all that the child could say.
func TestNativeLibraryClosesEverything(t *testing.T) {
	t.Parallel()
	library := needLibrary(t)
	p := newPlace(t)
	o := p.native(t, library, "", "ibv_reg_mr", "close", "--timeout", "5s")
	r := row(o.doc, "bad", "mr.register", "mr", 0)
	if r == nil || r.Level != rdma.CapabilityUnknown || r.Child == nil || r.Child.Outcome == guard.Completed {
		t.Errorf("mr.register: %+v", r)
	}
	o.healthyNeighbour(t, "good")
	if have := settle(t, o.session, nil, settleLimit); len(have) > 0 {
		t.Errorf("processes %v live on", have)
	}
}
