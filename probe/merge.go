package probe

import (
	"errors"
	"fmt"
	"slices"
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
		into.appendLabelled(d, g.label)
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

// appendLabelled adds what is known of one host, each part under the host's label.
func (d *Document) appendLabelled(of *Document, label string) {
	devices, rows, findings, conflicts := len(d.Devices), len(d.Observations), len(d.Findings), len(d.Conflicts)
	d.Devices = append(d.Devices, of.Devices...)
	for i := range of.Devices {
		d.Devices[devices+i].Host = label
	}
	d.Observations = append(d.Observations, of.Observations...)
	for i := range of.Observations {
		d.Observations[rows+i].Host = label
	}
	d.Findings = append(d.Findings, of.Findings...)
	for i := range of.Findings {
		f := &d.Findings[findings+i]
		f.Host, f.Message = label, printable(label)+": "+f.Message
	}
	d.Conflicts = append(d.Conflicts, of.Conflicts...)
	for i := range of.Conflicts {
		d.Conflicts[conflicts+i].Host = label
	}
	for _, n := range of.Notes {
		d.Notes = append(d.Notes, label+": "+n)
	}
	for _, n := range of.NotRead {
		n.Source = label + ": " + n.Source
		d.NotRead = append(d.NotRead, n)
	}
}
