package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"rdmaprobe/probe"
)

// maxRows is how many observations wide prints: the table library takes some
// twenty microseconds for each. JSON Lines has them all.
const maxRows = 5000

// renderWide writes everything that a document has, without wrapping.
func renderWide(w io.Writer, d *probe.Document, o Options) error {
	t := newPrinter(w, d, o, true)
	t.verdictLine()
	t.header()
	t.empty()
	if err := t.grid(t.verdictGrid()); err != nil {
		return err
	}
	t.disagree()
	grids := []func() *grid{t.portsGrid, t.gidsGrid, t.limitsGrid}
	if o.Command != "devices" {
		grids = append(grids, t.observationsGrid)
	}
	for _, g := range grids {
		if err := t.grid(t.oneHost(g())); err != nil {
			return err
		}
	}
	if n := len(d.Observations); n > maxRows && o.Command != "devices" {
		t.line("%d more observations: -o jsonl has them all", n-maxRows)
	}
	if o.Command != "devices" {
		if err := t.matrix(); err != nil {
			return err
		}
		t.claims()
	} else {
		t.items(t.stateLegend())
	}
	t.verify()
	t.findings()
	t.fine()
	t.notRead()
	t.notes()
	return t.s.close()
}

// oneHost drops the column of host names where the header has the only one.
func (t *printer) oneHost(g *grid) *grid {
	if len(groups(t.d)) > 1 {
		return g
	}
	g.head = g.head[1:]
	for i := range g.rows {
		g.rows[i] = g.rows[i][1:]
	}
	return g
}

// portsGrid is the devices table with everything about a port.
func (t *printer) portsGrid() *grid {
	g := &grid{head: []string{
		"HOST", "DEVICE", "PORT", "STATE", "PHYS", "LINK", "TRANSPORT", "GB/S", "MTU", "MAX_MTU", "MAX_MSG",
		"ADDRESSING", "LID", "SM_LID", "NETDEV", "NODE_GUID", "NODE_TYPE", "DRIVER", "LISTED", "SYSFS",
	}}
	for i := range t.d.Devices {
		dev := &t.d.Devices[i]
		ports := dev.Ports
		if len(ports) == 0 {
			ports = []probe.Port{{State: t.r.stateWithoutPorts(dev)}}
		}
		for k := range ports {
			p := &ports[k]
			g.add(name(hostName(t.d, dev.Host)), name(dev.Name), number(p.Num), stateCell(p.State),
				text(p.PhysState), text(p.LinkLayer), text(dev.Transport), text(speed(p.Speed)),
				number(p.ActiveMTU), number(p.MaxMTU), number(int(p.MaxMsgSz)), text(p.Addressing),
				known(p.LID), known(p.SMLID), name(p.Netdev), text(dev.NodeGUID), text(dev.NodeType),
				text(dev.Driver), text(yesNo(&dev.Listed)), text(yesNo(dev.Sysfs)))
		}
	}
	return g
}

// gidsGrid lists every GID and marks the one that would be chosen; none where peers
// are addressed by LID.
func (t *printer) gidsGrid() *grid {
	g := &grid{head: []string{"HOST", "DEVICE", "PORT", "INDEX", "GID", "TYPE", "CLASS", "NETDEV", "USE"}}
	for i := range t.d.Devices {
		dev := &t.d.Devices[i]
		for _, p := range dev.Ports {
			index, ok := t.r.chosen(dev, p.Num)
			for _, id := range p.GIDs {
				use := cell{}
				if ok && id.Index == index && p.Addressing != "lid" {
					use = cell{"chosen", good}
				}
				g.add(name(hostName(t.d, dev.Host)), name(dev.Name), number(p.Num), cell{text: strconv.Itoa(id.Index)},
					text(id.GID), text(id.Type), text(id.Class), name(id.Netdev), use)
			}
		}
	}
	return g
}

