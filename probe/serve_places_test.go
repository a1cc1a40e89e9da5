//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"rdmaprobe/probe/peer"
)

// from is a connection from an address, whose other end is thrown away.
func from(t *testing.T, address string) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	return stranger{near, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))}
}

// A crowd displaces its own: whoever comes from elsewhere keeps its place, and so
// does whoever has said hello.
func TestNewcomersPlaces(t *testing.T) {
	var n newcomers
	guest := n.admit(from(t, "192.0.2.7:1"))
	known := n.admit(from(t, "198.51.100.1:1"))
	n.hello(known)
	for i := range 10 * maxStrangers {
		// One network's many addresses count as one.
		if n.admit(from(t, "[2001:db8::"+strconv.FormatInt(int64(i), 16)+"]:1")) == nil {
			t.Fatal("the newest has no place")
		}
	}
	for _, in := range []*newcomer{guest, known} {
		if err := in.SetDeadline(time.Time{}); err != nil { // fails where it is closed
			t.Errorf("%v has lost its place", in.address)
		}
	}
	if len(n.all) != maxStrangers || n.all[0] != guest || n.all[1] != known {
		t.Errorf("%d places", len(n.all))
	}
	for _, c := range n.all {
		n.hello(c)
	}
	if n.admit(from(t, "192.0.2.8:1")) != nil {
		t.Error("one that has said hello was displaced")
	}
	n.leave(guest)
	n.leave(guest)
	if n.admit(from(t, "192.0.2.8:1")) == nil {
		t.Error("a free place is not given")
	}
}

// sessionFrom is a session that has said hello.
func sessionFrom(t *testing.T, s *server, address string) *serveSession {
	return &serveSession{s: s, token: peer.NewToken(), conn: peer.NewConn(from(t, address), nil)}
}

func TestSessionsPlaces(t *testing.T) {
	s := &server{o: &ServeOptions{Sessions: 3}, sessions: map[string]*serveSession{}}
	admit := func(address string) *serveSession {
		ses := sessionFrom(t, s, address)
		if !s.admit(ses) {
			return nil
		}
		return ses
	}
	first := admit("192.0.2.1:1")
	first.active = first.active.Add(-time.Second)
	second, third := admit("192.0.2.1:2"), admit("192.0.2.1:3")
	if second == nil || third == nil {
		t.Fatal("three places are not three")
	}
	if admit("192.0.2.1:4") != nil {
		t.Error("one of the same address displaced another one that is busy")
	}
	if err := first.choose(); err != nil {
		t.Fatal(err)
	}
	second.active = second.active.Add(-time.Millisecond)
	other := admit("192.0.2.2:1")
	if other == nil || !second.lost() || first.lost() || third.lost() {
		t.Fatal("another host has no place, or the wrong one")
	}
	if second.choose() == nil {
		t.Error("who has lost its place may go on")
	}
	if admit("192.0.2.3:1") == nil || !third.lost() || other.lost() {
		t.Error("a third host has no place, or the wrong one")
	}
	if admit("192.0.2.2:2") != nil {
		t.Error("a second one of a host has another host's only place")
	}
	other.active = other.active.Add(-2 * idleChoice)
	if admit("192.0.2.4:1") == nil || !other.lost() {
		t.Error("one that does nothing keeps its place")
	}
}
