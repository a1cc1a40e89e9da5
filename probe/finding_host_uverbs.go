package probe

import (
	"maps"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// inKernel tells whether sysfs is known to have a device.
func inKernel(dev *Device) bool { return dev.Sysfs != nil && *dev.Sysfs }

// opened tells whether a device was opened in this document's rows.
func (v *findingView) opened(name string) bool {
	return v.has(name, "dev.open", rdma.CapabilityConfirmed)
}

// nodeMissing is the uverbs node that a kernel device needs and /dev/infiniband
// does not have. Without ib_uverbs there is no node at all, and no name for it.
func (v *findingView) nodeMissing(dev *Device) (node string, missing bool) {
	if !v.linux() || !inKernel(dev) || v.h.DevInfiniband == nil || v.opened(dev.Name) {
		return "", false
	}
	if node, known := v.h.UverbsOfDevice[dev.Name]; known {
		_, there := v.h.DevInfiniband[node]
		return node, !there
	}
	others := slices.ContainsFunc(slices.Collect(maps.Keys(v.h.DevInfiniband)), func(n string) bool { return strings.HasPrefix(n, "uverbs") })
	return "", !others && v.h.Modules != nil && !slices.Contains(v.h.Modules, "ib_uverbs")
}

func uverbsNodeMissing(v *findingView) []findingHit {
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		node, missing := v.nodeMissing(dev)
		if !missing {
			continue
		}
		h := findingHit{
			scope: dev.Name, message: "the kernel has " + printable(dev.Name) + ", but /dev/infiniband/" + printable(node) + ", which programs open to use it, is not there",
			remedy: "reload the module that makes it: `sudo modprobe -r ib_uverbs; sudo modprobe ib_uverbs` (no RDMA program may be running), and look at udev's rules",
			seen:   keysOf(v.of(dev.Name, "dev.open")...),
			facts:  []string{"host.dev_infiniband", "host.uverbs_of_device." + dev.Name},
		}
		switch {
		case v.container():
			h.remedy = "pass the node into the container: `--device /dev/infiniband/" + shellName(node, "uverbsN") + "` (Docker, Podman), or an RDMA device plugin (Kubernetes); " +
				"`--device /dev/infiniband/rdma_cm` beside it for programs that use the connection manager"
		case node == "":
			h.message = "the kernel has " + printable(dev.Name) + ", but the module ib_uverbs, which lets programs use it, is not loaded"
			h.remedy = "`sudo modprobe ib_uverbs`"
			h.undo = "`sudo modprobe -r ib_uverbs`"
			h.facts = []string{"host.dev_infiniband", "host.modules"}
		}
		if slices.ContainsFunc(v.d.Devices, func(o Device) bool { return o.Name != dev.Name && v.opened(o.Name) }) {
			h.severity = SeverityWarning
		}
		hits = append(hits, h)
	}
	return hits
}

func uverbsPermissionDenied(v *findingView) []findingHit {
	if !v.linux() {
		return nil
	}
	var hits []findingHit
	for i := range v.d.Devices {
		dev := &v.d.Devices[i]
		node := v.h.UverbsOfDevice[dev.Name]
		if v.opened(dev.Name) || !v.nodeRefused(dev.Name, node) {
			continue
		}
		name := "/dev/infiniband/" + printable(node)
		if node == "" {
			name = "its node in /dev/infiniband"
		}
		h := findingHit{
			scope: dev.Name, message: name + " is there, and this user may not open it",
			remedy: "give the user access by a udev rule (`KERNEL==\"uverbs*\", MODE=\"0666\"` in /etc/udev/rules.d/, then `sudo udevadm trigger`) or by the node's group",
			seen:   keysOf(v.of(dev.Name, "dev.open")...),
		}
		if mode := v.h.DevInfiniband[node]; mode != "" {
			h.message = name + " is " + printable(mode) + ", owned by root, and this user may not open it"
			h.facts = append(h.facts, "host.dev_infiniband."+node)
		}
		if _, known := v.h.UverbsAccess[node]; known {
			h.facts = append(h.facts, "host.uverbs_access."+node)
		}
		if v.container() {
			h.remedy = "pass the node by `--device` (Docker, Podman) or a device plugin, so that the container's device rules allow it, " +
				"and make it readable and writable for the container's user; a bind mount alone does not allow it"
		}
		hits = append(hits, h)
	}
	return hits
}

// nodeRefused tells whether this user may not open the node of a device: access(2)
// said so, or the library got EACCES or EPERM, or, where access(2) was not asked,
// the mode leaves no doubt for a user that is not root.
func (v *findingView) nodeRefused(device, node string) bool {
	mode, there := v.h.DevInfiniband[node]
	if v.h.DevInfiniband != nil && node != "" && !there {
		return false
	}
	if slices.ContainsFunc(v.of(device, "dev.open"), func(o *Observation) bool { return errnoNamed(o, "EACCES", "EPERM") }) {
		return true
	}
	if may, known := v.h.UverbsAccess[node]; known {
		return !may
	}
	return v.h.EUID != nil && *v.h.EUID != 0 && len(mode) >= 10 && mode[4:6] != "rw" && mode[7:9] != "rw"
}

func verbsInterposer(v *findingView) []findingHit {
	preload := v.h.Env["LD_PRELOAD"]
	if preload == "" {
		return nil
	}
	var hits []findingHit
	for _, dev := range v.d.Devices {
		if !dev.Listed || dev.Sysfs == nil || *dev.Sysfs {
			continue
		}
		hits = append(hits, findingHit{
			scope: dev.Name,
			message: "the library lists " + printable(dev.Name) + ", which the kernel does not have: a preloaded library (" + printable(preload) +
				") stands between, and programs without it will not see the device",
			remedy: "start the programs that are to use it with the same LD_PRELOAD, or unset it to see what the kernel has",
			facts:  []string{"host.env.LD_PRELOAD", "host.sysfs_devices"},
		})
	}
	return hits
}
