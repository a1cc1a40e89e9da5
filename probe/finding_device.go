package probe

import (
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// eachPort calls f for every port of every listed device.
func (v *findingView) eachPort(f func(dev *Device, p *Port)) {
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		if !dev.Listed {
			continue
		}
		for j := range dev.Ports {
			f(dev, &dev.Ports[j])
		}
	}
}

func portDown(v *findingView) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		if !dev.Listed {
			continue
		}
		var down []string
		var ports []int
		var remedies []string
		for j := range dev.Ports {
			p := &dev.Ports[j]
			if s := v.state(dev, p); s != "" && s != stateActive {
				down = append(down, fmt.Sprintf("port %d is %s", p.Num, portWords(s, p.PhysState)))
				ports = append(ports, p.Num)
				remedies = union(remedies, []string{v.portDownRemedy(dev, p)})
			}
		}
		if len(down) == 0 {
			continue
		}
		h := findingHit{
			scope: dev.Name, ports: ports, message: sentence(down) + ", not ACTIVE: nothing can be sent there",
			remedy: strings.Join(remedies, "; "), seen: keysOf(v.of(dev.Name, "port.state")...),
		}
		if len(h.seen) == 0 {
			h.facts = []string{"devices"}
		}
		if !v.portBlocks(dev) {
			h.severity = SeverityInfo
			h.remedy = "nothing, if the port is not meant to be used; else: " + h.remedy
		}
		hits = append(hits, h)
	}
	return hits
}

// portWords writes a state as people know it: DOWN (disabled).
func portWords(state, phys string) string {
	s := strings.ToUpper(printable(state))
	if phys != "" {
		s += " (" + printable(phys) + ")"
	}
	return s
}

// portBlocks tells whether a port of dev that is not ACTIVE is in the way: no
// port of the host is ACTIVE, or the command names the device and none of its
// own ports is, or it names the very port.
func (v *findingView) portBlocks(dev *Device) bool {
	if !v.anyActive() {
		return true
	}
	if !slices.Contains(v.c.NamedDevices, dev.Name) {
		return false
	}
	if i := slices.IndexFunc(dev.Ports, func(p Port) bool { return p.Num == v.c.Port }); i >= 0 {
		return !v.isActive(dev, &dev.Ports[i])
	}
	return !v.activeOf(dev)
}

// portDownRemedy fits the kind of link.
func (v *findingView) portDownRemedy(dev *Device, p *Port) string {
	switch {
	case dev.thunderbolt(v.h.OS):
		return v.thunderboltDownRemedy(dev)
	case p.LinkLayer == "infiniband" && p.PhysState == "link_up":
		return "the link is there, and a subnet manager takes a port to ACTIVE: see that the one of this fabric runs and reaches this port (`sudo sminfo`)"
	case p.LinkLayer == "infiniband":
		return "check cable and switch port; a port that trains but does not become ACTIVE waits for a subnet manager"
	}
	if iface := v.ifaceOf(dev, p); iface != "" {
		return "bring up " + printable(iface) + " (`sudo ip link set " + shellName(iface, "IFACE") + " up`), and check cable, switch port and peer"
	}
	return "bring up the device's network interface, and check cable, switch port and peer"
}

// thunderboltDownRemedy goes from what this Mac cannot change to what is left.
func (v *findingView) thunderboltDownRemedy(dev *Device) string {
	iface := v.iface(dev)
	connected, known := v.connected(iface)
	switch {
	case v.oldThunderbolt():
		return fmt.Sprintf("nothing on the port: a Thunderbolt %d controller never makes it ACTIVE", v.h.Thunderbolt.Generation)
	case v.h.RDMACtl == "disabled":
		return "RDMA is off on this Mac, and no port becomes ACTIVE before it is enabled"
	case known && !connected:
		return "plug the cable to the other machine into " + printable(iface) + ": nothing is connected there"
	case known && v.studioPort(iface):
		return "nothing on this port, which carries no RDMA on a Mac Studio: move the cable to another one"
	case known && v.linkOf(iface, oldPeer):
		return "nothing on this Mac: the controllers of the machine at the other end are older than Thunderbolt 5, and the port never becomes ACTIVE with it"
	case known && v.linkOf(iface, slowLink):
		return "mend the link first: it is slower than Thunderbolt 5"
	case known:
		return "the link to the peer is there: run `rdmaprobe doctor` on the peer too, since the port becomes ACTIVE only when both ends have RDMA enabled and run the same OS build"
	}
	const other = "check the cable, and that the other machine is on and has RDMA enabled"
	if !v.mac() {
		return other
	}
	return other + "; both ends need the same OS build"
}

