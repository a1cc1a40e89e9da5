package probe

import (
	"encoding/json"
	"math"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// findingView is a document as the rules look at it.
type findingView struct {
	*index
	d *Document
	c FindingContext
	h *hostfacts.Host // never nil

	active map[*Device]bool // what activeOf found
	any    *bool            // what anyActive found; nil before it was asked
}

func newFindingView(d *Document, c FindingContext) *findingView {
	v := &findingView{d: d, c: c, h: d.Host, active: map[*Device]bool{}}
	if v.h == nil {
		v.h = &hostfacts.Host{}
	}
	v.index = newIndex(d, func(o *Observation) bool { return o.OSBuild == "" }) // of another build: it says nothing of this one
	return v
}

func (v *findingView) mac() bool   { return v.h.OS == "macos" }
func (v *findingView) linux() bool { return v.h.OS == "linux" }

// oldThunderbolt tells whether the host is a Mac whose controllers cannot do
// RDMA, so that no advice about ports and addresses helps.
func (v *findingView) oldThunderbolt() bool {
	return v.mac() && v.h.Thunderbolt != nil && v.h.Thunderbolt.Generation > 0 && v.h.Thunderbolt.Generation < 5
}

// machine is what a reader calls this host.
func (v *findingView) machine() string {
	if v.mac() {
		return "Mac"
	}
	return "machine"
}

// driverLog is where this system keeps what a driver says.
func (v *findingView) driverLog() string {
	if v.mac() {
		return "the system log (`log show --last 10m`)"
	}
	return "the kernel log (`sudo dmesg`)"
}

// has tells whether an id has a row of one of the levels on a device.
func (v *findingView) has(device, id string, levels ...rdma.Capability) bool {
	return slices.ContainsFunc(v.ids[rowName{device, id}], func(o *Observation) bool { return slices.Contains(levels, o.Level) })
}

// devicesSeen lists the names of the devices that have rows, sorted.
func (v *findingView) devicesSeen() []string {
	var names []string
	for name := range v.rows {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// thunderbolt tells whether a device of that name is one of Apple's kind.
func (v *findingView) thunderbolt(name string) bool {
	dev := v.device(name)
	return dev != nil && dev.thunderbolt(v.h.OS)
}

// iface is the network interface of a device, "" when none is known.
func (v *findingView) iface(dev *Device) string {
	if n := netdevOf(v.h, dev.Name); n != "" {
		return n
	}
	for _, p := range dev.Ports {
		if p.Netdev != "" {
			return p.Netdev
		}
	}
	return ""
}

// ifaceOf is the network interface of a port. That of the device is its first
// port's; another port has one only where its entries name it.
func (v *findingView) ifaceOf(dev *Device, p *Port) string {
	if p.Netdev != "" {
		return p.Netdev
	}
	if len(dev.Ports) > 1 && p.Num != dev.Ports[0].Num {
		return ""
	}
	return netdevOf(v.h, dev.Name) // and not what another port has
}

// thunderboltInterfaces are the interfaces of Thunderbolt links and devices.
func (v *findingView) thunderboltInterfaces() []string {
	var names []string
	for _, l := range v.links() {
		names = append(names, l.Interface)
	}
	for i := range v.d.Devices {
		if d := &v.d.Devices[i]; d.thunderbolt(v.h.OS) {
			names = append(names, v.iface(d))
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

func (v *findingView) links() []hostfacts.Link {
	if v.h.Thunderbolt == nil {
		return nil
	}
	return v.h.Thunderbolt.Links
}

// connected tells whether the link of an interface has a peer; known is false
// when there is no such link.
func (v *findingView) connected(iface string) (yes, known bool) {
	for _, l := range v.links() {
		if l.Interface == iface {
			yes, known = yes || l.Peer != "", true
		}
	}
	return yes, known
}

// state is the state of a port, "" while it is not known for certain: not read,
// or not stable.
func (v *findingView) state(dev *Device, p *Port) string {
	rows := v.ofPort(dev.Name, "port.state", p.Num)
	if len(rows) == 0 {
		return p.State
	}
	for _, o := range rows {
		if o.Level == rdma.CapabilityConfirmed {
			if s, ok := o.Value.(string); ok {
				return s
			}
			return p.State
		}
	}
	return ""
}

const stateActive = "active"

func (v *findingView) isActive(dev *Device, p *Port) bool { return v.state(dev, p) == stateActive }

// activeOf tells whether any port of a device is ACTIVE.
func (v *findingView) activeOf(dev *Device) bool {
	yes, known := v.active[dev]
	if !known {
		yes = slices.ContainsFunc(dev.Ports, func(p Port) bool { return v.isActive(dev, &p) })
		v.active[dev] = yes
	}
	return yes
}

// anyActive tells whether any port of the host is ACTIVE.
func (v *findingView) anyActive() bool {
	if v.any == nil {
		v.any = new(bool)
		for i := range v.d.Devices {
			*v.any = *v.any || v.activeOf(&v.d.Devices[i])
		}
	}
	return *v.any
}

// idle tells whether a device is one that nobody uses: none of its ports is
// ACTIVE, another device's is, and the command did not name it.
func (v *findingView) idle(dev *Device) bool {
	return !v.activeOf(dev) && v.anyActive() && !slices.Contains(v.c.NamedDevices, dev.Name)
}

// idlePort tells the same of one port: another one is ACTIVE, of this device or another,
// and the command named neither this one nor a device that has none.
func (v *findingView) idlePort(dev *Device, p *Port) bool {
	named := slices.Contains(v.c.NamedDevices, dev.Name) && (v.c.Port == p.Num || !v.activeOf(dev))
	return !v.isActive(dev, p) && v.anyActive() && !named
}

// addresses are those of an interface; known is false when they were not read.
func (v *findingView) addresses(iface string) (list []netip.Addr, known bool) {
	i, ok := v.h.Interfaces[iface]
	if !ok || i.Addresses == nil {
		return nil, false
	}
	for _, text := range i.Addresses {
		if a, ok := parseAddress(text); ok {
			list = append(list, a)
		}
	}
	return list, true
}

// parseAddress reads an address with or without prefix length and zone.
func parseAddress(text string) (netip.Addr, bool) {
	text, _, _ = strings.Cut(text, "/")
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}, false
	}
	return a.Unmap().WithZone(""), true
}

// errnoNamed tells whether a row failed with one of the names.
func errnoNamed(o *Observation, names ...string) bool {
	return o.Errno != nil && slices.Contains(names, o.Errno.Name)
}

// dataInt reads a whole number from a row's data, whatever decoded it.
func dataInt(m map[string]any, key string) (int64, bool) {
	switch n := m[key].(type) {
	case int:
		return int64(n), true
	case int64:
		return n, true
	case uint64:
		return int64(min(n, math.MaxInt64)), true
	case uint32:
		return int64(n), true
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int64(n), true
		}
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	}
	return 0, false
}

// dataText reads a text from a map of a row.
func dataText(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// dataTexts reads a list of texts from a map of a row.
func dataTexts(m map[string]any, key string) []string {
	switch l := m[key].(type) {
	case []string:
		return l
	case []any:
		var texts []string
		for _, e := range l {
			if s, ok := e.(string); ok {
				texts = append(texts, s)
			}
		}
		return texts
	}
	return nil
}

// keysOf are the names of rows.
func keysOf(rows ...*Observation) []string {
	keys := make([]string, len(rows))
	for i, o := range rows {
		keys[i] = o.Key()
	}
	return union(nil, keys)
}

// maxQuoted bounds what a message repeats of a text from outside.
const maxQuoted = 200

// printable makes a text from outside fit for a message: one line, bounded, no
// control characters.
func printable(s string) string {
	s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "?"))), " ")
	if r := []rune(s); len(r) > maxQuoted {
		return string(r[:maxQuoted]) + "..."
	}
	return s
}

// plainName tells whether a name is 1 to 63 letters, digits and _.:- of which the
// first is none of .:-
func plainName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
		case i > 0 && (c == '.' || c == ':' || c == '-'):
		default:
			return false
		}
	}
	return 0 < len(s) && len(s) <= 63
}

// shellName is a name as a command in a remedy may hold it: one that a shell
// would not take literally is replaced.
func shellName(name, placeholder string) string {
	if plainName(name) {
		return name
	}
	return placeholder
}

// sentence writes names as a sentence has them: a, b and c.
func sentence(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}
