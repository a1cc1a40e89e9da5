package probe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// listing tells whether the library answered which devices there are. ENOSYS is
// an answer: there is no uverbs, so it cannot list any.
func (v *findingView) listing() (rows []*Observation, conclusive bool) {
	for _, o := range v.of("", "dev.enumerate") {
		rows = append(rows, o)
		if o.Level == rdma.CapabilityConfirmed || o.Level == rdma.CapabilityObservedZero || errnoNamed(o, "ENOSYS") {
			conclusive = true
		}
	}
	return rows, conclusive
}

func noRDMADevice(v *findingView) []findingHit {
	rows, conclusive := v.listing()
	listed := slices.ContainsFunc(v.d.Devices, func(d Device) bool { return d.Listed || d.Sysfs != nil && *d.Sysfs })
	if !conclusive || listed || len(v.h.SysfsDevices) > 0 || v.has("", "dev.enumerate", rdma.CapabilityConfirmed) {
		return nil
	}
	h := findingHit{message: "the verbs library works and lists no RDMA device", seen: keysOf(rows...)}
	switch {
	case v.mac():
		v.noDeviceOnMac(&h)
	case v.linux():
		v.noDeviceOnLinux(&h)
	default:
		h.remedy = "there is nothing to probe on this machine"
	}
	return []findingHit{h}
}

func (v *findingView) noDeviceOnMac(h *findingHit) {
	h.remedy = "RDMA needs a Mac with Thunderbolt 5 and macOS 26.2 or newer; System Information > Thunderbolt shows the generation. " +
		"On such a Mac `rdma_ctl status` must say enabled, and the Mac must have been restarted since it was enabled"
	if v.h.RDMACtl != "" {
		h.message += "; rdma_ctl says " + printable(v.h.RDMACtl)
		h.facts = append(h.facts, "host.rdma_ctl")
	}
}

func (v *findingView) noDeviceOnLinux(h *findingHit) {
	h.message = "no RDMA hardware: neither the verbs library nor the kernel has a device"
	add := "`sudo rdma link add rxe0 type rxe netdev " + v.softNetdev() + "`"
	there, known := v.h.ModulesAvail["rdma_rxe"]
	if slices.Contains(v.h.Modules, "rdma_rxe") {
		there, known = true, true
	}
	switch {
	case !known:
		h.remedy = "for RDMA in software, load the soft-RoCE module (`sudo modprobe rdma_rxe`), then " + add
	case there:
		h.message += "; the soft-RoCE module exists for this kernel"
		h.remedy = "for RDMA in software: `sudo modprobe rdma_rxe`, then " + add
		h.undo = "`sudo rdma link delete rxe0`"
		h.facts = append(h.facts, "host.modules_available.rdma_rxe")
	default:
		h.message += ", and the soft-RoCE module rdma_rxe is not installed for this kernel"
		kernel := shellName(v.h.Kernel, "$(uname -r)")
		h.remedy = "for RDMA in software, install the kernel's extra modules (Ubuntu: `sudo apt install linux-modules-extra-" + kernel +
			"`; Fedora, RHEL: `sudo dnf install kernel-modules-extra`), `sudo modprobe rdma_rxe`, then " + add
		h.facts = append(h.facts, "host.modules_available.rdma_rxe")
	}
	if slices.Contains(h.facts, "host.modules_available.rdma_rxe") && v.h.ModulesAvail == nil {
		h.facts = []string{"host.modules"}
	}
}

// softNetdev is an interface of this host that soft-RoCE could use: an Ethernet
// one that is up, one with an address before one without.
func (v *findingView) softNetdev() string {
	best, rank := "NETDEV", 0
	for name, i := range v.h.Interfaces {
		if name == "lo" || i.Up == nil || !*i.Up || !plainName.MatchString(name) || virtualInterface.MatchString(name) {
			continue
		}
		r := 1
		if len(i.Addresses) > 0 {
			r = 2
		}
		if r > rank || r == rank && name < best {
			best, rank = name, r
		}
	}
	return best
}

// virtualInterface matches interfaces of containers, tunnels and bridges.
var virtualInterface = regexp.MustCompile(`^(docker|veth|br-|virbr|cni|flannel|cali|tun|tap|wg|ib|wl)`)

// libraryTexts is what the library or its loader wrote while it was loaded and
// listed its devices, with the rows of it.
func (v *findingView) libraryTexts() (texts []string, rows []*Observation) {
	texts = []string{v.d.Provider.Library.Error}
	for _, o := range v.rows[""] {
		texts = append(texts, o.Detail)
		if o.Child != nil {
			texts = append(texts, o.Child.Stderr)
		}
		rows = append(rows, o)
	}
	return texts, rows
}

