//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/peer"
)

// farHost answers connections the way a test wants, on an address of its own.
func farHost(t *testing.T, answer func(*peer.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			answer(peer.NewConn(c, nil))
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-over })
	return l.Addr().String()
}

// localEnd is a device of this host that wants to reach target. Nothing is asked
// of a provider.
func localEnd(target string, thunderbolt bool) *deviceRun {
	layer, gid := "ethernet", "roce_v2"
	if thunderbolt {
		layer, gid = "thunderbolt", "none"
	}
	r := &run{ctx: context.Background(), opts: &Options{Peer: target, Timeout: 5 * time.Second, Sizes: []int{64}, Iterations: 10}, facts: &hostfacts.Host{OS: "linux"}}
	r.doc = NewDocument(Tool{Name: "rdmaprobe", Version: "test"}, nil)
	lid := 0
	r.doc.Devices = []Device{{Name: "dev0", Listed: true, Ports: []Port{{
		Num: 1, State: "active", LinkLayer: layer, Addressing: "gid", ActiveMTU: 1024, LID: &lid,
		GIDs: []GID{{Index: 3, GID: "::ffff:192.0.2.1", Type: gid, Class: "ipv4_mapped"}},
	}}}}
	return &deviceRun{run: r, ctx: r.ctx, name: "dev0", tb: thunderbolt, failed: map[string]bool{}, lacks: map[string]string{}}
}

// offers is a far host with ports, up to the selection.
func offers(ports ...peer.Port) func(*peer.Conn) {
	return func(c *peer.Conn) {
		if _, err := peer.Expect[peer.Hello](c, peer.TypeHello, long); err != nil {
			return
		}
		_ = c.Send(peer.TypeHello, peer.Hello{Version: peer.Version, Role: peer.RoleSession, Token: "t", OS: "macos", OSBuild: "25C56", Host: "mac-b"}, long)
		_ = c.Send(peer.TypePorts, peer.Ports{Ports: ports}, long)
		if _, err := peer.Expect[peer.Select](c, peer.TypeSelect, long); err != nil {
			return
		}
		_ = c.Send(peer.TypeSelected, peer.Selected{Port: ports[0]}, long)
		_, _ = c.Receive(long) // its next message, or its end
	}
}

func farPort(layer string) peer.Port {
	return peer.Port{Device: "far0", Num: 1, LinkLayer: layer, MTU: 4096, GIDIndex: 1, GID: "::ffff:192.0.2.2", GIDType: "roce_v1"}
}

func TestLinkOverEthernet(t *testing.T) {
	dr := localEnd(farHost(t, offers(farPort("ethernet"))), false)
	l := dr.openLink()
	defer dr.closeLink()
	dr.link = l
	if l.side != nil || l.refused != "" || l.port.Device != "far0" {
		t.Fatalf("side %+v, refused %q", l.side, l.refused)
	}
	if l.proof["proven"] != false || l.proof["why"] == "" {
		t.Errorf("a path without interface is recorded as %v", l.proof)
	}
	if c := dr.channel.facts; c.Peer != "127.0.0.1" || c.Local != "127.0.0.1" || c.Interface == "" || c.Errno != nil {
		t.Errorf("the side channel: %+v", c)
	}
	p := dr.peers()
	if len(p) != 1 || p[0].Device != "dev0" || p[0].OSBuild != "25C56" || p[0].ActiveMTU != 4096 || len(p[0].GIDs) != 1 || p[0].GIDs[0].Type != "roce_v1" || *p[0].GIDIndex != 1 {
		t.Errorf("the peer: %+v", p)
	}
}

