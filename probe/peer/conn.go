package peer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"rdmaprobe/probe/jsonlimit"
)

// MaxLine is the longest line of the control protocol, in bytes.
const MaxLine = 64 << 10

// ErrLine says that a line was longer than MaxLine.
var ErrLine = fmt.Errorf("the other end sent a line of more than %d bytes", MaxLine)

// RemoteError is what the other end answered instead of what was asked for.
type RemoteError struct {
	Code, Text string
}

// Error names who says it.
func (e *RemoteError) Error() string { return "the other end says: " + e.Text }

// Message is one line.
type Message struct {
	Type string          `json:"type"`
	Body json.RawMessage `json:"body,omitempty"`
}

// Conn is one end of a control connection. One goroutine may send while another
// receives.
type Conn struct {
	net.Conn
	br *bufio.Reader
}

// NewConn takes a connection over. early is what was read from it already.
func NewConn(c net.Conn, early []byte) *Conn {
	r := io.Reader(c)
	if len(early) > 0 {
		r = io.MultiReader(bytes.NewReader(early), c)
	}
	return &Conn{Conn: c, br: bufio.NewReaderSize(r, MaxLine)}
}

// Detach gives the socket as a file for another process, and what was read from
// it already. This end is closed.
func (c *Conn) Detach() (*os.File, []byte, error) {
	t, ok := c.Conn.(*net.TCPConn)
	if !ok {
		return nil, nil, errors.New("hand over the connection: it is not TCP")
	}
	early, _ := c.br.Peek(c.br.Buffered())
	early = bytes.Clone(early)
	f, err := t.File()
	if err != nil {
		return nil, nil, fmt.Errorf("hand over the connection: %w", err)
	}
	t.Close()
	return f, early, nil
}

// Send writes one message within limit.
func (c *Conn) Send(typ string, body any, limit time.Duration) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode %s: %w", typ, err)
	}
	line, err := json.Marshal(Message{typ, raw})
	if err != nil {
		return fmt.Errorf("encode %s: %w", typ, err)
	}
	if len(line) >= MaxLine {
		return fmt.Errorf("encode %s: %d bytes are more than %d", typ, len(line), MaxLine)
	}
	if err := c.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return fmt.Errorf("send %s: %w", typ, err)
	}
	if _, err := c.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("send %s: %w", typ, err)
	}
	return nil
}

// Fail answers with an error message. It is the last message of a connection, so
// nothing can be done about its own failure.
func (c *Conn) Fail(code, text string) {
	const limit = 2 * time.Second
	_ = c.Send(TypeError, Failure{code, clean(text)}, limit)
}

// FailWith is Fail with the code that err has.
func (c *Conn) FailWith(err error) {
	var f *Failure
	if errors.As(err, &f) {
		c.Fail(f.Code, f.Text)
		return
	}
	c.Fail(CodeFailed, err.Error())
}

// Receive reads the next message within limit. An error message is a
// *RemoteError.
func (c *Conn) Receive(limit time.Duration) (Message, error) {
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return Message{}, fmt.Errorf("read from the other end: %w", err)
	}
	line, err := c.br.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return Message{}, ErrLine
	case errors.Is(err, io.EOF):
		return Message{}, fmt.Errorf("the other end closed the connection: %w", io.ErrUnexpectedEOF)
	case err != nil:
		return Message{}, fmt.Errorf("read from the other end: %w", err)
	}
	return decode(line)
}

// decode reads one line.
func decode(line []byte) (Message, error) {
	var m Message
	if jsonlimit.Check(line) != nil || json.Unmarshal(line, &m) != nil || m.Type == "" {
		return Message{}, invalid("a line that is no message: %.40q", line)
	}
	if m.Type != TypeError {
		return m, nil
	}
	var f Failure
	if json.Unmarshal(m.Body, &f) != nil {
		f.Text = "an error without text"
	}
	return Message{}, &RemoteError{clean(f.Code), clean(f.Text)}
}

// Body reads a message's body as a T and checks it.
func Body[T interface{ Check() error }](m Message, typ string) (T, error) {
	var v, none T
	if err := m.read(typ, &v); err != nil {
		return none, err
	}
	if err := v.Check(); err != nil {
		return none, err
	}
	return v, nil
}

// read is what Body does for every type alike.
func (m *Message) read(typ string, v any) error {
	if m.Type != typ {
		code := CodeInvalid
		if !slices.Contains(known, m.Type) {
			code = CodeUnknown
		}
		return &Failure{code, fmt.Sprintf("the other end sent %.20q where %s was expected", m.Type, typ)}
	}
	if err := json.Unmarshal(m.Body, v); err != nil {
		return invalid("a %s message that cannot be read", typ)
	}
	return nil
}

// Expect reads the next message, which has to be of one type.
func Expect[T interface{ Check() error }](c *Conn, typ string, limit time.Duration) (T, error) {
	m, err := c.Receive(limit)
	if err != nil {
		var none T
		return none, err
	}
	return Body[T](m, typ)
}

var known = []string{
	TypeHello, TypeError, TypePorts, TypeNonce, TypePaired, TypeSelect, TypeSelected,
	TypeTask, TypeReady, TypeEndpoint, TypePrepared, TypeRound, TypeEnd, TypeWritten,
	TypeResults, TypeDone, TypeBye,
}

// Watch cancels the returned context when the other end goes away, while nothing
// is expected from it. stop ends the watch; what arrived meanwhile is kept.
func (c *Conn) Watch(ctx context.Context, limit time.Duration) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		cancel(fmt.Errorf("watch the other end: %w", err))
		return watched, func() {}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		if _, err := c.br.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			cancel(fmt.Errorf("the other end went away: %w", err))
		}
	}()
	return watched, func() {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // wakes the watch; every Receive sets its own
		<-over
		cancel(context.Canceled)
	}
}

// NewToken is a word that nobody else can guess.
func NewToken() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Text makes a text fit for a field of a message: what Check of the other end takes.
func Text(s string) string {
	s = clean(s)
	if len(s) > maxText {
		s = strings.TrimSpace(strings.ToValidUTF8(s[:maxText], "")) // a rune that was cut goes with it
	}
	return s
}

// clean makes a text of the other end one printable, bounded line.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText])
	}
	return strings.TrimSpace(s)
}
