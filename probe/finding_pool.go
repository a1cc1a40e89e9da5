package probe

import (
	"fmt"
	"slices"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// owners are the processes that hold objects on a device. Where a process does
// not say of which device its objects are, it counts for each.
func (v *findingView) owners(device string) []hostfacts.Process {
	return slices.DeleteFunc(slices.Clone(v.h.RDMAProcesses), func(p hostfacts.Process) bool {
		return p.Devices != nil && !slices.Contains(p.Devices, device)
	})
}

// ownerNames writes processes: python3 (pid 4242).
func ownerNames(owners []hostfacts.Process) string {
	var names []string
	for _, p := range owners {
		name := printable(p.Command)
		if name == "" {
			name = "a process"
		}
		name += fmt.Sprintf(" (pid %d)", p.PID)
		if p.Leaked {
			name += ", which is gone without releasing what it had"
		}
		names = append(names, name)
	}
	const most = 5
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return sentence(names)
}

// pdClass is the kernel class whose instances are the protection domains of
// Apple's provider.
const pdClass = "AppleThunderboltRDMAProtectionDomain"

func pdPoolExhausted(v *findingView) []findingHit {
	live, counted := v.h.IOClassCount[pdClass]
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		if !dev.Listed || !dev.thunderbolt(v.h.OS) || v.idle(dev) {
			continue
		}
		leaked := slices.DeleteFunc(v.owners(dev.Name), func(p hostfacts.Process) bool { return !p.Leaked })
		full := counted && dev.Attr != nil && dev.Attr.MaxPD > 0 && live >= int(dev.Attr.MaxPD)
		// The kernel counts over all devices: one that just gave a domain is not
		// the one that has none left.
		if full && len(leaked) == 0 && v.confirmedOn(dev.Name, "pd.alloc") && v.activeThunderbolt() > 1 {
			full = false
		}
		if !full && len(leaked) == 0 {
			continue
		}
		h := findingHit{
			scope: dev.Name, seen: keysOf(v.of(dev.Name, "pd.alloc")...),
			remedy: "end the programs that own them gently (not by SIGKILL, which leaks what they hold); when no owner is left, only a restart gives them back",
		}
		if !full && len(leaked) == len(v.owners(dev.Name)) {
			h.remedy = "restart the " + v.machine() + ": their owner is gone, and nothing else gives them back"
		}
		if full {
			h.message = fmt.Sprintf("%d of %d protection domains are in use", live, dev.Attr.MaxPD)
			h.facts = []string{"host.ioclasscount." + pdClass, "devices"}
		}
		if len(leaked) > 0 {
			if h.message != "" {
				h.message += "; "
			}
			h.message += "protection domains are held by " + ownerNames(leaked)
			h.facts = append(h.facts, "host.rdma_processes")
		} else if owners := v.owners(dev.Name); len(owners) > 0 {
			h.message += ", by " + ownerNames(owners)
			h.facts = append(h.facts, "host.rdma_processes")
		}
		hits = append(hits, h)
	}
	return hits
}

// activeThunderbolt counts the Thunderbolt devices with an ACTIVE port.
func (v *findingView) activeThunderbolt() int {
	n := 0
	for i := range v.d.Devices {
		if d := &v.d.Devices[i]; d.thunderbolt(v.h.OS) && v.activeOf(d) {
			n++
		}
	}
	return n
}

// pdFailures are the rows of a device in which alloc_pd gave NULL.
func (v *findingView) pdFailures(device string) []*Observation {
	return slices.DeleteFunc(v.of(device, "pd.alloc"), func(o *Observation) bool { return !gaveNull(o) })
}

// gaveNull tells whether a call that makes an object was made and made none.
func gaveNull(o *Observation) bool {
	return (o.Level == rdma.CapabilityUnknown || o.Level == rdma.CapabilityRejected) && o.Return != nil && o.Return.Pointer && o.Return.Null
}

