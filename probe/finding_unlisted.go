package probe

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"rdmaprobe/probe/hostfacts"
)

// unlisted lists the devices that the kernel has, the library does not list, and
// whose node is there: something about their provider is wrong. Nothing is
// unlisted where the library did not list at all.
func (v *findingView) unlisted() []*Device {
	if _, conclusive := v.listing(); !conclusive || !v.linux() {
		return nil
	}
	var out []*Device
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		_, missing := v.nodeMissing(dev)
		if dev.Listed || !inKernel(dev) || missing || v.nodeRefused(dev.Name, v.h.UverbsOfDevice[dev.Name]) {
			continue
		}
		out = append(out, dev)
	}
	return out
}

// Why the library does not list a device.
const (
	causeABI       = "abi"
	causeRdmav     = "rdmav"
	causeNone      = "none" // no provider exists for its driver
	causeMissing   = "missing"
	causeMismatch  = "mismatch" // a provider is there and cannot be loaded
	causeUntaken   = "untaken"  // its node and its driver are known, and nothing is known to be wrong
	causeUncertain = ""
)

// driversWithoutProvider have no verbs provider in any release of rdma-core.
var driversWithoutProvider = []string{"usnic_verbs"}

// providerOfDriver maps kernel drivers to the provider of rdma-core, where the
// names differ by more than a suffix.
var providerOfDriver = map[string]string{
	"mlx4_core": "mlx4", "mlx4_ib": "mlx4", "mlx5_core": "mlx5", "mlx5_ib": "mlx5", "bnxt_en": "bnxt_re", "hfi1": "hfi1verbs",
	"hns3": "hns", "hns_roce": "hns", "hns_roce_hw_v2": "hns", "i40e": "irdma", "ice": "irdma", "idpf": "irdma", "ib_mthca": "mthca",
	"be2net": "ocrdma", "qede": "qedr", "ib_qib": "ipathverbs", "rdma_rxe": "rxe", "mana_ib": "mana",
}

// providersFor are the providers that could serve a device, by its driver. One
// without a driver is a soft one: rxe or siw, whichever module is loaded.
func (v *findingView) providersFor(dev *Device) []string {
	driver := dev.Driver
	if driver == "" {
		driver = v.h.Driver[dev.Name]
	}
	if driver != "" {
		if p := providerOfDriver[driver]; p != "" {
			return []string{p}
		}
		return []string{driver}
	}
	var soft []string
	for module, provider := range map[string]string{"rdma_rxe": "rxe", "siw": "siw"} {
		if slices.Contains(v.h.Modules, module) {
			soft = append(soft, provider)
		}
	}
	slices.Sort(soft)
	return soft
}

var providerFile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|/)lib([a-z0-9_]+?)(?:-rdmav(\d+))?\.so`) })

// providerFiles tells which rdmav each installed provider is built for.
func (v *findingView) providerFiles() map[string][]int {
	files := map[string][]int{}
	for _, f := range v.h.ProviderFiles {
		if m := providerFile().FindStringSubmatch(f); m != nil {
			n, _ := strconv.Atoi(m[2]) // 0: an old name without one
			files[m[1]] = append(files[m[1]], n)
		}
	}
	return files
}

// unlistedCause says why the library does not list dev, as far as it is known.
func (v *findingView) unlistedCause(dev *Device) string {
	providers := v.providersFor(dev)
	files := v.providerFiles()
	wanted, _ := strconv.Atoi(strings.TrimPrefix(v.h.ProviderABI, "rdmav"))
	there, fits := false, false
	for _, p := range providers {
		for _, n := range files[p] {
			there, fits = true, fits || n == wanted
		}
	}
	entry := v.h.ProviderEntries == nil || slices.ContainsFunc(providers, func(p string) bool { return slices.Contains(v.h.ProviderEntries, p) })
	switch abi, known := v.abi(dev.Name); {
	case known && (abi.Kernel < abi.ProviderMin || abi.Kernel > abi.ProviderMax):
		return causeABI
	case there && !fits && wanted > 0:
		return causeRdmav
	case dev.Driver != "" && slices.Contains(driversWithoutProvider, dev.Driver), slices.Contains(driversWithoutProvider, v.h.Driver[dev.Name]):
		return causeNone
	case len(providerOfAnotherRelease(v)) > 0:
		return causeMismatch
	case v.h.Providers != nil && !*v.h.Providers,
		v.h.ProviderFiles != nil && len(providers) > 0 && !there,
		len(providers) > 0 && !entry,
		v.namedWithoutDriver(dev.Name):
		return causeMissing
	case len(providers) > 0 && v.nodeThere(dev):
		return causeUntaken
	}
	return causeUncertain
}

// nodeThere tells whether the node of a device is known to be there.
func (v *findingView) nodeThere(dev *Device) bool {
	node, known := v.h.UverbsOfDevice[dev.Name]
	_, there := v.h.DevInfiniband[node]
	return known && there
}

// How the library itself words its reasons, on stderr while it lists.
var (
	noDriverText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`no userspace device-specific driver found for (?:\S*/)?([A-Za-z0-9_.-]+)`)
	})
	abiText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[Dd]river \S+ does not support (?:the )?kernel ABI (?:of )?(\d+) \(supports (\d+) to (\d+)\)(?: for device (?:\S*/)?([A-Za-z0-9_.-]+))?`)
	})
)

// namedWithoutDriver tells whether the library said that it has no driver for the
// node of a device.
func (v *findingView) namedWithoutDriver(device string) bool {
	texts, _ := v.libraryTexts()
	node := v.h.UverbsOfDevice[device]
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, "no userspace") && slices.ContainsFunc(noDriverText().FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == node && node != "" || m[1] == device })
	})
}

