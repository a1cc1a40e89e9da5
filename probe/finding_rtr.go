package probe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"rdmaprobe/rdma"
)

var (
	rtrIDs = []string{"qp.uc.rtr", "qp.rc.rtr"}
	rtsIDs = []string{"qp.uc.rts", "qp.rc.rts"}
)

// rtrFailure is a transition that the provider refused: to RTR, in this document
// or in an earlier run of this boot, or to RTS.
type rtrFailure struct {
	row   *Observation
	to    string
	errno string // "": it set none
	again string // of an earlier run: where and when
}

// rtrFailures are the refusals on a device. A "not supported" is an answer and
// no failure.
func (v *findingView) rtrFailures(device string) []rtrFailure {
	var out []rtrFailure
	for _, o := range v.rows[device] {
		if e, ok := v.eventBehind(o); ok {
			if e.event == "rtr_failed" && e.errno != "" {
				out = append(out, rtrFailure{o, "RTR", e.errno, e.when()})
			}
			continue
		}
		to := transitionOf(o.ID)
		if to == "" || o.Level != rdma.CapabilityUnknown || o.Errno == nil && (o.Return == nil || o.Return.Number == 0) {
			continue
		}
		f := rtrFailure{row: o, to: to}
		if o.Errno != nil {
			f.errno = o.Errno.Name
		}
		out = append(out, f)
	}
	return out
}

// transitionOf is the state that rows of an id are about, of those that connect.
func transitionOf(id string) string {
	switch {
	case slices.Contains(rtrIDs, id):
		return "RTR"
	case slices.Contains(rtsIDs, id):
		return "RTS"
	}
	return ""
}

// rtrHits makes a hit per device from the failures that match.
func (v *findingView) rtrHits(match func(dev *Device, f rtrFailure) bool, hit func(dev *Device, f rtrFailure) findingHit) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		var made *findingHit
		for _, f := range v.rtrFailures(dev.Name) {
			switch {
			case !match(dev, f):
			case made == nil:
				h := hit(dev, f)
				h.scope, h.seen = dev.Name, keysOf(f.row)
				if f.again != "" {
					h.message += "; seen" + f.again + ", and not tried again"
					h.remedy += lifted
				}
				made = &h
			default:
				made.seen = union(made.seen, keysOf(f.row))
			}
		}
		if made != nil {
			hits = append(hits, *made)
		}
	}
	return hits
}

// usedGID is the table entry that a row's queue pair was given, with its index.
func (v *findingView) usedGID(dev *Device, o *Observation) (index int64, entry *GID, known bool) {
	index, known = dataInt(o.Params, "gid_index")
	if !known {
		return 0, nil, false
	}
	for i := range dev.Ports {
		if p := &dev.Ports[i]; o.Port == 0 || o.Port == p.Num {
			return index, gidAt(p, index), true
		}
	}
	return index, nil, true
}

func rtrPathTimeout(v *findingView) []findingHit {
	return v.rtrHits(func(_ *Device, f rtrFailure) bool { return f.to == "RTR" && f.errno == "ETIMEDOUT" }, func(dev *Device, f rtrFailure) findingHit {
		h := findingHit{
			message: "the transition to RTR ended in ETIMEDOUT: the peer was not found on the path of the source GID",
			remedy:  "check that the peer is on, has RDMA enabled and an address in the same network, and that its announced GID is the one of this link",
		}
		used, _, known := v.usedGID(dev, f.row)
		if known {
			h.message = fmt.Sprintf("with source GID index %d the transition to RTR ended in ETIMEDOUT: the peer was not found on its path", used)
		}
		if good, ok := v.goodIndexOf(dev, f.row); ok && known && good != used {
			h.remedy = fmt.Sprintf("leave out --gid-index, or use %d, the entry that fits this port", good)
		}
		if v.thunderbolt(dev.Name) {
			h.remedy += "; do not repeat it in a loop: refused transitions can wedge the port until the next restart"
		}
		return h
	})
}

