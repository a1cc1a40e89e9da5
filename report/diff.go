package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// The name and version of a Diff as JSON; see docs/diff.md.
const (
	DiffSchema        = "rdmaprobe.diff"
	DiffSchemaVersion = "1.0"
)

// Diff is what changed from one document to another. Equal documents have no
// changes, whatever their runs' names, times and process ids.
type Diff struct {
	Schema        string     `json:"schema"`
	SchemaVersion string     `json:"schema_version"`
	Tool          probe.Tool `json:"tool"`
	A             DiffSide   `json:"a"`
	B             DiffSide   `json:"b"`
	Regressions   int        `json:"regressions"`
	Changes       []Change   `json:"changes"`
	Exit          int        `json:"exit"`
}

// DiffSide names one of the two documents.
type DiffSide struct {
	Name      string    `json:"name"` // the file's, or build:BUILD
	Hosts     []string  `json:"hosts"`
	OSBuilds  []string  `json:"os_builds"`
	Run       string    `json:"run"`
	StartedAt time.Time `json:"started_at"`
}

// Change is one difference. From and To are texts; "" is absent.
type Change struct {
	Kind       string `json:"kind"` // one of ChangeKinds
	Host       string `json:"host,omitempty"`
	Device     string `json:"device,omitempty"`
	Port       int    `json:"port,omitempty"`
	What       string `json:"what"` // a capability, an evidence id, a field
	Probe      string `json:"probe,omitempty"`
	From       string `json:"from"`
	To         string `json:"to"`
	Regression bool   `json:"regression,omitempty"`
	place      int
}

// Kinds of changes, in the order in which they come.
const (
	ChangeCapability = "capability" // a level of the matrix
	ChangeLevel      = "level"      // a level of an evidence id
	ChangeDevice     = "device"     // a device that is only in one document, or its name, driver, transport
	ChangeLimit      = "limit"      // what ibv_query_device says
	ChangePort       = "port"
	ChangeGID        = "gid"
	ChangeLibrary    = "library"
	ChangeHost       = "host"
	ChangeUntried    = "untried" // evidence that only one of the two tried to get
)

// ChangeKinds are all kinds in their order.
var ChangeKinds = []string{
	ChangeCapability, ChangeLevel, ChangeDevice, ChangeLimit, ChangePort, ChangeGID, ChangeLibrary, ChangeHost, ChangeUntried,
}

// differ collects changes between two documents.
type differ struct {
	changes []Change
	host    string // of what is compared now; "" where there is one
	device  string
	port    int
}

// Compare lists what changed from a to b. Hosts are compared by name, or each
// other when both documents have one; devices by name, else by node GUID. A
// change is a regression when what was confirmed is so no more though it was
// tried, or when trying what had an answer now crashes or hangs.
func Compare(tool probe.Tool, nameA string, a *probe.Document, nameB string, b *probe.Document) *Diff {
	d := &Diff{Schema: DiffSchema, SchemaVersion: DiffSchemaVersion, Tool: tool, A: sideOf(nameA, a), B: sideOf(nameB, b)}
	x := &differ{}
	for _, pair := range pairHosts(a, b) {
		x.host = pair.label
		x.hosts(a, b, pair)
	}
	slices.SortStableFunc(x.changes, func(p, q Change) int {
		return cmp.Or(
			cmp.Compare(slices.Index(ChangeKinds, p.Kind), slices.Index(ChangeKinds, q.Kind)),
			-cmp.Compare(one(p.Regression), one(q.Regression)),
			cmp.Compare(p.Host, q.Host), cmp.Compare(p.Device, q.Device), cmp.Compare(p.place, q.place),
			cmp.Compare(p.What, q.What), cmp.Compare(p.Port, q.Port), cmp.Compare(p.Probe, q.Probe))
	})
	for _, c := range x.changes {
		if c.Regression {
			d.Regressions++
		}
	}
	d.Changes = orEmpty(x.changes)
	return d
}

func sideOf(name string, d *probe.Document) DiffSide {
	s := DiffSide{Name: name, Hosts: []string{}, OSBuilds: []string{}, Run: d.Run.ID, StartedAt: d.Run.StartedAt}
	for _, h := range hostsOf(d) {
		s.Hosts = append(s.Hosts, h.Name)
		if build := cmp.Or(h.OSBuild, h.Kernel); build != "" && !slices.Contains(s.OSBuilds, build) {
			s.OSBuilds = append(s.OSBuilds, build)
		}
	}
	slices.Sort(s.OSBuilds)
	return s
}

