package probe

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"rdmaprobe/probe/peer"
)

// Places at a server are few, and whoever connects may be anybody. Nobody loses
// one to a crowd: when all are taken, the newest gets that of the oldest of the
// address that has most of them, as long as it has not begun anything.

// addressBits is what counts as one address: IPv6 hosts have as many as they like
// of a network's.
const addressBits = 64

// addressOf is what a connection counts as.
func addressOf(c net.Conn) netip.Prefix {
	a := peer.AddrOf(c.RemoteAddr()).Unmap()
	if !a.IsValid() {
		return netip.Prefix{}
	}
	bits := min(addressBits, a.BitLen())
	p, err := a.Prefix(bits) // without its zone: every link counts as one
	if err != nil {
		return netip.PrefixFrom(a, a.BitLen())
	}
	return p
}

// newcomer is a connection that has not said what it is for, or is not done with
// that.
type newcomer struct {
	net.Conn
	address netip.Prefix
	known   bool // it has said hello
}

// newcomers are those that are here, the oldest first.
type newcomers struct {
	mu  sync.Mutex
	all []*newcomer
}

// admit gives a connection a place, that of another one if it must be; nil when
// there is none.
func (n *newcomers) admit(c net.Conn) *newcomer {
	n.mu.Lock()
	defer n.mu.Unlock()
	in := &newcomer{Conn: c, address: addressOf(c)}
	if len(n.all) >= maxStrangers {
		i := n.crowded(in.address)
		if i < 0 {
			return nil
		}
		n.all[i].Close()
		n.all = slices.Delete(n.all, i, i+1)
	}
	n.all = append(n.all, in)
	return in
}

// crowded is the oldest without a hello of the address that has most places, were
// there one more of the given address.
func (n *newcomers) crowded(address netip.Prefix) int {
	count := map[netip.Prefix]int{address: 1}
	for _, c := range n.all {
		count[c.address]++
	}
	most := -1
	for i, c := range n.all {
		if !c.known && (most < 0 || count[c.address] > count[n.all[most].address]) {
			most = i
		}
	}
	return most
}

// hello keeps a newcomer's place until it leaves.
func (n *newcomers) hello(c *newcomer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.known = true
}

// leave frees a newcomer's place.
func (n *newcomers) leave(c *newcomer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = slices.DeleteFunc(n.all, func(o *newcomer) bool { return o == c })
}

// errDisplaced ends a session that has lost its place.
var errDisplaced = errors.New("all places were taken and it had chosen no device: another client has its place")

// idleChoice is how long a client that has chosen no device keeps its place while
// it shows no sign of life and others of its address wait.
const idleChoice = peer.StepLimit

// admit gives a session a place, that of another one if it must be.
func (s *server) admit(ses *serveSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ses.address, ses.active = addressOf(ses.conn), time.Now()
	if len(s.sessions) >= s.o.Sessions {
		v := s.displaceable(ses.address)
		if v == nil {
			return false
		}
		v.displaced = true
		v.conn.Close()
		delete(s.sessions, v.token)
	}
	s.sessions[ses.token] = ses
	return true
}

// displaceable is the session that another one of the given address may have the
// place of: it has chosen no device yet, and it is one of several of an address
// that has more of them, or does nothing.
func (s *server) displaceable(address netip.Prefix) *serveSession {
	count := map[netip.Prefix]int{}
	for _, o := range s.sessions {
		count[o.address]++
	}
	var v *serveSession
	for _, o := range s.sessions {
		idle := time.Since(o.active) > idleChoice
		if o.chosen || !idle && count[o.address] <= count[address]+1 {
			continue
		}
		if v == nil || count[o.address] > count[v.address] || count[o.address] == count[v.address] && o.active.Before(v.active) {
			v = o
		}
	}
	return v
}

// leave frees a session's place.
func (s *server) leave(ses *serveSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, ses.token)
}

// choose makes a session's place its own until it leaves.
func (ses *serveSession) choose() error {
	ses.s.mu.Lock()
	defer ses.s.mu.Unlock()
	if ses.displaced {
		return errDisplaced
	}
	ses.chosen = true
	return nil
}

// lost tells whether a session has lost its place.
func (ses *serveSession) lost() bool {
	ses.s.mu.Lock()
	defer ses.s.mu.Unlock()
	return ses.displaced
}
