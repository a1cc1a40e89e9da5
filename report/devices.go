package report

import (
	"fmt"
	"strconv"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// maxAddress is the longest address that the devices table shows whole, that of
// an IPv4-mapped GID; a longer one is named by its class and is whole in wide.
const maxAddress = len("::ffff:255.255.255.255")

// devicesGrid has a row per port, and one per device without ports.
func (t *printer) devicesGrid() *grid {
	g := &grid{head: []string{"DEVICE", "PORT", "STATE", "LINK", "GB/S", "MTU", "NETDEV", "ADDRESS"}}
	hosts := len(groups(t.d)) > 1
	if hosts {
		g.head = append([]string{"HOST"}, g.head...)
	}
	for i := range t.d.Devices {
		dev := &t.d.Devices[i]
		ports := dev.Ports
		if len(ports) == 0 {
			ports = []probe.Port{{State: t.r.stateWithoutPorts(dev)}}
		}
		for k := range ports {
			p := &ports[k]
			row := []cell{
				name(dev.Name), number(p.Num), stateCell(p.State), name(p.LinkLayer), text(portSpeed(p)),
				number(p.ActiveMTU), name(p.Netdev), name(t.address(dev, p)),
			}
			if hosts {
				row = append([]cell{name(dev.Host)}, row...)
			}
			g.add(row...)
		}
	}
	return g
}

// What a device shows that the library did not list.
const (
	unlisted = "unlisted"
	noList   = "no list"
)

// unlistedText explains them.
var unlistedText = map[string]string{
	unlisted: "the kernel has the device, the library does not list it",
	noList:   "the library gave no list of devices, so that it is not known",
}

// unlistedWord is unlisted where the library gave a list.
func (r rows) unlistedWord(dev *probe.Device) string {
	if o := r.last[rowKey{host: dev.Host, id: "dev.enumerate"}]; o != nil && o.Level == rdma.CapabilityUnknown {
		return noList
	}
	return unlisted
}

// stateWithoutPorts says why a device shows no port: by the first of its rows that
// brought nothing.
func (r rows) stateWithoutPorts(dev *probe.Device) string {
	if !dev.Listed {
		return r.unlistedWord(dev)
	}
	for _, id := range []string{"dev.open", "port.query", "port.state"} {
		if o := r.of(dev, 0, id); o != nil && o.Level == rdma.CapabilityUnknown && o.Reason != probe.NotTried {
			return questionMark(o.Reason, dev)
		}
	}
	return ""
}

// stateLegend explains the words that stand for a state where no port is shown.
func (t *printer) stateLegend() []string {
	words := map[string]bool{}
	for i := range t.d.Devices {
		if dev := &t.d.Devices[i]; len(dev.Ports) == 0 {
			words[t.r.stateWithoutPorts(dev)] = true
		}
	}
	return append(reasonItems(words), unlistedItems(words)...)
}

// address is how the port would be addressed: its LID on InfiniBand, else the
// index and text of the GID that would be chosen, or of the first one.
func (t *printer) address(dev *probe.Device, p *probe.Port) string {
	if p.Addressing == "lid" {
		if p.LID == nil {
			return ""
		}
		return fmt.Sprintf("lid %d", *p.LID)
	}
	g := gidToUse(t.r, dev, p)
	if g == nil {
		return ""
	}
	a := g.GID
	if len(a) > maxAddress && g.Class != "" {
		a = g.Class
	}
	return fmt.Sprintf("%d %s", g.Index, a)
}

// gidToUse is the entry that gid.usable chose; without such a row the first.
func gidToUse(r rows, dev *probe.Device, p *probe.Port) *probe.GID {
	index, ok := r.chosen(dev, p.Num)
	for i := range p.GIDs {
		if !ok || p.GIDs[i].Index == index {
			return &p.GIDs[i]
		}
	}
	return nil
}

func stateCell(state string) cell {
	c := name(state)
	switch state {
	case "active":
		c.tone = good
	case "down", unlisted, noList:
		c.tone = bad
	case "":
	default:
		c.tone = odd
	}
	return c
}

// number is a cell of a count from 1; 0 was not read.
func number(n int) cell {
	if n == 0 {
		return cell{}
	}
	return cell{text: strconv.Itoa(n)}
}

// portSpeed is the speed of a port that is active: on any other, the width and
// speed that a provider gives are those of no link.
func portSpeed(p *probe.Port) string {
	if p.State != "active" {
		return ""
	}
	return speed(p.Speed)
}

// speed writes Gb/s; 0 was not read.
func speed(gbps float64) string {
	if gbps == 0 {
		return ""
	}
	return strconv.FormatFloat(gbps, 'g', -1, 64)
}