// A path is proven over the interface of the port that is used: that of the device is
// its first port's.
func TestLinkOfAnotherPort(t *testing.T) {
	for _, tt := range []struct{ named, want string }{{"enp1s0f1", "enp1s0f1"}, {"", ""}} {
		dr := localEnd("", false)
		own := "enp1s0f0"
		dr.facts.NetdevOfDevice, dr.opts.Port = map[string]*string{"dev0": &own}, 2
		second := dr.doc.Devices[0].Ports[0]
		second.Num, second.GIDs = 2, []GID{{Index: 3, GID: "::ffff:192.0.2.9", Class: "ipv4_mapped", Netdev: tt.named}}
		dr.doc.Devices[0].Ports = append(dr.doc.Devices[0].Ports, second)
		if p := dr.announce(dr.device()); p.Num != 2 || p.Netdev != tt.want {
			t.Errorf("port %d is announced with %q, want %q", p.Num, p.Netdev, tt.want)
		}
		if _, why := dr.pair(&link{}, []peer.Port{farPort("ethernet")}); strings.Contains(why, own) || tt.want == "" && why != "no network interface of dev0 port 2 is known" {
			t.Errorf("paired by %q: %s", tt.named, why)
		}
		dr.opts.Port = 1
		if p := dr.announce(dr.device()); p.Netdev != own {
			t.Errorf("port 1 is announced with %q", p.Netdev)
		}
	}
}

// On Thunderbolt nothing is connected over a path that is not proven, and what is
// missing is named.
func TestLinkOverThunderboltNeedsAProof(t *testing.T) {
	dr := localEnd(farHost(t, offers(farPort("thunderbolt"))), true)
	dr.link = dr.openLink()
	defer dr.closeLink()
	row, _ := rowOf("pingpong.uc")
	if dr.reach(row) {
		t.Fatal("it goes on")
	}
	rows := dr.doc.Observations
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, o := range rows {
		missing, _ := o.Data["missing"].([]string)
		if o.Reason != Precondition || len(missing) != 1 || !strings.Contains(missing[0], "proven path") || o.Data["preflight"] != true {
			t.Errorf("%s: %s %q, %v", o.ID, o.Reason, o.Detail, o.Data)
		}
	}
}

func TestLinkRefusedOrBroken(t *testing.T) {
	say := func(text string) func(*peer.Conn) {
		return func(c *peer.Conn) { _, _ = io.WriteString(c, text+"\n") }
	}
	for name, c := range map[string]struct {
		answer func(*peer.Conn)
		reason Reason // of the data row
		detail string
	}{
		"refused":          {say(`{"type":"error","body":{"code":"refused","text":"not you"}}`), Precondition, "the other end says: not you"},
		"a newer one":      {say(`{"type":"hello","body":{"version":"3.0","role":"session"}}`), Unreachable, "same release"},
		"another program":  {say("SSH-2.0-OpenSSH_9.2"), Unreachable, "no message"},
		"closed":           {func(*peer.Conn) {}, Unreachable, "other end"},
		"no ports":         {offers(), Precondition, "no port of this kind"},
		"ports of no kind": {offers(farPort("infiniband")), Precondition, "no port of this kind"},
		"hostile ports":    {offers(peer.Port{Device: "\x1b[2J", Num: 1, GIDIndex: -1}), Unreachable, "cannot be printed"},
	} {
		dr := localEnd(farHost(t, c.answer), false)
		row, _ := rowOf("pingpong.rc")
		if dr.reach(row) {
			t.Errorf("%s: it goes on", name)
		}
		dr.closeLink()
		i := len(dr.doc.Observations) - 1
		if i < 0 || dr.doc.Observations[i].ID != "pingpong.rc" {
			t.Fatalf("%s: rows %+v", name, dr.doc.Observations)
		}
		if o := dr.doc.Observations[i]; o.Level != "unknown" || o.Reason != c.reason || !strings.Contains(o.Detail, c.detail) || strings.ContainsAny(o.Detail, "\x1b\n") {
			t.Errorf("%s: %s %q, want %s with %q", name, o.Reason, o.Detail, c.reason, c.detail)
		}
	}
}

// closedPort is an address of this machine where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A port where nobody listens: the errno, and the way that was taken.
func TestDialNobody(t *testing.T) {
	dr := localEnd(closedPort(t), false)
	row, _ := rowOf("pingpong.uc")
	if dr.reach(row) {
		t.Fatal("it goes on")
	}
	o := dr.doc.Observations[len(dr.doc.Observations)-1]
	if o.Reason != Unreachable || o.Errno == nil || o.Errno.Name != "ECONNREFUSED" || o.Call != "connect" {
		t.Errorf("%+v", o)
	}
	if c := dr.channel.facts; c.Peer != "127.0.0.1" || c.Local != "127.0.0.1" || c.Errno == nil || c.PeerName != "127.0.0.1" {
		t.Errorf("%+v", c)
	}
}

