package probe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// Source is one file that a merged report was made from, as far as it is about
// one host.
type Source struct {
	File     string   `json:"file"`
	Host     string   `json:"host,omitempty"`
	OSBuild  string   `json:"os_build,omitempty"` // what the evidence is tied to: the OS build, or the kernel's release
	Tool     Tool     `json:"tool"`
	Run      RunInfo  `json:"run"`
	Provider Provider `json:"provider"`
	Error    string   `json:"error,omitempty"`
	Exit     int      `json:"exit"`
}

// Conflict is what the files of one host saw differently under one OS build: the
// same id on the same port with two levels that are answers. The newest row is
// the one among the observations; all stand here, newest first.
type Conflict struct {
	Host    string     `json:"host,omitempty"`
	Device  string     `json:"device,omitempty"`
	Port    int        `json:"port,omitempty"`
	ID      string     `json:"id"`
	Probe   string     `json:"probe,omitempty"`
	OSBuild string     `json:"os_build,omitempty"`
	Seen    []Sighting `json:"seen"`
}

// Sighting is one side of a conflict.
type Sighting struct {
	Level     rdma.Capability `json:"level"`
	File      string          `json:"file"`
	Run       string          `json:"run"`
	Seq       int64           `json:"seq"`
	StartedAt *time.Time      `json:"started_at,omitempty"`
}

// MergeInput is a document with the name of the file it came from.
type MergeInput struct {
	File     string
	Document *Document
}

// ErrMixedProviders refuses to put simulated evidence beside a machine's own.
var ErrMixedProviders = errors.New("some of the files are of a simulated machine and some of a real one: report them apart")

// Merge makes one document of several. Documents of one host become one: of two
// rows about the same thing the one whose run began later stands, and within a
// run the one with the higher number; a row of what was not tried replaces
// nothing. Evidence of another OS build than the host's newest is left out
// unless allBuilds; the capabilities then show it as stale. Of several hosts the
// document has them all in Hosts, and its devices, observations and findings
// name theirs. Rows that are not Sound are left out, and a note counts them. The inputs are not changed.
func Merge(into *Document, inputs []MergeInput, allBuilds bool) error {
	var parts []*part
	for _, in := range inputs {
		p := partsOf(in)
		n := 0
		for _, of := range p {
			n += of.dropUnsound()
		}
		if n > 0 {
			into.Notes = append(into.Notes, fmt.Sprintf("%s of %s left out: not of the vocabulary", count(n, "row"), in.File))
		}
		if len(p) == 0 {
			into.Notes = append(into.Notes, emptyNote(in))
		}
		parts = append(parts, p...)
	}
	for _, p := range parts[min(1, len(parts)):] {
		if p.doc.Provider.Kind != parts[0].doc.Provider.Kind {
			return ErrMixedProviders
		}
	}
	groups := groupParts(parts)
	labelGroups(groups)
	for _, g := range groups {
		g.merge(allBuilds)
		into.Sources = append(into.Sources, g.sources()...)
	}
	into.takeRun(parts)
	into.Redacted = len(inputs) > 0 && !slices.ContainsFunc(inputs, func(in MergeInput) bool { return !in.Document.Redacted })
	switch len(groups) {
	case 0:
	case 1:
		groups[0].alone(into)
	default:
		joinGroups(into, groups)
	}
	sortRows(into)
	return nil
}

// emptyNote says why a file adds nothing.
func emptyNote(in MergeInput) string {
	if in.Document.Error != "" {
		return in.File + " has no evidence; its run failed: " + in.Document.Error
	}
	return in.File + " has no evidence"
}

// takeRun makes the newest run the document's, as a report of a ledger has it,
// and notes the runs that failed.
func (d *Document) takeRun(parts []*part) {
	var newest *part
	for _, p := range parts {
		if newest == nil || p.doc.Run.StartedAt.After(newest.doc.Run.StartedAt) {
			newest = p
		}
		if note := p.file + ": its run failed: " + p.doc.Error; p.doc.Error != "" && !slices.Contains(d.Notes, note) {
			d.Notes = append(d.Notes, note)
		}
	}
	if newest != nil {
		d.Run = newest.doc.Run
	}
}