// errnoWords writes an errno, or that there was none.
func errnoWords(o *Observation) string {
	if o.Errno == nil {
		return "without setting errno"
	}
	return fmt.Sprintf("with errno %d (%s)", o.Errno.Number, printable(o.Errno.Name))
}

func pdAllocFailed(v *findingView) []findingHit {
	return v.pdFailed(func(dev *Device) bool { return !v.activeOf(dev) || len(v.owners(dev.Name)) > 0 }, func(dev *Device, h *findingHit) {
		h.message += ": nothing after it was tried"
		switch {
		case len(v.owners(dev.Name)) > 0:
			h.message += "; other processes hold RDMA objects: " + ownerNames(v.owners(dev.Name))
			h.remedy = "check port and link, and end the other RDMA programs gently; restart the machine if it stays"
			h.facts = []string{"host.rdma_processes"}
		case v.thunderbolt(dev.Name):
			h.remedy = "the port is not ACTIVE, and the provider gives a protection domain on an ACTIVE one only: bring up the link first"
		default:
			h.remedy = "bring up the port, and look at the kernel log for the driver's reason"
		}
	})
}

func pdAllocFailedPortActive(v *findingView) []findingHit {
	return v.pdFailed(func(dev *Device) bool { return v.activeOf(dev) && len(v.owners(dev.Name)) == 0 }, func(dev *Device, h *findingHit) {
		h.message += ", on an ACTIVE port and with no other RDMA process known: nothing after it was tried"
		h.remedy = "look at the kernel log (`sudo dmesg`) for the driver's reason, then reload the driver or restart the machine"
		if v.thunderbolt(dev.Name) {
			h.remedy = "unplug the Thunderbolt cable and plug it in again; restart the " + v.machine() + " if it stays: domains that were lost with a program that was killed come back in no other way"
		}
	})
}

func (v *findingView) pdFailed(which func(*Device) bool, finish func(*Device, *findingHit)) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		rows := v.pdFailures(dev.Name)
		if len(rows) == 0 || !which(dev) {
			continue
		}
		h := findingHit{
			scope: dev.Name, message: "ibv_alloc_pd returned NULL " + errnoWords(rows[0]),
			seen: keysOf(append(rows, v.of(dev.Name, "port.state")...)...),
		}
		finish(dev, &h)
		hits = append(hits, h)
	}
	return hits
}

// pool is one kind of object that a device has a fixed number of.
type pool struct {
	noun string
	ids  []string
	held func(hostfacts.Process) *int
	max  func(*DeviceAttr) int32
	busy bool // EBUSY is how the provider says that it is used up
}

var (
	qpPool = pool{
		noun: "queue pairs", ids: []string{"qp.uc.create", "qp.rc.create", "qp.ud.create"}, busy: true,
		held: func(p hostfacts.Process) *int { return p.QPs }, max: func(a *DeviceAttr) int32 { return a.MaxQP },
	}
	mrPool = pool{
		noun: "memory regions", ids: []string{"mr.register", "mr.register.local"},
		held: func(p hostfacts.Process) *int { return p.MRs }, max: func(a *DeviceAttr) int32 { return a.MaxMR },
	}
)

func qpPoolExhausted(v *findingView) []findingHit { return v.poolExhausted(qpPool) }
func mrPoolExhausted(v *findingView) []findingHit { return v.poolExhausted(mrPool) }