// goodIndexOf is the GID index that rdmaprobe would choose on the port of a row.
func (v *findingView) goodIndexOf(dev *Device, o *Observation) (int64, bool) {
	for i := range dev.Ports {
		p := &dev.Ports[i]
		if n, ok := v.goodIndex(dev, p); ok && (o.Port == 0 || o.Port == p.Num) {
			return n, true
		}
	}
	return 0, false
}

func staleKernelResources(v *findingView) []findingHit {
	return v.rtrHits(func(_ *Device, f rtrFailure) bool { return f.to == "RTR" && f.errno == "EBUSY" }, func(dev *Device, _ rtrFailure) findingHit {
		h := findingHit{
			message: "the transition to RTR was refused with EBUSY: the kernel still holds what an earlier program left behind",
			remedy:  "restart the machine; do not retry, since every further attempt can make it worse",
		}
		if owners := v.owners(dev.Name); len(owners) > 0 {
			h.message += "; RDMA objects are held by " + ownerNames(owners)
			h.remedy = "end these programs gently; if it stays, restart the machine. Do not retry in a loop"
			h.facts = []string{"host.rdma_processes"}
		}
		return h
	})
}

func providerDegraded(v *findingView) []findingHit {
	other := func(dev *Device, f rtrFailure) bool {
		if f.to == "RTS" {
			return v.activeOf(dev)
		}
		return f.errno != "ETIMEDOUT" && f.errno != "EBUSY" && v.activeOf(dev) && (f.again != "" || v.goodGID(dev, f.row))
	}
	return v.rtrHits(other, func(dev *Device, f rtrFailure) findingHit {
		h := findingHit{
			message: "the transition to RTR was refused with " + printable(f.errno) + " on an ACTIVE port with a good GID: the provider is not in order",
			remedy:  "look for RDMA programs that still run or were killed, end them gently, then restart the machine; on both ends if it stays",
		}
		switch {
		case f.to == "RTS":
			h.message = "the transition to RTS was refused " + errnoWords(f.row) + " on an ACTIVE port, after RTR had succeeded: the provider is not in order"
		case f.again == "":
			h.message = "the transition to RTR was refused " + errnoWords(f.row) + " on an ACTIVE port with a good GID: the provider is not in order"
		}
		if !v.thunderbolt(dev.Name) {
			h.remedy = "look at the kernel log for the driver's reason, end other RDMA programs on the device, then reload its driver or restart the machine"
		}
		if owners := v.owners(dev.Name); len(owners) > 0 {
			h.message += "; RDMA objects are held by " + ownerNames(owners)
			h.facts = []string{"host.rdma_processes"}
		}
		return h
	})
}

// gidIndexRefused: an entry that was named, and by which no peer is reached.
func gidIndexRefused(v *findingView) []findingHit {
	bad := func(dev *Device, f rtrFailure) bool {
		_, _, known := v.usedGID(dev, f.row)
		return f.errno != "ETIMEDOUT" && f.errno != "EBUSY" && f.again == "" && known && v.activeOf(dev) && v.tableRead(dev, f.row) && !v.goodGID(dev, f.row)
	}
	return v.rtrHits(bad, func(dev *Device, f rtrFailure) findingHit {
		used, entry, _ := v.usedGID(dev, f.row)
		what := "which is empty"
		if entry != nil {
			what = printable(entry.GID) + ", by which no peer is addressed on this link"
		}
		h := findingHit{
			message: fmt.Sprintf("with source GID index %d, %s, the transition to RTR was refused %s", used, what, errnoWords(f.row)),
			remedy:  "leave out --gid-index",
			facts:   []string{"devices"},
		}
		if good, ok := v.goodIndexOf(dev, f.row); ok && good != used {
			h.remedy = fmt.Sprintf("leave out --gid-index, or use %d, the entry that fits this port", good)
		}
		if v.thunderbolt(dev.Name) {
			h.remedy += "; do not repeat it in a loop: refused transitions can wedge the port until the next restart"
		}
		return h
	})
}