// linkOf tells whether something holds of the links of an interface that have a peer,
// and there is one.
func (v *findingView) linkOf(iface string, holds func(*hostfacts.Link) bool) bool {
	links := slices.DeleteFunc(slices.Clone(v.links()), func(l hostfacts.Link) bool { return l.Interface != iface || l.Peer == "" })
	return len(links) > 0 && !slices.ContainsFunc(links, func(l hostfacts.Link) bool { return !holds(&l) })
}

// oldPeer tells whether the other end of a link is known to be older than Thunderbolt 5.
func oldPeer(l *hostfacts.Link) bool {
	return l.PeerGeneration != nil && *l.PeerGeneration > 0 && *l.PeerGeneration < 5
}

// slowLink tells whether a link of two ends with Thunderbolt 5 is slower than that.
func slowLink(l *hostfacts.Link) bool {
	return l.PeerGeneration != nil && *l.PeerGeneration >= 5 && l.SpeedGbps != nil && *l.SpeedGbps > 0 && *l.SpeedGbps <= 40
}

// linkKind is the link layer of a device's first port that has one.
func linkKind(dev *Device) string {
	if dev.Transport == "thunderbolt" {
		return "thunderbolt"
	}
	for _, p := range dev.Ports {
		if p.LinkLayer != "" {
			return p.LinkLayer
		}
	}
	return ""
}

func portUnstable(v *findingView) []findingHit {
	var hits []findingHit
	for _, name := range v.devicesSeen() {
		for _, o := range v.of(name, "port.state") {
			if o.Reason != Unstable {
				continue
			}
			h := findingHit{
				scope: name, message: fmt.Sprintf("the state of port %d changed between samples", max(o.Port, 1)),
				remedy: "check the cable, the optics and the switch port; when they are good, the adapter or the other end",
				seen:   keysOf(o),
			}
			if o.Port > 0 {
				h.ports = []int{o.Port}
			}
			if samples := dataTexts(o.Data, "samples"); len(samples) > 0 {
				h.message += ": " + printable(strings.Join(samples, ", "))
			}
			if v.thunderbolt(name) {
				h.remedy = "check the cable, at both ends, and the other machine; connect the two directly, without a hub"
			}
			hits = append(hits, h)
		}
	}
	return hits
}

// virtualFunction tells whether a device is known to be one. The host-wide fact
// counts only where it is not known which devices it is about.
func (v *findingView) virtualFunction(dev *Device) bool {
	if v.h.VirtualFunctions != nil {
		return slices.Contains(v.h.VirtualFunctions, dev.Name)
	}
	return v.h.SRIOVVF != nil && *v.h.SRIOVVF
}

// noSubnetManager lists the InfiniBand ports in one state that no subnet manager
// has ever spoken to.
func (v *findingView) noSubnetManager(state string, also func(dev *Device, p *Port) bool, hit func(dev *Device, p *Port) findingHit) []findingHit {
	var hits []findingHit
	v.eachPort(func(dev *Device, p *Port) {
		if p.LinkLayer != "infiniband" || p.SMLID == nil || *p.SMLID != 0 || v.state(dev, p) != state || !also(dev, p) {
			return
		}
		h := hit(dev, p)
		h.scope, h.ports, h.seen = dev.Name, []int{p.Num}, keysOf(append(v.of(dev.Name, "port.state"), v.of(dev.Name, "port.query")...)...)
		h.facts = append(h.facts, "devices")
		hits = append(hits, h)
	})
	return hits
}

