package probe

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// mergeKey is what rows of one host replace each other within.
type mergeKey struct {
	identity, id, probe string
	port                int
}

// mergedRow is a row with what orders it.
type mergedRow struct {
	o     Observation
	part  *part
	began time.Time
}

// newer orders rows by the start of their runs, then by number. Of a row that
// two files share the later file has it.
func (r *mergedRow) newer(q *mergedRow) bool {
	if q == nil {
		return true
	}
	if c := r.began.Compare(q.began); c != 0 && r.o.Run != q.o.Run {
		return c > 0
	}
	return cmp.Or(cmp.Compare(r.o.Seq, q.o.Seq), cmp.Compare(r.part.place, q.part.place)) >= 0
}

// merge makes one document of a host's files.
func (g *hostGroup) merge(allBuilds bool) {
	last := g.parts[len(g.parts)-1]
	d := *last.doc
	g.doc = &d
	if len(g.parts) == 1 {
		return
	}
	d.Verdict, d.Verify = nil, nil
	d.Observations, d.Conflicts, d.Notes = nil, nil, nil
	d.Devices = g.devices()
	names := map[string]string{}
	for i := range d.Devices {
		names[g.identityOf(d.Devices[i])] = d.Devices[i].Name
	}
	d.Observations = g.rows(names, allBuilds)
	d.Conflicts = g.conflicts(names)
	g.capabilities()
	for _, p := range g.parts {
		d.Notes = union(d.Notes, p.doc.Notes)
	}
	sortRows(&d)
	d.Findings = g.findings()
}

// devices are those of all files, each as the newest file that read it has it.
func (g *hostGroup) devices() []Device {
	seen := map[string]*Device{}
	var order []string
	for _, p := range slices.Backward(g.parts) {
		for _, dev := range p.doc.Devices {
			id := p.identity(dev.Name)
			newer, ok := seen[id]
			if !ok {
				seen[id] = &dev
				order = append(order, id)
				continue
			}
			if newer.Attr == nil && len(newer.Ports) == 0 { // listed only
				newer.Attr, newer.Ports = dev.Attr, dev.Ports
			}
		}
	}
	var all []Device
	taken := map[string]bool{}
	for _, id := range order {
		if dev := seen[id]; !taken[dev.Name] { // a name that passed to another device is the newer one's
			taken[dev.Name] = true
			all = append(all, *dev)
		}
	}
	return all
}

// identityOf is the identity of a merged device, as its newest file has it.
func (g *hostGroup) identityOf(dev Device) string {
	for _, p := range slices.Backward(g.parts) {
		if p.has[guidName{dev.NodeGUID, dev.Name}] {
			return p.identity(dev.Name)
		}
	}
	return dev.Name
}

// build is the host's newest OS build.
func (g *hostGroup) build() string { return g.parts[len(g.parts)-1].build() }

// build is the OS build under which a row was seen: its file's, unless that is a
// report of all builds and says another.
func (r *mergedRow) build() string { return cmp.Or(r.o.OSBuild, r.part.build()) }

// each calls f for every row of a known device, renamed as the device is now.
func (g *hostGroup) each(names map[string]string, f func(mergeKey, *mergedRow)) {
	for _, p := range g.parts {
		for _, o := range p.doc.Observations {
			id := p.identity(o.Device)
			if o.Device != "" {
				name, ok := names[id]
				if !ok {
					continue
				}
				o.Device = name
			}
			f(mergeKey{id, o.ID, o.Probe, o.Port}, &mergedRow{o, p, p.began(o.Run, o.StartedAt)})
		}
	}
}

// rows are the newest of each key. What was not tried is left out where anybody
// tried it.
func (g *hostGroup) rows(names map[string]string, allBuilds bool) []Observation {
	type about struct{ identity, id string }
	type keyOfBuild struct {
		mergeKey
		build string
	}
	newest, tried := map[keyOfBuild]*mergedRow{}, map[about]bool{}
	g.each(names, func(k mergeKey, r *mergedRow) {
		if !allBuilds && r.build() != g.build() {
			return
		}
		at := keyOfBuild{k, r.build()}
		old := newest[at]
		if old != nil && old.o.tried() && !r.o.tried() {
			return
		}
		if r.newer(old) || r.o.tried() && !old.o.tried() {
			newest[at] = r
		}
		tried[about{k.identity, k.id}] = tried[about{k.identity, k.id}] || r.o.tried()
	})
	var all []*mergedRow
	for k, r := range newest {
		if r.o.tried() || !tried[about{k.identity, k.id}] {
			all = append(all, r)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.o.Run, b.o.Run), cmp.Compare(a.o.Seq, b.o.Seq),
			cmp.Compare(a.o.ID, b.o.ID), cmp.Compare(a.o.Device, b.o.Device), cmp.Compare(a.o.Port, b.o.Port)) < 0
	})
	rows := make([]Observation, len(all))
	for i, r := range all {
		rows[i] = r.o
		if rows[i].OSBuild = r.build(); rows[i].OSBuild == g.build() {
			rows[i].OSBuild = ""
		}
	}
	return rows
}

// conflicts are the answers that differ between files under one OS build. Those
// that a file was itself merged from and found are handed on.
func (g *hostGroup) conflicts(names map[string]string) []Conflict {
	type buildKey struct {
		mergeKey
		build string
	}
	seen := map[buildKey][]*mergedRow{}
	g.each(names, func(k mergeKey, r *mergedRow) {
		at := buildKey{k, r.build()}
		same := func(q *mergedRow) bool { return q.o.Run == r.o.Run && q.o.Seq == r.o.Seq }
		if conclusive(r.o.Level) && !slices.ContainsFunc(seen[at], same) {
			seen[at] = append(seen[at], r)
		}
	})
	var all []Conflict
	for _, p := range g.parts {
		all = append(all, p.doc.Conflicts...)
	}
	for k, rows := range seen {
		if !slices.ContainsFunc(rows, func(r *mergedRow) bool { return r.o.Level != rows[0].o.Level }) {
			continue
		}
		sort.SliceStable(rows, func(i, j int) bool { return rows[i].newer(rows[j]) })
		c := Conflict{Device: names[k.identity], Port: k.port, ID: k.id, Probe: k.probe, OSBuild: k.build}
		for _, r := range rows {
			c.Seen = append(c.Seen, Sighting{Level: r.o.Level, File: r.part.file, Run: r.o.Run, Seq: r.o.Seq, StartedAt: r.o.StartedAt})
		}
		all = append(all, c)
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(idIndex(a.ID), idIndex(b.ID)), cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Probe, b.Probe), cmp.Compare(a.OSBuild, b.OSBuild)) < 0
	})
	return all
}

// findings are those of the newest file, which may know what no document says,
// and what the merged rows come to.
func (g *hostGroup) findings() []Finding {
	all := slices.Clone(g.parts[len(g.parts)-1].doc.Findings)
	there := map[codeScope]bool{}
	for _, f := range all {
		there[f.place()] = true
	}
	for _, f := range Findings(g.doc, FindingContext{Command: "report"}) {
		if !there[f.place()] {
			all = append(all, f)
		}
	}
	return sortFindings(all)
}