// tableRead tells whether the GID table of a row's port is known.
func (v *findingView) tableRead(dev *Device, o *Observation) bool {
	return slices.ContainsFunc(dev.Ports, func(p Port) bool {
		return (o.Port == 0 || o.Port == p.Num) && v.gidLevel(dev, &p, "gid.usable", rdma.CapabilityConfirmed, rdma.CapabilityObservedZero)
	})
}

// goodGID tells whether a row's queue pair had a source address that can work:
// none is needed where peers are addressed by LID.
func (v *findingView) goodGID(dev *Device, o *Observation) bool {
	if linkKind(dev) == "infiniband" {
		return true
	}
	_, entry, _ := v.usedGID(dev, o)
	return entry != nil && (!dev.thunderbolt(v.h.OS) || entry.Class == "ipv4_mapped")
}

// failedRTR is how the kernel's log tells of a transition that failed; the arrow
// is sometimes a Unicode one.
var failedRTR = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)fail\w*.{0,40}INIT\s*(?:->|→|⟶)\s*RTR`) })

func rtrNotAttempted(v *findingView) []findingHit {
	if v.c.Command != "probe" {
		return nil
	}
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		rows, tried := v.rtrRows(dev.Name)
		if !dev.Listed || len(rows) == 0 || tried || dev.Transport == "iwarp" {
			continue
		}
		missing, facts := v.preflight(dev)
		if told := toldMissing(rows); len(told) > 0 {
			missing = told
		}
		if len(missing) == 0 {
			continue
		}
		hits = append(hits, findingHit{
			scope: dev.Name, message: "the transition to RTR was not attempted; to be safe it needs " + strings.Join(missing, "; "),
			remedy: "mend what is missing, then run `rdmaprobe probe --allow-rtr`: without that flag it is never tried",
			seen:   keysOf(rows...), facts: facts,
		})
	}
	return hits
}

// toldMissing is what the run itself said to be missing.
func toldMissing(rows []*Observation) []string {
	var missing []string
	for _, o := range rows {
		for _, m := range dataTexts(o.Data, "missing") {
			missing = union(missing, []string{printable(m)})
		}
		if by, ok := o.Data["closed_by"].(map[string]any); ok && dataText(by, "event") == "holder" {
			missing = union(missing, []string{"a device that no other process holds"})
		}
	}
	return missing
}

// rtrRows are the rows of a device's transitions, and whether one was made.
func (v *findingView) rtrRows(device string) (rows []*Observation, tried bool) {
	untried := []Reason{NotTried, Precondition, Guarded}
	for _, id := range rtrIDs {
		for _, o := range v.of(device, id) {
			rows = append(rows, o)
			tried = tried || o.Level != rdma.CapabilityUnknown || !slices.Contains(untried, o.Reason)
		}
	}
	return rows, tried
}

// preflight lists, for an ACTIVE port, what a transition to RTR stands on and is
// known to be missing.
func (v *findingView) preflight(dev *Device) (missing, facts []string) {
	p := v.portUsed(dev)
	if p == nil || !v.isActive(dev, p) {
		return nil, nil
	}
	thunderbolt := dev.thunderbolt(v.h.OS)
	switch {
	case v.c.GIDIndex != nil || p.LinkLayer == "infiniband":
	case thunderbolt && v.gidLevel(dev, p, "gid.ipv4_mapped", rdma.CapabilityObservedZero):
		missing = append(missing, "an IPv4-mapped GID")
	case !thunderbolt && v.gidLevel(dev, p, "gid.usable", rdma.CapabilityObservedZero):
		missing = append(missing, "a GID")
	}
	iface := v.ifaceOf(dev, p)
	if addresses, known := v.addresses(iface); roce(dev, p) && known && len(addresses) == 0 && !backed(v.h, dev.Name, p) {
		missing = append(missing, "an address on the interface "+printable(iface))
		facts = append(facts, "host.interfaces."+iface+".addresses")
	}
	if thunderbolt && !slices.Contains(v.d.Run.Gates, "force") && slices.ContainsFunc(v.h.KernelLog, failedRTR().MatchString) {
		missing = append(missing, "a boot without a failed transition in the kernel's log")
		facts = append(facts, "host.kernel_log")
	}
	return missing, facts
}