func (v *findingView) poolExhausted(p pool) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		var rows []*Observation
		for _, id := range p.ids {
			rows = append(rows, slices.DeleteFunc(v.of(dev.Name, id), func(o *Observation) bool { return !p.refused(v, dev, o) })...)
		}
		if len(rows) == 0 {
			continue
		}
		held, owners := p.holders(v, dev.Name)
		h := findingHit{
			scope: dev.Name,
			message: fmt.Sprintf("%s failed %s while other processes %s: %s",
				printable(rows[0].Call), errnoWords(rows[0]), p.holding(owners), ownerNames(owners)),
			remedy: "end those programs gently, or let them share what they hold; do not retry: the number is fixed by the device",
			seen:   keysOf(rows...), facts: []string{"host.rdma_processes"},
		}
		if dev.Attr != nil && p.max(dev.Attr) > 0 && held > 0 {
			h.message += fmt.Sprintf(" (%d of %d)", held, p.max(dev.Attr))
			h.facts = append(h.facts, "devices")
		}
		hits = append(hits, h)
	}
	return hits
}

// holding says what is known of what processes have on a device.
func (p pool) holding(owners []hostfacts.Process) string {
	if slices.ContainsFunc(owners, func(o hostfacts.Process) bool { return p.held(o) != nil }) {
		return "hold " + p.noun + " of this device"
	}
	return "have this device open, and may hold its " + p.noun
}

// holders sums up what other processes hold; one that does not say how much is
// among the owners and counts nothing.
func (p pool) holders(v *findingView, device string) (held int, owners []hostfacts.Process) {
	for _, o := range v.owners(device) {
		n := p.held(o)
		if n != nil {
			held += max(*n, 0)
		}
		if n == nil || *n > 0 {
			owners = append(owners, o)
		}
	}
	return held, owners
}

// refused tells whether a row failed because the pool is used up: by EBUSY, which
// means it, or by ENOMEM or a bare NULL when what others hold reaches the
// device's number as far as both are known. One more than is usable counts in
// that number on Apple's devices.
func (p pool) refused(v *findingView, dev *Device, o *Observation) bool {
	held, owners := p.holders(v, dev.Name)
	if o.Level != rdma.CapabilityUnknown || len(owners) == 0 {
		return false
	}
	if errnoNamed(o, "EBUSY") && p.busy {
		return true
	}
	if !errnoNamed(o, "EBUSY", "ENOMEM") && (o.Errno != nil || !gaveNull(o)) {
		return false
	}
	unknown := slices.ContainsFunc(owners, func(o hostfacts.Process) bool { return p.held(o) == nil })
	return unknown || dev.Attr == nil || p.max(dev.Attr) <= 0 || held+1 >= int(p.max(dev.Attr))
}

// refuses tells the same of any row.
func (p pool) refuses(v *findingView, dev *Device, o *Observation) bool {
	return slices.Contains(p.ids, o.ID) && p.refused(v, dev, o)
}

// onePage is the largest page of the systems that run this (16 KiB, Apple).
const onePage = 16 << 10

// pageRefused tells whether a row is a registration of one page that failed for
// want of memory though the process may lock what it likes.
func (v *findingView) pageRefused(o *Observation) bool {
	length, known := dataInt(o.Params, "length")
	return v.h.MemlockKiB != nil && *v.h.MemlockKiB < 0 && o.ID == "mr.register" &&
		o.Level == rdma.CapabilityUnknown && errnoNamed(o, "ENOMEM") && known && length <= onePage
}

func mrRegisterENOMEM(v *findingView) []findingHit {
	var hits []findingHit
	for _, name := range v.devicesSeen() {
		rows := slices.DeleteFunc(v.of(name, "mr.register"), func(o *Observation) bool { return !v.pageRefused(o) })
		if len(rows) == 0 {
			continue
		}
		h := findingHit{
			scope: name, message: "registering a single page failed with ENOMEM although this process may lock as much memory as it likes: this is not a matter of ulimit",
			remedy: "look for what changed in the kernel or the driver (`sudo dmesg`), and try the previous kernel",
			seen:   keysOf(rows...), facts: []string{"host.memlock_kib"},
		}
		if v.h.KernelChanged != nil && *v.h.KernelChanged {
			h.message += "; the kernel is another one than at the last report"
			h.facts = append(h.facts, "host.kernel_changed_since_last_report")
		}
		hits = append(hits, h)
	}
	return hits
}
