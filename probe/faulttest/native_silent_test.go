//go:build linux

package faulttest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// silentHost takes connections, answers each of them as far as greet goes, and says
// nothing more. heard gets one for each that it is silent to.
func silentHost(t *testing.T, greet func(*peer.Conn) bool) (address string, heard chan bool) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	heard = make(chan bool, 16)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { c.Close() })
			go func() {
				if greet(peer.NewConn(c, nil)) {
					heard <- true
				}
			}()
		}
	}()
	return l.Addr().String(), heard
}

// deafServe is another host's rdmaprobe, up to the task's own connection: it tells
// whether this is that one.
func deafServe(c *peer.Conn) bool {
	const limit = time.Minute
	h, err := peer.Expect[peer.Hello](c, peer.TypeHello, limit)
	if err != nil {
		return false
	}
	_ = c.Send(peer.TypeHello, peer.Hello{Version: peer.Version, Role: h.Role, Token: "t", OS: "linux"}, limit)
	if h.Role == peer.RoleTask {
		return true
	}
	_ = c.Send(peer.TypePorts, peer.Ports{Ports: []peer.Port{farPort}}, limit)
	for {
		m, err := c.Receive(limit)
		switch {
		case err != nil:
			return false
		case m.Type == peer.TypeSelect:
			_ = c.Send(peer.TypeSelected, peer.Selected{Port: farPort}, limit)
		case m.Type == peer.TypeTask:
			_ = c.Send(peer.TypeReady, peer.Ready{Token: "t", Timeout: limit}, limit)
		}
	}
}

// deafToChoices is another host's rdmaprobe up to the choice of a port.
func deafToChoices(c *peer.Conn) bool {
	const limit = time.Minute
	if _, err := peer.Expect[peer.Hello](c, peer.TypeHello, limit); err != nil {
		return false
	}
	_ = c.Send(peer.TypeHello, peer.Hello{Version: peer.Version, Role: peer.RoleSession, Token: "t", OS: "linux"}, limit)
	_ = c.Send(peer.TypePorts, peer.Ports{Ports: []peer.Port{farPort}}, limit)
	_, err := peer.Expect[peer.Select](c, peer.TypeSelect, limit)
	return err == nil
}

var farPort = peer.Port{Device: "far0", Num: 1, LinkLayer: "ethernet", State: "active", MTU: 1024, GIDIndex: 0, GID: "fe80::9"}

// An other end that takes the connection and says nothing is told as that by its own
// row. The child ends in its time, or when it is asked to, and gives back what it has.
func TestSilentPeer(t *testing.T) {
	t.Parallel()
	library := needLibrary(t)
	for i, tt := range []struct {
		name   string
		greet  func(*peer.Conn) bool
		args   []string
		asked  bool // to end, while it waits
		reason probe.Reason
		exit   int
	}{
		{"rdmaprobe", deafServe, nil, false, probe.Unreachable, probe.ExitOK},
		{"rdmaprobe, interrupted", deafServe, nil, true, probe.Interrupted, probe.ExitInterrupted},
		{"rdmaprobe, interrupted before a port is chosen", deafToChoices, nil, true, probe.Interrupted, probe.ExitInterrupted},
		{"a stock tool", func(*peer.Conn) bool { return true }, []string{"--handshake", "ibv"}, false, probe.Unreachable, probe.ExitOK},
		{"a stock tool, interrupted", func(*peer.Conn) bool { return true }, []string{"--handshake", "ibv"}, true, probe.Interrupted, probe.ExitInterrupted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address, heard := silentHost(t, tt.greet)
			p, names := newPlace(t), fmt.Sprint("silent", i, os.Getpid()) // their locks are the machine's
			timeout := "2s"
			if tt.asked {
				timeout = "20s"
			}
			args := append([]string{"probe", "--uc", "--pingpong", "-d", "bad" + names, "--peer", address, "--timeout", timeout, "--json", "--library", library, "--store", p.store()}, tt.args...)
			cmd := p.command(t.Context(), args...)
			cmd.Env = append(cmd.Env, "FAULT_DEVICE="+names)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			must(t, cmd.Start())
			if tt.asked {
				<-heard
				time.Sleep(200 * time.Millisecond) // until its child waits; sooner is well too
				must(t, cmd.Process.Signal(os.Interrupt))
			}
			_ = cmd.Wait()
			o := p.read(t, cmd, out.Bytes(), errs.String())
			silent(t, o.doc, "bad"+names, "pingpong.uc", tt.reason)
			if o.exit != tt.exit {
				t.Errorf("exit %d, want %d", o.exit, tt.exit)
			}
		})
	}
}

