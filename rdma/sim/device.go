//go:build (darwin || linux) && (amd64 || arm64)

package sim

import (
	"slices"
	"strconv"
	"sync/atomic"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/internal/abi"
)

// device is a device of a provider, with what this process holds of it.
type device struct {
	p     *Provider
	facts *Device
	h     *abi.Device
	rules [verbCount][]*activeRule
	ports []*port
	held  map[string]int64 // by key of attr: live_qp and its like
}

// port is a port and how often it has been asked.
type port struct {
	facts   *Port
	answers int
}

// current is the state as last told, or as it will be told first. p.mu is held.
func (q *port) current() StateStep {
	return q.facts.States[min(max(q.answers-1, 0), len(q.facts.States)-1)]
}

// active reports whether the port carries traffic: in ACTIVE alone. p.mu is held.
func (q *port) active() bool { return q.current().State == portActive }

func newDevice(p *Provider, facts *Device, index int) *device {
	h := newObject[abi.Device]()
	if h == nil {
		return nil
	}
	d := &device{p: p, facts: facts, h: h, held: map[string]int64{}}
	h.TransportType, h.NodeType = int32(*facts.Transport), facts.nodeType()
	copy(h.Name[:len(h.Name)-1], facts.Name)
	if p.profile.platform == rdma.PlatformLinux {
		node := "uverbs" + strconv.Itoa(index)
		copy(h.DevName[:], node)
		copy(h.DevPath[:], "/sys/class/infiniband_verbs/"+node)
		copy(h.IbdevPath[:len(h.IbdevPath)-1], "/sys/class/infiniband/"+facts.Name)
	}
	for i := range facts.Ports {
		d.ports = append(d.ports, &port{facts: &facts.Ports[i]})
	}
	for name, rules := range facts.Calls {
		v, _ := verbOf(name)
		for i := range rules {
			d.rules[v] = append(d.rules[v], &activeRule{rule: &rules[i]})
		}
	}
	devices.add(h, d)
	return d
}

// nodeType is enum ibv_node_type: the profile's, a channel adapter, or what goes
// with the transport. Apple's devices say 100 in the I/O registry, by public
// reports.
func (d *Device) nodeType() int32 {
	if d.NodeType != nil {
		return int32(*d.NodeType)
	}
	switch t := *d.Transport; t {
	case transportIWARP:
		return 4
	case 2, 3, 4:
		return int32(t) + 3
	case transportThunderbolt:
		return 100
	}
	return 1
}

// thunderbolt reports whether Apple's rules hold.
func (d *device) thunderbolt() bool { return *d.facts.Transport == transportThunderbolt }

// dead reports a Thunderbolt device without an ACTIVE port, which takes no
// object. p.mu is held.
func (d *device) dead() bool {
	return d.thunderbolt() && !slices.ContainsFunc(d.ports, (*port).active)
}

// port finds a port by number.
func (d *device) port(num int) *port {
	for _, q := range d.ports {
		if q.facts.Num == num {
			return q
		}
	}
	return nil
}

// limit reads a number of struct ibv_device_attr.
func (d *device) limit(name string) int64 { return int64(int32(deviceFields.get(d.facts.image, name))) }

// maxThunderboltQPs is the number that TN3205 allows. Reports of max_qp 11 have
// the 11th fail and one of max_qp 3 the 4th: the smaller number holds.
const maxThunderboltQPs = 10

// full reports whether one more object would pass a limit of attr, with those
// that other processes hold. p.mu is held.
func (d *device) full(live, limit string) bool {
	n := d.limit(limit)
	if live == "live_qp" && d.thunderbolt() {
		n = min(n, maxThunderboltQPs)
	}
	return d.held[live]+d.facts.live[live] >= n
}

// verdict is what rules say of a call.
type verdict struct {
	rule *activeRule // nil: none fits
	done bool        // the call is answered, with ret
	ret  int32
}

// consult finds the rule for a call and plays what is not about the call's own
// work: output, faults, failure. No lock may be held.
func (d *device) consult(v verb, requests ...request) verdict {
	if len(d.rules[v]) == 0 {
		return verdict{}
	}
	d.p.mu.Lock()
	r := pick(d.rules[v], byCall, requests...)
	d.p.mu.Unlock()
	if r == nil {
		return verdict{}
	}
	r.print()
	d.p.suffer(r.Fault)
	switch {
	case r.Return != nil:
		if r.errno != 0 {
			*errnoLocation() = r.errno
		}
		return verdict{r, true, *r.Return}
	case r.Errno != nil:
		return verdict{r, true, v.fail(r.errno)}
	}
	return verdict{rule: r}
}

// fill writes the rule's set into the image of a struct.
func (v verdict) fill(image []byte) {
	if v.rule == nil {
		return
	}
	for _, value := range v.rule.set {
		value.put(image)
	}
}

// getDeviceName is ibv_get_device_name.
func getDeviceName(h *abi.Device) *byte {
	d := devices.find(h)
	if d == nil || d.consult(verbGetDeviceName, newRequest()).done {
		return nil
	}
	return &h.Name[0]
}

// getDeviceGUID is ibv_get_device_guid; network order in memory.
func getDeviceGUID(h *abi.Device) uint64 {
	d := devices.find(h)
	if d == nil {
		return 0
	}
	d.consult(verbGetDeviceGUID, newRequest())
	return deviceFields.get(d.facts.image, "node_guid")
}

// deviceContext is an open device.
type deviceContext struct {
	p     *Provider
	dev   *device
	h     *abi.Context
	users int // objects made from it
}

// lastOpened is asked for rules about a NULL protection domain, which names no
// device.
var lastOpened atomic.Pointer[device]

// openDevice is ibv_open_device.
func openDevice(h *abi.Device) *abi.Context {
	d := devices.find(h)
	if d == nil {
		return failNull[*abi.Context](errEINVAL)
	}
	if d.consult(verbOpenDevice, newRequest()).done {
		return nil
	}
	c := newObject[abi.Context]()
	if c == nil {
		return failNull[*abi.Context](errENOMEM)
	}
	*c = abi.Context{Device: h, CmdFD: -1, AsyncFD: -1, NumCompVectors: 1}
	for v, address := range callbacks().ops {
		if !slices.Contains(d.p.profile.Library.MissingSymbols, verbRows[v].name) {
			c.Ops[opsIndex[v]] = address
		}
	}
	contexts.add(c, &deviceContext{p: d.p, dev: d, h: c})
	lastOpened.Store(d)
	return c
}

// closeDevice is ibv_close_device.
func closeDevice(h *abi.Context) int32 {
	c := contexts.find(h)
	if c == nil {
		return verbCloseDevice.fail(errEINVAL)
	}
	if v := c.dev.consult(verbCloseDevice, newRequest()); v.done {
		return v.ret
	}
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	if c.users > 0 {
		return verbCloseDevice.fail(errEBUSY)
	}
	if !contexts.remove(h) {
		return verbCloseDevice.fail(errEINVAL)
	}
	freeObject(h)
	return 0
}
