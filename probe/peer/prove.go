package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Limits of the steps of a handshake. A peer on a cable answers within
// milliseconds; what takes longer is not there.
const (
	HelloLimit = 5 * time.Second
	StepLimit  = 10 * time.Second
	pairLimit  = 2 * time.Second
)

// DialFrom connects to an address so that nothing but the interface can carry it:
// bound to the address from and, where the system allows that, to the interface
// itself. A route that a VPN or a bridge has taken over then fails instead of
// leading elsewhere.
func DialFrom(ctx context.Context, iface string, from netip.Addr, to netip.AddrPort, limit time.Duration) (*net.TCPConn, error) {
	d := net.Dialer{
		Timeout: limit, Control: BindTo(iface),
		LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0)),
	}
	c, err := d.DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// Proof is a connection that passed both ways between two ports.
type Proof struct {
	Device string `json:"device"` // at the other end
	Num    int    `json:"port"`
	From   string `json:"from"`
	To     string `json:"to"`
}

// Pair connects from an interface to an address where a port of the other host
// may listen, and exchanges values both ways. The answer says which port it is.
func Pair(ctx context.Context, h Hello, iface string, from netip.Addr, to netip.AddrPort) (*Proof, error) {
	t, err := DialFrom(ctx, iface, from, to, pairLimit)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	c := NewConn(t, nil)
	h.Role = RolePair
	if err := c.Send(TypeHello, h, pairLimit); err != nil {
		return nil, err
	}
	mine := NewToken()
	if err := c.Send(TypeNonce, Nonce{Nonce: mine}, pairLimit); err != nil {
		return nil, err
	}
	p, err := Expect[Paired](c, TypePaired, pairLimit)
	if err != nil {
		return nil, err
	}
	if p.Echo != mine {
		return nil, errors.New("what came back is not what was sent: something answers in the other end's place")
	}
	if err := c.Send(TypeNonce, Nonce{Echo: p.Nonce.Nonce}, pairLimit); err != nil {
		return nil, err
	}
	if _, err := Expect[Nonce](c, TypeNonce, pairLimit); err != nil { // the server has it too
		return nil, err
	}
	return &Proof{p.Device, p.Num, t.LocalAddr().String(), t.RemoteAddr().String()}, nil
}

// AnswerPair is the server's side of Pair, after the hello: the port is the one
// whose interface the connection came in by. passed is called once values have
// gone both ways, and before the client knows: what it asks for next may depend
// on it.
func AnswerPair(c *Conn, device string, num int, passed func()) error {
	n, err := Expect[Nonce](c, TypeNonce, pairLimit)
	if err != nil {
		return err
	}
	mine := NewToken()
	if err := c.Send(TypePaired, Paired{Nonce{mine, n.Nonce}, device, num}, pairLimit); err != nil {
		return err
	}
	back, err := Expect[Nonce](c, TypeNonce, pairLimit)
	if err != nil {
		return err
	}
	if back.Echo != mine {
		return fmt.Errorf("pair with %s: another value came back", device)
	}
	passed()
	return c.Send(TypeNonce, Nonce{}, pairLimit)
}
