package probe

import (
	"cmp"
	"fmt"
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
