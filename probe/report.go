package probe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"rdmaprobe/probe/ledger"
)

// ReportOptions say what of the ledger a report shows.
type ReportOptions struct {
	Options
	AllBuilds bool // also evidence from other OS builds, marked stale
}

// Report rebuilds a document from the ledger: for each device, port, id, probe
// and OS build the newest row. It starts no child and opens no device. The
// document is never nil.
func Report(o ReportOptions) (*Document, error) {
	r := &run{opts: &o.Options, started: time.Now()}
	r.doc = NewDocument(r.opts.Tool, r.opts.Command)
	if err := r.opts.check(); err != nil {
		r.exit.usage = true
		return r.doc, r.fail(err)
	}
	if err := r.readHost(); err != nil {
		r.exit.usage = true
		return r.doc, r.fail(err)
	}
	path, err := r.storePath()
	if err != nil || path == "none" {
		return r.doc, err
	}
	past, stats, err := readHistory(path, func(run string) bool { return ledger.RunLive(path, run) })
	if err != nil {
		return r.doc, r.fail(err)
	}
	r.past = past
	r.noteDamage(stats)
	r.rebuild(o.AllBuilds)
	r.doc.Exit = ExitOK
	return r.doc, nil
}

// storePath is the ledger that a run uses, "none" for none.
func (r *run) storePath() (string, error) {
	if r.opts.Store != "" {
		return r.opts.Store, nil
	}
	p, err := ledger.DefaultPath(r.ledgerName())
	if err != nil {
		return "", r.fail(err)
	}
	return p, nil
}

// ledgerName is the provider as the ledger's own paths name it.
func (r *run) ledgerName() string {
	if r.profile != nil {
		return "sim:" + r.opts.Provider.Name
	}
	return Native
}

// rebuild fills the document from the history.
func (r *run) rebuild(all bool) {
	last := r.past.lastRun()
	if last == nil {
		return
	}
	r.doc.Provider = last.body.Provider
	r.doc.Run.Seq = last.n
	if h := last.host; h != nil && r.profile == nil {
		r.doc.Host = h
	}
	build, lib := last.body.build(), last.body.Provider.Library.ID
	r.platform.os = last.body.Host.OS
	for _, d := range r.past.devicesSeen() {
		if len(r.opts.Devices) == 0 || slices.Contains(r.opts.Devices, d.Name) {
			r.doc.Devices = append(r.doc.Devices, d)
		}
	}
	r.rebuildRows(build, all)
	for _, d := range r.doc.Devices {
		r.fill(d)
	}
	for i := range r.doc.Devices {
		d := &r.doc.Devices[i]
		d.Capabilities = r.past.summarise(r.past.identityOf(*d), build, lib, d.thunderbolt(r.platform.os))
	}
	sortRows(r.doc)
	r.doc.Findings = r.findings("report")
}

// rebuildRows takes the newest row of each key.
func (r *run) rebuildRows(build string, all bool) {
	newest := map[rowKey]*pastRow{}
	for k, rows := range r.past.newest {
		if k.build != build && !all {
			continue
		}
		k.lib = "" // rows of one build replace each other across libraries
		if rows.last.newer(newest[k]) {
			newest[k] = rows.last
		}
	}
	for _, p := range newest {
		if p.o.Device == "" || slices.ContainsFunc(r.doc.Devices, func(d Device) bool { return d.Name == p.o.Device }) {
			r.doc.Observations = append(r.doc.Observations, p.o)
		}
	}
	slices.SortFunc(r.doc.Observations, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.Seq, b.Seq))
	})
}

// lastRun is the run with the highest number.
func (h *history) lastRun() *pastRun {
	var last *pastRun
	for _, r := range h.runs {
		if last == nil || r.n > last.n {
			last = r
		}
	}
	return last
}

// devicesSeen are the devices of all runs, each as the newest run saw it, in the
// order of their names.
func (h *history) devicesSeen() []Device {
	newest := map[string]Device{}
	at := map[string]int64{}
	for _, r := range h.runs {
		for name, d := range r.devices {
			id := r.identity(name)
			if r.n >= at[id] {
				newest[id], at[id] = d, r.n
			}
		}
	}
	// One name may have belonged to two devices: the newer one keeps it.
	byName := map[string]Device{}
	for id, d := range newest {
		if old, ok := byName[d.Name]; !ok || at[id] > at[identity(old.NodeGUID, old.Name, "")] {
			byName[d.Name] = d
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b Device) int { return cmp.Compare(a.Name, b.Name) })
}

// identityOf is the identity of a device as the newest run that saw it.
func (h *history) identityOf(d Device) string {
	id, n := "", int64(-1)
	for _, r := range h.runs {
		if seen, ok := r.devices[d.Name]; ok && r.n > n && seen.NodeGUID == d.NodeGUID {
			id, n = r.identity(d.Name), r.n
		}
	}
	return id
}
