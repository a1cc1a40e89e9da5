//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/internal/abi"
)

// Provider is a simulated provider: the objects of one profile.
type Provider struct {
	profile *Profile
	options Options
	slot    int
	devices []*device

	mu      sync.Mutex // guards what follows, and all objects and counters of this provider
	acked   *sync.Cond // an event was acknowledged
	qps     map[uint32]*queuePair
	peers   map[peerKey]*Peer
	peerQPs map[uint32]*peerQP
	handles uint32 // the last one given
	qpn     uint32
	peerQPN uint32
	key     uint32
	closed  bool

	enodata, etimedout int32
}

// New makes a provider. It fails when the process has no more room for
// callbacks: Close gives back what a provider took.
func New(p *Profile, o Options) (*Provider, error) {
	if p == nil || p.Version != 1 {
		return nil, errors.New("new simulated provider: the profile does not come from Parse")
	}
	s := &Provider{
		profile: p, options: o, qps: map[uint32]*queuePair{}, peers: map[peerKey]*Peer{}, peerQPs: map[uint32]*peerQP{},
		qpn: 0x10, peerQPN: 0x8000, key: 1,
	}
	s.acked = sync.NewCond(&s.mu)
	for name, number := range map[string]*int32{"ENODATA": &s.enodata, "ETIMEDOUT": &s.etimedout} {
		n, ok := rdma.ErrnoNumberOn(p.platform, name)
		if !ok {
			return nil, fmt.Errorf("new simulated provider: %s has no number on %s", name, p.platform)
		}
		*number = int32(n)
	}
	for i := range p.Devices {
		d := newDevice(s, &p.Devices[i], i)
		if d == nil {
			return nil, errors.New("new simulated provider: no memory")
		}
		s.devices = append(s.devices, d)
	}
	slot, err := listSlots.take(s)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.slot = slot
	return s, nil
}

// Profile is what New was given.
func (p *Provider) Profile() *Profile { return p.profile }

// Library is the provider's symbol table, for rdma.Use. Symbols that the profile
// calls missing are not in it, and a Mac has no _ibv_query_gid_ex: no public
// report has seen that one on Apple's library.
func (p *Provider) Library() *rdma.Library {
	symbols := maps.Clone(callbacks().symbols)
	symbols[verbRows[verbGetDeviceList].name] = listSlots.address(p.slot)
	if name := verbRows[verbQueryGIDEx].name; p.profile.platform == rdma.PlatformDarwin && !slices.Contains(p.profile.Library.ExtraSymbols, name) {
		delete(symbols, name)
	}
	for _, name := range p.profile.Library.MissingSymbols {
		delete(symbols, name)
	}
	return rdma.NewLibrary(rdma.LibraryConfig{
		Path: "sim:" + p.profile.ID, Platform: p.profile.platform, Symbols: symbols,
		ErrnoLocation: callbacks().errnoLocation, CallsBack: true, ID: p.profile.Library.ID,
	})
}

// Close forgets every object of the provider; its handles are stale from then
// on. A process that ends need not call it.
func (p *Provider) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.acked.Broadcast()
	listSlots.give(p)
	lists.removeOf(func(l *deviceList) bool { return l.p == p }, func(h *deviceListHead, l *deviceList) { release(unsafe.Pointer(h), l.size) })
	qps.removeOf(func(o *queuePair) bool { return o.p == p }, func(h *abi.QP, _ *queuePair) { freeObject(h) })
	cqs.removeOf(func(o *completionQueue) bool { return o.p == p }, func(h *abi.CQ, _ *completionQueue) { freeObject(h) })
	regions.removeOf(func(o *region) bool { return o.p == p }, func(h *abi.MR, _ *region) { freeObject(h) })
	domains.removeOf(func(o *domain) bool { return o.p == p }, func(h *abi.PD, _ *domain) { freeObject(h) })
	channels.removeOf(func(o *channel) bool { return o.p == p }, func(h *abi.CompChannel, c *channel) { c.closePipe(); freeObject(h) })
	contexts.removeOf(func(o *deviceContext) bool { return o.p == p }, func(h *abi.Context, _ *deviceContext) { freeObject(h) })
	devices.removeOf(func(o *device) bool { return o.p == p }, func(h *abi.Device, _ *device) { freeObject(h) })
	for _, peer := range p.peers {
		peer.unmap()
	}
	p.peers, p.peerQPs, p.qps = map[peerKey]*Peer{}, map[uint32]*peerQP{}, map[uint32]*queuePair{}
}

// nextHandle numbers kernel objects. p.mu is held.
func (p *Provider) nextHandle() uint32 { p.handles++; return p.handles }

// maxSlots bounds how many providers live at once: callbacks are 2000 for a
// process, and never released.
const maxSlots = 1000

// slots hands out callbacks for ibv_get_device_list, the one verb that has no
// handle to find its provider by.
type slots struct {
	mu     sync.Mutex
	owners []*Provider
	addrs  []uintptr
}

var listSlots slots

func (s *slots) take(p *Provider) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, owner := range s.owners {
		if owner == nil {
			s.owners[i] = p
			return i, nil
		}
	}
	i := len(s.owners)
	if i >= maxSlots {
		return 0, fmt.Errorf("new simulated provider: %d are open already", maxSlots)
	}
	s.owners = append(s.owners, p)
	s.addrs = append(s.addrs, purego.NewCallback(func(n *int32) unsafe.Pointer { return s.owner(i).listDevices(n) }))
	return i, nil
}

func (s *slots) owner(i int) *Provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[i]
}

func (s *slots) address(i int) uintptr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addrs[i]
}

func (s *slots) give(p *Provider) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.slot < len(s.owners) && s.owners[p.slot] == p {
		s.owners[p.slot] = nil
	}
}
