package peer

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// ends are two loopback addresses for the two ends of a cable.
func ends(t *testing.T) (client, server netip.Addr) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.1") // the others have no more
	}
	return netip.MustParseAddr("127.0.0.2"), netip.MustParseAddr("127.0.0.3")
}

// portOn listens on an address and answers each connection.
func portOn(t *testing.T, a netip.Addr, answer func(net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", netip.AddrPortFrom(a, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				answer(c)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func pairHello() Hello { return Hello{Version: Version, Token: "session", Tool: "test"} }

func TestPairPassesBothWays(t *testing.T) {
	client, server := ends(t)
	seen := make(chan error, 1)
	var passed atomic.Bool
	to := portOn(t, server, func(nc net.Conn) {
		c := NewConn(nc, nil)
		h, err := Expect[Hello](c, TypeHello, patience)
		switch {
		case err != nil:
		case h.Role != RolePair || h.Token != "session":
			err = errors.New("another hello")
		case AddrOf(nc.RemoteAddr()) != client:
			err = errors.New("it came from " + nc.RemoteAddr().String())
		default:
			err = AnswerPair(c, "rdma_en4", 1, func() { passed.Store(true) })
		}
		seen <- err
	})
	p, err := Pair(context.Background(), pairHello(), "", client, to)
	if err != nil {
		t.Fatal(err)
	}
	if !passed.Load() {
		t.Error("the client knows before the server does")
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
	if p.Device != "rdma_en4" || p.Num != 1 || p.To != to.String() || !strings.HasPrefix(p.From, client.String()+":") {
		t.Errorf("%+v", p)
	}
}

func TestPairFails(t *testing.T) {
	client, server := ends(t)
	say := func(lines ...string) func(net.Conn) {
		return func(c net.Conn) {
			for _, l := range lines {
				_, _ = io.WriteString(c, l+"\n")
			}
			_, _ = io.Copy(io.Discard, c) // hold it open until the client gives up
		}
	}
	for name, c := range map[string]struct {
		answer func(net.Conn)
		want   string
	}{
		"closed at once":        {func(net.Conn) {}, ""},
		"another program":       {say("220 mail ready"), "no message"},
		"refused":               {say(`{"type":"error","body":{"code":"refused","text":"not you"}}`), "not you"},
		"answers for another":   {say(`{"type":"paired","body":{"nonce":"a","echo":"b","device":"rdma_en4","port":1}}`), "not what was sent"},
		"a name with an escape": {say(`{"type":"paired","body":{"nonce":"a","device":"\u001b[2J"}}`), "cannot be printed"},
	} {
		p, err := Pair(context.Background(), pairHello(), "", client, portOn(t, server, c.answer))
		if err == nil || p != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want %q", name, p, err, c.want)
		}
	}
	// Nobody listens there any more.
	l, err := net.Listen("tcp", netip.AddrPortFrom(server, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	to := l.Addr().(*net.TCPAddr).AddrPort()
	l.Close()
	if _, err := Pair(context.Background(), pairHello(), "", client, to); err == nil {
		t.Error("paired with nobody")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Pair(ctx, pairHello(), "", client, to); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

// The server's side survives clients that say other things.
func TestAnswerPairRefuses(t *testing.T) {
	for name, lines := range map[string][]string{
		"silence":      nil,
		"other type":   {`{"type":"bye","body":{}}`},
		"long nonce":   {`{"type":"nonce","body":{"nonce":"` + strings.Repeat("a", 100) + `"}}`},
		"wrong answer": {`{"type":"nonce","body":{"nonce":"a"}}`, `{"type":"nonce","body":{"echo":"a"}}`},
	} {
		a, b := pipe(t)
		for _, l := range lines {
			if _, err := io.WriteString(a, l+"\n"); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if err := AnswerPair(NewConn(b, nil), "rdma_en4", 1, func() { t.Errorf("%s: passed", name) }); err == nil {
			t.Errorf("%s: paired", name)
		}
	}
}
