package hostfacts

import (
	"path"
	"slices"
	"strings"
)

// wantedModules are those of which a remedy speaks: is there one to load?
var wantedModules = []string{"ib_core", "ib_uverbs", "rdma_cm", "rdma_rxe", "rdma_ucm", "siw"}

// rdmaModules and rdmaPrefixes make the family: core, drivers and users.
var (
	rdmaModules = []string{
		"bnxt_re", "efa", "erdma", "hfi1", "i40iw", "irdma", "mana_ib", "ocrdma", "odl_tb5", "qedr", "rdmavt",
		"rpcrdma", "siw", "thunderbolt", "thunderbolt_ibverbs", "thunderbolt_net", "usnic_verbs", "vmw_pvrdma", "nvme_rdma",
	}
	rdmaPrefixes = []string{"ib_", "iw_", "rdma_", "mlx4_", "mlx5_", "hns_roce"}
)

// loadedModules picks the RDMA family from /proc/modules, sorted. The first word
// of a line is the name (proc(5)).
func loadedModules(b []byte) []string {
	found := []string{}
	lines(b, 4096, func(line string) bool {
		name, _, _ := strings.Cut(line, " ")
		if name = clean(name); isRDMAModule(name) {
			found = append(found, name)
		}
		return len(found) < maxEntries
	})
	slices.Sort(found)
	return slices.Compact(found)
}

func isRDMAModule(name string) bool {
	return slices.Contains(rdmaModules, name) ||
		slices.ContainsFunc(rdmaPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// availableModules looks for the wanted modules in modules.dep ("PATH: DEPS") and
// modules.builtin ("PATH") of a kernel (modules.dep(5)). A path may end in .ko,
// .ko.xz, .ko.zst or .ko.gz; modprobe takes - and _ as the same.
func availableModules(dep, builtin []byte) map[string]bool {
	m := map[string]bool{}
	for _, name := range wantedModules {
		m[name] = false
	}
	for _, b := range [][]byte{dep, builtin} {
		lines(b, 64<<10, func(line string) bool {
			file, _, _ := strings.Cut(line, ":")
			name, _, _ := strings.Cut(path.Base(file), ".ko")
			name = strings.ReplaceAll(name, "-", "_")
			if _, wanted := m[name]; wanted {
				m[name] = true
			}
			return true
		})
	}
	return m
}
