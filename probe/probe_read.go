package probe

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"rdmaprobe/rdma"
)

// Bounds on what a provider may claim to have.
const (
	maxPorts = 255   // all that a port's number can tell
	maxGIDs  = 16384 // slots that are read
	maxKept  = 4096  // slots that a document shows: a message to the parent has an end
)

// probePort opens the device and reads its attributes and those of every port.
func probePort(s *session) {
	d := &Device{Name: s.device, Listed: true, Ports: []Port{}}
	if !s.openDevice() {
		s.skip(Precondition, "the device could not be opened", s.req.Port, "port.query", "port.state")
		return
	}
	defer s.closeDevice()
	s.queryPorts(d)
}

// queryPorts fills in the device's attributes and ports, with the rows
// port.query and port.state of each.
func (s *session) queryPorts(d *Device) {
	ports := s.queryDevice(d)
	s.tell(d)
	if ports == 0 {
		r := s.begin("port.query", 0, nil)
		r.o.Call = "ibv_query_device"
		r.unknown(Invalid, noPorts)
		s.skip(Invalid, noPorts, 0, "port.state")
	}
	for n := 1; n <= ports; n++ {
		if why, detail := s.noTimeFor(s.slowest); why != "" {
			s.skip(why, detail, n, "port.query", "port.state")
			return
		}
		s.queryPort(d, n)
	}
}

const noPorts = "the device says that it has no ports"

// queryDevice reads the device's attributes and says how many ports to query.
// A failure is told in the rows of port.query: the vocabulary has no id for it.
func (s *session) queryDevice(d *Device) int {
	s.begin("port.query", 1, nil)
	var a rdma.IbvDeviceAttr
	if _, err := rdma.IbvQueryDeviceAttr(s.ctx, &a); err != nil {
		s.noAttr = err.Error()
		return 1
	}
	d.Attr = deviceAttr(&a)
	d.NodeGUID = guidText(hostGUID(a.NodeGUID))
	s.guid = cmp.Or(s.guid, d.NodeGUID) // the first one is what the end is compared with
	return int(a.PhysPortCnt)
}

// queryPort reads one port, several times when that was asked for.
func (s *session) queryPort(d *Device, n int) {
	r := s.begin("port.query", n, nil)
	if s.noAttr != "" {
		r.o.Data = map[string]any{"query_device_error": s.noAttr}
	}
	var a rdma.IbvPortAttr
	if err := s.askPort(n, &a); err != nil {
		r.fail("ibv_query_port", err)
		s.skip(Precondition, "the port could not be queried", n, "port.state")
		return
	}
	p := port(n, &a)
	r.confirmed("ibv_query_port", Return{}, nil)
	s.tell(d, p)
	s.samplePort(n, &p)
	s.tell(d, p)
	d.Ports = append(d.Ports, p)
}

// askPort calls ibv_query_port, and remembers how long that can take.
func (s *session) askPort(n int, a *rdma.IbvPortAttr) error {
	began := time.Now()
	_, err := rdma.IbvQueryPortAttr(s.ctx, uint8(n), a)
	s.slowest = max(s.slowest, time.Since(began))
	return err
}

// samplePort is the row port.state. Answers that differ are not averaged: the
// state is then unknown. A provider that is slow is asked less often: a call that
// runs into the deadline would look like one that does not return.
func (s *session) samplePort(n int, p *Port) {
	r := s.begin("port.state", n, nil)
	samples := []string{p.State + "/" + p.PhysState}
	stable := true
	gap := time.Duration(s.req.SampleGap)
	for i := 1; i < s.req.Samples; i++ {
		if why, _ := s.noTimeFor(gap + s.slowest); why == Timeout {
			break
		}
		select {
		case <-s.child.Context().Done():
			r.unknown(s.ended())
			return
		case <-time.After(gap):
		}
		var a rdma.IbvPortAttr
		if err := s.askPort(n, &a); err != nil {
			r.fail("ibv_query_port", err)
			return
		}
		again := port(n, &a)
		again.GIDs = p.GIDs
		stable = stable && again.State == p.State
		samples = append(samples, again.State+"/"+again.PhysState)
		*p = again
	}
	if s.req.Samples > 1 {
		r.o.Data = map[string]any{"samples": samples}
	}
	r.o.Value = p.State
	if !stable {
		r.o.Call = "ibv_query_port"
		r.unknown(Unstable, fmt.Sprintf("the state changed between %d samples", len(samples)))
		return
	}
	r.confirmed("ibv_query_port", Return{}, p.State)
}

// probeGID reads the GID table of every port.
func probeGID(s *session) {
	ids := []string{"gid.usable", "gid.ipv4_mapped"}
	d := &Device{Name: s.device, Listed: true, Ports: []Port{}}
	if !s.openDevice() {
		s.skip(Precondition, "the device could not be opened", s.req.Port, ids...)
		return
	}
	defer s.closeDevice()
	ports := s.queryDevice(d)
	if ports == 0 {
		s.skip(Precondition, noPorts, 0, ids...)
	}
	for n := 1; n <= ports; n++ {
		s.begin("gid.usable", n, nil)
		var a rdma.IbvPortAttr
		if _, err := rdma.IbvQueryPortAttr(s.ctx, uint8(n), &a); err != nil {
			if errors.Is(err, rdma.ErrSymbolUnavailable) {
				s.lacks = "ibv_query_port"
			}
			s.skip(Precondition, "the port could not be queried", n, ids...)
			continue
		}
		p := port(n, &a)
		s.queryGIDs(&p, s.req.Addresses)
		s.tell(d, p)
	}
}

