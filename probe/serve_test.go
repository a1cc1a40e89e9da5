//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/probe/peer"
)

// serving is a server of a simulated machine: nothing leads from it to another
// host, so everything can be tried up to the task itself.
type serving struct {
	t      *testing.T
	addr   string
	cancel context.CancelFunc
	ready  chan struct{} // closed when it listens
	over   chan struct{}
	doc    *Document
	err    error

	mu   sync.Mutex
	said []string
}

// startServer serves m until the test ends, on an address of its own. Between its
// choice and its use somebody else may take it: then it is another one.
func startServer(t *testing.T, m *machine, change func(*ServeOptions)) *serving {
	t.Helper()
	for range 5 {
		s := tryServer(t, m, change)
		select {
		case <-s.ready:
			return s
		case <-s.over:
		}
		if s.err == nil || !strings.Contains(s.err.Error(), syscall.EADDRINUSE.Error()) {
			t.Fatalf("it does not serve: %v, %+v", s.err, s.doc.Notes)
		}
	}
	t.Fatal("every free address was taken by somebody else")
	return nil
}

func tryServer(t *testing.T, m *machine, change func(*ServeOptions)) *serving {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{t: t, addr: l.Addr().String(), ready: make(chan struct{}), over: make(chan struct{})}
	l.Close()
	profile, err := json.Marshal(m.profile)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	o := ServeOptions{Listen: []string{s.addr}}
	o.Provider = ProviderOptions{Profile: profile, Name: "machine"}
	o.Store = m.store
	o.Say = func(line string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.said = append(s.said, line)
		if strings.HasPrefix(line, "listening") {
			once.Do(func() { close(s.ready) })
		}
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() {
		defer close(s.over)
		s.doc, s.err = Serve(ctx, o)
	}()
	t.Cleanup(s.end)
	return s
}

// end stops the server and waits for it.
func (s *serving) end() {
	s.cancel()
	<-s.over
}

func (s *serving) hears(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(strings.Join(s.said, "\n"), text)
}

// client is a connection to the server.
func (s *serving) client() *peer.Conn {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return peer.NewConn(c, nil)
}

var testHello = peer.Hello{Version: peer.Version, Role: peer.RoleSession, Tool: "test 1", OS: "macos", OSBuild: "25C56", Host: "mac-b"}

// opens says hello and takes the server's answer.
func (s *serving) opens() (*peer.Conn, peer.Hello, peer.Ports) {
	s.t.Helper()
	c := s.client()
	if err := c.Send(peer.TypeHello, testHello, long); err != nil {
		s.t.Fatal(err)
	}
	h, err := peer.Expect[peer.Hello](c, peer.TypeHello, long)
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := peer.Expect[peer.Ports](c, peer.TypePorts, long)
	if err != nil {
		s.t.Fatal(err)
	}
	return c, h, p
}

var (
	testMine = peer.Port{Device: "rdma_en9", Num: 1, MTU: 4096, GIDIndex: 1, GID: "::ffff:192.0.2.2", GIDType: "none"}
	testTask = peer.Task{Probe: "pingpong", Type: "uc", Sizes: []int{64}, Iterations: 10, Loss: time.Second, Timeout: 5 * time.Second}
)

// session goes through a whole one; the simulated end refuses the task itself.
func (s *serving) session() {
	s.t.Helper()
	c, _, ports := s.opens()
	defer c.Close()
	if len(ports.Ports) != 2 {
		s.t.Fatalf("ports %+v", ports)
	}
	if err := c.Send(peer.TypeSelect, peer.Select{Device: ports.Ports[0].Device, Num: ports.Ports[0].Num, Mine: testMine}, long); err != nil {
		s.t.Fatal(err)
	}
	got, err := peer.Expect[peer.Selected](c, peer.TypeSelected, long)
	if err != nil || got.Port.GID != ports.Ports[0].GID || got.Port.State != "active" {
		s.t.Fatalf("selected %+v, %v", got, err)
	}
	if err := c.Send(peer.TypeTask, testTask, long); err != nil {
		s.t.Fatal(err)
	}
	var said *peer.RemoteError
	if _, err := peer.Expect[peer.Ready](c, peer.TypeReady, long); !errors.As(err, &said) || said.Code != peer.CodeNotReady || !strings.Contains(said.Text, "simulated") {
		s.t.Fatalf("the task: %v", err)
	}
	if err := c.Send(peer.TypeBye, empty{}, long); err != nil {
		s.t.Fatal(err)
	}
	_, _ = c.Receive(long) // its place is free when the server has closed
}

func TestServeOnce(t *testing.T) {
	s := startServer(t, newLinux(t), func(o *ServeOptions) { o.Once = true })
	s.session()
	<-s.over
	if s.err != nil || s.doc.Exit != ExitOK {
		t.Fatalf("%v, exit %d, %q", s.err, s.doc.Exit, s.doc.Error)
	}
	if len(s.doc.Devices) != 2 || len(s.doc.Observations) == 0 || s.doc.Devices[0].Ports[0].State != "active" {
		t.Errorf("the document: %+v", s.doc.Devices)
	}
	if !s.hears("session with 127.0.0.1") || !s.hears("is complete") {
		t.Errorf("said %q", s.said)
	}
}

// A device that can no longer be opened is no end of a connection, and the client
// learns why.
func TestServeGoneDevice(t *testing.T) {
	m := newLinux(t)
	m.rules(0, "ibv_open_device", object{"errno": "ENODEV"})
	s := startServer(t, m, nil)
	c, _, ports := s.opens()
	defer c.Close()
	if err := c.Send(peer.TypeSelect, peer.Select{Device: ports.Ports[0].Device, Num: ports.Ports[0].Num, Mine: testMine}, long); err != nil {
		t.Fatal(err)
	}
	var said *peer.RemoteError
	if _, err := peer.Expect[peer.Selected](c, peer.TypeSelected, long); !errors.As(err, &said) || said.Code != peer.CodeNotReady || !strings.Contains(said.Text, "cannot be opened here") {
		t.Errorf("the selection: %v", err)
	}
}

// Whatever strangers do, the next one is served.
func TestServeSurvives(t *testing.T) {
	s := startServer(t, newLinux(t), nil)
	raw := func(text string) func(*testing.T) {
		return func(t *testing.T) {
			c := s.client()
			_, _ = io.WriteString(c, text) // the server may close before it has read all
			_ = c.SetReadDeadline(time.Now().Add(long))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, context.DeadlineExceeded) {
				t.Error("it kept the connection")
			}
		}
	}
	hello, _ := json.Marshal(testHello)
	slow := s.client() // says nothing, through all of this
	_, _ = io.WriteString(slow, "{")
	for _, c := range []struct {
		name string
		do   func(*testing.T)
	}{
		{"port scan", func(*testing.T) { s.client().Close() }},
		{"HTTP", raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
		{"TLS", raw("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n")},
		{"endless line", raw(strings.Repeat("x", 2*peer.MaxLine))},
		{"another version", func(t *testing.T) {
			for _, version := range []string{"1.0", "3.0"} {
				c := s.client()
				h := testHello
				h.Version = version
				if err := c.Send(peer.TypeHello, h, long); err != nil {
					t.Fatal(err)
				}
				var said *peer.RemoteError
				if _, err := c.Receive(long); !errors.As(err, &said) || said.Code != peer.CodeVersion || !strings.Contains(said.Text, "the other end "+version+": use the same release at both ends") {
					t.Errorf("%v", err)
				}
			}
		}},
		{"unknown type", func(t *testing.T) {
			c, _, _ := s.opens()
			if err := c.Send("dance", empty{}, long); err != nil {
				t.Fatal(err)
			}
			var said *peer.RemoteError
			if _, err := c.Receive(long); !errors.As(err, &said) || said.Code != peer.CodeUnknown {
				t.Errorf("%v", err)
			}
		}},
		{"a token that nobody gave", func(t *testing.T) {
			for _, role := range []string{peer.RoleTask, peer.RolePair} {
				c := s.client()
				h := testHello
				h.Role, h.Token = role, peer.NewToken()
				if err := c.Send(peer.TypeHello, h, long); err != nil {
					t.Fatal(err)
				}
				var said *peer.RemoteError
				if _, err := c.Receive(long); !errors.As(err, &said) || said.Code != peer.CodeInvalid {
					t.Errorf("%s: %v", role, err)
				}
			}
		}},
		{"gone after its hello", func(*testing.T) {
			c := s.client()
			_, _ = io.WriteString(c, `{"type":"hello","body":`+string(hello)+"}\n")
			c.Close()
		}},
		{"gone after the ports", func(*testing.T) {
			c, _, _ := s.opens()
			c.Close()
		}},
		{"a device that is not there", func(t *testing.T) {
			c, _, _ := s.opens()
			if err := c.Send(peer.TypeSelect, peer.Select{Device: "mlx5_9", Num: 1, Mine: testMine}, long); err != nil {
				t.Fatal(err)
			}
			var said *peer.RemoteError
			if _, err := c.Receive(long); !errors.As(err, &said) || said.Code != peer.CodeInvalid {
				t.Errorf("%v", err)
			}
		}},
		{"gone after its selection", func(*testing.T) {
			c, _, p := s.opens()
			_ = c.Send(peer.TypeSelect, peer.Select{Device: p.Ports[0].Device, Num: 1, Mine: testMine}, long)
			c.Close()
		}},
		{"only looking", func(*testing.T) {
			c, _, _ := s.opens()
			_ = c.Send(peer.TypeBye, empty{}, long)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.do(t)
			s.session()
		})
	}
	s.end()
	if s.err != nil || s.doc.Exit != ExitInterrupted {
		t.Errorf("%v, exit %d", s.err, s.doc.Exit)
	}
}

func TestServeLimits(t *testing.T) {
	s := startServer(t, newLinux(t), func(o *ServeOptions) {
		o.Sessions = 1
		o.Orderly = func() bool { return true }
	})
	first, _, _ := s.opens()
	second := s.client()
	if err := second.Send(peer.TypeHello, testHello, long); err != nil {
		t.Fatal(err)
	}
	var said *peer.RemoteError
	if _, err := second.Receive(long); !errors.As(err, &said) || said.Code != peer.CodeBusy {
		t.Errorf("a second session: %v", err)
	}
	if err := first.Send(peer.TypeBye, empty{}, long); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Receive(long); err == nil {
		t.Error("the session goes on after bye")
	}
	s.session() // the place is free again
	s.end()
	if s.doc.Exit != ExitOK {
		t.Errorf("an orderly end has exit %d", s.doc.Exit)
	}
}

// A session that is open when serving ends does not hold it up.
func TestServeEndsWithOpenSessions(t *testing.T) {
	s := startServer(t, newLinux(t), nil)
	for range 3 {
		s.opens()
	}
	began := time.Now()
	s.end()
	if took := time.Since(began); took > idleLimit/2 {
		t.Errorf("it took %v to end", took)
	}
}

// The same device is one session's at a time; another one waits for it, and is
// then told.
func TestServeDeviceIsOneSessions(t *testing.T) {
	s := startServer(t, newLinux(t), nil)
	first, _, p := s.opens()
	choose := peer.Select{Device: p.Ports[0].Device, Num: 1, Mine: testMine}
	if err := first.Send(peer.TypeSelect, choose, long); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Expect[peer.Selected](first, peer.TypeSelected, long); err != nil {
		t.Fatal(err)
	}
	second, _, _ := s.opens()
	if err := second.Send(peer.TypeSelect, choose, long); err != nil {
		t.Fatal(err)
	}
	var said *peer.RemoteError
	if _, err := second.Receive(2 * long); !errors.As(err, &said) || said.Code != peer.CodeBusy {
		t.Errorf("%v", err)
	}
}

// A device whose name no message can hold hides no other.
func TestServeUnspeakableDevice(t *testing.T) {
	m := newLinux(t)
	m.dev(0)["name"] = "mlx\x1b[2J"
	s := startServer(t, m, nil)
	if _, _, p := s.opens(); len(p.Ports) != 1 || p.Ports[0].Device != "mlx5_1" {
		t.Errorf("ports %+v", p.Ports)
	}
}

func TestServeUsage(t *testing.T) {
	for name, change := range map[string]func(*ServeOptions){
		"an address that all reach": func(o *ServeOptions) { o.Listen = []string{"0.0.0.0:18516"} },
		"a wide address":            func(o *ServeOptions) { o.Listen = []string{"192.0.2.1:18516"} },
		"a name":                    func(o *ServeOptions) { o.Listen = []string{"mac-b:18516"} },
		"no port":                   func(o *ServeOptions) { o.Listen = []string{"127.0.0.1:0"} },
		"no network":                func(o *ServeOptions) { o.Allow = []string{"everybody"} },
		"sessions":                  func(o *ServeOptions) { o.Sessions = -1 },
		"handshake":                 func(o *ServeOptions) { o.Handshake = "http" },
		"a tool of no type":         func(o *ServeOptions) { o.Handshake = "ibv" },
		"a tool of two types":       func(o *ServeOptions) { o.Handshake, o.Types = "ibv", []string{"uc", "rc"} },
	} {
		m := newLinux(t)
		profile, _ := json.Marshal(m.profile)
		o := ServeOptions{Options: Options{Provider: ProviderOptions{Profile: profile, Name: "machine"}, Store: m.store}}
		change(&o)
		d, err := Serve(context.Background(), o)
		var usage *UsageError
		if !errors.As(err, &usage) || d.Exit != ExitUsage {
			t.Errorf("%s: %v, exit %d", name, err, d.Exit)
		}
	}
}

// stranger is a connection from an address that is not allowed.
type stranger struct {
	net.Conn
	from net.Addr
}

func (s stranger) RemoteAddr() net.Addr { return s.from }

// A crowd does not fill a log: what it causes is said a few times, then counted.
func TestServeComplains(t *testing.T) {
	var said []string
	s, err := newServer(&run{ctx: context.Background(), opts: &Options{}}, &ServeOptions{Say: func(line string) { said = append(said, line) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		said = nil
		for range maxComplaints + 1000 {
			s.complain("refused")
		}
		s.sumUp()
		if len(said) != maxComplaints+1 || !strings.HasPrefix(said[maxComplaints], "and 1000 more") {
			t.Errorf("%d lines, the last %q", len(said), said[len(said)-1])
		}
	}
	if s.sumUp(); len(said) != maxComplaints+1 {
		t.Errorf("summed up nothing: %q", said[len(said)-1])
	}
}

func TestServeRefusesStrangers(t *testing.T) {
	r, err := newServer(&run{ctx: context.Background(), opts: &Options{}}, &ServeOptions{Allow: []string{"192.0.2.0/24"}})
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.meet(r.strangers.admit(stranger{far, &net.TCPAddr{IP: net.ParseIP("203.0.113.9"), Port: 1}}))
	}()
	var said *peer.RemoteError
	if _, err := peer.NewConn(near, nil).Receive(long); !errors.As(err, &said) || said.Code != peer.CodeRefused {
		t.Errorf("%v", err)
	}
	near.Close()
	<-over
	if n := len(r.strangers.all); n != 0 {
		t.Errorf("%d places are taken once it is gone", n)
	}
}
