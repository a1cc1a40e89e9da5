package probe

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"rdmaprobe/probe/peer"
)

type pairedPort struct {
	device string
	num    int
}

// pair answers on a connection that came in over one of the ports.
func (s *server) pair(c *peer.Conn, h peer.Hello) {
	s.mu.Lock()
	ses := s.sessions[h.Token]
	if ses != nil {
		ses.active = time.Now()
	}
	s.mu.Unlock()
	netdev := peer.InterfaceOf(peer.AddrOf(c.LocalAddr()))
	i := slices.IndexFunc(s.offered(), func(d Device) bool { return netdev != "" && s.netdevOf(d) == netdev })
	if ses == nil || i < 0 {
		c.Fail(peer.CodeInvalid, "no session of that token, or no port at this address")
		return
	}
	p := pairedPort{s.offered()[i].Name, s.portOf(s.offered()[i])}
	if err := peer.AnswerPair(c, p.device, p.num, func() { ses.paired.Store(&p) }); err != nil {
		s.complain("pairing with %v: %v", c.RemoteAddr(), err)
	}
}

// portOf is the port of a device that sessions get.
func (s *server) portOf(d Device) int {
	if s.o.Port > 0 {
		return s.o.Port
	}
	return activePort(d.Ports)
}

// netdevOf is the interface of that port, "" when none is known.
func (s *server) netdevOf(d Device) string {
	return netdevOfPort(s.facts, &d, &Port{Num: s.portOf(d)})
}

// announced are the ports on offer.
func (s *server) announced() []peer.Port {
	var ports []peer.Port
	for _, d := range s.offered() {
		if peer.Text(d.Name) != d.Name {
			continue // no message can name it, and the whole list would be refused
		}
		dr := s.newDeviceRun(d)
		p := dr.announce(d)
		if netdev := dr.netdev(); netdev != "" {
			for _, a := range peer.LinkLocal(netdev) {
				if len(p.Addresses) < 16 && s.listening(a) {
					p.Addresses = append(p.Addresses, netip.AddrPortFrom(a.WithZone(""), uint16(s.port())).String())
				}
			}
		}
		ports = append(ports, p)
	}
	return ports
}

func (s *server) listening(a netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken(netip.AddrPortFrom(a, uint16(s.port())).String())
}

// proofListener listens, for this session alone, on the address that the port's
// GID stands for: the client connects from the address that its own stands for.
func (ses *serveSession) proofListener(dr *deviceRun, gid string) string {
	own, err := netip.ParseAddr(gid)
	theirs, terr := netip.ParseAddr(ses.mine.GID)
	if err != nil || terr != nil || !own.Is4In6() || !theirs.Is4In6() {
		return ""
	}
	l, err := net.Listen("tcp", netip.AddrPortFrom(own.Unmap(), 0).String())
	if err != nil {
		return ""
	}
	ses.wantID = true
	s := ses.s
	s.handlers.Go(func() {
		defer l.Close()
		stop := context.AfterFunc(s.ctx, func() { l.Close() })
		defer stop()
		_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(peer.StepLimit))
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		pc := peer.NewConn(c, nil)
		h, err := peer.Expect[peer.Hello](pc, peer.TypeHello, peer.HelloLimit)
		if err != nil || h.Token != ses.token || peer.AddrOf(c.RemoteAddr()).Unmap() != theirs.Unmap() {
			pc.Fail(peer.CodeRefused, "this address is for the session's own port")
			return
		}
		if err := peer.AnswerPair(pc, dr.name, dr.port(), func() { ses.gid.Store(true) }); err != nil {
			s.say("the path to %v: %v", c.RemoteAddr(), err)
		}
	})
	return l.Addr().String()
}

// proof is what this end has seen of the path.
func (ses *serveSession) proof(dr *deviceRun) map[string]any {
	p := ses.paired.Load()
	link := p != nil && p.device == dr.name
	m := map[string]any{"link_local": link, "proven": link && (ses.gid.Load() || !ses.wantID)}
	if ses.wantID {
		m["gid"] = ses.gid.Load()
	}
	return m
}
