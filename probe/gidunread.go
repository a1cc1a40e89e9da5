package probe

import (
	"fmt"
	"slices"

	"rdmaprobe/rdma"
)

// What the readers of GID tables say that they have not read is no empty slot: what is
// not among the entries that are known may be there.

// unreadGIDs says what of a port's GID table could not be read, "" when all was, by the
// newest of the rows about it.
func unreadGIDs(rows []Observation, device string, port int) string {
	for _, o := range slices.Backward(rows) {
		if o.ID != "gid.usable" || o.Device != device || o.Port != port {
			continue
		}
		n, _ := dataInt(o.Data, "unread")
		switch {
		case o.Level == rdma.CapabilityUnknown:
			return "the table was not read"
		case n == 1:
			return "one entry of the table could not be read"
		case n > 1:
			return fmt.Sprintf("%d entries of the table could not be read", n)
		}
		return ""
	}
	return "the table was not read"
}

// gidsUnread is unreadGIDs of the device's own port, as this run has seen it.
func (dr *deviceRun) gidsUnread(port int) string {
	dr.mu.Lock()
	defer dr.mu.Unlock()
	return unreadGIDs(slices.DeleteFunc(slices.Clone(dr.doc.Observations), func(o Observation) bool { return o.Run != dr.doc.Run.ID }), dr.name, port)
}

// missingGID says why no entry of a port's table is taken by itself. unread is what of
// the table could not be read.
func missingGID(port *Port, unread string) string {
	switch g := untaken(port.LinkLayer, port.GIDs); {
	case g != nil && g.Index == 0:
		return "an IPv4-mapped GID at another index than 0, with which reports tell of RTR that times out (--gid-index 0 takes it all the same)"
	case g != nil:
		return fmt.Sprintf("a GID at an index up to %d: a queue pair cannot name index %d", maxSGIDIndex, g.Index)
	case unread != "":
		return "a GID: " + unread
	case port.LinkLayer == "thunderbolt":
		return "an IPv4-mapped GID: the interface needs an IPv4 address"
	}
	return "a GID: the table is empty"
}
