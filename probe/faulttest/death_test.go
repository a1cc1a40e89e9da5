//go:build linux

package faulttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
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

// kill starts the program and kills it, without a warning, after a while. It
// returns what its processes were and whether it was still running.
func (p place) kill(t *testing.T, after time.Duration, args ...string) (session int, hit bool) {
	t.Helper()
	cmd := p.command(context.Background(), args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait() // what it says of a killed process is clear
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return cmd.Process.Pid, ok && status.Signaled() && status.Signal() == syscall.SIGKILL
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
	span := time.Duration(base.Run.DurationNS)
	rnd := rand.New(rand.NewPCG(*seed, 1))
	hits, interrupted, torn := 0, 0, 0
	var slowest time.Duration
	for range kills() {
		p := newPlace(t)
		args := slices.Concat([]string{"probe", "--store", p.store()}, dyingArgs)
		path := m.write(t, p.dir, "machine")
		session, hit := p.kill(t, time.Duration(rnd.Int64N(int64(span*5/4))), append(args, "--provider", "sim:"+path)...)
		began := time.Now()
		if have := settle(t, session, nil, settleLimit); len(have) > 0 {
			t.Fatalf("children %v live on after their parent", have)
		}
		slowest = max(slowest, time.Since(began))
		if !hit {
			continue
		}
		hits++
		open, whole := p.intents(t)
		if !whole {
			torn++
		}
		interrupted += len(open)
		p.afterDeath(t, m, args, open, whole, base)
	}
	t.Logf("%d of %d runs were killed before their end: %d probes interrupted, %d ledgers with a torn line, last child gone after %v",
		hits, kills(), interrupted, torn, slowest.Round(time.Millisecond))
	if hits < kills()/3 {
		t.Errorf("only %d of %d runs were killed before their end", hits, kills())
	}
	if hits > 20 && interrupted == 0 {
		t.Error("no kill hit a probe: the moments are badly chosen")
	}
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
