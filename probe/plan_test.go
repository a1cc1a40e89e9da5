package probe

import (
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/peer"
)

// draft is a run on two devices that has read nothing.
func draft(tb bool, o Options) *run {
	r := &run{opts: &o, past: newHistory(), facts: &hostfacts.Host{OS: hostfacts.Linux}}
	r.doc = NewDocument(Tool{}, nil)
	for _, n := range []string{"a", "b"} {
		d := Device{Name: n, Listed: true, Transport: "infiniband"}
		if tb {
			d.Transport = "thunderbolt"
		}
		r.doc.Devices = append(r.doc.Devices, d)
	}
	return r
}

// The bound holds what another host may keep a row waiting, every limit of it, on
// each device; a listing's the tool that it is compared with.
func TestBoundCountsOthers(t *testing.T) {
	words := []string{"port", "gid", "uc", "rtr.uc", "pingpong.uc"}
	limits := dialLimit + 2*peer.HelloLimit + peer.StepLimit + selectLimit + taskLimit
	for _, tb := range []bool{true, false} {
		alone := draft(tb, Options{Timeout: time.Second})
		with := draft(tb, Options{Timeout: time.Second, Peer: "192.0.2.1"})
		devices := time.Duration(1) // side by side
		if tb {
			devices = 2
		}
		if got := with.planBound(words) - alone.planBound(words); got < devices*2*(limits+with.bound()) {
			t.Errorf("Thunderbolt %v: a peer adds %v", tb, got)
		}
		if got := with.planBound(words[:3]); got != alone.planBound(words[:3]) {
			t.Errorf("Thunderbolt %v: a peer that is not spoken to makes it %v", tb, got)
		}
	}
	if got := draft(false, Options{Peer: "192.0.2.1"}).askBound(); got < dialLimit+2*peer.HelloLimit+2*peer.StepLimit {
		t.Errorf("doctor waits for a peer for %v", got)
	}
	if plain, verify := draft(false, Options{}), draft(false, Options{Verify: true}); verify.streamBound()-plain.streamBound() < hostfacts.RunLimit {
		t.Errorf("a comparison makes %v of %v", verify.streamBound(), plain.streamBound())
	}
}

// A host with more devices than the other one takes sessions keeps to these, and
// its bound says so.
func TestSessionsBoundWhatGoesSideBySide(t *testing.T) {
	words := []string{"port", "gid", "uc", "pingpong.uc"}
	few, many := draft(false, Options{Timeout: time.Second, Peer: "192.0.2.1"}), draft(false, Options{Timeout: time.Second, Peer: "192.0.2.1"})
	for _, n := range []string{"c", "d", "e"} {
		many.doc.Devices = append(many.doc.Devices, Device{Name: n, Listed: true, Transport: "infiniband"})
	}
	for _, n := range []struct{ got, want int }{
		{many.parallel(words), defaultSessions}, {draft(false, Options{}).parallel(words), maxParallel},
		{many.parallel([]string{"port", "gid", "uc"}), maxParallel}, // no session is opened
	} {
		if n.got != n.want {
			t.Errorf("%d side by side, want %d", n.got, n.want)
		}
	}
	if one := few.planBound(words) - few.bound(); many.planBound(words)-many.bound() != 2*one {
		t.Errorf("five devices take %v, and two %v", many.planBound(words), few.planBound(words))
	}
}

// A plan tells what a step waits for.
func TestConditions(t *testing.T) {
	for _, tt := range []struct {
		tb   bool
		peer string
		word string
		want string // words of it; "" for none
	}{
		{false, "", "port", ""},
		{false, "", "mr", ""},
		{true, "", "gid", ""},
		{true, "", "mr", "ACTIVE"},
		{false, "", "pingpong.rc", "qp.rc.create"},
		{true, "", "rtr.uc", "qp.uc.create"},
		{true, "192.0.2.1", "rtr.uc", "proven"},
	} {
		r := draft(tt.tb, Options{Peer: tt.peer})
		row, ok := rowOf(tt.word)
		got := r.newDeviceRun(r.doc.Devices[0]).condition(row)
		if !ok || (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s, Thunderbolt %v, peer %q: %q, want %q", tt.word, tt.tb, tt.peer, got, tt.want)
		}
		if tt.peer == "" && strings.Contains(got, "proven") {
			t.Errorf("%s: %q", tt.word, got)
		}
	}
}
