//go:build !((darwin || linux) && (amd64 || arm64))

package sim

import (
	"errors"
	"runtime"

	"rdmaprobe/rdma"
)

// errNoSimulator is the answer of systems where Go cannot make C callbacks
// without cgo.
var errNoSimulator = errors.New("simulated providers do not run on " + runtime.GOOS + "/" + runtime.GOARCH)

// Provider is a simulated provider. There is none on this system.
type Provider struct{}

// Peer is the simulated other end of a port's wire. There is none on this system.
type Peer struct{}

// New fails on this system.
func New(*Profile, Options) (*Provider, error) { return nil, errNoSimulator }

// Profile is nil.
func (*Provider) Profile() *Profile { return nil }

// Library is a library without symbols.
func (*Provider) Library() *rdma.Library { return rdma.NewLibrary(rdma.LibraryConfig{}) }

// Close does nothing.
func (*Provider) Close() {}

// Peer fails on this system.
func (*Provider) Peer(string, int) (*Peer, error) { return nil, errNoSimulator }

// Endpoint fails on this system.
func (*Peer) Endpoint(int32) (Endpoint, error) { return Endpoint{}, errNoSimulator }

// Echo does nothing.
func (*Peer) Echo(bool) {}

// Answer does nothing.
func (*Peer) Answer(func([]byte)) {}

// Received is empty.
func (*Peer) Received() ([]byte, int) { return nil, 0 }

// Read fails on this system.
func (*Peer) Read(int, int) ([]byte, error) { return nil, errNoSimulator }
