package probe

import "slices"

// maxRemembered are the newest rows that a server keeps in memory: those of about
// ten sessions. The ledger has them all.
const maxRemembered = 200

// forget keeps the memory of a server that runs for months bounded, and by so
// little that it is soon seen to be: beside the newest rows only those stay that
// are the newest answer of their kind, or the newest that is none, since a device
// that nobody asks for has been seen long ago.
func (s *server) forget() {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	s.doc.Observations = remember(s.doc.Observations, maxRemembered)
	if n := len(s.peersSeen) - maxStrangers; n > 0 {
		s.peersSeen = slices.Clone(s.peersSeen[n:])
	}
}

// remember is what is left of rows in the order in which they were seen: the
// newest of them, and of the older ones what no newer one replaces.
func remember(rows []Observation, newest int) []Observation {
	if len(rows) <= newest {
		return rows
	}
	type kind struct {
		device, id, probe string
		port              int
		answer            bool
	}
	seen := map[kind]bool{}
	var kept []Observation
	for i := len(rows) - 1; i >= 0; i-- {
		o := &rows[i]
		k := kind{o.Device, o.ID, o.Probe, o.Port, conclusive(o.Level)}
		if len(rows)-i <= newest || !seen[k] {
			kept = append(kept, *o)
		}
		seen[k] = true
	}
	slices.Reverse(kept)
	return kept
}
