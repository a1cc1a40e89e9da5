package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"rdmaprobe/probe/peer"
)

// checkListen refuses an address that others than neighbours reach, unless it is
// said who of them may connect.
func (s *server) checkListen(a string) error {
	host, _, err := peer.SplitTarget(a, s.port())
	if err != nil {
		return usagef("--listen %v", err)
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return usagef("--listen %s: want ADDRESS:PORT", a)
	}
	if zone := peer.NoInterface(host); zone != "" {
		return usagef("--listen %s: there is no interface %s here", a, zone)
	}
	if !addr.IsLoopback() && !addr.IsLinkLocalUnicast() && !s.allow.Wide() {
		return usagef("--listen %s: hosts beyond the cable can reach it; say with --allow NETWORK which of them may connect", a)
	}
	return nil
}

// port is the default one.
func (s *server) port() int {
	if s.o.Handshake == remoteStock {
		return peer.StockPort
	}
	return peer.DefaultPort
}

// listenAll opens every listener. One named by --listen has to come up, of the
// others at least one.
func (s *server) listenAll() error {
	for _, a := range s.o.Listen {
		host, num, err := peer.SplitTarget(a, s.port())
		if err != nil {
			return err
		}
		if err := s.listen(net.JoinHostPort(host, strconv.Itoa(num))); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
	}
	var first error
	for _, host := range []string{"127.0.0.1", "::1"} {
		if err := s.listen(net.JoinHostPort(host, strconv.Itoa(s.port()))); err != nil {
			s.say("not listening there: %v", err)
			first = cmp.Or(first, fmt.Errorf("listen: %w", err))
		}
	}
	s.listenOnLinks()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listeners) == 0 {
		return first
	}
	return nil
}

// listenOnLinks listens on the link-local addresses of the RDMA ports that it
// does not listen on yet: they come and go with the cables.
func (s *server) listenOnLinks() {
	if s.profile != nil {
		return // its interfaces are not this machine's
	}
	for _, d := range s.offered() {
		netdev := s.netdevOf(d)
		if netdev == "" {
			continue
		}
		for _, a := range peer.LinkLocal(netdev) {
			_ = s.listen(netip.AddrPortFrom(a, uint16(s.port())).String()) // tried again at the next look
		}
	}
}

// listen opens one listener and takes its connections, unless they are taken there.
func (s *server) listen(address string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken(address) || s.ctx.Err() != nil {
		return nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s.listeners[address] = l
	s.handlers.Go(func() { s.accept(address, l) })
	return nil
}

// taken tells whether connections to an address are taken already, by a listener of
// its own or by one on every address. Its caller holds the lock.
func (s *server) taken(address string) bool {
	if s.listeners[address] != nil {
		return true
	}
	want, err := netip.ParseAddrPort(address)
	if err != nil {
		return false
	}
	for _, l := range s.listeners {
		at, err := netip.ParseAddrPort(l.Addr().String())
		if err == nil && at.Addr().IsUnspecified() && at.Port() == want.Port() && (at.Addr().Is6() || want.Addr().Unmap().Is4()) {
			return true
		}
	}
	return false
}

// accept takes connections until the listener closes.
func (s *server) accept(address string, l net.Listener) {
	defer func() {
		s.mu.Lock()
		delete(s.listeners, address)
		s.mu.Unlock()
		l.Close()
	}()
	for s.ctx.Err() == nil {
		c, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptErrorBackoff) // out of descriptors, or a connection that was reset
			continue
		}
		if n := s.strangers.admit(c); n != nil {
			s.handlers.Go(func() { s.meet(n) })
		} else {
			c.Close() // a flood: whoever means it comes again
		}
	}
}
