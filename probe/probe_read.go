package probe

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"rdmaprobe/rdma"
)

// Bounds on what a provider may claim to have.
const (
	maxPorts = 32
	maxGIDs  = 16384
)

// probePort opens the device and reads its attributes and those of every port.
func probePort(s *session) {
	d := &Device{Name: s.device, Listed: true, Ports: []Port{}}
	if !s.openDevice() {
		s.skip(Precondition, "the device could not be opened", s.req.Port, "port.query", "port.state")
		return
	}
	defer func() { _ = s.closeDevice() }()
	s.queryPorts(d)
	_ = s.child.Send(msgDevice, d)
}

// queryPorts fills in the device's attributes and ports, with the rows
// port.query and port.state of each.
func (s *session) queryPorts(d *Device) {
	ports := s.queryDevice(d)
	if ports == 0 {
		s.skip(Invalid, "the device says that it has no ports", 0, "port.query", "port.state")
	}
	for n := 1; n <= ports; n++ {
		if why, detail := s.ended(); why != "" {
			s.skip(why, detail, n, "port.query", "port.state")
			return
		}
		s.queryPort(d, n)
	}
}

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
	return min(int(a.PhysPortCnt), maxPorts)
}

// queryPort reads one port, several times when that was asked for.
func (s *session) queryPort(d *Device, n int) {
	r := s.begin("port.query", n, nil)
	if s.noAttr != "" {
		r.o.Data = map[string]any{"query_device_error": s.noAttr}
	}
	var a rdma.IbvPortAttr
	if _, err := rdma.IbvQueryPortAttr(s.ctx, uint8(n), &a); err != nil {
		r.fail("ibv_query_port", err)
		s.skip(Precondition, "the port could not be queried", n, "port.state")
		delete(s.failed, "port.query") // another port's answer is its own
		delete(s.failed, "port.state")
		return
	}
	p := port(n, &a)
	r.confirmed("ibv_query_port", Return{}, nil)
	s.samplePort(n, &p)
	d.Ports = append(d.Ports, p)
}

// samplePort is the row port.state. Answers that differ are not averaged: the
// state is then unknown.
func (s *session) samplePort(n int, p *Port) {
	r := s.begin("port.state", n, nil)
	samples := []string{p.State + "/" + p.PhysState}
	stable := true
	for i := 1; i < s.req.Samples; i++ {
		select {
		case <-s.child.Context().Done():
			r.unknown(s.ended())
			return
		case <-time.After(time.Duration(s.req.SampleGap)):
		}
		var a rdma.IbvPortAttr
		if _, err := rdma.IbvQueryPortAttr(s.ctx, uint8(n), &a); err != nil {
			r.fail("ibv_query_port", err)
			return
		}
		again := port(n, &a)
		again.GIDs = p.GIDs
		stable = stable && again.State == p.State
		samples = append(samples, again.State+"/"+again.PhysState)
		*p = again
	}
	if len(samples) > 1 {
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
	defer func() { _ = s.closeDevice() }()
	ports := s.queryDevice(d)
	for n := 1; n <= ports; n++ {
		s.begin("gid.usable", n, nil)
		var a rdma.IbvPortAttr
		if _, err := rdma.IbvQueryPortAttr(s.ctx, uint8(n), &a); err != nil {
			s.skip(Precondition, "the port could not be queried", n, ids...)
			continue
		}
		p := port(n, &a)
		s.queryGIDs(&p, s.req.Addresses)
		d.Ports = append(d.Ports, p)
	}
	_ = s.child.Send(msgDevice, d)
}

// queryGIDs reads the whole table of a port: gaps can be of any length, and an
// empty slot reads as success with zeros.
func (s *session) queryGIDs(p *Port, addresses []string) {
	r := s.begin("gid.usable", p.Num, nil)
	entries, mapped := min(int64(p.Attr.GIDTblLen), maxGIDs), 0
	var last error
	for i := range int(entries) {
		if why, detail := s.ended(); why != "" {
			r.unknown(why, fmt.Sprintf("%s after %d of %d entries", detail, i, entries))
			s.skip(why, detail, p.Num, "gid.ipv4_mapped")
			return
		}
		g, present, err := s.queryGID(p, i)
		if err != nil {
			last = err
		}
		if !present {
			continue
		}
		if g.Class == "ipv4_mapped" {
			mapped++
		}
		p.GIDs = append(p.GIDs, g)
	}
	if last != nil && len(p.GIDs) == 0 {
		r.fail("ibv_query_gid", last)
		s.skip(Precondition, "the GID table could not be read", p.Num, "gid.ipv4_mapped")
		return
	}
	r.o.Data = map[string]any{"entries": entries}
	if int64(p.Attr.GIDTblLen) > maxGIDs {
		r.o.Data["claimed"] = p.Attr.GIDTblLen
	}
	if g, why, ok := chooseGID(p.LinkLayer, p.GIDs, addresses); ok {
		r.o.Data["index"], r.o.Data["why"] = g.Index, why
	}
	r.counted("ibv_query_gid", uint64(len(p.GIDs)))
	s.begin("gid.ipv4_mapped", p.Num, nil).counted("ibv_query_gid", uint64(mapped))
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
