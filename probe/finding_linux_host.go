package probe

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	const generation = "System Information > Thunderbolt shows the generation"
	five := v.h.Thunderbolt != nil && v.h.Thunderbolt.Generation >= 5
	switch {
	case v.h.VM != nil && *v.h.VM:
		h.remedy = "this is a virtual machine, which has no Thunderbolt controller: run it on the Mac itself"
		h.facts = append(h.facts, "host.vm")
	case five && v.h.RDMACtl == "enabled":
		h.remedy = "restart the Mac if it was not restarted since RDMA was enabled: the switch counts from the next start on. If it was, update macOS, and look for the reason in the system log (`log show --last boot`)"
		h.facts = append(h.facts, "host.thunderbolt.generation")
	case v.h.RDMACtl == "disabled":
		h.remedy = "see first whether this Mac has Thunderbolt 5 (" + generation + "): there RDMA can be enabled, as `rdmaprobe explain rdma_disabled` says; on an older one nothing helps"
	default:
		h.remedy = "RDMA needs a Mac with Thunderbolt 5 and macOS 26.2 or newer; " + generation +
			". On such a Mac `rdma_ctl status` must say enabled, and the Mac must have been restarted since it was enabled"
	}
	if v.h.RDMACtl != "" {
		h.message += "; rdma_ctl says " + printable(v.h.RDMACtl)
		h.facts = append(h.facts, "host.rdma_ctl")
	}
}

