package hostfacts

import (
	"context"
	"io/fs"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func facts(missing []NotRead) []string {
	var names []string
	for _, m := range missing {
		names = append(names, m.Fact)
	}
	return names
}

// Every program hangs and cannot be killed: what comes from files is there all
// the same, and every fact that is not there is named.
func TestCollectEndsWhenEveryProgramHangs(t *testing.T) {
	t.Parallel()
	s := load(t, "testdata/macos/tb5-linked.txtar")
	s.Run = hang
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	h, missing := Collect(ctx, s)
	if h.OSBuild != "25F80" || len(h.CrashReports) != 2 || h.MemlockKiB == nil {
		t.Errorf("facts that need no program are missing: %+v", h)
	}
	want := []string{
		"bridges", "hardware_ports", "interfaces", "interfaces.manual", "ioclasscount", "kernel_log",
		"local_network_privacy", "rdma_ctl", "rdma_processes", "routes", "thunderbolt",
	}
	if d := cmp.Diff(want, facts(missing)); d != "" {
		t.Errorf("not read: -want +got\n%s", d)
	}
	if h.Thunderbolt != nil || h.Bridges != nil || h.Routes != nil || h.RDMACtl != "" {
		t.Errorf("facts of programs that never answered: %+v", h)
	}
}

// The files themselves may hang, as a wedged driver's in sysfs do.
func TestCollectEndsWhenFilesHang(t *testing.T) {
	t.Parallel()
	s := load(t, "testdata/macos/tb5-linked.txtar")
	s.Memlock = func() (int64, error) { <-testsOver; return 0, nil }
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	h, missing := Collect(ctx, s)
	if h.RDMACtl != "enabled" || h.Thunderbolt == nil {
		t.Errorf("one source hid the others: %+v", h)
	}
	if !slices.Contains(facts(missing), "host") {
		t.Errorf("not read: %v", facts(missing))
	}
}

func TestGatherKeepsTheOrderOfSources(t *testing.T) {
	second := make(chan struct{})
	sources := []source{
		{"a", nil, func(context.Context, *System) part {
			<-second
			return part{apply: func(h *Host) { h.Name, h.Kernel = "a", "a" }}
		}},
		{"b", nil, func(context.Context, *System) part {
			defer close(second)
			return part{apply: func(h *Host) { h.Name = "b" }}
		}},
		{"nothing", []string{"x"}, func(context.Context, *System) (p part) {
			p.fail("x", "file", fs.ErrPermission)
			return p
		}},
	}
	h, missing := gather(t.Context(), &System{}, sources)
	if h.Name != "b" || h.Kernel != "a" {
		t.Errorf("name %q, kernel %q: the later source in the list must win", h.Name, h.Kernel)
	}
	if d := cmp.Diff([]NotRead{{"x", "file", "this user may not read it"}}, missing); d != "" {
		t.Error(d)
	}
}

// A source that comes back after the deadline must neither block nor write.
func TestGatherLateSource(t *testing.T) {
	release, applied := make(chan struct{}), atomic.Bool{}
	late := source{"late", []string{"y", "z"}, func(context.Context, *System) part {
		<-release
		return part{apply: func(*Host) { applied.Store(true) }}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, missing := gather(ctx, &System{}, []source{late})
	close(release)
	if d := cmp.Diff([]string{"y", "z"}, facts(missing)); d != "" || applied.Load() {
		t.Errorf("applied %v, not read: %s", applied.Load(), d)
	}
}

func TestCollectWithoutAnything(t *testing.T) {
	for _, os := range []string{Linux, MacOS} {
		s := &System{OS: os, Root: t.TempDir(), EUID: -1}
		h, missing := Collect(t.Context(), s)
		if h.OS != os || h.MemlockKiB != nil || h.EUID != nil || h.Interfaces != nil || h.Routes != nil {
			t.Errorf("%s: facts out of nothing: %+v", os, h)
		}
		for _, fact := range []string{"memlock_kib", "interfaces", "kernel", "routes"} {
			if !slices.Contains(facts(missing), fact) {
				t.Errorf("%s: %s is neither there nor listed", os, fact)
			}
		}
		if BootID(s) != "" {
			t.Errorf("%s: a boot id out of nothing", os)
		}
	}
	h, missing := Collect(t.Context(), &System{OS: "plan9"})
	if h.OS != "" || len(missing) != 1 || missing[0].Source != runtime.GOOS {
		t.Errorf("unknown system: %+v, %v", h, missing)
	}
}

// Quick never starts a program.
func TestQuickRunsNothing(t *testing.T) {
	for _, system := range []string{MacOS, Linux} {
		for _, file := range fixtures(t, system) {
			s := load(t, file)
			s.Run = func(_ context.Context, name string, _ ...string) ([]byte, error) {
				t.Errorf("%s: Quick runs %s", file, name)
				return nil, errNoRun
			}
			if h := Quick(s); h.OS != system || h.Thunderbolt != nil && system == MacOS {
				t.Errorf("%s: %+v", file, h)
			}
		}
	}
}

func TestKernelLog(t *testing.T) {
	for file, want := range map[string]struct {
		lines int // -1: not read
		notes int
	}{
		"testdata/macos/tb5-linked.txtar":      {2, 0},
		"testdata/macos/tb4-linked.txtar":      {0, 0},
		"testdata/macos/hub-old-netstat.txtar": {0, 1}, // the last hour only
		"testdata/macos/no-macos-26.txtar":     {-1, 1},
		"testdata/linux/rxe.txtar":             {-1, 1},
	} {
		got, missing := KernelLog(t.Context(), load(t, file))
		if len(got) != max(want.lines, 0) || (got == nil) != (want.lines < 0) || len(missing) != want.notes {
			t.Errorf("%s: %q, %v", file, got, missing)
		}
	}
}

func TestBootID(t *testing.T) {
	for file, want := range map[string]string{
		"testdata/macos/tb5-linked.txtar":     "00000000-0000-4000-8000-00000000B007",
		"testdata/linux/roce-two-ports.txtar": "00000000-0000-4000-8000-00000000b007",
		"testdata/linux/damaged.txtar":        "",
	} {
		if got := BootID(load(t, file)); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestRoute(t *testing.T) {
	h := &Host{Routes: map[string]string{
		"0.0.0.0/0": "en0", "192.0.2.0/24": "en3", "192.0.2.128/25": "en4", "::/0": "en0", "odd": "en9",
	}}
	for _, c := range []struct{ to, prefix, iface string }{
		{"198.51.100.1", "0.0.0.0/0", "en0"},
		{"192.0.2.1", "192.0.2.0/24", "en3"},
		{"192.0.2.129", "192.0.2.128/25", "en4"},
		{"::ffff:192.0.2.1", "192.0.2.0/24", "en3"},
		{"2001:db8::1", "::/0", "en0"},
	} {
		prefix, iface, ok := h.Route(netip.MustParseAddr(c.to))
		if !ok || prefix != c.prefix || iface != c.iface {
			t.Errorf("%s: %s %s %v", c.to, prefix, iface, ok)
		}
	}
	if _, _, ok := (&Host{}).Route(netip.MustParseAddr("192.0.2.1")); ok {
		t.Error("a route without a table")
	}
}

// A reason is one line for a person, whatever the error had in it.
func TestReasons(t *testing.T) {
	p := part{}
	p.fail("f", "s", errNoRun)
	p.fail("f", "s", context.DeadlineExceeded)
	p.fail("f", "s", fs.ErrNotExist)
	p.miss("f", "s", "two\nlines \x1b[31m"+strings.Repeat("x", 4096))
	for _, m := range p.missing {
		if m.Why == "" || strings.ContainsAny(m.Why, "\n\x1b") || len(m.Why) > maxText {
			t.Errorf("reason %q", m.Why)
		}
	}
}
