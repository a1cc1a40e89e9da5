package probe

import (
	"cmp"
	"net/netip"
	"slices"

	"rdmaprobe/rdma"
)

var (
	typeRank  = map[string]int{"roce_v2": 0, "": 1, "none": 1, "ib": 1, "roce_v1": 2}
	classRank = map[string]int{"ipv4_mapped": 0, "global": 1, "link_local": 2}
)

// chooseGID picks the table entry that a queue pair should use, by content and
// never by a fixed index. Thunderbolt takes IPv4-mapped ones only, and never index
// 0, from which reports tell of RTR that times out (mlx pull 3468); RoCE prefers
// v2 to v1, then IPv4-mapped, global, link-local, then an address that the
// port's own interface has. A slot that sgid_index cannot name is never taken. why
// is one phrase; ok is false when none will do.
func chooseGID(linkLayer string, gids []GID, addresses []string) (g GID, why string, ok bool) {
	return choosePeerGID(linkLayer, slices.DeleteFunc(slices.Clone(gids), func(g GID) bool {
		return linkLayer == "thunderbolt" && g.Index == 0
	}), addresses)
}

// untaken is an entry that would do by its content, and is not taken by itself because
// of its index; nil when there is none.
func untaken(linkLayer string, gids []GID) *GID {
	i := slices.IndexFunc(gids, func(g GID) bool {
		tb := linkLayer == "thunderbolt"
		return g.Index > maxSGIDIndex && !tb || tb && g.Class == "ipv4_mapped" && (g.Index == 0 || g.Index > maxSGIDIndex)
	})
	if _, _, ok := chooseGID(linkLayer, gids, nil); ok || i < 0 {
		return nil
	}
	return &gids[i]
}

// choosePeerGID is chooseGID for the other end of a wire, whose slot is its affair.
func choosePeerGID(linkLayer string, gids []GID, addresses []string) (g GID, why string, ok bool) {
	candidates := slices.DeleteFunc(slices.Clone(gids), func(g GID) bool {
		return g.Index > maxSGIDIndex || linkLayer == "thunderbolt" && g.Class != "ipv4_mapped"
	})
	if len(candidates) == 0 {
		return GID{}, "", false
	}
	own := map[netip.Addr]bool{}
	for _, a := range addresses {
		if ip, err := netip.ParseAddr(a); err == nil {
			own[ip.Unmap().WithZone("")] = true
		}
	}
	absent := func(g GID) int {
		if own[gidAddr(g).Unmap()] {
			return 0
		}
		return 1
	}
	g = slices.MinFunc(candidates, func(a, b GID) int {
		return cmp.Or(
			cmp.Compare(typeRank[a.Type], typeRank[b.Type]),
			cmp.Compare(classRank[a.Class], classRank[b.Class]),
			cmp.Compare(absent(a), absent(b)),
			cmp.Compare(a.Index, b.Index))
	})
	return g, describeChoice(linkLayer, g, absent(g) == 0), true
}

func describeChoice(linkLayer string, g GID, own bool) string {
	why := map[string]string{"ipv4_mapped": "IPv4-mapped", "global": "global", "link_local": "link-local"}[g.Class]
	switch {
	case linkLayer == "thunderbolt":
		why = "the first IPv4-mapped entry"
	case g.Type == "roce_v2":
		why = "RoCE v2, " + why
	case g.Type == "roce_v1":
		why = "RoCE v1, " + why
	}
	if own {
		why += ", an address of the interface"
	}
	return why
}

// activePort is the first ACTIVE port of a device, else its first, else 1.
func activePort(ports []Port) int {
	for _, p := range ports {
		if p.State == rdma.PortStateName(rdma.IBV_PORT_ACTIVE) {
			return p.Num
		}
	}
	if len(ports) > 0 {
		return ports[0].Num
	}
	return 1
}
