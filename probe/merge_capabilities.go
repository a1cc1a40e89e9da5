package probe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"rdmaprobe/rdma"
)

// dated is a capability's state in one file with the start of its run.
type dated struct {
	Summary
	began time.Time
	fresh bool // of the host's OS build and library
}

// capabilities merges the summaries of each device: of each id and port the newest
// answer, and of those the best.
func (g *hostGroup) capabilities() {
	states := g.states()
	for i := range g.doc.Devices {
		dev := &g.doc.Devices[i]
		of := states[g.identityOf(*dev)]
		if len(of) == 0 {
			continue
		}
		dev.Capabilities = &Capabilities{}
		for key, s := range dev.Capabilities.each() {
			*s = mergeSummaries(of[key])
			if len(s.Documented) == 0 {
				continue
			}
			s.Contradicts = slices.ContainsFunc(s.Documented, func(f DocumentedFact) bool { return f.contradicts(s.State) })
		}
	}
}

// states are the capabilities' states in all files, by identity and key.
func (g *hostGroup) states() map[string]map[string][]dated {
	all := map[string]map[string][]dated{}
	last := g.parts[len(g.parts)-1]
	for _, p := range g.parts {
		for _, d := range p.doc.Devices {
			if d.Capabilities == nil {
				continue
			}
			states := all[p.identity(d.Name)]
			if states == nil {
				states = map[string][]dated{}
				all[p.identity(d.Name)] = states
			}
			c := *d.Capabilities
			for key, s := range c.each() {
				run := ""
				if s.Observation != nil {
					run = s.Observation.Run
				}
				fresh := !s.Stale && p.build() == g.build() && p.doc.Provider.Library.ID == last.doc.Provider.Library.ID
				states[key] = append(states[key], dated{*s, p.began(run, s.ObservedAt), fresh})
			}
		}
	}
	return all
}

// idPort is what a state was seen by.
type idPort struct {
	id   string
	port int
}

// mergeSummaries is the state that several files come to.
func mergeSummaries(all []dated) Summary {
	fresh, stale := map[idPort]dated{}, map[idPort]dated{}
	var try *Attempt
	s := Summary{State: rdma.CapabilityUnknown}
	for _, d := range all {
		s.Documented = d.Documented
		if d.fresh && d.LastAttempt != nil && (try == nil || d.LastAttempt.At.After(try.At)) {
			try = d.LastAttempt
		}
		if !conclusive(d.State) {
			continue
		}
		at := idPort{port: d.Port}
		if d.Observation != nil {
			at.id = d.Observation.ID
		}
		into := stale
		if d.fresh {
			into = fresh
		}
		if old, ok := into[at]; !ok || !d.began.Before(old.began) {
			into[at] = d
		}
	}
	best, ok := bestSummary(fresh)
	if !ok {
		best, ok = bestSummary(stale)
		best.Stale = ok
	}
	if ok {
		documented := s.Documented
		s = best.Summary
		s.Documented, s.LastAttempt = documented, nil
	}
	if try != nil && (s.ObservedAt == nil || try.At.After(*s.ObservedAt)) {
		s.LastAttempt = try
	}
	return s
}

func bestSummary(all map[idPort]dated) (dated, bool) {
	list := slices.Collect(maps.Values(all))
	if len(list) == 0 {
		return dated{}, false
	}
	return slices.MaxFunc(list, func(a, b dated) int {
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), a.began.Compare(b.began), cmp.Compare(b.Port, a.Port))
	}), true
}