func (v *findingView) noDeviceOnLinux(h *findingHit) {
	h.message = "no RDMA device: neither the library nor the kernel has one"
	if v.container() {
		h.message += " that this container can see"
		h.remedy = "look on the host first: `ls /sys/class/infiniband`. A device that is there has to be passed in, by `--device /dev/infiniband` and the host's network " +
			"(`--network host`) with Docker or Podman, or by an RDMA device plugin with Kubernetes; drivers are loaded on the host, never in a container"
		h.check = "ls /sys/class/infiniband, on the host, then rdmaprobe devices"
		h.facts = append(h.facts, "host.container")
		return
	}
	const driver = "an RDMA adapter of this machine would need its driver, which is not loaded: `lspci -k` names it, `sudo modprobe DRIVER` loads it; "
	add := "`sudo rdma link add rxe0 type rxe netdev " + v.softNetdev() + "`"
	there, known := v.h.ModulesAvail["rdma_rxe"]
	if slices.Contains(v.h.Modules, "rdma_rxe") {
		there, known = true, true
	}
	switch {
	case !known:
		h.remedy = driver + "for RDMA in software, load the soft-RoCE module (`sudo modprobe rdma_rxe`), then " + add
	case there:
		h.message += "; the soft-RoCE module exists for this kernel"
		h.remedy = driver + "for RDMA in software: `sudo modprobe rdma_rxe`, then " + add
		h.undo = "`sudo rdma link delete rxe0`"
		h.facts = append(h.facts, "host.modules_available.rdma_rxe")
	default:
		h.message += ", and the soft-RoCE module rdma_rxe is not installed for this kernel"
		h.remedy = driver + "for RDMA in software, " + v.extraModules() + ", `sudo modprobe rdma_rxe`, then " + add
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
		if name == "lo" || i.Up == nil || !*i.Up || !plainName(name) || virtualInterface(name) {
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

// virtualInterface tells interfaces of containers, tunnels and bridges by name.
func virtualInterface(name string) bool {
	return slices.ContainsFunc([]string{"docker", "veth", "br-", "virbr", "cni", "flannel", "cali", "tun", "tap", "wg", "ib", "wl"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

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
// versions of the interface between them are called IBVERBS_ and a number. It
// takes longer to compile than most texts to look at, so those without that word
// are not looked at.
var symbolVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:version .IBVERBS_[A-Z0-9_.]+. not (?:found|defined)[^\n]{0,120}|undefined symbol: [^\n]{0,80}IBVERBS_[A-Z0-9_.]+)`)
})

func verbsLibraryMismatch(v *findingView) []findingHit {
	for _, find := range []func(*findingView) []findingHit{providerOfAnotherRelease, libraryLacksFunctions, libraryNotLoadable} {
		if hits := find(v); len(hits) > 0 {
			return hits
		}
	}
	return nil
}

func providerOfAnotherRelease(v *findingView) []findingHit {
	texts, rows := v.libraryTexts()
	for _, text := range texts {
		if !strings.Contains(text, "IBVERBS_") {
			continue
		}
		if m := symbolVersion().FindString(text); m != "" {
			return []findingHit{{
				message: "libibverbs and a provider are from different releases: " + printable(m),
				remedy: "reinstall both from one release: " + v.packages(map[string]string{
					"apt": "install --reinstall libibverbs1 ibverbs-providers", "dnf": "reinstall libibverbs", "zypper": "install --force libibverbs1 libibverbs",
				}) + ", and remove copies from other sources (vendor packages, /usr/local/lib)",
				seen: keysOf(rows...), facts: libraryErrorFact(v),
			}}
		}
	}
	return nil
}

// libraryLacksFunctions: what was loaded is a library, and not one that can list
// devices. One that does all the same is only a warning. Functions that listing does not
// need say nothing here: what needs them is not known, and the machine may well be fit.
func libraryLacksFunctions(v *findingView) []findingHit {
	rows := slices.DeleteFunc(v.of("", "lib.symbols"), func(o *Observation) bool {
		needed := slices.ContainsFunc(rdma.RequiredSymbols(), func(name string) bool { return strings.Contains(o.Detail, name) })
		return o.Level != rdma.CapabilityUnknown || o.Reason != SymbolMissing || !needed // earlier versions asked for more
	})
	if len(rows) == 0 {
		return nil
	}
	lib := v.d.Provider.Library
	name := "the library"
	if path := printable(cmp.Or(lib.Path, lib.Asked)); path != "" {
		name = path
	}
	h := findingHit{
		message: name + " was loaded, and it is no complete verbs library" + lackingFunctions(rows[0]),
		remedy:  v.libraryRemedy("reinstall libibverbs from the distribution, and remove copies from other sources (vendor packages, /usr/local/lib)"),
		seen:    keysOf(rows...),
	}
	if len(lib.Symbols) > 0 {
		h.facts = []string{"provider.library.symbols"}
	}
	listed, conclusive := v.listing()
	if conclusive {
		h.severity = SeverityWarning
	}
	h.seen = union(h.seen, keysOf(listed...))
	return []findingHit{h}
}

// lackingFunctions names what a row of lib.symbols does not find.
func lackingFunctions(o *Observation) string {
	const most = 4
	_, list, ok := strings.Cut(printable(o.Detail), ": ")
	if !ok {
		return ""
	}
	// The list is bounded before it is cut: the number is of the row itself.
	all := strings.Split(o.Detail, ", ")
	names := strings.Split(list, ", ")
	if len(all) > most {
		names = append(names[:min(most, len(names))], fmt.Sprintf("%d more", len(all)-most))
	}
	return ": it lacks " + sentence(names)
}

// libraryNotLoadable: the file is there, and the loader does not take it. A
// missing one is a finding of its own.
func libraryNotLoadable(v *findingView) []findingHit {
	for _, o := range v.of("", "lib.load") {
		class := rdma.LoadClass(dataText(o.Data, "class"))
		if o.Level != rdma.CapabilityUnknown || o.Reason != LibraryMissing || class == "" || class == rdma.LoadMissingFile {
			continue
		}
		h := findingHit{seen: keysOf(o), facts: libraryErrorFact(v)}
		h.message, h.remedy = "the file that was found as the verbs library cannot be loaded", "reinstall the verbs library: the file is damaged, or none"
		if v.libraryNamed() {
			h.message = "what --library names cannot be loaded as a verbs library"
		}
		switch class {
		case rdma.LoadWrongArchitecture:
			h.message, h.remedy = "the verbs library is built for another processor than this rdmaprobe", "use a rdmaprobe and a library for one processor"
		case rdma.LoadSymbolVersion:
			h.message, h.remedy = "the verbs library does not fit the libraries that it needs", "install it and the libraries that it needs from one release of the system"
		}
		h.remedy = v.libraryRemedy(h.remedy)
		if text := printable(cmp.Or(v.d.Provider.Library.Error, o.Detail)); text != "" {
			h.message += ": " + text
		}
		return []findingHit{h}
	}
	return nil
}

// libraryNamed tells whether a library was asked for that is not the system's.
func (v *findingView) libraryNamed() bool {
	asked := v.d.Provider.Library.Asked
	return asked != "" && asked != "/usr/lib/librdma.dylib" && asked != "libibverbs.so.1"
}

// libraryRemedy is what to do about a library that cannot be used.
func (v *findingView) libraryRemedy(system string) string {
	switch {
	case v.libraryNamed():
		return "leave out --library, so that the system's verbs library is used, or name a verbs library with it"
	case v.mac():
		return "the library is part of macOS and cannot be mended by itself: update or reinstall macOS"
	}
	return system
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

// memlockRefused tells whether a row failed because of the limit of locked memory.
func (v *findingView) memlockRefused(o *Observation) bool {
	if !v.linux() || v.h.MemlockKiB == nil || *v.h.MemlockKiB < 0 || !slices.Contains(memlockIDs, o.ID) || o.Level != rdma.CapabilityUnknown {
		return false
	}
	return errnoNamed(o, "ENOMEM") || *v.h.MemlockKiB == 0 && errnoNamed(o, "EPERM")
}

// memlockTooLow: the kernel says ENOMEM when a region is larger than what is left
// of the limit, and EPERM when the limit is 0 (can_do_mlock in mm/mlock.c).
func memlockTooLow(v *findingView) []findingHit {
	var hits []findingHit
	for _, dev := range v.devicesSeen() {
		var rows []*Observation
		for _, id := range memlockIDs {
			for _, o := range v.of(dev, id) {
				if v.memlockRefused(o) {
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
			h.message += "; limits.conf already allows " + v.limitWords()
			h.remedy = "log in again, or restart the service: the limit in limits.conf is read at login only, and services and containers have their own " +
				"(`LimitMEMLOCK=infinity`, `--ulimit memlock=-1`)"
			h.facts = append(h.facts, "host.limits_conf_memlock")
		}
		if v.container() {
			h.remedy = "start the container with `--ulimit memlock=-1` (Docker, Podman); with Kubernetes the limit is that of the container runtime's service on the host (`LimitMEMLOCK=infinity`). " +
				"A limits.conf inside the container changes nothing"
		}
		hits = append(hits, h)
	}
	return hits
}

// limitWords is the limit of limits.conf with its unit.
func (v *findingView) limitWords() string {
	conf := printable(strings.TrimSpace(v.h.LimitsConfMemlock))
	if _, err := strconv.Atoi(conf); err == nil && conf != "-1" {
		return conf + " KiB"
	}
	return conf
}

// limitsAllowMore tells whether limits.conf has a higher limit than the process.
func (v *findingView) limitsAllowMore() bool {
	conf := strings.TrimSpace(v.h.LimitsConfMemlock)
	if conf == "unlimited" || conf == "infinity" || conf == "-1" {
		return true
	}
	kib, err := strconv.ParseInt(conf, 10, 64)
	return err == nil && kib > *v.h.MemlockKiB
}
