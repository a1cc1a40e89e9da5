package probe

import (
	"slices"
	"strings"
)

// packageTool is how a distribution installs packages.
type packageTool struct {
	command string
	systems []string // ID of os-release(5), or how it begins
	known   string   // for people
}

var packageTools = []packageTool{
	{"apt", []string{"debian", "ubuntu", "linuxmint", "pop", "raspbian", "proxmox", "kali"}, "Debian, Ubuntu"},
	{"dnf", []string{"fedora", "rhel", "centos", "rocky", "almalinux", "ol", "amzn", "red"}, "Fedora, RHEL"},
	{"zypper", []string{"opensuse", "sles", "sled", "suse"}, "SUSE"},
}

// packageToolOf is the one of this host; nil when its distribution is not known to
// have any of them.
func (v *findingView) packageToolOf() *packageTool {
	id, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(v.h.OSVersion)), " ")
	id, _, _ = strings.Cut(id, "-")
	i := slices.IndexFunc(packageTools, func(t packageTool) bool { return slices.Contains(t.systems, id) })
	if i < 0 || !v.linux() {
		return nil
	}
	return &packageTools[i]
}

// packages is the command that installs something: this host's, else one for each
// distribution. what is by command.
func (v *findingView) packages(what map[string]string) string {
	if t := v.packageToolOf(); t != nil && what[t.command] != "" {
		return "`sudo " + t.command + " " + what[t.command] + "`"
	}
	var all []string
	for _, t := range packageTools {
		if w := what[t.command]; w != "" {
			all = append(all, "`sudo "+t.command+" "+w+"` ("+t.known+")")
		}
	}
	return strings.Join(all, ", ")
}

// extraModules is how soft-RoCE's module comes to this kernel.
func (v *findingView) extraModules() string {
	kernel := shellName(v.h.Kernel, "$(uname -r)")
	ubuntu := "`sudo apt install linux-modules-extra-" + kernel + "`"
	id, _, _ := strings.Cut(strings.ToLower(v.h.OSVersion), " ")
	switch t := v.packageToolOf(); {
	case t == nil:
		return "install the kernel's extra modules (Ubuntu: " + ubuntu + "; Fedora, RHEL: `sudo dnf install kernel-modules-extra`)"
	case t.command == "dnf":
		return "install the kernel's extra modules (`sudo dnf install kernel-modules-extra`)"
	case t.command == "zypper":
		return "install the kernel's full package (`sudo zypper install kernel-default`)"
	case slices.Contains([]string{"ubuntu", "linuxmint", "pop"}, id):
		return "install the kernel's extra modules (" + ubuntu + ")"
	case id == "debian":
		return "install the standard kernel, of which cloud kernels leave the module out (`sudo apt install linux-image-" + debianArch(v.h.Arch) + "`), and start it"
	}
	return "install the package of this distribution that has the module for this kernel, if there is one"
}

// debianArch is an architecture as Debian's kernel packages have it.
func debianArch(arch string) string {
	if arch == "amd64" || arch == "arm64" {
		return arch
	}
	return "$(dpkg --print-architecture)"
}