// silent checks what is told of a ping-pong whose other end said nothing.
func silent(t *testing.T, d *probe.Document, device, word string, reason probe.Reason) {
	t.Helper()
	r := row(d, device, "pingpong.uc", word, 0)
	if r == nil || r.Reason != reason {
		t.Fatalf("%+v", r)
	}
	if r.Child == nil { // the other end was never asked for its address
		return
	}
	if r.Child.Outcome != guard.Completed {
		t.Errorf("%+v", r.Child)
	}
	if r := row(d, device, "teardown", word, 0); r == nil || r.Level != rdma.CapabilityConfirmed {
		t.Errorf("its objects: %+v", r)
	}
}

// stockServer is a server for stock tools, of a device with a fault, and what it says.
type stockServer struct {
	place
	cmd     *exec.Cmd
	out     bytes.Buffer
	said    io.Reader
	text    strings.Builder
	device  string
	address string
}

func startStockServer(t *testing.T, name, call, fault string) *stockServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &stockServer{place: newPlace(t), device: fmt.Sprint("bad", name, os.Getpid()), address: l.Addr().String()}
	l.Close()
	s.cmd = s.command(t.Context(), "serve", "--handshake", "ibv", "--uc", "--once", "-d", s.device, "--listen", s.address, "--timeout", "1s", "--json", "--library", needLibrary(t), "--store", s.store())
	s.cmd.Env = append(s.cmd.Env, "FAULT_DEVICE="+strings.TrimPrefix(s.device, "bad"), "FAULT_CALL="+call, "FAULT="+fault)
	s.cmd.Stdout = &s.out
	s.said, err = s.cmd.StderrPipe()
	must(t, err)
	must(t, s.cmd.Start())
	s.await(t, "on the other host:")
	return s
}

// await reads what the server says until it says a text.
func (s *stockServer) await(t *testing.T, want string) {
	t.Helper()
	for b := make([]byte, 4096); !strings.Contains(s.text.String(), want); {
		n, err := s.said.Read(b)
		if s.text.Write(b[:n]); err != nil {
			t.Fatalf("it never said %q: %s", want, s.text.String())
		}
	}
}

// end ends the server in good order.
func (s *stockServer) end(t *testing.T) *outcome {
	t.Helper()
	must(t, s.cmd.Process.Signal(syscall.SIGTERM))
	_ = s.cmd.Wait()
	return s.read(t, s.cmd, s.out.Bytes(), s.text.String())
}

// Who connects to a server for stock tools and says nothing ends neither it nor, by
// force, its child.
func TestSilentStockClient(t *testing.T) {
	t.Parallel()
	s := startStockServer(t, "stock", "", "")
	c, err := net.Dial("tcp", s.address)
	must(t, err)
	defer c.Close()
	s.await(t, "no message was exchanged")
	o := s.end(t)
	silent(t, o.doc, s.device, "serve.pingpong.uc", probe.Unreachable)
	if o.exit != probe.ExitOK {
		t.Errorf("exit %d: %s", o.exit, s.text.String())
	}
}

// The receive that such a server posts before it answers is a call of the ping-pong
// like all others: what it returned is in the row.
func TestStockServerCannotReceive(t *testing.T) {
	t.Parallel()
	s := startStockServer(t, "norecv", "ibv_post_send", "unsupported") // the library has one function for both posts
	c, err := net.Dial("tcp", s.address)
	must(t, err)
	defer c.Close()
	must(t, peer.SendStock(c, peer.Endpoint{QPN: 7, PSN: 8, GID: "fe80::9"}, time.Minute))
	s.await(t, "no message was exchanged")
	o := s.end(t)
	r := row(o.doc, s.device, "pingpong.uc", "serve.pingpong.uc", 0)
	if r == nil || r.Level != rdma.CapabilityRejected || r.Call != "ibv_post_recv" || r.Return == nil || r.Errno == nil || r.Errno.Name != "EOPNOTSUPP" {
		t.Errorf("%+v", r)
	}
}
