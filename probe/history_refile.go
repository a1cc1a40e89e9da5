package probe

import (
	"encoding/json"
	"slices"
)

// learn notes a device as the run knows it now, and returns what it, and others that
// it may have changed, were recognised by before. It looks at none but those: a library
// may claim thousands of devices.
func (r *pastRun) learn(name string, now pastDevice) (before map[string]string) {
	old, known := r.devices[name]
	if r.devices == nil {
		r.devices, r.named = map[string]pastDevice{}, map[string][]string{}
	}
	if old.guid != now.guid {
		before = map[string]string{}
		for _, guid := range []string{old.guid, now.guid} {
			if others := r.named[guid]; len(others) <= 2 { // of more, each goes by its name already
				for _, o := range others {
					before[o] = r.identity(o)
				}
			}
		}
		if known {
			before[name] = r.identity(name)
			r.named[old.guid] = slices.DeleteFunc(r.named[old.guid], func(n string) bool { return n == name })
		}
		r.named[now.guid] = append(r.named[now.guid], name)
	}
	r.devices[name] = now
	return before
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
	if len(h.newest[from]) > 0 {
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
	for k, kept := range h.newest[from] {
		for _, place := range []**pastRow{&kept.answer, &kept.other} {
			if moves(*place) {
				moved, keys = append(moved, *place), append(keys, k)
				*place = nil
			}
		}
		if kept.answer == nil && kept.other == nil {
			delete(h.newest[from], k)
		}
	}
	for _, p := range h.rows {
		if moves(p) && !slices.Contains(moved, p) {
			p.identity = to
		}
	}
	for i, p := range moved {
		keys[i].identity, p.identity = to, to
		if at := h.newest.at(keys[i]).place(p.level); p.newer(*at) {
			*at = p
		}
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
