//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"bytes"
	"fmt"
	"syscall"
	"unsafe"
)

// regionSize is what remote writes at the other end may reach: the largest
// message of TN3205 fits.
const regionSize = 16 << 20

type peerKey struct {
	device string
	port   int
}

// Peer is the simulated other end of a port's wire. It has a queue pair of each
// type, always ready: what arrives is taken, whoever sent it, and comes straight
// back to the sender byte for byte. It also has a region for remote writes.
type Peer struct {
	p      *Provider
	dev    *device
	port   *port
	qps    map[int32]*peerQP
	silent bool
	answer func(m []byte)
	region []byte
	rkey   uint32
	last   []byte
	count  int
}

// peerQP is a queue pair of the other end.
type peerQP struct {
	peer   *Peer
	qpType int32
	num    uint32
}

// Peer is the other end of the wire at a port. It is the same one at each call.
func (p *Provider) Peer(deviceName string, portNum int) (*Peer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := peerKey{deviceName, portNum}
	if e := p.peers[key]; e != nil {
		return e, nil
	}
	for _, d := range p.devices {
		if q := d.port(portNum); d.facts.Name == deviceName && q != nil && !p.closed {
			return p.addPeer(key, d, q)
		}
	}
	return nil, fmt.Errorf("simulated peer of %q port %d: no such port in profile %s", deviceName, portNum, p.profile.ID)
}

// addPeer makes the other end. p.mu is held.
func (p *Provider) addPeer(key peerKey, d *device, q *port) (*Peer, error) {
	region, err := syscall.Mmap(-1, 0, regionSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("simulated peer of %q: map its region: %w", key.device, err)
	}
	e := &Peer{p: p, dev: d, port: q, region: region, qps: map[int32]*peerQP{}}
	if !d.thunderbolt() {
		p.key += 0x100
		e.rkey = p.key
	}
	if f := p.profile.Peer; f != nil && f.RKey != nil {
		e.rkey = uint32(f.RKey.bits)
	}
	for _, t := range []int32{qptRC, qptUC, qptUD} {
		p.peerQPN++
		e.qps[t] = &peerQP{peer: e, qpType: t, num: p.peerQPN}
		p.peerQPs[p.peerQPN] = e.qps[t]
	}
	p.peers[key] = e
	return e, nil
}

func (e *Peer) unmap() {
	syscall.Munmap(e.region)
	e.region = nil
}

// peerPSN is the sequence number of the other end's queue pairs.
const peerPSN = 0x5150

// Endpoint describes the other end's queue pair of a type (IBV_QPT_RC, UC or UD).
func (e *Peer) Endpoint(qpType int32) (Endpoint, error) {
	q := e.qps[qpType]
	if q == nil {
		return Endpoint{}, fmt.Errorf("simulated peer of %q: no queue pair of type %d", e.dev.facts.Name, qpType)
	}
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	if len(e.region) == 0 {
		return Endpoint{}, fmt.Errorf("simulated peer of %q: its provider is closed", e.dev.facts.Name)
	}
	end := Endpoint{
		Device: e.dev.facts.Name, LinkLayer: e.port.facts.LinkLayer, LID: e.port.facts.LID, QPN: q.num, PSN: peerPSN,
		GIDs: e.gids(), ActiveMTU: e.mtu(), Addr: uint64(uintptr(unsafe.Pointer(&e.region[0]))), Length: regionSize, RKey: e.rkey,
	}
	if f := e.p.profile.Peer; f != nil && f.Device != "" {
		end.Device = f.Device
	}
	return end, nil
}

// gids is the other end's GID table: the profile's, or the same as here.
func (e *Peer) gids() []GIDSlot {
	if f := e.p.profile.Peer; f != nil && f.GIDs != nil {
		return append([]GIDSlot(nil), f.GIDs...)
	}
	return append([]GIDSlot(nil), e.port.facts.GIDs...)
}

func (e *Peer) mtu() MTU {
	if f := e.p.profile.Peer; f != nil && f.ActiveMTU != nil {
		return *f.ActiveMTU
	}
	return e.port.facts.ActiveMTU
}

// Echo says whether what arrives comes back; it does from the start.
func (e *Peer) Echo(on bool) {
	e.p.mu.Lock()
	e.silent = !on
	e.p.mu.Unlock()
}

// Answer has f change each message before it comes back; nil lets it come back as
// it is, which it does from the start. f is called while the provider is locked.
func (e *Peer) Answer(f func(m []byte)) {
	e.p.mu.Lock()
	e.answer = f
	e.p.mu.Unlock()
}

// Received is a copy of the last message that arrived, and how many did.
func (e *Peer) Received() (last []byte, count int) {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	return append([]byte(nil), e.last...), e.count
}

// Read copies n bytes at offset out of the region that remote writes reach.
func (e *Peer) Read(offset, n int) ([]byte, error) {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	if offset < 0 || n < 0 || offset > len(e.region) || n > len(e.region)-offset {
		return nil, fmt.Errorf("simulated peer of %q: read %d bytes at %d of %d", e.dev.facts.Name, n, offset, len(e.region))
	}
	return append([]byte(nil), e.region[offset:offset+n]...), nil
}

// receive takes a message from q. p.mu is held.
func (t *peerQP) receive(q *queuePair, m *message) {
	e := t.peer
	reached := t.qpType == q.qpType && e.dev == q.dev() && e.port.facts.Num == int(q.attr.PortNum) && q.reaches(e.gids(), e.port.facts.LID, e.mtu())
	switch {
	case !reached:
		q.stall(m)
		return
	case m.opcode == opWrite:
		m.done(e.takeWrite(m))
		return
	}
	e.last = append(e.last[:0], m.data...)
	e.count++
	m.done(wcSuccess)
	// A reliable queue pair drops what does not carry the number it expects; an
	// unreliable one starts with whatever comes.
	if e.silent || q.qpType == qptRC && q.attr.RQPSN != peerPSN {
		return
	}
	back := m.data
	if e.answer != nil {
		back = bytes.Clone(back)
		e.answer(back)
	}
	q.arrive(&message{srcQPN: t.num, opcode: m.opcode, imm: m.imm, solicited: m.solicited, data: back})
}

// takeWrite plays a remote write into the region. p.mu is held.
func (e *Peer) takeWrite(m *message) int32 {
	base, n := uint64(uintptr(unsafe.Pointer(&e.region[0]))), uint64(len(m.data))
	if m.rkey == 0 || m.rkey != e.rkey || m.remote < base || n > regionSize || m.remote-base > regionSize-n {
		return wcRemAccess
	}
	copy(e.region[m.remote-base:], m.data)
	return wcSuccess
}
