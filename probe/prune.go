package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sort"
	"time"

	"rdmaprobe/probe/ledger"
)

// Pruned tells what a Prune kept and dropped.
type Pruned struct {
	Path    string      `json:"path"`
	Before  time.Time   `json:"before"`   // runs that began earlier could go
	Kept    int         `json:"kept"`     // records
	Dropped int         `json:"dropped"`  // records
	Damaged int         `json:"damaged"`  // lines that cannot be read as a record; they stay
	KeptOld int         `json:"kept_old"` // runs that are older and still needed
	Runs    []PrunedRun `json:"runs"`     // those that went, oldest first
}

// PrunedRun is a run that was dropped.
type PrunedRun struct {
	Run     string    `json:"run"`
	N       int64     `json:"n"`
	At      time.Time `json:"at"`
	Records int       `json:"records"`
}

// Prune drops from the ledger the runs that began more than age before now and
// that nothing stands on any more. A run stays whole or goes whole. One stays,
// however old, while it holds the newest answer or the newest attempt of any
// device, port, id, probe, OS build and library, the newest sight of a device or
// host, a probe whose outcome nobody recorded, or an event that still closes a
// device. The file is replaced in one step; while a run goes on it is refused
// with ledger.ErrLive.
func Prune(o Options, age time.Duration, now time.Time) (*Pruned, error) {
	r := &run{opts: &o, ctx: context.Background(), started: now}
	r.doc = NewDocument(o.Tool, o.Command)
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := r.readHost(); err != nil {
		return nil, err
	}
	path, err := r.storePath()
	if err != nil {
		return nil, err
	}
	if path == noStore {
		return nil, usagef("--store none keeps nothing: there is nothing to prune")
	}
	h := newHistory()
	h.path, h.provider = path, r.ledgerProvider()
	_, err = h.read(func(run string) bool { return ledger.RunLive(path, run) })
	if err != nil { // foreign, no ledger, or not to be read
		return nil, usagef("--store %s: %v", path, err)
	}
	p := &Pruned{Path: path, Before: now.Add(-age).UTC(), Runs: []PrunedRun{}}
	return p, p.apply(h)
}

// apply chooses the runs and rewrites the ledger.
func (p *Pruned) apply(h *history) error {
	runs := map[string]*PrunedRun{}
	if _, err := ledger.Scan(p.Path, func(rec *ledger.Record) error {
		r := runs[rec.Run]
		if r == nil {
			r = &PrunedRun{Run: rec.Run, N: rec.N, At: rec.At}
			runs[rec.Run] = r
		}
		r.Records++
		return nil
	}); err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	needed, drop := h.needed(), map[string]bool{}
	for id, r := range runs {
		switch {
		case !r.At.Before(p.Before):
		case needed[id] || h.runs[id] == nil: // a run that began meanwhile is not known
			p.KeptOld++
		default:
			drop[id] = true
			p.Runs = append(p.Runs, *r)
		}
	}
	sort.Slice(p.Runs, func(i, j int) bool {
		a, b := &p.Runs[i], &p.Runs[j]
		return cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.Run, b.Run)) < 0
	})
	done, err := ledger.Prune(p.Path, func(rec *ledger.Record) bool { return !drop[rec.Run] })
	if err != nil {
		p.Runs = []PrunedRun{}
		if errors.Is(err, ledger.ErrNotLedger) {
			return usagef("--store %s: %v", p.Path, err)
		}
		return err
	}
	p.Kept, p.Dropped, p.Damaged = done.Kept, done.Dropped, done.Damaged
	return nil
}

// needed are the runs that something stands on.
func (h *history) needed() map[string]bool {
	needed, byNumber := map[string]bool{}, map[int64]string{}
	for id, r := range h.runs {
		byNumber[r.n] = id
	}
	for _, of := range h.newest {
		for _, rows := range of {
			if rows.answer != nil {
				needed[rows.answer.run] = true
			}
			needed[rows.last().run] = true
		}
	}
	for _, s := range h.sights {
		needed[byNumber[s.n]] = true
	}
	for _, host := range h.hosts {
		needed[host.last.id] = true
	}
	for _, list := range h.closures {
		for _, c := range list {
			if r := h.runs[c.Run]; r == nil || c.Event == "interrupted" || h.sameBoot(r) {
				needed[c.Run] = true
			}
		}
	}
	return needed
}

// sameBoot tells whether a run was in the boot of its host's newest run.
func (h *history) sameBoot(r *pastRun) bool {
	host := h.hosts[r.host]
	return host == nil || host.last.boot == r.boot
}
