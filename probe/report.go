package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/probe/ledger"
)

// ReportOptions say what of the ledger a report shows.
type ReportOptions struct {
	Options
	AllBuilds bool // also evidence from other OS builds
	AllRows   bool // also rows that newer ones have replaced

	here bool // set by Gather: of a ledger of several hosts this one alone
}

// Report rebuilds a document from the ledger: for each host, device, port, id,
// probe and OS build the newest row, and the run and provider of the newest run.
// It starts no child and opens no device. A ledger that is there and cannot be
// read is a UsageError. The document is never nil.
func Report(o ReportOptions) (*Document, error) {
	r := &run{opts: &o.Options, ctx: context.Background(), started: time.Now()}
	r.doc = NewDocument(r.opts.Tool, r.opts.Command)
	if err := r.opts.check(); err != nil {
		r.exit.usage = true
		return r.doc, r.fail(err)
	}
	if err := r.readHost(); err != nil {
		r.exit.usage = true
		return r.doc, r.fail(err)
	}
	r.past = newHistory()
	r.past.every = o.AllRows
	unread, err := r.readStore()
	if unread != nil { // an answer without it would be that nothing is known
		err = r.wrongStore(unread)
	}
	if err != nil {
		return r.doc, err
	}
	last := r.past.last()
	if here := r.past.hosts[r.facts.Name]; o.here && here != nil {
		last, r.hereOnly = here.last, true
	}
	if last != nil {
		r.rebuild(last, o.AllBuilds)
	}
	r.doc.Exit = ExitOK
	return r.doc, nil
}

// storePath is the ledger that a run uses, noStore for none.
func (r *run) storePath() (string, error) {
	if r.opts.Store != "" {
		return r.opts.Store, nil
	}
	name := Native
	if r.profile != nil {
		name = "sim:" + r.opts.Provider.Name
	}
	p, err := ledger.DefaultPath(name)
	if err != nil {
		return "", r.fail(err)
	}
	return p, nil
}

// rebuilding is a report in the making.
type rebuilding struct {
	*run
	all    bool
	builds map[string]string // the current OS build of each host
	labels map[string]*label // of each identity: what it is called now
	many   bool              // several hosts
}

// label is where an identity belongs now.
type label struct {
	host string
	dev  Device
}

// rebuild fills the document from the history.
func (r *run) rebuild(last *pastRun, all bool) {
	b := &rebuilding{run: r, all: all, builds: map[string]string{}, labels: map[string]*label{}}
	b.placeDevices()
	b.placeHosts(last)
	b.rows()
	r.fill()
	r.number()
	sortRows(r.doc)
	r.doc.Findings = r.findings("report")
}

// placeDevices gives each device its newest name and host. A name that was on
// two devices belongs to the newer one.
func (b *rebuilding) placeDevices() {
	type place struct{ host, name string }
	owner := map[place]string{}
	for id, s := range b.past.sights {
		at := place{s.host, s.name}
		if old, taken := owner[at]; !taken || s.newer(b.past.sights[old]) {
			owner[at] = id
		}
	}
	for at, id := range owner {
		if b.hereOnly && at.host != b.facts.Name {
			continue
		}
		if len(b.opts.Devices) > 0 && !slices.Contains(b.opts.Devices, at.name) {
			continue
		}
		l := &label{host: at.host}
		if json.Unmarshal(b.past.sights[id].body, &l.dev) == nil {
			l.dev.Capabilities = nil
			b.labels[id] = l
		}
	}
}

