package probe

import (
	"cmp"
	"fmt"
	"net/netip"
	"sync"

	"rdmaprobe/probe/peer"
)

// choosePort finds the port at the other end of this device's cable. With one
// port on offer there is nothing to find, and still a path to prove.
func (dr *deviceRun) choosePort(l *link) (why string) {
	own := dr.portEntry(dr.device())
	var fit []peer.Port
	for _, p := range l.ports.Ports {
		if own != nil && (p.LinkLayer == "" || own.LinkLayer == "" || p.LinkLayer == own.LinkLayer) {
			fit = append(fit, p)
		}
	}
	if len(fit) == 0 {
		return "the other host offers no port of this kind: it has " + count(len(l.ports.Ports), "port")
	}
	l.port = fit[0]
	proof, tried := dr.pair(l, fit)
	if proof != nil {
		for _, p := range fit {
			if p.Device == proof.Device && p.Num == proof.Num {
				l.port, l.proof = p, map[string]any{"link_local": true, "from": proof.From, "to": proof.To}
				return ""
			}
		}
		tried = fmt.Sprintf("the port that answered, %s port %d, is not on the list", proof.Device, proof.Num)
	}
	l.proof = map[string]any{"link_local": false, "why": tried}
	if len(fit) > 1 && !dr.tb {
		dr.note(fmt.Sprintf("the other host has %d ports, and none could be paired with %s (%s): its %s was taken; serve -d names another", len(fit), dr.name, tried, l.port.Device))
	}
	return ""
}

// pair tries every address of every port side by side; the first in their order
// that answers is the other end.
func (dr *deviceRun) pair(l *link, ports []peer.Port) (*peer.Proof, string) {
	netdev := dr.netdev()
	if netdev == "" {
		return nil, fmt.Sprintf("no network interface of %s port %d is known", dr.name, dr.port())
	}
	own := peer.LinkLocal(netdev)
	if len(own) == 0 {
		return nil, netdev + " has no link-local address"
	}
	tries := pairTries(netdev, own, ports)
	var wg sync.WaitGroup
	h := dr.hello(peer.RolePair, l.theirs.Token)
	for _, t := range tries {
		wg.Go(func() { t.proof, t.err = peer.Pair(dr.ctx, h, netdev, t.from, t.to) })
	}
	wg.Wait()
	why := "the other host announced no address that " + netdev + " could reach"
	for _, t := range tries {
		if t.err == nil {
			return t.proof, ""
		}
		why = printable(t.err.Error())
	}
	return nil, why
}

// pairTry is one way by which a port at the other end may be reached.
type pairTry struct {
	from  netip.Addr
	to    netip.AddrPort
	proof *peer.Proof
	err   error
}

// pairTries are the ways from the own addresses of an interface to the ports. Their
// addresses are the peer's word: only what a cable reaches is dialled, and not more
// than a machine can have.
func pairTries(netdev string, own []netip.Addr, ports []peer.Port) []*pairTry {
	var tries []*pairTry
	for _, p := range ports {
		for _, a := range p.Addresses {
			to, err := netip.ParseAddrPort(a)
			if err != nil || !to.Addr().IsLinkLocalUnicast() || len(tries) >= maxTries {
				continue
			}
			for _, from := range own {
				if from.Is4() != to.Addr().Is4() || from.WithZone("") == to.Addr() {
					continue
				}
				if to.Addr().Is6() {
					to = netip.AddrPortFrom(to.Addr().WithZone(netdev), to.Port())
				}
				tries = append(tries, &pairTry{from: from, to: to})
			}
		}
	}
	return tries
}

// maxTries bounds the addresses that are dialled at once to find a cable's end.
const maxTries = 64

// selectPort tells the other end which port it is, and what this one is like; the
// path between the two GIDs is then proven where they are IP addresses.
func (dr *deviceRun) selectPort(l *link) error {
	own := dr.announce(dr.device())
	if err := l.conn.Send(peer.TypeSelect, peer.Select{Device: l.port.Device, Num: l.port.Num, Mine: own}, peer.StepLimit); err != nil {
		return err
	}
	got, err := peer.Expect[peer.Selected](l.conn, peer.TypeSelected, selectLimit)
	if err != nil {
		return err
	}
	l.port = got.Port
	gid, _ := netip.ParseAddr(own.GID)
	if !gid.Is4In6() || len(l.port.Proof) == 0 {
		return nil
	}
	to, err := netip.ParseAddrPort(l.port.Proof[0])
	if err != nil {
		return err
	}
	l.proof["gid"] = true
	if _, err := peer.Pair(dr.ctx, dr.hello(peer.RolePair, l.theirs.Token), own.Netdev, gid.Unmap(), to); err != nil {
		l.proof["gid"], l.proof["why"] = false, printable(err.Error())
	}
	return nil
}

// judgeProof decides what a path that is not proven means: on Thunderbolt that
// nothing is connected, since a failed transition cannot be tried again there.
func (dr *deviceRun) judgeProof(l *link, f *ControlFacts) {
	proven := l.proof["link_local"] == true && l.proof["gid"] != false
	l.proof["proven"] = proven
	if n := dr.netdev(); n != "" {
		dr.mu.Lock()
		f.BoundInterface, f.BoundConnects = n, &proven
		dr.mu.Unlock()
	}
	if proven || !dr.tb {
		return
	}
	why, _ := l.proof["why"].(string)
	missing := fmt.Sprintf("a proven path to %s of the other host (%s)", l.port.Device, cmp.Or(why, "not tried"))
	l.refused, l.data = "needs "+missing, preflight{missing: []string{missing}}.data()
}

// announce is a device's port as the other end has to know it.
func (dr *deviceRun) announce(d Device) peer.Port {
	p := peer.Port{Device: peer.Text(d.Name), Num: dr.port(), GIDIndex: -1, Netdev: peer.Text(dr.netdev())}
	own := dr.portEntry(d)
	if own == nil {
		return p
	}
	f := dr.preflightOf()
	p.LinkLayer, p.State, p.MTU, p.GIDIndex, p.GID = own.LinkLayer, own.State, own.ActiveMTU, f.gidIndex, f.gid
	if own.LID != nil {
		p.LID = *own.LID
	}
	for _, g := range own.GIDs {
		if g.Index == f.gidIndex {
			p.GIDType = g.Type
		}
	}
	return p
}