// OnlyDevices leaves out the devices of other names, with all that is about them.
func (d *Document) OnlyDevices(names []string) {
	if len(names) == 0 {
		return
	}
	other := func(name string) bool { return name != "" && !slices.Contains(names, name) }
	gone := map[string]bool{}
	for _, dev := range d.Devices {
		gone[dev.Name] = other(dev.Name)
	}
	d.Devices = slices.DeleteFunc(d.Devices, func(dev Device) bool { return other(dev.Name) })
	d.Observations = slices.DeleteFunc(d.Observations, func(o Observation) bool { return other(o.Device) })
	d.Findings = slices.DeleteFunc(d.Findings, func(f Finding) bool { return gone[f.Scope] })
	d.Conflicts = slices.DeleteFunc(d.Conflicts, func(c Conflict) bool { return other(c.Device) })
}

// part is what one file says of one host, without labels.
type part struct {
	file  string
	place int // of the file among the arguments
	doc   *Document
	ids   map[string]string // device name: identity
}

// build is what the evidence is tied to.
func (p *part) build() string {
	h := p.host()
	return cmp.Or(h.OSBuild, h.Kernel)
}

func (p *part) host() hostfacts.Host {
	if p.doc.Host == nil {
		return hostfacts.Host{}
	}
	return *p.doc.Host
}

// partsOf splits a document by its hosts.
func partsOf(in MergeInput) []*part {
	d := in.Document
	if len(d.Hosts) == 0 {
		if d.Host == nil && len(d.Devices) == 0 && len(d.Observations) == 0 {
			return nil
		}
		whole := *d
		return []*part{newPart(in.File, &whole)}
	}
	var parts []*part
	for i := range d.Hosts {
		h := &d.Hosts[i]
		doc := documentOfHost(d, h)
		doc.Findings, doc.Conflicts, doc.Verdict, doc.Verify = nil, nil, nil, nil
		for _, f := range d.Findings {
			if f.Host == h.Name {
				f.Message = strings.TrimPrefix(f.Message, printable(h.Name)+": ")
				doc.Findings = append(doc.Findings, f)
			}
		}
		for _, c := range d.Conflicts {
			if c.Host == h.Name {
				doc.Conflicts = append(doc.Conflicts, c)
			}
		}
		for _, s := range d.Sources {
			if s.Host == h.Name && (doc.Run.ID == d.Run.ID || s.Run.StartedAt.After(doc.Run.StartedAt)) {
				doc.Run, doc.Provider, doc.Tool = s.Run, s.Provider, s.Tool
			}
		}
		parts = append(parts, newPart(in.File, doc))
	}
	return parts
}

// newPart takes the labels off a document and works out its devices' identities.
func newPart(file string, d *Document) *part {
	p := &part{file: file, doc: d, ids: map[string]string{}}
	shared := map[string]int{}
	d.Devices = slices.Clone(d.Devices)
	for i := range d.Devices {
		d.Devices[i].Host = ""
		shared[d.Devices[i].NodeGUID]++
	}
	for _, dev := range d.Devices {
		if p.ids[dev.Name] = dev.Name; hasGUID(dev.NodeGUID) && shared[dev.NodeGUID] == 1 {
			p.ids[dev.Name] = dev.NodeGUID
		}
	}
	d.Observations = slices.Clone(d.Observations)
	for i := range d.Observations {
		d.Observations[i].Host = ""
	}
	d.Findings = slices.Clone(d.Findings)
	for i := range d.Findings {
		d.Findings[i].Host = ""
	}
	return p
}

// identity of a device, "" for the host.
func (p *part) identity(device string) string {
	if id, ok := p.ids[device]; ok {
		return id
	}
	return device
}

// began is when the run of a row began: the order of rows between files. A row
// of an earlier run than the document's own has it in the run's name.
func (p *part) began(run string, at *time.Time) time.Time {
	if run == p.doc.Run.ID {
		return p.doc.Run.StartedAt
	}
	stamp, _, _ := strings.Cut(run, "-")
	if t, err := time.Parse("20060102T150405", stamp); err == nil {
		return t
	}
	if at != nil {
		return *at
	}
	return p.doc.Run.StartedAt
}

// hostGroup is all that is known of one host, oldest file first.
type hostGroup struct {
	label string
	parts []*part
	doc   *Document // of the host alone, once merged
}

// groupParts puts parts of the same host together, in the order of the files.
func groupParts(parts []*part) []*hostGroup {
	var groups []*hostGroup
	for i, p := range parts {
		p.place = i
		g := slices.IndexFunc(groups, func(g *hostGroup) bool {
			return slices.ContainsFunc(g.parts, func(q *part) bool { return p.sameHost(q) })
		})
		if g < 0 {
			groups, g = append(groups, &hostGroup{}), len(groups)
		}
		groups[g].parts = append(groups[g].parts, p)
	}
	for _, g := range groups {
		sort.SliceStable(g.parts, func(i, j int) bool { return g.parts[i].doc.Run.StartedAt.Before(g.parts[j].doc.Run.StartedAt) })
	}
	return groups
}

