//go:build linux

package faulttest

import (
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
)

// A process that the library forked twice, in another session and deaf to SIGTERM, is
// ended with its child, however that ends, and told of.
func TestNativeLibraryLeavesProcesses(t *testing.T) {
	t.Parallel()
	library := needLibrary(t)
	for fault, outcome := range map[string]guard.Outcome{"orphan": guard.Completed, "orphan_crash": guard.Crashed, "orphan_hang": guard.TimedOut} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			timeout := slow
			if outcome == guard.TimedOut {
				timeout = "3s"
			}
			p := newPlace(t)
			o := p.native(t, library, fault, "ibv_reg_mr", fault, "--timeout", timeout)
			p.endDaemon(t, true)
			r := row(o.doc, "bad"+fault, "mr.register", "mr", 0)
			if r == nil || r.Child == nil || r.Child.Outcome != outcome || !slices.ContainsFunc(r.Child.Left, func(l guard.LeftProcess) bool { return l.Ended && l.Name != "" }) {
				t.Errorf("mr.register: %s", mustJSON(r))
			}
			if !slices.ContainsFunc(o.doc.Findings, func(f probe.Finding) bool {
				return f.Code == "left_processes" && strings.Contains(f.Message, "which were ended: pid ")
			}) {
				t.Errorf("findings %+v", o.doc.Findings)
			}
			o.healthyNeighbour(t, "good"+fault)
			o.leftovers(t, nil, "")
		})
	}
}
