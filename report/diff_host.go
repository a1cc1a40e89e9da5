package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
)

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
