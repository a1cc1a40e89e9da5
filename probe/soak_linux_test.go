package probe

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"rdmaprobe/rdma"
)

var soakRuns = flag.Int("soak", 8*soakBlock, "runs of TestSoak, by one process")

// holding is what this process has at a moment.
type holding struct {
	files, goroutines, children int
	heap, resident              int // KiB
}

func (l holding) String() string {
	return fmt.Sprintf("%d descriptors, %d goroutines, %d children, heap %d KiB, resident %d KiB", l.files, l.goroutines, l.children, l.heap, l.resident)
}

func heldNow(t *testing.T) holding {
	t.Helper()
	u := inUse(t)
	l := holding{files: u.files, goroutines: u.goroutines, heap: int(u.heap >> 10)}
	threads, err := filepath.Glob("/proc/self/task/[0-9]*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range threads {
		b, _ := os.ReadFile(name) // a thread may have ended
		l.children += len(strings.Fields(string(b)))
	}
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	if err != nil {
		t.Fatal(err)
	}
	l.resident = pages * os.Getpagesize() >> 10
	return l
}

// max takes the greater of each.
func (l holding) max(o holding) holding {
	return holding{max(l.files, o.files), max(l.goroutines, o.goroutines), max(l.children, o.children), max(l.heap, o.heap), max(l.resident, o.resident)}
}

// settled is what this process has once it has no more than before, or will not
// have in half a minute: what a run lets go may go a moment after its end.
func settled(t *testing.T, before holding) holding {
	t.Helper()
	now := heldNow(t)
	for end := time.Now().Add(30 * time.Second); now.exceeds(before) && before != (holding{}) && time.Now().Before(end); now = heldNow(t) {
		time.Sleep(50 * time.Millisecond)
	}
	return now
}

// exceeds tells whether it has more of what is counted, memory aside.
func (l holding) exceeds(o holding) bool {
	return l.files > o.files || l.goroutines > o.goroutines || l.children > o.children
}

// soakFaults take turns, one in each block of runs; the other runs are healthy.
var soakFaults = []object{{"fault": "crash"}, {"fault": "exit"}, {"errno": "EIO"}, {"errno": ""}, {"stdout": strings.Repeat("x", 1<<16), "repeat": 16}, {"fault": "grandchild"}}

// soakBlock is how many runs share a ledger: every run reads all of it.
const soakBlock = 20

// Whoever runs probes all day in one process has in the end what it had in the
// beginning. One run of each block meets a fault.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT CHECKED: whether many runs leave something: -short")
	}
	m := newLinux(t)
	if *soakRuns < 8*soakBlock {
		t.Fatalf("-soak %d: want %d or more, two blocks a quarter", *soakRuns, 8*soakBlock)
	}
	began := time.Now()
	var quarters [4]holding
	for i := range *soakRuns {
		block, at := i/soakBlock, i%soakBlock
		if at == 0 {
			_ = os.Remove(m.store)
			m.rules(0, "ibv_reg_mr")
		}
		if at == soakBlock-1 {
			m.rules(0, "ibv_reg_mr", soakFaults[block%len(soakFaults)])
		}
		d, err := Run(t.Context(), m.options(func(o *Options) { o.Only = []string{"mr"} }))
		if err != nil || len(d.Devices) != 2 {
			t.Fatalf("run %d: %v, %d devices", i, err, len(d.Devices))
		}
		for _, o := range d.Observations {
			if healthy := o.Device == d.Devices[1].Name || at != soakBlock-1; healthy && o.ID == "mr.register" && o.Level != rdma.CapabilityConfirmed {
				t.Fatalf("run %d: %s of %s is %s (%s): %s", i, o.ID, o.Device, o.Level, o.Reason, o.Detail)
			}
		}
		if at == soakBlock/2 {
			q := &quarters[4*i / *soakRuns]
			*q = q.max(settled(t, quarters[0]))
		}
	}
	first, last := quarters[0], quarters[3]
	t.Logf("%d runs in %v\nfirst quarter: %v\nlast quarter:  %v", *soakRuns, time.Since(began).Round(time.Second), first, last)
	if last.exceeds(first) {
		t.Error("the last quarter has more than the first")
	}
	if last.heap > first.heap+4<<10 || last.resident > first.resident+16<<10 {
		t.Error("memory grew")
	}
}
