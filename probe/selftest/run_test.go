package selftest

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/rdma/cfunc"
)

// all runs everything once for the tests that look at it.
func all(t *testing.T, o Options) map[string]Check {
	t.Helper()
	r := Run(t.Context(), o)
	byName := map[string]Check{}
	var names []string
	for _, c := range r.Checks {
		byName[c.Name] = c
		names = append(names, c.Name)
		if c.Detail == "" || c.Result != OK && c.Result != Failed && c.Result != Skipped {
			t.Errorf("%+v: no detail, or no result", c)
		}
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("the report has %v, want %v", names, Names())
	}
	if len(byName) < 40 || r.OK+r.Failed+r.Skipped != len(names) || len(byName) != len(names) {
		t.Errorf("%d names, %d ok, %d failed, %d skipped", len(byName), r.OK, r.Failed, r.Skipped)
	}
	if r.OS != runtime.GOOS || r.Arch != runtime.GOARCH {
		t.Errorf("a report of %s/%s", r.OS, r.Arch)
	}
	return byName
}

// This build works here, and where everything should be there, nothing is
// skipped that does not depend on what is installed.
func TestAllPass(t *testing.T) {
	o := options(t, asChild)
	o.Header = true
	for name, c := range all(t, o) {
		installed := strings.HasPrefix(name, "library.") || slices.Contains(headerNames, name)
		if c.Result == Failed || c.Result == Skipped && cfunc.Supported && !installed && name != "arena.line" {
			t.Errorf("%s: %s: %s", name, c.Result, c.Detail)
		}
		if installed && c.Result == Skipped && os.Getenv("RDMAPROBE_MUST_RUN") == "1" {
			t.Errorf("RDMAPROBE_MUST_RUN=1, but %s was skipped: %s", name, c.Detail)
		}
	}
}

// A child that does not do what it should passes none of the checks that need
// one.
func TestLazyChildrenAreNoticed(t *testing.T) {
	if !cfunc.Supported {
		t.Skip("NOT CHECKED: there are no simulated children here")
	}
	inParent := append([]string{"layout", "ledger", "lock"}, headerNames...)
	for child, why := range map[string]string{asLiar: "the child left it out", asQuitter: "crashed, exit status 0"} {
		t.Run(child, func(t *testing.T) {
			for name, c := range all(t, options(t, child)) {
				switch {
				case slices.Contains(inParent, name):
					if c.Result == Failed {
						t.Errorf("%s: %s, and needs no child", name, c.Detail)
					}
				case c.Result != Failed:
					t.Errorf("%s: %s: %s", name, c.Result, c.Detail)
				case !strings.HasPrefix(name, "child.") && !strings.Contains(c.Detail, why):
					t.Errorf("%s: %q does not say that %s", name, c.Detail, why)
				}
			}
		})
	}
}

// What a child had checked before it died counts, the rest has failed; names
// that nobody asked for do not count.
func TestHalf(t *testing.T) {
	if !cfunc.Supported {
		t.Skip("NOT CHECKED: there are no children here")
	}
	o := options(t, asHalf)
	checks := childPart(taskCalls, callNames()).run(t.Context(), &o)
	if len(checks) != len(callNames()) {
		t.Fatalf("%d checks, want %d", len(checks), len(callNames()))
	}
	for _, c := range checks {
		want := Failed
		if c.Name == "call.errno" {
			want = OK
		}
		if c.Result != want || c.Result == Failed && !strings.Contains(c.Detail, "exit status 1") {
			t.Errorf("%+v, want %s", c, want)
		}
	}
}

// An executable that is not there, and a run that was interrupted before it
// began.
func TestNoChild(t *testing.T) {
	if !cfunc.Supported {
		t.Skip("NOT CHECKED: there are no children here")
	}
	o := options(t, asChild)
	o.Exe += "-gone"
	if c := all(t, o)["call.errno"]; c.Result != Failed || !strings.Contains(c.Detail, "run a child") {
		t.Errorf("%+v", c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range Run(ctx, options(t, asChild)).Checks {
		if strings.HasPrefix(c.Name, "call.") && c.Result != Failed {
			t.Errorf("%+v, though it was interrupted", c)
		}
	}
}

func TestTasks(t *testing.T) {
	for task, ours := range map[string]bool{taskCalls: true, taskOrphan: true, "uc": false, "devices": false, "": false} {
		if IsTask(task) != ours {
			t.Errorf("IsTask(%q) = %v", task, !ours)
		}
	}
	if err := Child(nil, Request{Task: prefix + "nonsense"}); err == nil || !strings.Contains(err.Error(), "unknown task") {
		t.Errorf("an unknown task: %v", err)
	}
}
