package probe

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// list loads the library and names the devices, opening none. The rows are the
// host's: lib.load, lib.symbols, dev.enumerate.
func (s *session) list(load func() (*rdma.Library, error)) (*rdma.DeviceList, []rdma.Device) {
	lib, ok := s.load(load)
	if !ok {
		return nil, nil
	}
	s.symbols(lib)
	r := s.begin("dev.enumerate", 0, nil)
	l, err := rdma.OpenDeviceList()
	if err != nil {
		r.fail("ibv_get_device_list", err)
		return nil, nil
	}
	devices, left := named(l.Devices())
	for _, d := range devices {
		s.say(msgListed, describeListed(d))
	}
	left.tell(r)
	if claimed, read := l.Counts(); claimed != read {
		r.set("claimed", claimed)
		r.set("read", read)
		if claimed > read && read == rdma.MaxDevices {
			r.met(limitDevices, int64(claimed))
		}
	}
	if bad := l.Invalid(); len(bad) > 0 {
		r.set("invalid", len(bad))
		r.fail(bad[0].Operation, bad[0])
		return l, devices
	}
	r.counted("ibv_get_device_list", uint64(len(devices)+left.nameless+left.twins))
	return l, devices
}

// describeListed reads what needs no open device.
func describeListed(d rdma.Device) listedDevice {
	ld := listedDevice{
		Name:      d.Name,
		Transport: rdma.TransportName(rdma.IbvDeviceTransport(d.Handle)),
		NodeType:  rdma.NodeTypeName(rdma.IbvDeviceNodeType(d.Handle)),
	}
	ld.Node = strings.ToValidUTF8(rdma.IbvDeviceNode(d.Handle), "\ufffd")
	if g, err := rdma.IbvGetDeviceGUID(d.Handle); err == nil {
		ld.NodeGUID = guidText(g)
	}
	return ld
}

// load is the row lib.load.
func (s *session) load(load func() (*rdma.Library, error)) (*rdma.Library, bool) {
	r := s.begin("lib.load", 0, nil)
	s.announce(loading)
	lib, err := load()
	if err != nil {
		l := Library{Asked: s.asked(), Error: err.Error(), Symbols: map[string]bool{}}
		s.say(msgLibrary, l)
		var le *rdma.LoadError
		if errors.As(err, &le) {
			r.o.Data = map[string]any{"class": string(le.Class)}
		}
		r.unknown(LibraryMissing, err.Error())
		s.skip(LibraryMissing, "there is no verbs library", 0, "lib.symbols", "dev.enumerate")
		return nil, false
	}
	s.use(lib)
	s.say(msgLibrary, Library{Asked: s.asked(), Path: lib.Path(), ID: lib.ID(), Loaded: true, Symbols: lib.Symbols()})
	r.confirmed(loading, nonNull, nil)
	return lib, true
}

// loading is the call in which a library's constructors run.
const loading = "dlopen"

// asked is what dlopen was asked for.
func (s *session) asked() string {
	switch {
	case s.req.Library != "":
		return s.req.Library
	case s.playing != "":
		return rdma.DefaultPathOn(s.playing)
	}
	return rdma.DefaultPath()
}

// symbols is the row lib.symbols: what listing needs. A function that is not there
// is otherwise told by the rows of what calls it.
func (s *session) symbols(lib *rdma.Library) {
	r := s.begin("lib.symbols", 0, nil)
	present, missing := 0, []string{}
	for name, there := range lib.Symbols() {
		if there {
			present++
		} else if slices.Contains(rdma.RequiredSymbols(), name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	r.o.Value = present
	if len(missing) > 0 {
		r.unknown(SymbolMissing, "not in the library: "+strings.Join(missing, ", "))
		return
	}
	r.confirmed("dlsym", nonNull, present)
}

// askWhich asks the parent which of the listed devices to read, where it left that
// open: their locks come first. The parent closes its end when it has answered, or
// is dead.
func (s *session) askWhich(listed int) bool {
	answer := s.child.Conn()
	if answer == nil {
		return false
	}
	defer answer.Close()
	if listed == 0 {
		return true
	}
	s.say(msgWhich, nil)
	_, _ = json.Marshal(Device{}) // while the parent locks them: what encodes a device is made once
	b, err := io.ReadAll(answer)
	if err != nil || len(b) == 0 || json.Unmarshal(b, s.req) != nil {
		s.req.Devices = nil
	}
	return true
}

// streamDevices reads the devices that are asked for, one after the other, each with
// a deadline of its own. When the process dies in one, the parent starts another that
// goes on after it; so it does when this one has sent as many rows as the parent takes
// of one child, and when a deadline has passed, unless this child has read
// nothing and was started for just that.
func (s *session) streamDevices(devices []rdma.Device, listed bool) {
	for i, name := range s.req.Devices {
		if i > 0 && s.sent > maxRows-rowsOfDevice || !s.lap() && (i > 0 || listed) {
			return
		}
		s.device, s.ctx, s.noAttr, s.guid, s.slowest = name, 0, "", "", 0
		s.failed, s.lacks = map[string]bool{}, ""
		if s.dev, s.lost = s.find(devices, name); s.lost != nil {
			s.skip(Precondition, s.lost.Error(), 0, readIDs...)
		} else {
			s.readDevice(s.req.DeviceAddresses[name])
		}
		if why, _ := s.ended(); why == Interrupted { // by whoever asked for it: that is not the device's end
			return
		}
		s.say(msgRead, name)
	}
	s.lap()
}

// lap starts the deadline anew, in the parent too. It does nothing once it has passed.
func (s *session) lap() bool {
	if !s.child.Renew() {
		return false
	}
	s.say(msgLap, nil)
	return true
}

// readDevice is the read class of one device in one go: open, attributes, ports
// and GID tables.
func (s *session) readDevice(addresses []string) {
	d := &Device{Name: s.device, Listed: true, Ports: []Port{}}
	if !s.openDevice() {
		s.skip(Precondition, "the device could not be opened", 1, "port.query", "port.state", "gid.usable", "gid.ipv4_mapped")
		return
	}
	s.queryPorts(d)
	if len(d.Ports) == 0 {
		why, detail := s.ended()
		if why == "" {
			why, detail = Precondition, "no port could be queried"
		}
		s.skip(why, detail, 1, "gid.usable", "gid.ipv4_mapped")
	}
	for i := range d.Ports {
		s.queryGIDs(&d.Ports[i], addresses)
		s.tell(d, d.Ports[i])
	}
	s.closeDevice()
}

// tell sends the parent what is known of a device, with the given ports: what
// comes after may be the end of this process.
func (s *session) tell(d *Device, ports ...Port) {
	part := *d
	part.Ports = ports
	s.say(msgDevice, part)
}
