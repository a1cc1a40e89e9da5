package report

import (
	"maps"
	"slices"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// state is a level with its reason.
type state struct {
	level  rdma.Capability
	reason probe.Reason
}

// stateOf is the state of a capability now: what was seen under another build is
// not known to hold.
func stateOf(s *probe.Summary) state {
	if s.Stale || s.State == "" || s.State == rdma.CapabilityUnknown {
		st := state{rdma.CapabilityUnknown, probe.NotTried}
		if s.LastAttempt != nil {
			st.reason = s.LastAttempt.Reason
		}
		return st
	}
	return state{level: s.State}
}

func (s state) text() string {
	if s.reason == "" {
		return string(s.level)
	}
	return string(s.level) + " (" + string(s.reason) + ")"
}

// tried tells whether anything was done to see a level.
func (s state) tried() bool {
	return s.level != "" && s.level != rdma.CapabilityUnknown ||
		!slices.Contains([]probe.Reason{probe.NotTried, probe.Precondition, probe.Guarded, ""}, s.reason)
}

// worse tells whether to is a regression from s.
func (s state) worse(to state) bool {
	switch {
	case s.level == rdma.CapabilityUnknown || !to.tried():
		return false
	case s.level == rdma.CapabilityConfirmed:
		return to.level != rdma.CapabilityConfirmed
	}
	return slices.Contains([]probe.Reason{probe.Crash, probe.Stuck, probe.Timeout}, to.reason)
}

func (x *differ) level(kind, what, probed string, place int, from, to state) {
	if from == to || !from.tried() && !to.tried() {
		return
	}
	if from.tried() != to.tried() {
		if kind == ChangeCapability && from.level == to.level {
			return
		}
		if kind == ChangeLevel {
			kind = ChangeUntried
		}
	}
	x.changes = append(x.changes, Change{
		Kind: kind, Host: x.host, Device: x.device, Port: x.port, What: what, Probe: probed, From: from.text(), To: to.text(),
		Regression: from.worse(to), place: place,
	})
}

func rowsOfHost(d *probe.Document, host string) []*probe.Observation {
	var rows []*probe.Observation
	for i := range d.Observations {
		if d.Observations[i].Host == host {
			rows = append(rows, &d.Observations[i])
		}
	}
	return rows
}

// levels compares the rows about one device, "" for the host.
func (x *differ) levels(device string, a, b []*probe.Observation) {
	of := func(rows []*probe.Observation) []*probe.Observation {
		return slices.DeleteFunc(slices.Clone(rows), func(o *probe.Observation) bool { return o.Device != device })
	}
	x.levelsOf(of(a), of(b))
}

// levelsOf compares rows by id, port and probe; the last of several stands.
func (x *differ) levelsOf(a, b []*probe.Observation) {
	type key struct {
		id, probe string
		port      int
	}
	states := func(rows []*probe.Observation) map[key]state {
		m := map[key]state{}
		for _, o := range rows {
			s := state{o.Level, o.Reason}
			if k := (key{o.ID, o.Probe, o.Port}); s.tried() || !m[k].tried() {
				m[k] = s
			}
		}
		return m
	}
	sa, sb := states(a), states(b)
	all := maps.Clone(sa)
	maps.Copy(all, sb)
	for k := range all {
		from, to := sa[k], sb[k]
		for _, s := range []*state{&from, &to} {
			if s.level == "" {
				*s = state{rdma.CapabilityUnknown, probe.NotTried}
			}
		}
		x.port = k.port
		place := slices.IndexFunc(probe.EvidenceIDs, func(e probe.Evidence) bool { return e.ID == k.id })
		x.level(ChangeLevel, k.id, k.probe, place, from, to)
	}
	x.port = 0
}