// limitsGrid is what ibv_query_device said, of what probes use.
func (t *printer) limitsGrid() *grid {
	g := &grid{head: []string{
		"HOST", "DEVICE", "FIRMWARE", "VENDOR", "PART", "MAX_QP", "MAX_QP_WR", "MAX_SGE", "MAX_CQ", "MAX_CQE",
		"MAX_MR", "MAX_MR_SIZE", "MAX_PD", "MAX_QP_RD_ATOM", "ATOMIC",
	}}
	for _, dev := range t.d.Devices {
		a := dev.Attr
		if a == nil {
			continue
		}
		row := []cell{name(hostName(t.d, dev.Host)), name(dev.Name), text(a.FWVer),
			{text: fmt.Sprintf("%#x", a.VendorID)}, {text: fmt.Sprintf("%#x", a.VendorPartID)}}
		for _, n := range []int32{a.MaxQP, a.MaxQPWR, a.MaxSGE, a.MaxCQ, a.MaxCQE, a.MaxMR} {
			row = append(row, cell{text: strconv.Itoa(int(n))})
		}
		g.add(append(row, cell{text: strconv.FormatUint(a.MaxMRSize, 10)}, cell{text: strconv.Itoa(int(a.MaxPD))},
			cell{text: strconv.Itoa(int(a.MaxQPRdAtom))}, text(a.AtomicCap))...)
	}
	return g
}

// observationsGrid is one row per observation.
func (t *printer) observationsGrid() *grid {
	g := &grid{head: []string{
		"HOST", "DEVICE", "PORT", "ID", "LEVEL", "REASON", "CALL", "RETURN", "ERRNO", "VALUE", "TOOK", "PROBE", "CHILD",
		"AT", "PARAMS", "DATA", "DETAIL",
	}}
	builds := manyBuilds(t.d)
	if builds {
		g.head = slices.Insert(g.head, 4, "BUILD")
	}
	for i := range t.d.Observations {
		if i == maxRows {
			break
		}
		o := &t.d.Observations[i]
		at, child := "", ""
		if o.StartedAt != nil {
			at = localTime(t.o.Now, *o.StartedAt)
		}
		if o.Child != nil {
			child = string(o.Child.Outcome) + " " + o.Child.Exit
		}
		level := text(string(o.Level))
		level.tone = verdict{level: o.Level}.tone()
		g.add(name(hostName(t.d, o.Host)), name(o.Device), number(o.Port), name(o.ID), level, text(string(o.Reason)),
			text(o.Call), text(returnText(o.Return)), text(errnoText(o.Errno)), text(scalar(o.Value)),
			text(took(o.DurationNS)), name(o.Probe), text(child), text(at),
			text(pairs(o.Params)), text(pairs(o.Data)), text(o.Detail))
		if last := len(g.rows) - 1; builds {
			g.rows[last] = slices.Insert(g.rows[last], 4, name(buildOf(t.d, o)))
		}
	}
	return g
}

// manyBuilds tells whether rows are of more than one OS build, as in a report of
// all builds: then each has to say its own.
func manyBuilds(d *probe.Document) bool {
	return slices.ContainsFunc(d.Observations, func(o probe.Observation) bool { return o.OSBuild != "" })
}

// buildOf is the OS build under which a row was seen, the kernel's release where
// there is no such thing.
func buildOf(d *probe.Document, o *probe.Observation) string {
	if o.OSBuild != "" {
		return o.OSBuild
	}
	for _, h := range hostsOf(d) {
		if o.Host == "" || o.Host == h.Name {
			return cmp.Or(h.OSBuild, h.Kernel)
		}
	}
	return ""
}

// claims prints what documents say of each capability, beside what was seen.
func (t *printer) claims() {
	first := true
	for _, row := range matrixOfAll(t.d, t.r) {
		for i, v := range row.verdicts {
			for _, c := range v.sum.Documented {
				if first {
					t.section()
					first = false
				}
				t.line("%s", claim(row.dev, columns[i], v, c))
			}
		}
	}
}

// claim says what a document claims of a capability, beside what was seen, and
// whether the two go together.
func claim(dev *probe.Device, c column, v verdict, f probe.DocumentedFact) string {
	where := cleanName(dev.Name)
	if dev.Host != "" {
		where = cleanName(dev.Host) + " " + where
	}
	text := fmt.Sprintf("%s %s: seen %s, documented %s by %s %s", where, c.key,
		cleanName(string(v.level)), Clean(f.Claim), Clean(f.Source), Clean(f.Revision))
	if f.Against(v.level) {
		text += ": a contradiction"
	}
	return text
}

// known is a cell of a number that may be zero, and absent.
func known(n *int) cell {
	if n == nil {
		return cell{}
	}
	return cell{text: strconv.Itoa(*n)}
}

// yesNo writes an answer; nil was not asked.
func yesNo(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "yes"
	}
	return "no"
}
