package probe

import (
	"fmt"
	"net/netip"
)

// sayHow tells where it listens, as far as it has not done so, and what the other
// host has to run.
func (s *server) sayHow() {
	addresses, first := s.untold()
	switch {
	case len(addresses) == 0:
	case s.profile != nil:
		s.say("listening on %v", addresses)
		if first {
			s.say("this end is simulated: it shows other hosts its ports, and does nothing with them")
		}
	case s.o.Handshake == remoteStock:
		tool := "ibv_" + s.o.Types[0] + "_pingpong"
		s.say("listening for %s on %v", tool, addresses)
		if first {
			s.say("on the other host: %s -g GID_INDEX -s %d -n %d ADDRESS", tool, s.o.Sizes[0], s.o.Iterations)
		}
	default:
		s.say("listening on %v", addresses)
		if lines := reachedBy(addresses); len(lines) > 0 {
			for _, l := range lines {
				s.say("%s", l)
			}
		} else if first {
			s.say("no other host reaches that: no RDMA port here has a link-local address yet;"+
				" --listen ADDRESS:%d --allow NETWORK adds one", s.port())
		}
	}
}

// untold are the addresses of listeners that were not spoken of yet; first tells
// that none was.
func (s *server) untold() (addresses []string, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = len(s.told) == 0
	for _, a := range sortedKeys(s.listeners) {
		if !s.told[a] {
			s.told[a] = true
			addresses = append(addresses, a)
		}
	}
	return addresses, first
}

// reachedBy are the lines for the other host: a command for each address that it can
// use, and what the words in capitals stand for. None for loopback.
func reachedBy(addresses []string) (lines []string) {
	zoned, any := false, false
	for _, a := range addresses {
		ap, err := netip.ParseAddrPort(a)
		if err != nil || ap.Addr().IsLoopback() {
			continue
		}
		target := ap.String()
		switch {
		case ap.Addr().Zone() != "":
			zoned, target = true, fmt.Sprintf("'[%s%%INTERFACE]:%d'", ap.Addr().WithZone(""), ap.Port())
		case ap.Addr().IsUnspecified():
			any, target = true, fmt.Sprintf("THIS_HOST:%d", ap.Port())
		}
		lines = append(lines, "on the other host: rdmaprobe probe --uc --pingpong --peer "+target)
	}
	if zoned {
		lines = append(lines, "INTERFACE is that host's own interface at the other end of the cable, such as en4")
	}
	if any {
		lines = append(lines, "THIS_HOST is a name or an address by which that host knows this one")
	}
	return lines
}
