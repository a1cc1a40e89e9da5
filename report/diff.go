package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"time"

	"rdmaprobe/probe"
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
	sort.SliceStable(x.changes, func(i, j int) bool {
		p, q := &x.changes[i], &x.changes[j]
		return cmp.Or(
			cmp.Compare(slices.Index(ChangeKinds, p.Kind), slices.Index(ChangeKinds, q.Kind)),
			-cmp.Compare(one(p.Regression), one(q.Regression)),
			cmp.Compare(p.Host, q.Host), cmp.Compare(p.Device, q.Device), cmp.Compare(p.place, q.place),
			cmp.Compare(p.What, q.What), cmp.Compare(p.Port, q.Port), cmp.Compare(p.Probe, q.Probe)) < 0
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
