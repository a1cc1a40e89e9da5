package probe

import (
	"cmp"
	"fmt"
	"time"

	"rdmaprobe/rdma"
)

// sideChannel is how two ends of a connection would exchange their addresses.
// A simulated machine's is what its profile says; absent, it works.
type sideChannel struct {
	facts *ControlFacts
	why   string // a failure without a number; "" when it came up
}

// notDialled says what became of --peer in a simulation.
func (r *run) notDialled() {
	switch {
	case r.profile == nil || r.opts.Peer == "":
	case r.profile.ControlChannel != nil:
		r.note("--peer " + printable(r.opts.Peer) + ": answered as the profile says; nothing was dialled")
	default:
		r.note("--peer " + printable(r.opts.Peer) + ": not checked: the simulated provider has its own peer; nothing was dialled")
	}
}

// simulatedChannel is the side channel of a profile, nil when nothing asks for
// one.
func (r *run) simulatedChannel() *sideChannel {
	if r.profile == nil || r.profile.ControlChannel == nil {
		return nil
	}
	c := r.profile.ControlChannel
	f := &ControlFacts{
		Peer: c.Peer, PeerName: cmp.Or(r.opts.Peer, c.Peer), Local: c.Local, Interface: c.Interface,
		Elapsed: time.Duration(c.ElapsedMS) * time.Millisecond, OtherProgramConnects: &c.OtherProgramConnects,
	}
	if n := c.Number(); n != 0 {
		p := r.profile.Platform()
		f.Errno = &Errno{Number: n, Name: rdma.ErrnoNameOn(p, n), Platform: p}
	}
	return &sideChannel{facts: f}
}

// failedRow is a data row whose side channel did not come up: the peer's address
// is not known, and nothing was tried.
func (c *sideChannel) failedRow(o Observation) Observation {
	o.Level, o.Reason, o.Errno, o.Call = rdma.CapabilityUnknown, Unreachable, c.facts.Errno, "connect"
	o.Detail = fmt.Sprintf("the side channel to %s failed after %v", cmp.Or(c.facts.PeerName, "the peer"), c.facts.Elapsed.Round(time.Millisecond))
	switch {
	case c.why != "":
		o.Detail += ": " + printable(c.why)
	case c.facts.Errno != nil:
		o.Detail += " with " + c.facts.Errno.Name
	}
	o.DurationNS = c.facts.Elapsed.Nanoseconds()
	return o
}

// simulatedPeers is what the simulated other ends announce.
func (r *run) simulatedPeers() []PeerFacts {
	if r.profile == nil || r.profile.Peer == nil {
		return nil
	}
	f := PeerFacts{OS: r.facts.OS, Host: r.profile.Peer.Device}
	if m := r.profile.Peer.ActiveMTU; m != nil {
		f.ActiveMTU = m.Bytes()
	}
	f.GIDs = simulatedGIDs(r.profile.Peer.GIDs)
	if g, _, ok := chooseGID("ethernet", f.GIDs, nil); ok && len(r.doc.Devices) > 0 {
		f.GIDIndex = &g.Index
	}
	return []PeerFacts{f}
}
