//go:build linux

package faulttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// How many times a parent is killed: in the whole test, and with -faults=all.
const (
	fewKills  = 30
	manyKills = 400
)

func kills() int {
	switch {
	case *faults == "all":
		return manyKills
	case testing.Short():
		return 4
	}
	return part(fewKills)
}

// dyingArgs are the runs whose parent is killed.
var dyingArgs = []string{"--only", "mr,uc,pingpong", "--uc", "--iters", "200", "--timeout", slow}

// moment is when a parent is killed: when its ledger has so many lines with this
// text. It is what has happened by then that counts, not how long it took.
type moment struct {
	text  string
	lines int
}

const (
	anyLine    = "\n"
	intentLine = `"kind":"intent"` // a child is about to be started
)

// reached reports whether the ledger has come so far.
func (m moment) reached(ledger string) bool {
	b, err := os.ReadFile(ledger)
	return err == nil && bytes.Count(b, []byte(m.text)) >= m.lines
}

// kill starts the program and kills it, without a warning, at a moment. It returns
// what its processes were and whether it was still running then.
func (p place) kill(t *testing.T, at moment, args ...string) (session int, hit bool) {
	t.Helper()
	cmd := p.command(context.Background(), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // what it says of a killed process is clear
	}()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		default:
			if at.reached(p.store()) {
				_ = cmd.Process.Kill()
				running = false
			}
			time.Sleep(100 * time.Microsecond) // between two looks
		}
	}
	<-ended
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return cmd.Process.Pid, ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// moments are spread over a run: half of them are lines of any kind, half intents.
// None is the last line, after which the run may be over.
func moments(ledger []byte, n int) []moment {
	lines, begun := bytes.Count(ledger, []byte(anyLine)), bytes.Count(ledger, []byte(intentLine))
	var all []moment
	for i := range n / 2 {
		all = append(all, moment{anyLine, 1 + i*(lines-1)/(n/2)}, moment{intentLine, 1 + i*begun/(n/2)})
	}
	return all
}

// intents reads the ledger as it stands, line by line and without the code under
// test: which probes were announced and never told of.
func (p place) intents(t *testing.T) (open []string, whole bool) {
	t.Helper()
	b, err := os.ReadFile(p.store())
	if errors.Is(err, os.ErrNotExist) {
		return nil, true
	}
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Kind string
		Body struct{ Device, Probe string }
	}
	whole = len(b) == 0 || bytes.HasSuffix(b, []byte("\n"))
	for in := bufio.NewScanner(bytes.NewReader(b)); in.Scan(); {
		var l line
		if json.Unmarshal(in.Bytes(), &l) != nil {
			whole = false
			continue
		}
		what := l.Body.Device + " " + l.Body.Probe
		switch {
		case l.Kind == "intent":
			open = append(open, what)
		case l.Kind == "observation":
			open = slices.DeleteFunc(open, func(s string) bool { return s == what })
		}
	}
	return open, whole
}

// A parent that is killed leaves no child behind, and a ledger that can be read.
// What it was about to do is told as interrupted, and not done again.
func TestParentKilled(t *testing.T) {
	t.Parallel()
	m := machines(t)[0]
	var healthy baselines
	base := healthy.of(t, m, append([]string{"probe"}, dyingArgs...))
	whole := newPlace(t)
	whole.run(t, slices.Concat([]string{"probe", "--store", whole.store(), "--provider", "sim:" + m.write(t, whole.dir, "machine")}, dyingArgs)...)
	ledger, err := os.ReadFile(whole.store())
	if err != nil || !bytes.Contains(ledger, []byte(intentLine)) {
		t.Fatalf("a ledger without an intent: %v", err)
	}
	all := moments(ledger, kills())
	interrupted, torn := 0, 0
	for _, at := range all {
		open, ok := killedAt(t, m, at, base)
		interrupted += open
		if !ok {
			torn++
		}
	}
	for tries := 0; interrupted == 0 && tries < 100; tries++ { // each comes as a child is started
		interrupted, _ = killedAt(t, m, moment{intentLine, 1}, base)
	}
	t.Logf("%d runs were killed before their end: %d probes interrupted, %d ledgers with a torn line", len(all), interrupted, torn)
	if interrupted == 0 {
		t.Error("no kill interrupted a probe, though a child was about to start")
	}
}

// killedAt kills a run and looks at what is left. A machine on which the run is over
// before its moment is seen is asked for an earlier one.
func killedAt(t *testing.T, m *machine, at moment, base *probe.Document) (interrupted int, whole bool) {
	t.Helper()
	for range 100 {
		p := newPlace(t)
		args := slices.Concat([]string{"probe", "--store", p.store()}, dyingArgs)
		session, hit := p.kill(t, at, append(slices.Clone(args), "--provider", "sim:"+m.write(t, p.dir, "machine"))...)
		if have := settle(t, session, nil, settleLimit); len(have) > 0 {
			t.Fatalf("children %v live on after their parent", have)
		}
		if !hit {
			at.lines = max(1, at.lines/2)
			continue
		}
		open, whole := p.intents(t)
		p.afterDeath(t, m, args, open, whole, base)
		return len(open), whole
	}
	t.Fatalf("no run could be killed when its ledger had %d times %q", at.lines, at.text)
	return 0, false
}

