package probe

import (
	"encoding/json"
	"slices"
)

// identities are what the run's devices are recognised by, as far as it knows.
func (r *pastRun) identities() map[string]string {
	ids := make(map[string]string, len(r.devices))
	for name := range r.devices {
		ids[name] = r.identity(name)
	}
	return ids
}

// refile moves what is filed of a device from one identity to another: its GUID was
// learned after it had been listed, or another device turned out to have the same.
// Under a name within a boot all rows are of one device, under a GUID those of this
// boot that name it: an earlier run of it has met the same GUID.
func (h *history) refile(r *pastRun, device, from, to string) {
	if from == to {
		return
	}
	named := from == identity("", device, r.boot)
	if h.filed[from] {
		h.refileRows(r, device, from, to, named)
	}
	h.moveClosures(r, device, from, to, named)
	if s := h.sights[from]; s != nil && s.n == r.n && s.name == device {
		delete(h.sights, from)
		if old := h.sights[to]; old == nil || s.newer(old) {
			h.sights[to] = s
		}
	}
}

// refileRows moves the rows.
func (h *history) refileRows(r *pastRun, device, from, to string, all bool) {
	moves := func(p *pastRow) bool {
		return p != nil && p.identity == from && (all || h.inBootOf(r, p.run) && p.about() == device)
	}
	var moved []*pastRow
	var keys []rowKey
	for k, kept := range h.newest {
		if k.identity != from {
			continue
		}
		for _, place := range []**pastRow{&kept.answer, &kept.other} {
			if moves(*place) {
				moved, keys = append(moved, *place), append(keys, k)
				*place = nil
			}
		}
		if kept.answer == nil && kept.other == nil {
			delete(h.newest, k)
		}
	}
	for _, p := range h.rows {
		if moves(p) && !slices.Contains(moved, p) {
			p.identity = to
		}
	}
	for i, p := range moved {
		keys[i].identity, p.identity = to, to
		h.place(keys[i], p)
	}
	h.filed[to] = true
	if all {
		delete(h.filed, from)
	}
}

// place puts a row under its key, unless a newer one is there.
func (h *history) place(k rowKey, p *pastRow) {
	kept := h.newest[k]
	if kept == nil {
		kept = &newestRows{}
		h.newest[k] = kept
	}
	at := &kept.other
	if conclusive(p.level) {
		at = &kept.answer
	}
	if p.newer(*at) {
		*at = p
	}
}

// moveClosures moves what a device's rows close.
func (h *history) moveClosures(r *pastRun, device, from, to string, all bool) {
	stay := h.closures[from][:0:0]
	for _, c := range h.closures[from] {
		if all || c.device == device && h.inBootOf(r, c.Run) {
			h.closures[to] = append(h.closures[to], c)
		} else {
			stay = append(stay, c)
		}
	}
	h.closures[from] = stay
}

// inBootOf tells whether a run was in the boot of another.
func (h *history) inBootOf(r *pastRun, run string) bool {
	other := h.runs[run]
	return other != nil && other.boot == r.boot
}

// about is the device that a row names.
func (p *pastRow) about() string {
	if p.row != nil {
		return p.row.Device
	}
	var o rowHead
	_ = json.Unmarshal(p.body, &o)
	return o.Device
}
