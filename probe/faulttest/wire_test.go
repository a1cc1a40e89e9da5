//go:build linux

package faulttest

import (
	"bufio"
	"context"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// wires are what becomes of messages in testdata/wire.h.
var wires = []string{"ok", "reflect", "cross", "none"}

// wired is an rdmaprobe of a machine of the C library whose devices have a wire.
func (p place) wired(t *testing.T, wire, device string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := p.command(context.Background(), append(args, "--json", "--library", needLibrary(t), "--store", p.store())...)
	cmd.Env = append(cmd.Env, "FAULT_DEVICE="+device, "WIRE="+wire)
	return cmd
}

// far is a server on such a wire.
type far struct {
	place
	cmd  *exec.Cmd
	out  *strings.Builder
	addr string
}

// serves starts one on the device good. It ends with the test, or by end. Between the
// choice of an address and its use somebody else may take it: then it is another one.
func serves(t *testing.T, wire, device string) *far {
	t.Helper()
	for range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		f := &far{place: newPlace(t), out: &strings.Builder{}, addr: l.Addr().String()}
		l.Close()
		f.cmd = f.wired(t, wire, device, "serve", "-d", "good"+device, "--listen", f.addr, "--write")
		f.cmd.Stdout = f.out
		said, err := f.cmd.StderrPipe()
		must(t, err)
		must(t, f.cmd.Start())
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if strings.Contains(lines.Text(), "listening on") {
				t.Cleanup(func() { f.end(t) })
				go io.Copy(io.Discard, said)
				return f
			}
		}
		_ = f.cmd.Wait() // it has said why on stdout
	}
	t.Fatal("every free address was taken by somebody else")
	return nil
}

// end ends the server and reads its document.
func (f *far) end(t *testing.T) *outcome {
	if f.cmd.ProcessState != nil {
		return nil
	}
	_ = f.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	_ = f.cmd.Wait()                          // read looks at the status
	return f.read(t, f.cmd, []byte(f.out.String()), "")
}

// proved checks a data row: confirmed if, and only if, what was sent has arrived at
// the end that it was for.
func (o *outcome) proved(t *testing.T, device, id, wire string) {
	t.Helper()
	r := row(o.doc, device, id, "", 0)
	switch {
	case r == nil:
		t.Errorf("%s: no row", id)
	case (r.Level == rdma.CapabilityConfirmed) != (wire == "ok"):
		t.Errorf("%s is %s (%s): %s, %v", id, r.Level, r.Reason, r.Detail, r.Data)
	case wire == "reflect" && r.Params["role"] == nil && strings.HasPrefix(id, "pingpong") && !strings.Contains(r.Detail, "came back as it was sent"):
		t.Errorf("%s: %s", id, r.Detail)
	}
}

// What a wire does with messages shows wherever their two ends are, and a gate that
// requires a ping-pong opens only where it was one.
func TestWire(t *testing.T) {
	t.Parallel()
	needLibrary(t)
	for i, wire := range wires {
		for j, place := range []string{"one port", "two devices", "two hosts"} {
			t.Run(wire+"/"+place, func(t *testing.T) {
				t.Parallel()
				device := "w" + string(rune('a'+i)) + string(rune('a'+j))
				args := []string{"probe", "-d", "bad" + device, "--rc", "--pingpong", "--write", "--require", "pingpong.rc", "--timeout", "10s"}
				var server *far
				switch place {
				case "two devices":
					args = append(args, "--peer-device", "good"+device)
				case "two hosts":
					server = serves(t, wire, device)
					args = append(args, "--peer", server.addr)
				}
				p := newPlace(t)
				o := p.finish(t, p.wired(t, wire, device, args...))
				o.proved(t, "bad"+device, "pingpong.rc", wire)
				o.proved(t, "bad"+device, "op.rdma_write", wire)
				if want := map[bool]int{true: probe.ExitOK, false: probe.ExitFinding}[wire == "ok"]; o.exit != want {
					t.Errorf("exit %d, want %d: %+v", o.exit, want, o.doc.Findings)
				}
				if server != nil {
					s := server.end(t)
					s.proved(t, "good"+device, "pingpong.rc", wire)
					s.proved(t, "good"+device, "op.rdma_write", wire)
				}
			})
		}
	}
}
