package hostfacts

import (
	"errors"
	"io/fs"
	"time"
)

// addressManager is the launch daemon of exo, which puts Thunderbolt services
// back to DHCP every half hour (exo-explore/exo, NetworkSetupHelper.swift).
const addressManager = "Library/LaunchDaemons/io.exo.networksetup.plist"

// quickMacOS reads sysctls, files and the interface list. Names: sysctl(3);
// debug.rdma.version and kern.bootsessionuuid are known from public reports.
func quickMacOS(s *System, h *Host, p *part) {
	h.OS = MacOS
	h.OSVersion, _ = fileVersion(s) // why there is none, readOSVersion says
	common(s, h, p)
	for _, f := range []struct {
		into *string
		fact string
		name string
	}{
		{&h.Name, "name", "kern.hostname"},
		{&h.OSBuild, "os_build", "kern.osversion"},
		{&h.Kernel, "kernel", "kern.osrelease"},
		{&h.Model, "model", "hw.model"},
		{&h.VerbsFamilyVersion, "rdma_family_version", "debug.rdma.version"},
	} {
		if *f.into = s.sysctlText(f.name); *f.into == "" {
			_, err := s.sysctl(f.name)
			if err == nil {
				err = errors.New("it is empty")
			}
			p.fail(f.fact, "sysctl "+f.name, err)
		}
	}
	for _, f := range []struct {
		into **bool
		fact string
		name string
	}{
		{&h.Translated, "translated", "sysctl.proc_translated"},
		{&h.VM, "vm", "kern.hv_vmm_present"},
	} {
		if v, err := s.sysctlBool(f.name); err != nil {
			p.fail(f.fact, "sysctl "+f.name, err)
		} else {
			*f.into = ptr(v)
		}
	}
	if h.Arch = macArch(s); h.Arch == "" {
		p.miss("arch", "sysctl hw.optional.arm64", "it cannot be read, and this program may be translated")
	}
	h.Container = ptr(false) // macOS has none
	uptimeMacOS(s, h, p)
	if there, known := s.exists(addressManager); known {
		h.AddressManagerDaemon = ptr(there)
	} else {
		p.miss("address_manager_daemon", "/"+addressManager, reason(fs.ErrPermission))
	}
}

// macArch is the architecture of the machine. Under Rosetta uname says x86_64, so
// only its arm64 can be believed.
func macArch(s *System) string {
	if arm, err := s.sysctlBool("hw.optional.arm64"); err == nil {
		if arm {
			return "arm64"
		}
		return "amd64"
	}
	if s.Machine == "arm64" {
		return "arm64"
	}
	return ""
}

func uptimeMacOS(s *System, h *Host, p *part) {
	b, err := s.sysctl("kern.boottime")
	if err != nil {
		p.fail("uptime_s", "sysctl kern.boottime", err)
		return
	}
	boot, ok := sysctlTime(b)
	up := s.now().Sub(boot)
	if !ok || up < 0 {
		p.miss("uptime_s", "sysctl kern.boottime", "it is not a time before now")
		return
	}
	h.UptimeS = ptr(int64(up / time.Second))
}
