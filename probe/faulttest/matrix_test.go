//go:build linux

package faulttest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// trial is one cell of the matrix.
type trial struct {
	m *machine
	p point
	f fault
}

func (c trial) String() string { return c.m.name + "/" + c.p.String() + "/" + c.f.name }

// matrix remembers the cells of the machines: finding them takes many runs.
var matrix struct {
	mu    sync.Mutex
	cells map[string][]trial
}

// trials are all cells of a machine.
func trials(t testing.TB, m *machine) []trial {
	t.Helper()
	matrix.mu.Lock()
	defer matrix.mu.Unlock()
	if all := matrix.cells[m.name]; all != nil {
		return all
	}
	if matrix.cells == nil {
		matrix.cells = map[string][]trial{}
	}
	matrix.cells[m.name] = trialsOf(t, m)
	return matrix.cells[m.name]
}

func trialsOf(t testing.TB, m *machine) []trial {
	t.Helper()
	var all []trial
	seen := map[string]bool{}
	for _, p := range points(t, m) {
		key := fmt.Sprint(p.call, p.when["to"], p.surveyed()) // one that reads all goes another way through the program
		for _, c := range trialsAt(m, p) {
			if !seen[key] || slices.Contains(again, c.f.name) || c.f.kind == "value" && classOf(p.id) == probe.ClassData { // each judges its messages itself
				all = append(all, c)
			}
		}
		seen[key] = true
	}
	return all
}

func trialsAt(m *machine, p point) []trial {
	loud := floods
	if slices.Contains(often, p.call) {
		loud = trickles
	}
	faults := slices.Concat(everywhere, values[p.call], loud)
	if !slices.Contains(voids, p.call) {
		for _, name := range sortedKeys(errnos) {
			faults = append(faults, fault{"errno", "errno=" + cmp.Or(name, "unset"), map[string]any{"errno": name}, refused(name)})
		}
	}
	if slices.Contains(plain, p.call) {
		for _, n := range returns {
			faults = append(faults, fault{"value", "return=" + strconv.Itoa(n), map[string]any{"return": n}, refused("")})
		}
	}
	var all []trial
	for _, f := range faults {
		all = append(all, trial{m, p, f})
	}
	return all
}

// How many cells of a machine a plain go test runs.
const (
	inPlain  = 36
	inPlainC = 16
)

// chosen is the part of the matrix that was asked for, or a part of n. It is
// spread over the kinds of fault.
func chosen[C any](t testing.TB, n int, all []C, kind func(C) string) []C {
	switch *faults {
	case "":
		n = part(n)
	case "all":
		return all
	default:
		var err error
		if n, err = strconv.Atoi(*faults); err != nil {
			t.Fatalf("-faults %s: want a number or all", *faults)
		}
	}
	rnd := rand.New(rand.NewPCG(*seed, 0))
	all = slices.Clone(all)
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	type placed struct {
		cell C
		turn int // among its kind
	}
	var order []placed
	seen := map[string]int{}
	for _, c := range all {
		order = append(order, placed{c, seen[kind(c)]})
		seen[kind(c)]++
	}
	slices.SortStableFunc(order, func(a, b placed) int { return cmp.Compare(a.turn, b.turn) })
	all = all[:0]
	for _, p := range order[:min(n, len(order))] {
		all = append(all, p.cell)
	}
	return all
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	var all []trial
	var healthy baselines
	for _, m := range machines(t) {
		cells := trials(t, m)
		if len(cells) < 500 {
			t.Errorf("%s: only %d cells", m.name, len(cells))
		}
		all = append(all, chosen(t, inPlain, cells, func(c trial) string { return c.f.kind })...)
	}
	results := newSummary()
	t.Run("cells", func(t *testing.T) {
		for _, c := range all {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				w := c.f.want(c.m, c.p)
				t.Cleanup(func() { results.add(c.f.kind, c.m.name, w, !t.Failed()) })
				c.run(t, &healthy, w)
			})
		}
		for _, c := range chosen(t, inPlainC, nativeCells(), func(c nativeCell) string { return c.kind }) {
			t.Run("C/"+c.word+"/"+c.call+"/"+c.fault, func(t *testing.T) {
				t.Parallel()
				library := needLibrary(t)
				t.Cleanup(func() { results.add(c.kind, inC, c.want, !t.Failed()) })
				c.run(t, library)
			})
		}
	})
	results.tell(t)
}

