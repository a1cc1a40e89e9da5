package peer

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// pipe gives both ends of a TCP connection on loopback.
func pipe(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); s.Close() })
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

const patience = 30 * time.Second

func TestMessagesCross(t *testing.T) {
	a, b := pipe(t)
	left, right := NewConn(a, nil), NewConn(b, nil)
	for name, m := range honest() {
		if err := left.Send(name, m, patience); err != nil {
			t.Fatal(err)
		}
		got, err := right.Receive(patience)
		if err != nil || got.Type != name {
			t.Errorf("%s: got %q, %v", name, got.Type, err)
		}
	}
	right.Fail(CodeBusy, "no\x1b[2J room\n"+strings.Repeat("x", 1000))
	var said *RemoteError
	if _, err := left.Receive(patience); !errors.As(err, &said) || said.Code != CodeBusy || strings.ContainsAny(said.Text, "\x1b\n") || len(said.Text) > maxText {
		t.Errorf("an error message: %v", err)
	}
}

func TestHostileLines(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want string
	}{
		"garbage":        {"GET / HTTP/1.1\r\n", "no message"},
		"binary":         {"\x16\x03\x01\x00\n", "no message"},
		"empty":          {"\n", "no message"},
		"array":          {"[1]\n", "no message"},
		"no type":        {`{"body":{}}` + "\n", "no message"},
		"deep":           {strings.Repeat("[", 20000) + "\n", "no message"},
		"endless":        {strings.Repeat("x", MaxLine+10), "more than"},
		"cut":            {`{"type":"hel`, "closed"},
		"silence":        {"", "closed"},
		"unknown type":   {`{"type":"dance","body":{}}` + "\n", "where hello was expected"},
		"other type":     {`{"type":"bye","body":{}}` + "\n", "where hello was expected"},
		"wrong fields":   {`{"type":"hello","body":{"version":1}}` + "\n", "cannot be read"},
		"null":           {`{"type":"hello","body":null}` + "\n", "protocol version"},
		"other version":  {`{"type":"hello","body":{"version":"1.0","role":"session"}}` + "\n", "same release"},
		"error, no text": {`{"type":"error","body":[]}` + "\n", "an error without text"},
	} {
		a, b := pipe(t)
		go func() {
			_, _ = io.WriteString(a, c.in)
			a.Close()
		}()
		_, err := Expect[Hello](NewConn(b, nil), TypeHello, patience)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\x1b\n\x00") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The two kinds of wrong type are told apart, since one is of the future.
func TestUnknownTypeHasItsCode(t *testing.T) {
	for typ, code := range map[string]string{"dance": CodeUnknown, TypeBye: CodeInvalid} {
		var f *Failure
		if _, err := Body[Hello](Message{Type: typ}, TypeHello); !errors.As(err, &f) || f.Code != code {
			t.Errorf("%s: %v, want code %s", typ, err, code)
		}
	}
}

func TestReadsAndWritesEnd(t *testing.T) {
	a, b := pipe(t)
	c := NewConn(b, nil)
	if _, err := c.Receive(time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent peer: %v", err)
	}
	// A peer that does not read: the socket's buffers fill, and writing ends.
	_ = a.SetReadBuffer(4096)
	_ = b.SetWriteBuffer(4096)
	var err error
	for i := 0; i < 10_000 && err == nil; i++ {
		err = c.Send(TypeNonce, Nonce{Nonce: strings.Repeat("n", 60_000)}, 50*time.Millisecond)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a peer that does not read: %v", err)
	}
	if err := c.Send(TypeNonce, Nonce{Nonce: strings.Repeat("n", MaxLine)}, patience); err == nil {
		t.Error("a line that no peer would take was sent")
	}
}

// What came before the handover reaches the process that takes over.
func TestDetachKeepsWhatWasRead(t *testing.T) {
	a, b := pipe(t)
	left, right := NewConn(a, nil), NewConn(b, nil)
	for _, typ := range []string{TypeHello, TypeEndpoint, TypePrepared} {
		if err := left.Send(typ, honest()[typ], patience); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Expect[Hello](right, TypeHello, patience); err != nil {
		t.Fatal(err)
	}
	f, early, err := right.Detach()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	nc, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	taken := NewConn(nc, early)
	if _, err := Expect[Endpoint](taken, TypeEndpoint, patience); err != nil {
		t.Error(err)
	}
	if m, err := taken.Receive(patience); err != nil || m.Type != TypePrepared {
		t.Errorf("got %v, %v", m, err)
	}
	if err := taken.Send(TypeBye, struct{}{}, patience); err != nil {
		t.Error(err)
	}
	if m, err := left.Receive(patience); err != nil || m.Type != TypeBye {
		t.Errorf("got %v, %v", m, err)
	}
	p, _ := net.Pipe()
	if _, _, err := NewConn(p, nil).Detach(); err == nil {
		t.Error("a connection that is no socket was handed over")
	}
}

func TestWatch(t *testing.T) {
	a, b := pipe(t)
	c := NewConn(b, nil)
	ctx, stop := c.Watch(context.Background(), patience)
	if ctx.Err() != nil {
		t.Fatal("it ended at once")
	}
	stop()
	if !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("after stop: %v", context.Cause(ctx))
	}
	// What comes while nobody asks is kept.
	_, stop = c.Watch(context.Background(), patience)
	if err := NewConn(a, nil).Send(TypeBye, struct{}{}, patience); err != nil {
		t.Fatal(err)
	}
	if m, err := receiveAfter(c, stop); err != nil || m.Type != TypeBye {
		t.Errorf("got %v, %v", m, err)
	}
	ctx, stop = c.Watch(context.Background(), patience)
	a.Close()
	select {
	case <-ctx.Done():
		if !strings.Contains(context.Cause(ctx).Error(), "went away") {
			t.Errorf("cause %v", context.Cause(ctx))
		}
	case <-time.After(patience):
		t.Error("the end of the connection was not noticed")
	}
	stop()
}

func receiveAfter(c *Conn, stop func()) (Message, error) {
	stop()
	return c.Receive(patience)
}

// Nothing that comes over a connection makes decoding panic or pass unchecked.
func FuzzDecode(f *testing.F) {
	seeds := 0
	for name, m := range honest() {
		if raw, err := encodeForTest(name, m); err == nil {
			f.Add(raw)
			seeds++
		}
	}
	if seeds == 0 {
		f.Fatal("no seeds")
	}
	f.Add([]byte(`{"type":"error","body":{"code":"busy","text":"\u001b"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := decode(line)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\n\x00") {
				t.Errorf("the error repeats what came: %q", err)
			}
			return
		}
		if h, err := Body[Hello](m, TypeHello); err == nil && h.Check() != nil {
			t.Error("a hello that does not pass its check")
		}
		if e, err := Body[Endpoint](m, TypeEndpoint); err == nil && (e.QPN > 0xffffff || e.MTU == 0) {
			t.Errorf("endpoint %+v", e)
		}
		if p, err := Body[Ports](m, TypePorts); err == nil && len(p.Ports) > maxPorts {
			t.Errorf("%d ports", len(p.Ports))
		}
		if v, err := Body[Task](m, TypeTask); err == nil && (len(v.Sizes) == 0 || v.Timeout <= 0) {
			t.Errorf("task %+v", v)
		}
	})
}