// hostPair is one machine in both documents; the name is that of its rows there.
type hostPair struct {
	label, inA, inB string
	a, b            *hostfacts.Host // nil: not in that document
}

func pairHosts(a, b *probe.Document) []hostPair {
	ha, hb := hostsOf(a), hostsOf(b)
	if len(a.Hosts) == 0 && len(b.Hosts) == 0 {
		p := hostPair{}
		if len(ha) > 0 {
			p.a = &ha[0]
		}
		if len(hb) > 0 {
			p.b = &hb[0]
		}
		return []hostPair{p}
	}
	byName := map[string]*hostPair{}
	at := func(name string) *hostPair {
		if byName[name] == nil {
			byName[name] = &hostPair{label: name}
		}
		return byName[name]
	}
	for i := range ha {
		p := at(ha[i].Name)
		p.a, p.inA = &ha[i], rowHost(a, ha[i].Name)
	}
	for i := range hb {
		p := at(hb[i].Name)
		p.b, p.inB = &hb[i], rowHost(b, hb[i].Name)
	}
	var pairs []hostPair
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		pairs = append(pairs, *byName[name])
	}
	return pairs
}

// rowHost is how the rows of a document name a host: not at all where it is the
// only one.
func rowHost(d *probe.Document, name string) string {
	if len(d.Hosts) == 0 {
		return ""
	}
	return name
}

// hosts compares one machine.
func (x *differ) hosts(a, b *probe.Document, p hostPair) {
	if p.a == nil || p.b == nil {
		if p.a != p.b {
			x.add(ChangeHost, "host", presence(p.a != nil), presence(p.b != nil), 0)
		}
		if p.a == nil && p.b == nil {
			x.devices(a, b, p)
		}
		return
	}
	x.fields(ChangeHost, fieldsOf(*p.a), fieldsOf(*p.b), steadyFacts)
	x.libraries(libraryOf(a, p.inA), libraryOf(b, p.inB))
	x.devices(a, b, p)
	x.levels("", rowsOfHost(a, p.inA), rowsOfHost(b, p.inB))
}

func presence(there bool) string {
	if there {
		return "present"
	}
	return "absent"
}

// steadyFacts are the host facts that do not change from run to run by
// themselves.
var steadyFacts = []string{
	"name", "os", "os_version", "os_build", "kernel", "arch", "model", "container", "vm", "translated", "rdma_ctl", "memlock_kib",
	"limits_conf_memlock", "secure_boot", "rdma_family_version", "modules", "userspace_providers", "provider_entries",
	"provider_abi_wanted", "driver", "abi", "kernel_abi", "hardware_ports", "bridges",
}

func (x *differ) add(kind, what, from, to string, place int) {
	if from != to {
		x.changes = append(x.changes, Change{Kind: kind, Host: x.host, Device: x.device, Port: x.port, What: what, From: from, To: to, place: place})
	}
}

// fieldsOf is a value's fields under their JSON names, as texts.
func fieldsOf(v any) map[string]string {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(b, &raw) != nil {
		return nil
	}
	fields := map[string]string{}
	for k, r := range raw {
		var s string
		if json.Unmarshal(r, &s) == nil {
			fields[k] = s
		} else {
			fields[k] = string(r)
		}
	}
	return fields
}

// fields compares two sets of fields; names are those that count, nil all.
func (x *differ) fields(kind string, a, b map[string]string, names []string) {
	if names == nil {
		all := maps.Clone(a)
		maps.Copy(all, b)
		names = slices.Sorted(maps.Keys(all))
	}
	for i, k := range names {
		x.add(kind, k, a[k], b[k], i)
	}
}

func libraryOf(d *probe.Document, host string) probe.Library {
	if l, ok := newestLibraries(d)[host]; ok && host != "" {
		return l
	}
	return d.Provider.Library
}

