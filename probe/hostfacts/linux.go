package hostfacts

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// quickLinux reads procfs, sysfs, /dev and /etc/os-release.
func quickLinux(s *System, h *Host, p *part) {
	h.OS = Linux
	common(s, h, p)
	identityLinux(s, h, p)
	h.Container = ptr(inContainer(s))
	if vm, ok := virtualMachine(s); ok {
		h.VM = ptr(vm)
	} else {
		p.miss("vm", "/proc/cpuinfo, /sys/class/dmi", "neither says whether this is a virtual machine")
	}
	h.Netns = netnsKind(s, *h.Container)
	if secure, err := secureBoot(s); err != nil {
		p.missFile("secure_boot", secureBootVar, err)
	} else {
		h.SecureBoot = ptr(secure)
	}
	if there, known := s.exists("dev/char"); known {
		h.DevCharPresent = ptr(there)
	}
	devNodes(s, h, p)
	infiniband(s, h, p)
	thunderboltLinux(s, h)
	if b, err := s.read(maxFile, "proc/modules"); err != nil {
		p.missFile("modules", "proc/modules", err)
	} else {
		h.Modules = loadedModules(b)
	}
	routesLinux(s, h, p)
}

func identityLinux(s *System, h *Host, p *part) {
	h.Name = s.text("proc/sys/kernel/hostname")
	h.Kernel = s.text("proc/sys/kernel/osrelease")
	if h.Kernel == "" {
		p.miss("kernel", "/proc/sys/kernel/osrelease", "it cannot be read")
	} else if version := s.text("proc/sys/kernel/version"); version != "" {
		// The version alone ("#1 SMP ...") repeats between releases.
		h.OSBuild = h.Kernel + " " + version
	}
	h.OSVersion = osRelease(s)
	if h.OSVersion == "" {
		p.miss("os_version", "/etc/os-release", "it cannot be read")
	}
	// /proc/sys/kernel/arch is there since Linux 6.1.
	if h.Arch = archName(s.text("proc/sys/kernel/arch")); h.Arch == "" {
		h.Arch = archName(s.Machine)
	}
	for _, file := range []string{"sys/class/dmi/id/product_name", "proc/device-tree/model"} {
		if h.Model == "" {
			h.Model = strings.TrimRight(s.text(file), "\x00")
		}
	}
	if h.Model == "" {
		p.miss("model", "/sys/class/dmi/id/product_name", "there is neither DMI nor a device tree")
	}
	seconds, _, _ := strings.Cut(s.text("proc/uptime"), " ")
	if v, err := strconv.ParseFloat(seconds, 64); err == nil && v >= 0 && v < 1e11 {
		h.UptimeS = ptr(int64(v))
	} else {
		p.miss("uptime_s", "/proc/uptime", "it is not a time")
	}
}

// osRelease is ID and VERSION_ID of os-release(5): "debian 12".
func osRelease(s *System) string {
	for _, file := range []string{"etc/os-release", "usr/lib/os-release"} {
		b, err := s.read(maxFile, file)
		if err != nil {
			continue
		}
		v := parseOSRelease(b)
		return strings.TrimSpace(v["ID"] + " " + v["VERSION_ID"])
	}
	return ""
}

// parseOSRelease reads NAME=value lines, with or without quotes.
func parseOSRelease(b []byte) map[string]string {
	m := map[string]string{}
	lines(b, 4096, func(line string) bool {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok && !strings.HasPrefix(name, "#") {
			m[name] = clean(strings.Trim(value, `"'`))
		}
		return len(m) < 128
	})
	return m
}

// secureBootVar is the EFI variable SecureBoot of the global vendor id (UEFI
// specification 3.3). efivarfs puts four bytes of attributes before its one byte.
const secureBootVar = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

func secureBoot(s *System) (bool, error) {
	b, err := s.read(64, secureBootVar)
	if err != nil {
		return false, err
	}
	if len(b) != 5 {
		return false, errors.New("it is not a boolean variable")
	}
	return b[4] == 1, nil
}

// devNodes lists /dev/infiniband. Without the directory there are no nodes, and
// that is known: the map is empty.
func devNodes(s *System, h *Host, p *part) {
	const dir = "dev/infiniband"
	names, err := s.list(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.missFile("dev_infiniband", dir, err)
		return
	}
	h.DevInfiniband, h.UverbsAccess = map[string]string{}, map[string]bool{}
	for _, name := range names {
		mode, err := nodeMode(s.path(dir, name))
		if err != nil {
			continue
		}
		name = clean(name)
		h.DevInfiniband[name] = lsMode(mode)
		if strings.HasPrefix(name, "uverbs") && s.Access != nil {
			h.UverbsAccess[name] = s.Access(s.path(dir, name)) == nil
		}
	}
	if s.Access == nil {
		h.UverbsAccess = nil
		p.miss("uverbs_access", "access(2)", "not available")
	}
}