func ibPortDownNoSM(v *findingView) []findingHit {
	return v.noSubnetManager("down", func(dev *Device, _ *Port) bool { return v.virtualFunction(dev) }, func(_ *Device, p *Port) findingHit {
		fact := "host.sriov_vf"
		if v.h.VirtualFunctions != nil {
			fact = "host.sriov_vf_devices"
		}
		return findingHit{
			message: fmt.Sprintf("port %d of this InfiniBand virtual function is DOWN and has never seen a subnet manager (sm_lid 0)", p.Num),
			remedy: "on the host, give the virtual function its node and port GUID and let its state follow (`ip link set ... vf N node_guid ...`, `port_guid ...`, `state auto`), " +
				"and run a subnet manager with virtualisation support (OpenSM: `virt_enabled 2`)",
			facts: []string{fact},
		}
	})
}

func ibPortInitNoSM(v *findingView) []findingHit {
	linked := func(_ *Device, p *Port) bool { return p.PhysState == "" || p.PhysState == "link_up" }
	return v.noSubnetManager("init", linked, func(_ *Device, p *Port) findingHit {
		return findingHit{
			message: fmt.Sprintf("port %d has its link but stays in INIT: no subnet manager has configured it (sm_lid 0)", p.Num),
			remedy:  "run a subnet manager on this fabric: on one host `sudo systemctl start opensm`, or the one of the switch",
			undo:    "`sudo systemctl stop opensm`",
		}
	})
}

// peersOf are the other ends that are known of a device.
func (v *findingView) peersOf(device string) []PeerFacts {
	return slices.DeleteFunc(slices.Clone(v.c.Peers), func(p PeerFacts) bool { return p.Device != "" && p.Device != device })
}

// portUsed is the port that this run works on: -i, else the first ACTIVE one.
func (v *findingView) portUsed(dev *Device) *Port {
	for i := range dev.Ports {
		if p := &dev.Ports[i]; p.Num == v.c.Port || v.c.Port == 0 && v.isActive(dev, p) {
			return p
		}
	}
	return nil
}

func mtuMismatch(v *findingView) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		p := v.portUsed(dev)
		if p == nil || p.ActiveMTU == 0 {
			continue
		}
		for _, peer := range v.peersOf(dev.Name) {
			if peer.ActiveMTU == 0 || peer.ActiveMTU == p.ActiveMTU {
				continue
			}
			hits = append(hits, findingHit{
				scope: dev.Name,
				message: fmt.Sprintf("the active MTU is %d bytes here and %d at the peer; the smaller one was used",
					p.ActiveMTU, peer.ActiveMTU),
				remedy: "set the interfaces of both ends, and the switches between them, to one MTU; a program that takes its own end's value will fail",
				seen:   keysOf(v.of(dev.Name, "port.query")...), facts: []string{"peer.active_mtu"},
			})
		}
	}
	return hits
}

func transportNeedsRDMACM(v *findingView) []findingHit {
	var hits []findingHit
	for _, dev := range v.d.Devices {
		if !dev.Listed || dev.Transport != "iwarp" {
			continue
		}
		hits = append(hits, findingHit{
			scope: dev.Name,
			message: printable(dev.Name) + " is an iWARP device: its queue pairs are connected by the RDMA connection manager only, " +
				"so RTR, RTS and everything that sends is not attempted; what a plain transition answers there says nothing about RC",
			remedy: "test the data path with a program that uses librdmacm, for example `rping`",
			facts:  []string{"devices"},
		})
	}
	return hits
}

// confirmedOn tells whether an id is confirmed on a device.
func (v *findingView) confirmedOn(device, id string) bool {
	return v.has(device, id, rdma.CapabilityConfirmed)
}