func (x *differ) libraries(a, b probe.Library) {
	x.add(ChangeLibrary, "path", cmp.Or(a.Path, a.Asked), cmp.Or(b.Path, b.Asked), 0)
	x.add(ChangeLibrary, "id", a.ID, b.ID, 1)
	x.add(ChangeLibrary, "loaded", fmt.Sprint(a.Loaded), fmt.Sprint(b.Loaded), 2)
	x.add(ChangeLibrary, "error", a.Error, b.Error, 3)
	all := maps.Clone(a.Symbols)
	if all == nil {
		all = map[string]bool{}
	}
	maps.Copy(all, b.Symbols)
	for _, s := range slices.Sorted(maps.Keys(all)) {
		if len(a.Symbols) > 0 && len(b.Symbols) > 0 {
			x.add(ChangeLibrary, s, presence(a.Symbols[s]), presence(b.Symbols[s]), 4)
		}
	}
}

// devices compares the devices of one machine.
func (x *differ) devices(a, b *probe.Document, p hostPair) {
	rowsA, rowsB := rowsOfHost(a, p.inA), rowsOfHost(b, p.inB)
	left := map[string]*probe.Device{}
	for i := range b.Devices {
		if b.Devices[i].Host == p.inB {
			left[b.Devices[i].Name] = &b.Devices[i]
		}
	}
	for i := range a.Devices {
		da := &a.Devices[i]
		if da.Host != p.inA {
			continue
		}
		db := counterpart(da, left, a, p.inA)
		x.device = da.Name
		if db == nil {
			x.add(ChangeDevice, "device", "present", "absent", 0)
			continue
		}
		delete(left, db.Name)
		x.oneDevice(da, db, rowsA, rowsB)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		x.device = name
		x.add(ChangeDevice, "device", "absent", "present", 0)
	}
	x.device, x.port = "", 0
}

// counterpart is the same device in the other document.
func counterpart(dev *probe.Device, others map[string]*probe.Device, own *probe.Document, host string) *probe.Device {
	if d := others[dev.Name]; d != nil {
		return d
	}
	for _, d := range others {
		if d.NodeGUID == dev.NodeGUID && strings.Trim(d.NodeGUID, "0:") != "" &&
			!slices.ContainsFunc(own.Devices, func(e probe.Device) bool { return e.Host == host && e.Name == d.Name }) {
			return d
		}
	}
	return nil
}

func (x *differ) oneDevice(a, b *probe.Device, rowsA, rowsB []*probe.Observation) {
	for i, f := range [][3]string{
		{"name", a.Name, b.Name}, {"node_guid", a.NodeGUID, b.NodeGUID}, {"transport", a.Transport, b.Transport},
		{"node_type", a.NodeType, b.NodeType}, {"driver", a.Driver, b.Driver}, {"listed", fmt.Sprint(a.Listed), fmt.Sprint(b.Listed)},
	} {
		x.add(ChangeDevice, f[0], f[1], f[2], i)
	}
	if a.Attr != nil && b.Attr != nil {
		fa, fb := fieldsOf(a.Attr), fieldsOf(b.Attr)
		delete(fa, "node_guid")
		delete(fb, "node_guid")
		x.fields(ChangeLimit, fa, fb, nil)
	}
	x.ports(a.Ports, b.Ports)
	if a.Capabilities != nil && b.Capabilities != nil {
		for i, c := range columns {
			x.level(ChangeCapability, c.key, "", i, stateOf(c.of(a.Capabilities)), stateOf(c.of(b.Capabilities)))
		}
	}
	ofDevice := func(rows []*probe.Observation, name string) []*probe.Observation {
		return slices.DeleteFunc(slices.Clone(rows), func(o *probe.Observation) bool { return o.Device != name })
	}
	x.levelsOf(ofDevice(rowsA, a.Name), ofDevice(rowsB, b.Name))
}

// ports compares ports by number.
func (x *differ) ports(a, b []probe.Port) {
	byNum := func(ports []probe.Port) map[int]*probe.Port {
		m := map[int]*probe.Port{}
		for i := range ports {
			m[ports[i].Num] = &ports[i]
		}
		return m
	}
	pa, pb := byNum(a), byNum(b)
	all := maps.Clone(pa)
	maps.Copy(all, pb)
	for _, num := range slices.Sorted(maps.Keys(all)) {
		x.port = num
		if pa[num] == nil || pb[num] == nil {
			x.add(ChangePort, "port", presence(pa[num] != nil), presence(pb[num] != nil), 0)
			continue
		}
		x.fields(ChangePort, fieldsOf(pa[num]), fieldsOf(pb[num]), []string{
			"state", "phys_state", "link_layer", "addressing", "max_mtu", "active_mtu", "lid", "sm_lid", "max_msg_sz", "speed", "netdev",
		})
		x.gids(pa[num].GIDs, pb[num].GIDs)
	}
	x.port = 0
}

