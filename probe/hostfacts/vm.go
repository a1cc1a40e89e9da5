package hostfacts

import "strings"

// vmVendors begin the DMI names of virtual machines.
var vmVendors = []string{
	"QEMU", "KVM", "VMware", "VirtualBox", "innotek", "Xen", "Bochs", "Parallels", "BHYVE",
	"Virtual Machine", "Google Compute Engine", "Apple Virtualization", "OpenStack", "Amazon EC2",
}

// virtualMachine goes by the hypervisor bit of the processor (x86: CPUID
// 1.ECX.31), else by DMI, else by the device tree. ok is false when none speaks.
func virtualMachine(s *System) (vm, ok bool) {
	if b, err := s.read(maxBigFile, "proc/cpuinfo"); err == nil {
		if vm, ok := hypervisorFlag(b); ok {
			return vm, true
		}
	}
	if there, _ := s.exists("proc/device-tree/hypervisor"); there {
		return true, true
	}
	names := []string{s.text("sys/class/dmi/id/sys_vendor"), s.text("sys/class/dmi/id/product_name")}
	for _, name := range names {
		for _, v := range vmVendors {
			// EC2 calls its bare metal machines by the same vendor.
			if strings.HasPrefix(name, v) && !strings.Contains(names[1], "metal") {
				return true, true
			}
		}
	}
	return false, names[0] != ""
}

// hypervisorFlag looks at the first "flags" line; ok is false without one, as on
// other processors than x86.
func hypervisorFlag(b []byte) (vm, ok bool) {
	lines(b, 64<<10, func(line string) bool {
		key, value, found := strings.Cut(line, ":")
		if !found || strings.TrimSpace(key) != "flags" {
			return true
		}
		ok = true
		for _, f := range strings.Fields(value) {
			vm = vm || f == "hypervisor"
		}
		return false
	})
	return vm, ok
}
