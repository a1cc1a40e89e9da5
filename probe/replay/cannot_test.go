//go:build (linux || darwin) && (amd64 || arm64)

package replay_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/replay"
)

// rowOf is a document's first row of an id.
func rowOf(t *testing.T, d *probe.Document, id string) *probe.Observation {
	t.Helper()
	i := slices.IndexFunc(d.Observations, func(o probe.Observation) bool { return o.ID == id })
	if i < 0 {
		t.Fatalf("no row %s", id)
	}
	return &d.Observations[i]
}

// null is a row of a call that returned NULL.
func null(o *probe.Observation, errno *probe.Errno) {
	o.Level, o.Reason, o.Return, o.Errno = "unknown", probe.ProviderError, &probe.Return{Pointer: true, Null: true}, errno
}

// TestWhatCannotBeReplayedSaysSo: before anything is run, in words, with the place.
func TestWhatCannotBeReplayedSaysSo(t *testing.T) {
	profile := machine("linux", "", "")
	for _, c := range []struct {
		name   string
		change func(*testing.T, *probe.Document)
		says   string
	}{
		{"several hosts", func(_ *testing.T, d *probe.Document) { d.Hosts = []hostfacts.Host{{}, {}} }, "a report of several hosts"},
		{"no host", func(_ *testing.T, d *probe.Document) { d.Host = nil }, "host: it does not say"},
		{"a failed run", func(_ *testing.T, d *probe.Document) { d.Error = "no space left" }, "the run itself failed: no space left"},
		{"an interrupted run", func(t *testing.T, d *probe.Document) {
			o := rowOf(t, d, "qp.uc.create")
			o.Level, o.Reason = "unknown", probe.Interrupted
		}, "observations[mlx5_0/qp.uc.create by uc]: the run was interrupted"},
		{"another host", func(t *testing.T, d *probe.Document) { rowOf(t, d, "pingpong.rc").Params["mode"] = "two hosts" }, "the other end was another host"},
		{"a server", func(t *testing.T, d *probe.Document) { rowOf(t, d, "qp.rc.rtr").Probe = "serve.pingpong.rc" }, "the answering end of another host's connection"},
		{"a busy device", func(t *testing.T, d *probe.Document) { guarded(t, d, map[string]any{"event": "busy"}) }, "another process had the device"},
		{"an earlier run", func(t *testing.T, d *probe.Document) {
			guarded(t, d, map[string]any{"event": "crashed", "run": "before"})
		}, "an event of an earlier run (crashed) had closed it"},
		{"an errno without a name", func(t *testing.T, d *probe.Document) {
			null(rowOf(t, d, "qp.ud.create"), &probe.Errno{Number: 524, Name: "errno 524", Platform: "linux"})
		}, "errno 524 has no name on linux"},
		{"a call that changed its mind", func(t *testing.T, d *probe.Document) { null(rowOf(t, d, "pd.alloc"), nil) }, "ibv_alloc_pd answered differently here and in observations[mlx5_0/pd.alloc by mr], which a profile cannot say"},
		{"a crash in no call", func(t *testing.T, d *probe.Document) {
			o := rowOf(t, d, "qp.ud.create")
			o.Level, o.Reason, o.Call, o.Child = "unknown", probe.Crash, "", &probe.Child{Outcome: guard.Crashed}
		}, "the child ended outside of a provider's call"},
		{"too many GIDs", func(_ *testing.T, d *probe.Document) {
			for i := range 300 {
				d.Devices[0].Ports[0].GIDs = append(d.Devices[0].Ports[0].GIDs, probe.GID{Index: 10 + i, GID: fmt.Sprintf("2001:db8::%x", i+1)})
			}
		}, "devices[0].ports[0].gids: a profile cannot hold it: 302 entries, at most 256"},
		{"an unknown verb", func(t *testing.T, d *probe.Document) {
			o := rowOf(t, d, "teardown")
			o.Level, o.Reason, o.Call, o.Return = "unknown", probe.Invalid, "ibv_frobnicate", &probe.Return{Number: 22}
		}, "a profile cannot hold it: unknown verb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := record(t, profile)
			c.change(t, d)
			_, err := replay.Derive(d)
			var no *replay.CannotError
			if !errors.As(err, &no) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want a CannotError with %q", err, c.says)
			}
		})
	}
}

func guarded(t *testing.T, d *probe.Document, by map[string]any) {
	o := rowOf(t, d, "qp.ud.create")
	o.Level, o.Reason, o.Data = "unknown", probe.Guarded, map[string]any{"closed_by": by}
}

// TestNewIDsAreNoDifference: an old recording stays playable when a newer program
// knows of more to try.
func TestNewIDsAreNoDifference(t *testing.T) {
	d := record(t, machine("linux", "", ""))
	old := *d
	old.Observations = slices.DeleteFunc(slices.Clone(d.Observations), func(o probe.Observation) bool { return o.ID == "op.rdma_read" })
	if found, err := replay.Compare(&old, d); err != nil || len(found) > 0 {
		t.Errorf("%v, %v: a row that was not tried and is new", found, err)
	}
	if found, err := replay.Compare(d, &old); err != nil || len(found) == 0 {
		t.Errorf("a row that is missing is no difference (%v)", err)
	}
	old.Observations = slices.DeleteFunc(slices.Clone(d.Observations), func(o probe.Observation) bool { return o.ID == "mr.rkey" })
	if found, err := replay.Compare(&old, d); err != nil || len(found) == 0 {
		t.Errorf("a row that was tried and is new is no difference (%v)", err)
	}
}