// sameHost tells whether two documents are of one machine: they are of the same
// boot, or share a device, or have its name and nothing that speaks against it.
func (p *part) sameHost(q *part) bool {
	a, b := p.host(), q.host()
	if boot := p.doc.Run.BootID; boot != "" && boot == q.doc.Run.BootID && p.doc.Provider.Kind == Native {
		return true
	}
	shared := p.sharesDevice(q)
	if a.Name == "" || b.Name == "" {
		return shared
	}
	differs := func(x, y string) bool { return x != "" && y != "" && x != y }
	return a.Name == b.Name && (shared || !differs(a.OS, b.OS) && !differs(a.Arch, b.Arch) && !differs(a.Model, b.Model))
}

func (p *part) sharesDevice(q *part) bool {
	return slices.ContainsFunc(p.doc.Devices, func(d Device) bool {
		return hasGUID(d.NodeGUID) && slices.ContainsFunc(q.doc.Devices, func(e Device) bool { return e.NodeGUID == d.NodeGUID })
	})
}

// labelGroups gives every host a name of its own: two machines may have one name,
// or none.
func labelGroups(groups []*hostGroup) {
	taken := map[string]int{}
	for _, g := range groups {
		last := g.parts[len(g.parts)-1]
		name := last.host().Name
		if name == "" && len(groups) > 1 {
			name = last.file
		}
		taken[name]++
		if g.label = name; taken[name] > 1 {
			g.label = fmt.Sprintf("%s (%d)", name, taken[name])
		}
	}
}

func (g *hostGroup) sources() []Source {
	var all []Source
	for _, p := range g.parts {
		all = append(all, Source{
			File: p.file, Host: g.label, OSBuild: p.build(), Tool: p.doc.Tool, Run: p.doc.Run, Provider: p.doc.Provider,
			Error: p.doc.Error, Exit: p.doc.Exit,
		})
	}
	return all
}

// alone puts the only host into the document.
func (g *hostGroup) alone(into *Document) {
	d := g.doc
	into.Provider, into.Host, into.NotRead, into.Verdict = d.Provider, d.Host, d.NotRead, d.Verdict
	into.Devices, into.Observations, into.Findings, into.Conflicts = d.Devices, d.Observations, d.Findings, d.Conflicts
	into.Verify = d.Verify
	into.Notes = append(into.Notes, d.Notes...)
}

// joinGroups puts several hosts into the document.
func joinGroups(into *Document, groups []*hostGroup) {
	into.Provider = groups[0].doc.Provider
	for _, g := range groups {
		d, h := g.doc, &hostfacts.Host{}
		if d.Host != nil {
			h = d.Host
		}
		into.Hosts = append(into.Hosts, *h)
		into.Hosts[len(into.Hosts)-1].Name = g.label
		devices, rows, findings, conflicts := len(into.Devices), len(into.Observations), len(into.Findings), len(into.Conflicts)
		into.Devices = append(into.Devices, d.Devices...)
		for i := range d.Devices {
			into.Devices[devices+i].Host = g.label
		}
		into.Observations = append(into.Observations, d.Observations...)
		for i := range d.Observations {
			into.Observations[rows+i].Host = g.label
		}
		into.Findings = append(into.Findings, d.Findings...)
		for i := range d.Findings {
			f := &into.Findings[findings+i]
			f.Host, f.Message = g.label, printable(g.label)+": "+f.Message
		}
		into.Conflicts = append(into.Conflicts, d.Conflicts...)
		for i := range d.Conflicts {
			into.Conflicts[conflicts+i].Host = g.label
		}
		for _, n := range d.Notes {
			into.Notes = append(into.Notes, g.label+": "+n)
		}
		for _, n := range d.NotRead {
			n.Source = g.label + ": " + n.Source
			into.NotRead = append(into.NotRead, n)
		}
		if l := d.Provider.Library; l.ID != into.Provider.Library.ID || l.Path != into.Provider.Library.Path || l.Loaded != into.Provider.Library.Loaded {
			into.Provider.Library = Library{Symbols: map[string]bool{}} // each source has its own
		}
		if d.Provider.Profile != into.Provider.Profile {
			into.Provider.Profile = ""
		}
	}
	for _, h := range buildsOfHosts(into.Hosts) {
		into.Findings = append(into.Findings, newRuleHit(ruleOf("os_builds_differ"), h).finding())
	}
	into.Findings = sortFindings(into.Findings)
}