// baselines are what the runs show on a machine where nothing is wrong.
type baselines struct {
	mu   sync.Mutex
	docs map[string]*probe.Document
}

func (b *baselines) of(t *testing.T, m *machine, args []string) *probe.Document {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	key := m.name + strings.Join(args, " ")
	if d := b.docs[key]; d != nil {
		return d
	}
	p := newPlace(t)
	o := p.run(t, append(slices.Clone(args), "--store", p.store(), "--provider", "sim:"+m.write(t, p.dir, "healthy"))...)
	for _, r := range o.doc.Observations {
		if r.Level == rdma.CapabilityUnknown && r.Reason != probe.NotTried {
			t.Fatalf("%s %v: %s %s is unknown (%s) on a healthy machine: %s", m.name, args, r.Device, r.ID, r.Reason, r.Detail)
		}
	}
	if o.exit != 0 {
		t.Fatalf("%s %v: exit %d on a healthy machine", m.name, args, o.exit)
	}
	if b.docs == nil {
		b.docs = map[string]*probe.Document{}
	}
	b.docs[key] = o.doc
	return o.doc
}

// slow is the deadline of a child that ends by itself; quick is that of one that
// has to be ended. A machine that is too busy for it is asked again with more.
const (
	slow  = "20s"
	quick = "500ms"
)

// run makes the fault happen and looks at everything.
func (c trial) run(t *testing.T, healthy *baselines, w want) {
	base := healthy.of(t, c.m, c.p.args)
	p := newPlace(t)
	rule := maps.Clone(c.f.rule)
	if c.p.when != nil {
		rule["when"] = c.p.when
	}
	rules := withRules
	if c.p.everywhere {
		rules = withRulesEverywhere
	}
	path := c.m.write(t, p.dir, "faulty", rules(map[string]any{c.p.call: []any{rule}}))
	o := c.probe(t, p, path, w)
	alive, held := c.alive(t, o, w)
	o.leftovers(t, alive, held)
	o.once(t)
	c.checkRow(t, o.doc, base, w)
	c.checkOthers(t, o.doc, base, w)
	c.checkNeighbour(t, o.doc, base, w)
	c.checkExit(t, o, w)
	provider := "sim:" + path
	p.readable(t, provider)
	if w.outcome != guard.Completed && !w.gone {
		c.checkNext(t, o, w, alive, healthy)
	}
}

// late tells that a healthy call was too slow for its deadline: its child says
// so, it was ended before the fault could happen, of which then is no row, or the
// listing left no time to read the devices and a second child met the fault too.
func (c trial) late(d *probe.Document, w want) bool {
	if c.struck(d) == nil && !c.unlisted(w) {
		return true
	}
	listings := 0
	for _, r := range d.Observations {
		if r.Reason == probe.Timeout && (r.Child == nil || r.Child.Outcome == guard.Completed) {
			return true
		}
		if r.Device == "" && r.ID == "teardown" {
			listings++
		}
	}
	return listings > 1
}

// probe runs the program. Where a child has to be ended, the deadline is short;
// when the machine was too slow for it, which the run itself says, it is made
// longer.
func (c trial) probe(t *testing.T, p place, path string, w want) *outcome {
	t.Helper()
	args := append(slices.Clone(c.p.args), "--store", p.store(), "--provider", "sim:"+path)
	if w.outcome == guard.Completed || w.outcome == guard.Crashed || w.gone {
		return p.run(t, append(args, "--timeout", slow)...)
	}
	for _, timeout := range []string{quick, "2s", "8s"} {
		o := p.run(t, append(args, "--timeout", timeout)...)
		if timeout == "8s" || !c.late(o.doc, w) {
			return o
		}
		for _, pid := range settle(t, o.session, nil, 0) {
			end(t, o.session, pid)
		}
		p.forget(t)
	}
	panic("not reached")
}
