package probe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"rdmaprobe/probe/hostfacts"
)

// part is what one file says of one host, without labels.
type part struct {
	file  string
	place int // of the file among the arguments
	doc   *Document
	ids   map[string]string   // device name: identity
	guids map[string]struct{} // of its devices
	has   map[guidName]bool   // the devices by GUID and name
}

type guidName struct{ guid, name string }

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
	findings, conflicts := byHost(d.Findings, func(f *Finding) string { return f.Host }), byHost(d.Conflicts, func(c *Conflict) string { return c.Host })
	sources := byHost(d.Sources, func(s *Source) string { return s.Host })
	for _, doc := range documentsOfHosts(d) {
		h := doc.Host.Name
		doc.Verdict, doc.Verify = nil, nil
		doc.Findings, doc.Conflicts = slices.Clone(findings[h]), conflicts[h]
		for i := range doc.Findings {
			f := &doc.Findings[i]
			f.Message = strings.TrimPrefix(f.Message, printable(h)+": ")
		}
		for _, s := range sources[h] {
			if doc.Run.ID == d.Run.ID || s.Run.StartedAt.After(doc.Run.StartedAt) {
				doc.Run, doc.Provider, doc.Tool = s.Run, s.Provider, s.Tool
			}
		}
		parts = append(parts, newPart(in.File, doc))
	}
	return parts
}

// newPart takes the labels off a document and works out its devices' identities.
func newPart(file string, d *Document) *part {
	p := &part{file: file, doc: d, ids: map[string]string{}, guids: map[string]struct{}{}, has: map[guidName]bool{}}
	shared := map[string]int{}
	d.Devices = slices.Clone(d.Devices)
	for i := range d.Devices {
		d.Devices[i].Host = ""
		shared[d.Devices[i].NodeGUID]++
	}
	for _, dev := range d.Devices {
		p.has[guidName{dev.NodeGUID, dev.Name}] = true
		if hasGUID(dev.NodeGUID) {
			p.guids[dev.NodeGUID] = struct{}{}
		}
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
	sharing := map[string]map[int]bool{} // by trait: the groups with a part that has it
	for i, p := range parts {
		p.place = i
		near, traits := map[int]bool{}, p.traits()
		for _, t := range traits {
			maps.Copy(near, sharing[t])
		}
		at := len(groups)
		for _, g := range slices.Sorted(maps.Keys(near)) {
			if slices.ContainsFunc(groups[g].parts, p.sameHost) {
				at = g
				break
			}
		}
		if at == len(groups) {
			groups = append(groups, &hostGroup{})
		}
		groups[at].parts = append(groups[at].parts, p)
		for _, t := range traits {
			if sharing[t] == nil {
				sharing[t] = map[int]bool{}
			}
			sharing[t][at] = true
		}
	}
	for _, g := range groups {
		sort.SliceStable(g.parts, func(i, j int) bool { return g.parts[i].doc.Run.StartedAt.Before(g.parts[j].doc.Run.StartedAt) })
	}
	return groups
}

// traits are what documents of one machine have at least one of in common.
func (p *part) traits() []string {
	all := []string{"name " + p.host().Name, "boot " + p.doc.Run.BootID}
	for guid := range p.guids {
		all = append(all, "guid "+guid)
	}
	return slices.DeleteFunc(all, func(t string) bool { return t == "name " || t == "boot " })
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
	for guid := range p.guids {
		if _, both := q.guids[guid]; both {
			return true
		}
	}
	return false
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
