//go:build linux

package faulttest

import (
	"strings"
	"syscall"
	"testing"

	"rdmaprobe/rdma"
)

// A gibibyte on the standard streams and one on the message channel cost neither
// memory nor a row.
func TestGibibyte(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("NOT CHECKED: it writes two gibibytes")
	}
	m := machines(t)[0]
	text := strings.Repeat("0123456789abcde\n", 1<<12)
	p := newPlace(t)
	path := m.write(t, p.dir, "loud", withRules(map[string]any{
		"ibv_reg_mr":   []any{map[string]any{"stdout": text, "repeat": 1 << 14}},
		"ibv_alloc_pd": []any{map[string]any{"fd3": text, "repeat": 1 << 14}},
	}))
	cmd := p.command(t.Context(), "probe", "--json", "--only", "mr", "-d", m.bad, "--timeout", "2m", "--store", p.store(), "--provider", "sim:"+path)
	o := p.finish(t, cmd)
	for _, id := range []string{"pd.alloc", "mr.register", "mr.rkey", "teardown"} {
		r := row(o.doc, m.bad, id, "mr", 0)
		if r == nil || r.Level != rdma.CapabilityConfirmed {
			t.Fatalf("%s: %+v", id, r)
		}
		if n := len(r.Child.Stderr); n == 0 || n > 32<<10 {
			t.Errorf("%s keeps %d bytes of the output", id, n)
		}
	}
	if kib := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; kib > 256<<10 {
		t.Errorf("the largest process took %d MiB", kib>>10)
	}
	o.leftovers(t, nil, "")
}