func TestDoctorAsksThePeer(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*peer.Conn)
		peers  int
		note   string
	}{
		"a server":        {offers(farPort("ethernet")), 1, ": checked: rdmaprobe serve answers there"},
		"another program": {func(c *peer.Conn) { _, _ = io.WriteString(c, "220 ready\n") }, 0, "no rdmaprobe serve answers"},
	} {
		dr := localEnd(farHost(t, c.answer), false)
		dr.askPeerHello()
		if got := len(dr.peersSeen); got != c.peers {
			t.Errorf("%s: %d peers", name, got)
		}
		notes := strings.Join(dr.doc.Notes, "\n")
		if len(dr.doc.Notes) != 1 || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q", name, notes)
		}
	}
	dr := localEnd(closedPort(t), false)
	dr.askPeerHello()
	if n := dr.doc.Notes; len(n) != 1 || !strings.HasPrefix(n[0], "--peer 127.0.0.1:") || !strings.Contains(n[0], ": failed: ") {
		t.Errorf("nobody there: notes %q", n)
	}
}

// childEnd is a child's end of a connection to the other host's, and that one.
func childEnd(t *testing.T, ctx context.Context) (*remoteEnd, *peer.Conn) {
	t.Helper()
	a, b := net.Pipe()
	t.Cleanup(func() { a.Close(); b.Close() })
	e := &remoteEnd{conn: peer.NewConn(a, nil), inbox: make(chan peer.Message, inboxSize), gone: make(chan struct{})}
	go e.read(ctx)
	return e, peer.NewConn(b, nil)
}

func TestRemoteEnd(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	e, far := childEnd(t, ctx)
	if e.lost() {
		t.Error("it is lost at once")
	}
	var none *remoteEnd
	none.bye()
	none.fail("nothing")
	if none.lost() || (&remoteEnd{stock: true}).lost() {
		t.Error("an end without conversation is lost")
	}
	go func() { _ = far.Send(peer.TypeReady, peer.Ready{}, long) }()
	if m, err := e.next(ctx, long); err != nil || m.Type != peer.TypeReady {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := e.next(ctx, time.Millisecond); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("silence: %v", err)
	}
	// What it said before it went away still counts.
	go func() {
		_ = far.Send(peer.TypeResults, peer.Results{Received: 1}, long)
		far.Close()
	}()
	<-e.gone
	if e.lost() {
		t.Error("lost before its last message was read")
	}
	if m, err := e.next(ctx, long); err != nil || m.Type != peer.TypeResults {
		t.Errorf("%v, %v", m, err)
	}
	var gone *peerError
	if _, err := e.next(ctx, long); !errors.As(err, &gone) || !e.lost() {
		t.Errorf("after its end: %v", err)
	}
}

// A peer that sends without being asked fills nothing up.
func TestRemoteEndIsBounded(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	e, far := childEnd(t, ctx)
	go func() {
		for far.Send(peer.TypeReady, peer.Ready{}, long) == nil { // until it is closed below
		}
	}()
	<-e.gone
	if e.err == nil || len(e.inbox) > inboxSize {
		t.Errorf("%v, %d messages", e.err, len(e.inbox))
	}
	far.Close()
}

func TestTaskDeadlines(t *testing.T) {
	server := &openTask{server: &peer.Task{Timeout: 5 * time.Second}}
	if got := server.soft(time.Minute); got != 6*time.Second {
		t.Errorf("the server's child: %v", got)
	}
	for timeout, want := range map[time.Duration]time.Duration{0: 5 * time.Second, time.Minute: 5 * time.Second, 4 * time.Second: 3 * time.Second, time.Millisecond: time.Second} {
		if got := (&openTask{timeout: timeout}).soft(5 * time.Second); got != want {
			t.Errorf("the client's child with the server's %v: %v, want %v", timeout, got, want)
		}
	}
}
