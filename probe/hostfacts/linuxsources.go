package hostfacts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// linuxSources are the long files of Linux and the walks through directories.
// None runs a program.
func linuxSources() []source {
	return []source{
		{"modules.dep", []string{"modules_available"}, readModulesAvailable},
		{"libibverbs and its providers", []string{"userspace_providers", "provider_files", "provider_abi_wanted"}, readProviders},
		{"limits.conf", []string{"limits_conf_memlock"}, func(_ context.Context, s *System) part {
			value := limitsMemlock(s)
			return part{apply: func(h *Host) { h.LimitsConfMemlock = value }}
		}},
		{"GID tables", []string{"sysfs"}, readGIDTables},
		{"/proc/*/fd", []string{"rdma_processes"}, readHolders},
		{"what needs more", nil, func(ctx context.Context, s *System) (p part) {
			_, p.missing = KernelLog(ctx, s)
			p.miss("abi", "libibverbs", "a provider's range is inside its binary; the library names it when a device does not fit")
			return p
		}},
	}
}

func readModulesAvailable(_ context.Context, s *System) (p part) {
	dir := "lib/modules/" + s.text("proc/sys/kernel/osrelease")
	dep, err := s.read(maxBigFile, dir, "modules.dep")
	if err != nil {
		p.missFile("modules_available", dir+"/modules.dep", err)
		return p
	}
	builtin, _ := s.read(maxBigFile, dir, "modules.builtin") // a kernel may have none built in
	p.apply = func(h *Host) { h.ModulesAvail = availableModules(dep, builtin) }
	return p
}

// readGIDTables fills the ports that the cheap pass found.
func readGIDTables(ctx context.Context, s *System) (p part) {
	devices, err := s.list(classIB)
	if err != nil {
		return p // the cheap pass has said so
	}
	type key struct {
		device string
		port   int
	}
	tables := map[key][]SysfsGID{}
	for _, d := range devices[:min(len(devices), maxDevices)] {
		for _, n := range portNumbers(s, d) {
			if ctx.Err() != nil {
				return p
			}
			gids, err := SysfsGIDs(s, d, n)
			if err != nil {
				p.missFile("sysfs."+clean(d), classIB+"/"+clean(d)+"/ports/"+strconv.Itoa(n)+"/gids", err)
				continue
			}
			tables[key{clean(d), n}] = gids
		}
	}
	p.apply = func(h *Host) {
		for name, dev := range h.Sysfs {
			for i := range dev.Ports {
				dev.Ports[i].GIDs = tables[key{name, dev.Ports[i].Num}]
			}
		}
	}
	return p
}

// readHolders looks for processes that have a uverbs node open. Those of other
// users cannot be looked into, which is said.
func readHolders(ctx context.Context, s *System) (p part) {
	pids, err := s.list("proc")
	if err != nil {
		p.missFile("rdma_processes", "proc", err)
		return p
	}
	procs := []Process{}
	hidden := 0
	for _, name := range pids {
		pid, err := strconv.Atoi(name)
		if err != nil || ctx.Err() != nil || len(procs) == maxProcesses {
			continue
		}
		nodes, err := uverbsHeld(s, name)
		if errors.Is(err, fs.ErrPermission) {
			hidden++
		}
		if len(nodes) > 0 {
			procs = append(procs, Process{PID: pid, Command: s.text("proc", name, "comm"), Devices: nodes})
		}
	}
	if hidden > 0 {
		p.miss("rdma_processes", "/proc/*/fd", fmt.Sprintf("%d processes of other users cannot be looked into", hidden))
	}
	sort.Slice(procs, func(i, j int) bool { return procs[i].PID < procs[j].PID })
	p.apply = func(h *Host) {
		for i := range procs {
			procs[i].Devices = devicesOf(procs[i].Devices, h.UverbsOfDevice)
		}
		h.RDMAProcesses = procs
	}
	return p
}

// uverbsHeld lists the nodes that a process has open: uverbs0, ...
func uverbsHeld(s *System, pid string) ([]string, error) {
	fds, err := s.list("proc", pid, "fd")
	if err != nil {
		return nil, err
	}
	var nodes []string
	for _, fd := range fds {
		target, err := os.Readlink(s.path("proc", pid, "fd", fd))
		if err != nil {
			continue
		}
		node, ok := strings.CutPrefix(target, "/dev/infiniband/")
		if node = clean(node); ok && strings.HasPrefix(node, "uverbs") && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	return nodes, nil
}

// devicesOf names the devices of nodes; a node of no known device stays.
func devicesOf(nodes []string, of map[string]string) []string {
	names := []string{}
	for _, node := range nodes {
		name := node
		for dev, n := range of {
			if n == node {
				name = dev
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
