//go:build (darwin || linux) && (amd64 || arm64)

package sim_test

import (
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"rdmaprobe/rdma/sim"
)

// nullDomain calls ibv_reg_mr with a NULL domain, past the binding, which would
// not let it through.
func nullDomain(p *sim.Provider) {
	purego.SyscallN(sim.SymbolForTest(p, "ibv_reg_mr"), 0, 4096, 4096, 1)
}

// TestNullDomain: a rule may answer a NULL domain; without one it is the crash
// that C has.
func TestNullDomain(t *testing.T) {
	for name, tc := range map[string]struct{ rules, status string }{
		"no rule": {``, "exit status 2"},
		"crash":   {`{"when": {"pd": "null"}, "fault": "crash"}`, "exit status 2"},
		"errno":   {`{"when": {"pd": "null"}, "errno": "EINVAL"}`, "exit status 95"},
	} {
		o := run(t, roce().calls1("ibv_reg_mr", tc.rules).json(), false, "NULL_PD=1")
		if o.status != tc.status || (o.status == "exit status 2") != strings.Contains(o.stderr, "SIGSEGV") {
			t.Errorf("%s: %s, stderr %.200q", name, o.status, o.stderr)
		}
	}
}