// placeHosts fills in run, provider and hosts. A host without devices is left out
// beside others: its devices have moved, or it was renamed.
func (b *rebuilding) placeHosts(last *pastRun) {
	newest := b.past.hosts[last.host]
	if newest == nil { // its first record is damaged
		newest = &pastHost{last: last}
	}
	var body struct {
		Run      RunInfo  `json:"run"`
		Provider Provider `json:"provider"`
	}
	if json.Unmarshal(newest.body, &body) == nil {
		b.doc.Run, b.doc.Provider = body.Run, body.Provider
	}
	if k := &b.doc.Provider.Kind; *k != Native && *k != Simulated { // as the damaged record that it is from
		*k = cmp.Or(map[bool]string{true: Simulated}[b.profile != nil], Native)
	}
	b.doc.Run.ID, b.doc.Run.Seq = newest.last.id, newest.last.n
	var end endBody
	if json.Unmarshal(newest.end, &end) == nil {
		b.doc.Run.DurationNS = end.DurationNS
	}
	here := b.facts.Name
	names := map[string]bool{last.host: true}
	for _, l := range b.labels {
		names[l.host] = true
	}
	b.many = len(names) > 1
	if b.many {
		b.doc.Host = nil
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		h := b.past.hosts[name]
		if h == nil {
			continue
		}
		b.builds[name] = h.last.build
		if name == here && b.platform.build != "" {
			b.builds[name] = b.platform.build
		}
		b.addHost(h.body)
	}
}

// addHost puts a host's recorded facts into the document.
func (b *rebuilding) addHost(body []byte) {
	var rec struct {
		Host *hostfacts.Host `json:"host"`
	}
	switch {
	case json.Unmarshal(body, &rec) != nil || rec.Host == nil:
	case b.many:
		b.doc.Hosts = append(b.doc.Hosts, *rec.Host)
	default:
		b.doc.Host = rec.Host
	}
}

// rows fills in the devices with their rows and capabilities, under the names
// that they have now.
func (b *rebuilding) rows() {
	for _, id := range slices.Sorted(maps.Keys(b.labels)) {
		l := b.labels[id]
		h := b.past.hosts[l.host]
		if h == nil {
			continue
		}
		l.dev.Capabilities = b.past.summarise(id, b.builds[l.host], h.last.lib, l.dev.thunderbolt(h.last.os))
		if b.many {
			l.dev.Host = l.host
		}
		b.doc.Devices = append(b.doc.Devices, l.dev)
	}
	sort.Slice(b.doc.Devices, func(i, j int) bool {
		x, y := &b.doc.Devices[i], &b.doc.Devices[j]
		return cmp.Or(cmp.Compare(x.Host, y.Host), cmp.Compare(x.Name, y.Name)) < 0
	})
	for host := range b.builds {
		b.labels[hostIdentity(host)] = &label{host: host}
	}
	for _, p := range b.chosen() {
		o := p.observation()
		l := b.labels[p.identity]
		o.Device, o.OSBuild = l.dev.Name, ""
		if p.build != b.builds[l.host] {
			o.OSBuild = p.build
		}
		if b.many {
			o.Host = l.host
		}
		if o.Run == b.doc.Run.ID {
			b.seq = max(b.seq, o.Seq)
		}
		b.doc.Observations = append(b.doc.Observations, o)
	}
}

// chosen are the rows to show, oldest first: the newest of each key, where rows
// of one build replace each other across libraries, or all.
func (b *rebuilding) chosen() []*pastRow {
	var rows []*pastRow
	if b.past.every {
		rows = b.past.rows
	} else {
		newest := map[rowKey]*pastRow{}
		for _, of := range b.past.newest {
			for k, kept := range of {
				k.lib = ""
				if p := kept.last(); p.newer(newest[k]) {
					newest[k] = p
				}
			}
		}
		rows = slices.Collect(maps.Values(newest))
	}
	rows = slices.DeleteFunc(rows, func(p *pastRow) bool {
		l := b.labels[p.identity]
		return l == nil || !b.all && p.build != b.builds[l.host]
	})
	sort.Slice(rows, func(i, j int) bool {
		x, y := rows[i], rows[j]
		return x.n < y.n || x.n == y.n && x.seq < y.seq
	})
	return rows
}