// afterDeath reports and runs again: in the same boot, in the next one, and under
// another build of the system.
func (p place) afterDeath(t *testing.T, m *machine, args, open []string, whole bool, base *probe.Document) {
	t.Helper()
	at := func(name string, edits ...edit) string { return "sim:" + m.write(t, p.dir, name, edits...) }
	told := p.run(t, "report", "--provider", at("told"), "--store", p.store())
	if told.exit != 0 || whole && len(told.doc.Notes) > 0 {
		t.Errorf("report: exit %d, notes %v", told.exit, told.doc.Notes)
	}
	for _, what := range open {
		device, word, _ := strings.Cut(what, " ")
		if !slices.ContainsFunc(told.doc.Observations, func(r probe.Observation) bool {
			return r.Device == device && r.Probe == word && r.Level == rdma.CapabilityUnknown && r.Reason == probe.Interrupted
		}) {
			t.Errorf("report does not tell that %s was interrupted", what)
		}
	}
	refusesOnly(t, "in the same boot", p.run(t, append(args, "--provider", at("same boot"))...), base, open)
	refusesOnly(t, "after a reboot", p.run(t, append(args, "--provider", at("rebooted", rebooted))...), base, open)
	refusesOnly(t, "after an update", p.run(t, append(args, "--provider", at("updated", updated))...), base, nil)
	p.settled(t)
}

// settled looks for what runs leave behind in files.
func (p place) settled(t *testing.T) {
	t.Helper()
	o := &outcome{place: p}
	o.noFiles(t, p.store()+".runs")
	o.noFiles(t, p.tmp())
}

// refusesOnly checks a run: the probes of open are refused as interrupted, what
// needs them says so, and all else is as ever.
func refusesOnly(t *testing.T, when string, o *outcome, base *probe.Document, open []string) {
	t.Helper()
	for i := range base.Observations {
		b := &base.Observations[i]
		if b.Reason == probe.NotTried || b.Device == "" {
			continue
		}
		r := row(o.doc, b.Device, b.ID, b.Probe, b.Port)
		closed := slices.Contains(open, b.Device+" "+b.Probe)
		needs := strings.HasPrefix(b.Probe, "pingpong") && slices.Contains(open, b.Device+" uc")
		k := key{b.ID, b.Probe, b.Port}
		switch {
		case (closed || needs) && !ownIDs(k):
		case r == nil:
			t.Errorf("%s: %s has no row %v", when, b.Device, k)
		case needs && !closed:
			if r.Reason != probe.Precondition && r.Reason != probe.NotTried {
				t.Errorf("%s: %s %v is %s (%s), and what it needs is refused", when, b.Device, k, r.Level, r.Reason)
			}
		case closed && (r.Reason != probe.Guarded || !strings.Contains(string(mustJSON(r.Data)), `"event":"interrupted"`)):
			t.Errorf("%s: %s %v is %s (%s), want it refused as interrupted: %s", when, b.Device, k, r.Level, r.Reason, r.Detail)
		case !closed && (r.Level != b.Level || r.Reason != b.Reason):
			t.Errorf("%s: %s %v is %s (%s), want %s (%s): %s", when, b.Device, k, r.Level, r.Reason, b.Level, b.Reason, r.Detail)
		}
	}
}

// A child inside a provider call when its parent is killed: it goes on where it
// must not be killed, keeps its device, and ends by itself.
func TestParentKilledInACall(t *testing.T) {
	t.Parallel()
	for _, m := range machines(t) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			path := m.write(t, p.dir, "hangs", withRules(map[string]any{"ibv_reg_mr": []any{map[string]any{"fault": "hang", "stderr": "hangs now"}}}))
			args := []string{"probe", "--store", p.store(), "--only", "mr", "-d", m.bad, "--provider", "sim:" + path}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			cmd := p.command(ctx, append(slices.Clone(args), "--timeout", "1h")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			session := cmd.Process.Pid
			child := p.waitForIntent(t, session)
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if have := living(t, session); !slices.Equal(have, child) {
				t.Fatalf("processes %v live on, want the child in its call, %v", have, child)
			}
			busy := p.run(t, append(slices.Clone(args), "--timeout", "300ms")...)
			if r := row(busy.doc, m.bad, "port.query", "", 0); r == nil || r.Reason != probe.Guarded {
				t.Errorf("while it lives the device is not refused: %+v", r)
			}
			if have := settle(t, session, nil, 2*settleLimit); len(have) > 0 {
				t.Errorf("the child %v does not end", have)
			}
			refuses := p.run(t, "probe", "--store", p.store(), "--only", "mr", "-d", m.bad, "--timeout", slow, "--provider", "sim:"+m.write(t, p.dir, "healthy"))
			if r := row(refuses.doc, m.bad, "mr.register", "", 0); r == nil || r.Reason != probe.Guarded || !strings.Contains(r.Detail, "without recording an outcome") {
				t.Errorf("the probe that was interrupted is tried again: %+v", r)
			}
			if r := row(refuses.doc, m.bad, "port.query", "", 0); r == nil || r.Level != rdma.CapabilityConfirmed {
				t.Errorf("the device is not read again: %+v", r)
			}
		})
	}
}

// waitForIntent waits until the ledger announces a probe and its child runs.
func (p place) waitForIntent(t *testing.T, session int) []int {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		open, _ := p.intents(t)
		var child []int
		for _, pid := range living(t, session) {
			if pid != session {
				child = append(child, pid)
			}
		}
		if len(open) == 1 && len(child) == 1 && waitsInC(child[0]) {
			return child
		}
	}
	t.Fatal("the probe did not begin")
	return nil
}

// waitsInC tells whether a thread of the process sits in pause(2), where the
// simulator's hang is.
func waitsInC(pid int) bool {
	found := false
	for _, tid := range threads(pid) {
		b, err := os.ReadFile(tid + "/syscall")
		number, _, _ := strings.Cut(string(b), " ")
		found = found || err == nil && number == pauseNumber
	}
	return found
}