// queryGIDs reads the whole table of a port, with its rows: gaps can be of any
// length, and an empty slot reads as success with zeros.
func (s *session) queryGIDs(p *Port, addresses []string) {
	r := s.begin("gid.usable", p.Num, nil)
	t, why, detail := s.scanGIDs(p)
	switch {
	case why != "":
		r.unknown(why, fmt.Sprintf("%s after %d of %d entries", detail, t.read, t.entries))
		s.skip(why, detail, p.Num, "gid.ipv4_mapped")
		return
	case t.usable == 0 && t.err != nil:
		r.fail("ibv_query_gid", t.err)
		s.skip(Precondition, "the GID table could not be read", p.Num, "gid.ipv4_mapped")
		return
	}
	if p.GIDs == nil {
		p.GIDs = []GID{} // read, and empty
	}
	r.set("entries", t.entries)
	if t.usable > len(p.GIDs) {
		r.set("kept", len(p.GIDs))
		r.met(limitGIDs, int64(t.usable))
	}
	cut := int64(p.Attr.GIDTblLen) > t.entries
	if cut {
		r.set("claimed", p.Attr.GIDTblLen)
		r.met(limitGIDSlots, int64(p.Attr.GIDTblLen))
	}
	if g, why, ok := chooseGID(p.LinkLayer, p.GIDs, addresses); ok {
		r.set("index", g.Index)
		r.set("why", why)
	}
	if t.unread > 0 {
		r.set("unread", t.unread)
		r.set("unread_error", t.err.Error())
	}
	countGIDs(r, t.usable, cut)
	r = s.begin("gid.ipv4_mapped", p.Num, nil)
	if t.mapped == 0 && t.unread > 0 { // there may be one in what could not be read
		r.fail("ibv_query_gid", t.err)
		return
	}
	countGIDs(r, t.mapped, cut)
}

// gidCount is the level of a count. None in a table that was not read to its end is no
// zero: there may be one behind.
func gidCount(n int, cut bool) rdma.Capability {
	switch {
	case n > 0:
		return rdma.CapabilityConfirmed
	case cut:
		return rdma.CapabilityUnknown
	}
	return rdma.CapabilityObservedZero
}

// countGIDs finishes a row with a count.
func countGIDs(r *row, n int, cut bool) {
	if gidCount(n, cut) == rdma.CapabilityUnknown {
		r.o.Call = "ibv_query_gid"
		r.unknown(Interrupted, fmt.Sprintf("none among the first %d entries, and no more are read", maxGIDs))
		return
	}
	r.counted("ibv_query_gid", uint64(n))
}

// gidTable is what a scan of a port's GID table found.
type gidTable struct {
	entries              int64 // as claimed, within our bound
	read, usable, mapped int
	unread               int   // slots that could not be read
	err                  error // of the last of them
}

// scanGIDs reads a table into the port. It stops when the session has to.
func (s *session) scanGIDs(p *Port) (t gidTable, why Reason, detail string) {
	t.entries = min(int64(p.Attr.GIDTblLen), maxGIDs)
	for ; t.read < int(t.entries); t.read++ {
		if why, detail = s.ended(); why != "" {
			return t, why, detail
		}
		g, present, err := s.queryGID(p, t.read)
		switch {
		case errnoIs(err, "ENODATA"): // the kernel's word for an empty slot
		case err != nil:
			t.unread++
			t.err = err
		case present:
			t.add(p, g)
		}
	}
	return t, "", ""
}

// add counts a slot that is not empty, and keeps it while there is room.
func (t *gidTable) add(p *Port, g GID) {
	t.usable++
	if g.Class == "ipv4_mapped" {
		t.mapped++
	}
	if len(p.GIDs) < maxKept {
		p.GIDs = append(p.GIDs, g)
	}
}

// queryGID reads one slot. The extended query tells its type and interface; a
// library without it leaves both absent.
func (s *session) queryGID(p *Port, index int) (GID, bool, error) {
	var raw rdma.IbvGID
	if _, err := rdma.IbvQueryGidInto(s.ctx, uint8(p.Num), index, &raw); err != nil {
		return GID{}, false, err
	}
	if raw == (rdma.IbvGID{}) {
		return GID{}, false, nil
	}
	addr := netip.AddrFrom16(raw)
	g := GID{Index: index, GID: addr.String(), Class: gidClass(addr)}
	if p.LinkLayer == "thunderbolt" {
		g.Type = "none"
		return g, true, nil
	}
	if !s.lib.Has("_ibv_query_gid_ex") {
		return g, true, nil
	}
	var e rdma.IbvGIDEntry
	if _, err := rdma.IbvQueryGidEx(s.ctx, uint32(p.Num), uint32(index), &e); err == nil {
		g.Type = rdma.GIDTypeName(e.GIDType)
		if iface, err := net.InterfaceByIndex(int(e.NdevIfindex)); err == nil && s.req.Profile == nil {
			g.Netdev = iface.Name
		}
	}
	return g, true, nil
}
