package hostfacts

import (
	"net/netip"
	"strconv"
	"strings"
)

// portState reads "4: ACTIVE" as active. The text is the kernel's name; a number
// without one survives as unknown(77).
func portState(s string) string {
	number, name, ok := strings.Cut(s, ": ")
	if _, err := strconv.Atoi(number); !ok || err != nil {
		return ""
	}
	if name == "" || strings.HasPrefix(strings.ToLower(name), "<") {
		return "unknown(" + number + ")"
	}
	return strings.ToLower(name)
}

// physStates are the names of the document by number, in the order of
// enum ib_port_phys_state (include/rdma/ib_verbs.h).
var physStates = []string{"", "sleep", "polling", "disabled", "training", "link_up", "recovery", "phy_test"}

// physState reads "5: LinkUp" by its number: the kernel's text has several
// spellings.
func physState(s string) string {
	number, _, ok := strings.Cut(s, ":")
	n, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil || n < 0:
		return ""
	case n > 0 && n < len(physStates):
		return physStates[n]
	}
	return "unknown(" + number + ")"
}

// parseRate reads "100 Gb/sec (4X EDR)".
func parseRate(s string) (float64, bool) {
	value, _, ok := strings.Cut(s, " Gb/sec")
	v, err := strconv.ParseFloat(value, 64)
	if !ok || err != nil || !(v >= 0 && v < 1e6) {
		return 0, false
	}
	return v, true
}

// parseGID reads eight groups of hex digits; an empty slot is not ok.
func parseGID(s string) (string, bool) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is6() || a.IsUnspecified() || a.Zone() != "" {
		return "", false
	}
	return a.String(), true
}

// gidType reads "IB/RoCE v1" and "RoCE v2". The first is an InfiniBand GID on an
// InfiniBand link.
func gidType(s, linkLayer string) string {
	switch {
	case s == "RoCE v2":
		return "roce_v2"
	case s == "IB/RoCE v1" && linkLayer == "InfiniBand":
		return "ib"
	case s == "IB/RoCE v1":
		return "roce_v1"
	}
	return ""
}