// abi is the kernel's verbs ABI of a device and its provider's range, by the
// facts or by the library's own warning.
func (v *findingView) abi(device string) (hostfacts.ABI, bool) {
	if a, known := v.h.ABI[device]; known {
		return a, true
	}
	texts, _ := v.libraryTexts()
	for _, text := range texts {
		if !strings.Contains(text, "kernel ABI") {
			continue
		}
		for _, m := range abiText().FindAllStringSubmatch(text, -1) {
			if m[4] != device && (m[4] != "" || len(v.d.Devices) != 1) {
				continue
			}
			kernel, err := strconv.Atoi(m[1])
			least, err1 := strconv.Atoi(m[2])
			most, err2 := strconv.Atoi(m[3])
			if err == nil && err1 == nil && err2 == nil {
				return hostfacts.ABI{Kernel: kernel, ProviderMin: least, ProviderMax: most}, true
			}
		}
	}
	return hostfacts.ABI{}, false
}

// unlistedHits makes a hit of every unlisted device that has one of the causes.
func (v *findingView) unlistedHits(hit func(dev *Device, cause string) findingHit, causes ...string) []findingHit {
	var hits []findingHit
	rows, _ := v.listing()
	for _, dev := range v.unlisted() {
		if cause := v.unlistedCause(dev); cause != causeUncertain && slices.Contains(causes, cause) {
			h := hit(dev, cause)
			h.scope, h.seen = dev.Name, keysOf(rows...)
			h.facts = append(h.facts, "host.sysfs_devices")
			hits = append(hits, h)
		}
	}
	return hits
}

func providerLibraryMissing(v *findingView) []findingHit {
	return v.unlistedHits(func(dev *Device, cause string) findingHit {
		if cause == causeUntaken {
			return v.untakenHit(dev)
		}
		h := findingHit{
			message: "the kernel has " + printable(dev.Name) + ", but libibverbs has no provider for it",
			remedy: "install the distribution's provider package: " + v.packages(map[string]string{
				"apt": "install ibverbs-providers", "dnf": "install libibverbs", "zypper": "install libibverbs",
			}) + "; a provider from elsewhere needs its file and its entry where this libibverbs looks, usually /etc/libibverbs.d",
		}
		if v.h.Providers != nil && !*v.h.Providers {
			h.message += ", nor for anything else: there is no provider with both a file and an entry in libibverbs.d"
			h.facts = append(h.facts, "host.userspace_providers")
		} else if p := v.providersFor(dev); len(p) > 0 {
			h.message += " (its driver would be served by the provider " + printable(strings.Join(p, " or ")) + ")"
		}
		if v.h.ProviderFiles != nil {
			h.facts = append(h.facts, "host.provider_files")
		}
		return h
	}, causeMissing, causeUntaken)
}

// untakenHit is about a device that libibverbs leaves out though its node is there and
// nothing is known to be wrong with its provider.
func (v *findingView) untakenHit(dev *Device) findingHit {
	p := printable(strings.Join(v.providersFor(dev), " or "))
	h := findingHit{
		message: "the kernel has " + printable(dev.Name) + " and its node is there, but libibverbs does not list it: it has no provider that takes the device (its driver would be served by the provider " + p + ")",
		remedy: "see what the library says while it lists: `IBV_SHOW_WARNINGS=1 ibv_devices` (package ibverbs-utils or libibverbs-utils). Then reinstall libibverbs and its providers from one release, " +
			"and remove copies from other sources (vendor packages, /usr/local)",
		facts: []string{"host.uverbs_of_device." + dev.Name, "host.dev_infiniband"},
	}
	if v.h.ProviderFiles != nil {
		h.facts = append(h.facts, "host.provider_files")
	}
	return h
}

func providerABIMismatch(v *findingView) []findingHit {
	return v.unlistedHits(func(dev *Device, cause string) findingHit {
		if cause == causeRdmav {
			return findingHit{
				message: "the provider of " + printable(dev.Name) + " is built for another libibverbs: this one loads " + printable(v.h.ProviderABI),
				remedy:  "install libibverbs and its providers from one release, and remove the files of the other",
				facts:   []string{"host.provider_files", "host.provider_abi_wanted"},
			}
		}
		abi, _ := v.abi(dev.Name)
		h := findingHit{
			message: fmt.Sprintf("the kernel speaks verbs ABI %d for %s, and its provider needs %s", abi.Kernel, printable(dev.Name), abiRange(abi)),
			remedy:  "the kernel is the older side: update it, or install the rdma-core that belongs to it",
		}
		if abi.Kernel > abi.ProviderMax {
			h.remedy = "the provider is the older side: update rdma-core (libibverbs and its providers)"
		}
		if _, known := v.h.ABI[dev.Name]; known {
			h.facts = append(h.facts, "host.abi."+dev.Name)
		}
		return h
	}, causeABI, causeRdmav)
}

func abiRange(a hostfacts.ABI) string {
	if a.ProviderMin == a.ProviderMax {
		return strconv.Itoa(a.ProviderMin)
	}
	return fmt.Sprintf("%d to %d", a.ProviderMin, a.ProviderMax)
}

func deviceWithoutProvider(v *findingView) []findingHit {
	return v.unlistedHits(func(dev *Device, _ string) findingHit {
		h := findingHit{
			message: "the kernel has " + printable(dev.Name) + ", but no verbs provider exists for its driver: it cannot be used through verbs",
			remedy:  "use it by its vendor's own interface (usNIC: libfabric); nothing that can be installed makes it a verbs device",
		}
		if v.h.Driver[dev.Name] != "" {
			h.facts = append(h.facts, "host.driver."+dev.Name)
		}
		return h
	}, causeNone)
}