// gids compares the slots of a GID table.
func (x *differ) gids(a, b []probe.GID) {
	texts := func(gids []probe.GID) map[int]string {
		m := map[int]string{}
		for _, g := range gids {
			m[g.Index] = strings.Join(strings.Fields(g.GID+" "+g.Type+" "+g.Netdev), " ")
		}
		return m
	}
	ga, gb := texts(a), texts(b)
	all := maps.Clone(ga)
	maps.Copy(all, gb)
	for _, i := range slices.Sorted(maps.Keys(all)) {
		x.add(ChangeGID, fmt.Sprintf("gid %d", i), ga[i], gb[i], i)
	}
}

// state is a level with its reason.
type state struct {
	level  rdma.Capability
	reason probe.Reason
}

// stateOf is the state of a capability now: what was seen under another build is
// not known to hold.
func stateOf(s *probe.Summary) state {
	if s.Stale || s.State == "" || s.State == rdma.CapabilityUnknown {
		st := state{rdma.CapabilityUnknown, probe.NotTried}
		if s.LastAttempt != nil {
			st.reason = s.LastAttempt.Reason
		}
		return st
	}
	return state{level: s.State}
}

func (s state) text() string {
	if s.reason == "" {
		return string(s.level)
	}
	return string(s.level) + " (" + string(s.reason) + ")"
}

// tried tells whether anything was done to see a level.
func (s state) tried() bool {
	return s.level != "" && s.level != rdma.CapabilityUnknown ||
		!slices.Contains([]probe.Reason{probe.NotTried, probe.Precondition, probe.Guarded, ""}, s.reason)
}

// worse tells whether to is a regression from s.
func (s state) worse(to state) bool {
	switch {
	case s.level == rdma.CapabilityUnknown || !to.tried():
		return false
	case s.level == rdma.CapabilityConfirmed:
		return to.level != rdma.CapabilityConfirmed
	}
	return slices.Contains([]probe.Reason{probe.Crash, probe.Stuck, probe.Timeout}, to.reason)
}

func (x *differ) level(kind, what, probed string, place int, from, to state) {
	if from == to || !from.tried() && !to.tried() {
		return
	}
	if from.tried() != to.tried() {
		if kind == ChangeCapability && from.level == to.level {
			return
		}
		if kind == ChangeLevel {
			kind = ChangeUntried
		}
	}
	x.changes = append(x.changes, Change{
		Kind: kind, Host: x.host, Device: x.device, Port: x.port, What: what, Probe: probed, From: from.text(), To: to.text(),
		Regression: from.worse(to), place: place,
	})
}

func rowsOfHost(d *probe.Document, host string) []*probe.Observation {
	var rows []*probe.Observation
	for i := range d.Observations {
		if d.Observations[i].Host == host {
			rows = append(rows, &d.Observations[i])
		}
	}
	return rows
}

// levels compares the rows about one device, "" for the host.
func (x *differ) levels(device string, a, b []*probe.Observation) {
	of := func(rows []*probe.Observation) []*probe.Observation {
		return slices.DeleteFunc(slices.Clone(rows), func(o *probe.Observation) bool { return o.Device != device })
	}
	x.levelsOf(of(a), of(b))
}

// levelsOf compares rows by id, port and probe; the last of several stands.
func (x *differ) levelsOf(a, b []*probe.Observation) {
	type key struct {
		id, probe string
		port      int
	}
	states := func(rows []*probe.Observation) map[key]state {
		m := map[key]state{}
		for _, o := range rows {
			s := state{o.Level, o.Reason}
			if k := (key{o.ID, o.Probe, o.Port}); s.tried() || !m[k].tried() {
				m[k] = s
			}
		}
		return m
	}
	sa, sb := states(a), states(b)
	all := maps.Clone(sa)
	maps.Copy(all, sb)
	for k := range all {
		from, to := sa[k], sb[k]
		for _, s := range []*state{&from, &to} {
			if s.level == "" {
				*s = state{rdma.CapabilityUnknown, probe.NotTried}
			}
		}
		x.port = k.port
		place := slices.IndexFunc(probe.EvidenceIDs, func(e probe.Evidence) bool { return e.ID == k.id })
		x.level(ChangeLevel, k.id, k.probe, place, from, to)
	}
	x.port = 0
}
