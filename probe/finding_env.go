package probe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rdmaprobe/rdma"
)

// configuredIndex is a GID index that a variable of the environment names.
type configuredIndex struct {
	name  string
	index int64
}

// configuredIndexes are those of the environment, by name.
func (v *findingView) configuredIndexes() []configuredIndex {
	var all []configuredIndex
	for _, name := range slices.Sorted(maps.Keys(v.h.Env)) {
		n, err := strconv.ParseInt(strings.TrimSpace(v.h.Env[name]), 10, 32)
		if strings.HasSuffix(name, "GID_INDEX") && err == nil && n >= 0 {
			all = append(all, configuredIndex{name, n})
		}
	}
	return all
}

// eachGIDPort calls f for every ACTIVE port that is addressed by a GID and has any.
func (v *findingView) eachGIDPort(f func(dev *Device, p *Port)) {
	v.eachPort(func(dev *Device, p *Port) {
		if needsGID(dev, p) && v.isActive(dev, p) && v.gidLevel(dev, p, "gid.usable", rdma.CapabilityConfirmed) {
			f(dev, p)
		}
	})
}

func configuredGIDIndexEmpty(v *findingView) []findingHit {
	var hits []findingHit
	v.eachGIDPort(func(dev *Device, p *Port) {
		for _, c := range v.configuredIndexes() {
			if gidAt(p, c.index) != nil || v.leftOut(c.name, dev.Name, p.Num) {
				continue
			}
			h := findingHit{
				scope: dev.Name, ports: []int{p.Num},
				message: fmt.Sprintf("%s=%d points at an empty slot of the GID table of port %d", printable(c.name), c.index, p.Num),
				remedy:  "unset " + printable(c.name) + " and let the program choose: the table is filled anew on link events, so no index is fixed",
				seen:    keysOf(v.gidRows(dev, p, "gid.usable")...), facts: []string{"host.env." + c.name, "devices"},
			}
			if good, ok := v.liveIndex(dev, p); ok {
				h.message += fmt.Sprintf("; the usable entry is now %d", good)
				if v.fitsAll(c.name, good) {
					h.remedy += fmt.Sprintf("; until the table changes again %s=%d works", printable(c.name), good)
				} else {
					h.remedy += "; there is no one index that works on all of the devices"
				}
			}
			hits = append(hits, h)
		}
	})
	return hits
}

// fitsAll tells whether an index names a live entry on every port that a variable is
// about: it is one value for all of them.
func (v *findingView) fitsAll(name string, index int64) bool {
	all := true
	v.eachGIDPort(func(dev *Device, p *Port) {
		if v.leftOut(name, dev.Name, p.Num) {
			return
		}
		g := gidAt(p, index)
		if g != nil && roce(dev, p) {
			_, gone := v.staleOf(dev, p, g)
			all = all && !gone
		}
		all = all && g != nil
	})
	return all
}

// leftOut tells whether the environment keeps the program that reads a variable off
// a port: NCCL by NCCL_IB_HCA, UCX by UCX_NET_DEVICES.
func (v *findingView) leftOut(name, device string, port int) bool {
	switch {
	case (v.mac() || v.thunderbolt(device)) && (strings.HasPrefix(name, "NCCL_") || strings.HasPrefix(name, "UCX_")):
		return true // neither has RDMA there, nor over Thunderbolt
	case strings.HasPrefix(name, "NCCL_"):
		return leftOutByNCCL(v.h.Env["NCCL_IB_HCA"], device, port)
	case strings.HasPrefix(name, "UCX_"):
		return leftOutByUCX(v.h.Env["UCX_NET_DEVICES"], device, port)
	}
	return false
}

// leftOutByNCCL reads a list of name prefixes, of exact names after "=", or of what
// to leave out after "^", each with a port or without.
func leftOutByNCCL(hca, device string, port int) bool {
	if hca == "" {
		return false
	}
	hca, not := strings.CutPrefix(hca, "^")
	hca, exact := strings.CutPrefix(hca, "=")
	matched := slices.ContainsFunc(strings.Split(hca, ","), func(e string) bool {
		e, at, some := strings.Cut(strings.TrimSpace(e), ":")
		return e != "" && (e == device || !exact && strings.HasPrefix(device, e)) && (!some || at == strconv.Itoa(port))
	})
	return matched == not
}

// leftOutByUCX reads "all", a list of DEVICE:PORT, or one of what to leave out after
// "^". A pattern is taken to match.
func leftOutByUCX(devices, device string, port int) bool {
	devices, not := strings.CutPrefix(strings.TrimSpace(devices), "^")
	if devices == "" || strings.Contains(devices, "*") || !not && slices.Contains(strings.Split(devices, ","), "all") {
		return false
	}
	named := slices.ContainsFunc(strings.Split(devices, ","), func(e string) bool {
		e = strings.TrimSpace(e)
		return e == device || e == fmt.Sprintf("%s:%d", device, port)
	})
	return named == not
}
