//go:build linux || darwin || freebsd

package guard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	_ = child("answer the connection", func(c *Child) {
		conn, err := net.FileConn(c.Conn())
		must(err)
		must(c.Conn().Close())
		line, err := bufio.NewReader(conn).ReadString('\n')
		must(err)
		_, err = fmt.Fprint(conn, "heard "+line)
		must(err)
		must(c.Done(nil))
	})
	_ = child("no connection", func(c *Child) { must(c.Done(c.Conn() == nil)) })
	_ = child("descriptors", func(c *Child) {
		flags, err := unix.FcntlInt(fdConn, unix.F_GETFD, 0)
		must(err)
		must(c.Done(flags&unix.FD_CLOEXEC != 0))
	})
)

// connected gives both ends of a TCP connection, the first as a file.
func connected(t *testing.T) (*os.File, *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	f, err := near.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	return f, far.(*net.TCPConn)
}

// The child alone holds the connection: it talks on it, and its end is the
// connection's end, though the parent lives on.
func TestConnectionGoesToTheChild(t *testing.T) {
	f, far := connected(t)
	if _, err := far.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	s := patient
	s.Conn = f
	if res, _ := runChild(t, s.as("answer the connection")); res.Outcome != Completed {
		t.Fatalf("run: %+v", res)
	}
	if err := far.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(far)
	if err != nil || string(all) != "heard hello\n" {
		t.Errorf("the other end read %q, %v; want the answer and the end", all, err)
	}
	if err := f.Close(); err == nil {
		t.Error("the parent still held the connection")
	}
}

// The connection keeps its descriptor where there is no lock, and programs that
// the child starts do not inherit it.
func TestConnectionWithoutLock(t *testing.T) {
	f, _ := connected(t)
	s := patient
	s.Conn = f
	if _, got := runChild(t, s.as("descriptors")); !slices.Equal(got, []string{"done true"}) {
		t.Errorf("closed on exec: %v, want true", got)
	}
	if _, got := runChild(t, patient.as("no connection")); !slices.Equal(got, []string{"done true"}) {
		t.Errorf("a child without a connection has one: %v", got)
	}
}

// A run that cannot start leaves the caller no descriptor to close either.
func TestConnectionOfARunThatFails(t *testing.T) {
	f, far := connected(t)
	if _, err := Run(context.Background(), Spec{Exe: "/nonexistent", Soft: time.Second, Conn: f}, nil); err == nil {
		t.Fatal("it started")
	}
	if err := far.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := far.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v; want the end", n, err)
	}
}
