package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// preflight is what transition and data need beyond a created queue pair. It is
// worked out in the parent, from what this run has read, and opens nothing.
type preflight struct {
	missing  []string // what would be needed
	gidIndex int      // -1: addressed by LID
	gid      string
	why      string
}

// preflightOf checks a device's port.
func (dr *deviceRun) preflightOf() preflight {
	p := preflight{gidIndex: -1}
	d := dr.device()
	port := dr.portEntry(d)
	if port == nil {
		p.missing = []string{"a port whose attributes could be read"}
		return p
	}
	if port.State != stateActive {
		p.missing = append(p.missing, fmt.Sprintf("port %d active (it is %s)", port.Num, cmp.Or(port.State, "of unknown state")))
	}
	if d.Transport == "iwarp" {
		p.missing = append(p.missing, "a connection manager: iWARP queue pairs are connected by rdma_cm only")
	}
	dr.chooseGIDFor(&p, port)
	if dr.twin != nil && dr.twin.missing != "" {
		p.missing = append(p.missing, dr.twin.missing)
	}
	p.missing = append(p.missing, dr.hostMissing(d, port)...)
	return p
}

// portEntry is the port that is used, nil when it is not known.
func (dr *deviceRun) portEntry(d Device) *Port {
	n := dr.port()
	for i := range d.Ports {
		if d.Ports[i].Num == n {
			return &d.Ports[i]
		}
	}
	return nil
}

// chooseGIDFor picks this end's GID: the one that was named, else by content.
// InfiniBand is addressed by LID.
func (dr *deviceRun) chooseGIDFor(p *preflight, port *Port) {
	if want := dr.opts.GIDIndex; want != nil {
		p.gidIndex, p.why = *want, "named by --gid-index"
		for _, g := range port.GIDs {
			if g.Index == *want {
				p.gid = g.GID
			}
		}
		if p.gid == "" {
			p.missing = append(p.missing, fmt.Sprintf("a GID in table entry %d: %s", *want, cmp.Or(dr.gidsUnread(port.Num), "it is empty")))
		}
		return
	}
	if port.Addressing == "lid" {
		return
	}
	g, why, ok := chooseGID(port.LinkLayer, port.GIDs, addressesOf(dr.facts, dr.name))
	if !ok {
		p.missing = append(p.missing, missingGID(port, dr.gidsUnread(port.Num)))
		return
	}
	p.gidIndex, p.gid, p.why = g.Index, g.GID, why
}

// hostMissing is what the host's facts speak against.
func (dr *deviceRun) hostMissing(d Device, port *Port) []string {
	var missing []string
	if n := netdevOfPort(dr.facts, &d, port); n != "" && port.Addressing == "gid" {
		if i, known := dr.facts.Interfaces[n]; known && i.Addresses != nil && len(i.Addresses) == 0 && !backed(dr.facts, d.Name, port) {
			missing = append(missing, "an address on "+n)
		}
	}
	if dr.tb && !dr.opts.Force && slices.ContainsFunc(dr.facts.KernelLog, failedRTR().MatchString) {
		missing = append(missing, "a boot without a failed transition to RTR in its kernel log, or --force")
	}
	if dr.tb && dr.profile == nil && dr.opts.Peer == "" && !dr.serving() {
		missing = append(missing, "a peer at the other end of the cable: on Thunderbolt nothing can be proven on one host")
	}
	return missing
}

// data is what a refusal tells.
func (p preflight) data() map[string]any {
	return map[string]any{"preflight": true, "missing": p.missing}
}

func (p preflight) text() string { return "needs " + strings.Join(p.missing, "; ") }

// wantsType tells whether transition and data probes connect this type here:
// those that were named, else those that this run has confirmed.
func (dr *deviceRun) wantsType(t qpType) bool {
	if dr.serving() {
		return true // the client says which
	}
	if len(dr.opts.Types) > 0 {
		return slices.Contains(dr.opts.Types, string(t))
	}
	// Where none was confirmed each says that it needs one.
	return dr.confirmedHere(t.id("create")) || !dr.confirmedHere(qpUC.id("create")) && !dr.confirmedHere(qpRC.id("create"))
}

// confirmedHere tells whether this run has confirmed an id on the device.
func (dr *deviceRun) confirmedHere(id string) bool {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	return dr.seen[rowName{dr.name, id}]
}

// connectable says what keeps a transition or data row from being tried.
func (dr *deviceRun) connectable(row *tableRow) (why string, data map[string]any) {
	if !dr.serving() && !dr.confirmedHere(row.qp.id("create")) {
		return fmt.Sprintf("needs a confirmed %s of this run", row.qp.id("create")) +
			dr.lack("dev.open", "port.query", "pd.alloc", "cq.create", row.qp.id("create")), nil
	}
	for _, id := range row.qp.steps("create", "init", "rtr", "rts") {
		if dr.failed[id] {
			return id + " failed earlier in this run and is not tried again" + dr.lack(id), nil
		}
	}
	if dr.twin != nil && dr.twin.lost != nil {
		return dr.twin.lost.Detail, dr.twin.lost.Data
	}
	if p := dr.preflightOf(); len(p.missing) > 0 {
		return p.text() + dr.lack("dev.open", "port.query", "gid.usable"), p.data()
	}
	return "", nil
}

// dataFor is the data part of a row's request.
func (dr *deviceRun) dataFor(row *tableRow) *dataRequest {
	p := dr.preflightOf()
	q := &dataRequest{
		Type: row.qp, Sizes: dr.opts.Sizes, Iterations: dr.opts.Iterations, GIDIndex: p.gidIndex, GID: p.gid, GIDWhy: p.why,
		LossNS: dr.opts.Timeout.Nanoseconds() / 20, Task: row.option,
	}
	dr.task.fill(q)
	if dr.twin != nil {
		q.PeerDevice, q.PeerPort, q.PeerGID = dr.opts.PeerDevice, dr.twin.port, dr.twin.gidIndex
	}
	return q
}

// tellPreflight gives the transition rows that nobody asked for what they would
// need, so that a plain probe already tells.
func (dr *deviceRun) tellPreflight() {
	p := dr.preflightOf()
	if len(p.missing) == 0 {
		return
	}
	for _, t := range []qpType{qpUC, qpRC} {
		for _, id := range t.steps("rtr", "rts") {
			if !dr.has(id) {
				dr.observe(Observation{
					ID: id, Device: dr.name, Port: dr.port(), Level: rdma.CapabilityUnknown, Reason: NotTried,
					Detail: "not asked for; it " + p.text(), Data: p.data(),
				})
			}
		}
	}
}

// has tells whether the device has a row of an id.
func (dr *deviceRun) has(id string) bool {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	_, there := dr.seen[rowName{dr.name, id}]
	return there
}