// symbolVersion is how glibc words a provider that does not fit its library; the
// versions of the interface between them are called IBVERBS_ and a number.
var symbolVersion = regexp.MustCompile(`(?:version .IBVERBS_[A-Z0-9_.]+. not (?:found|defined)[^\n]{0,120}|undefined symbol: [^\n]{0,80}IBVERBS_[A-Z0-9_.]+)`)

func verbsLibraryMismatch(v *findingView) []findingHit {
	texts, rows := v.libraryTexts()
	for _, text := range texts {
		if m := symbolVersion.FindString(text); m != "" {
			return []findingHit{{
				message: "libibverbs and a provider are from different releases: " + printable(m),
				remedy: "reinstall both from one release: `sudo apt install --reinstall libibverbs1 ibverbs-providers` or `sudo dnf reinstall libibverbs`, " +
					"and remove copies from other sources (vendor packages, /usr/local/lib)",
				seen: keysOf(rows...), facts: libraryErrorFact(v),
			}}
		}
	}
	return nil
}

func libraryErrorFact(v *findingView) []string {
	if v.d.Provider.Library.Error == "" {
		return nil
	}
	return []string{"provider.library.error"}
}

func rdmaCMNodeMissing(v *findingView) []findingHit {
	if _, there := v.h.DevInfiniband["rdma_cm"]; !v.linux() || v.h.DevInfiniband == nil || there {
		return nil
	}
	h := findingHit{
		message: "there is no /dev/infiniband/rdma_cm: programs that connect through the RDMA connection manager fail; verbs probes are not affected",
		remedy:  "load the module if such programs are used: `sudo modprobe rdma_ucm`",
		undo:    "`sudo modprobe -r rdma_ucm`",
		facts:   []string{"host.dev_infiniband"},
	}
	if v.container() {
		h.remedy = "pass the node into the container if such programs are used (`--device /dev/infiniband/rdma_cm`); the host needs the module rdma_ucm for it"
		h.undo = ""
	}
	return []findingHit{h}
}

func (v *findingView) container() bool { return v.h.Container != nil && *v.h.Container }

// memlockIDs are the calls for which the kernel locks memory of the caller.
var memlockIDs = []string{"cq.create", "mr.register", "mr.register.local"}

// memlockTooLow: the kernel says ENOMEM when a region is larger than what is left
// of the limit, and EPERM when the limit is 0 (can_do_mlock in mm/mlock.c).
func memlockTooLow(v *findingView) []findingHit {
	if !v.linux() || v.h.MemlockKiB == nil || *v.h.MemlockKiB < 0 {
		return nil
	}
	var hits []findingHit
	for _, dev := range v.devicesSeen() {
		var rows []*Observation
		for _, id := range memlockIDs {
			for _, o := range v.of(dev, id) {
				if o.Level == rdma.CapabilityUnknown && (errnoNamed(o, "ENOMEM") || *v.h.MemlockKiB == 0 && errnoNamed(o, "EPERM")) {
					rows = append(rows, o)
				}
			}
		}
		if len(rows) == 0 {
			continue
		}
		h := findingHit{
			subject: dev,
			message: fmt.Sprintf("the provider got %s, and this process may lock only %d KiB of memory", rows[0].Errno.Name, *v.h.MemlockKiB),
			remedy: "raise the limit to unlimited for this user (`* - memlock unlimited` in /etc/security/limits.d/rdma.conf; " +
				"for a service `LimitMEMLOCK=infinity`, for a container `--ulimit memlock=-1`) and log in again",
			check: "ulimit -l, then rdmaprobe doctor",
			seen:  keysOf(rows...), facts: []string{"host.memlock_kib"},
		}
		if v.limitsAllowMore() {
			h.message += "; limits.conf already allows " + printable(v.h.LimitsConfMemlock)
			h.remedy = "log in again, or restart the service: the limit in limits.conf is read at login only, and services and containers have their own " +
				"(`LimitMEMLOCK=infinity`, `--ulimit memlock=-1`)"
			h.facts = append(h.facts, "host.limits_conf_memlock")
		}
		hits = append(hits, h)
	}
	return hits
}

// limitsAllowMore tells whether limits.conf has a higher limit than the process.
func (v *findingView) limitsAllowMore() bool {
	conf := strings.TrimSpace(v.h.LimitsConfMemlock)
	if conf == "unlimited" || conf == "infinity" || conf == "-1" {
		return true
	}
	var kib int64
	_, err := fmt.Sscan(conf, &kib)
	return err == nil && kib > *v.h.MemlockKiB
}
