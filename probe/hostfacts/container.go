package hostfacts

import (
	"os"
	"strings"
)

// initPIDNamespace is the inode of the first pid namespace, PROC_PID_INIT_INO of
// include/linux/proc_ns.h: a constant since Linux 3.8.
const initPIDNamespace = "pid:[4026531836]"

// containerFiles are left by Docker, Podman, systemd-nspawn and Apptainer.
var containerFiles = []string{".dockerenv", "run/.containerenv", "run/systemd/container", ".singularity.d"}

// containerWords are parts of cgroup paths that container managers make.
var containerWords = []string{"docker", "kubepods", "containerd", "libpod", "lxc", "crio", "sarus"}

// inContainer looks for what container managers leave behind. The pid namespace
// decides where none of that is there.
func inContainer(s *System) bool {
	for _, f := range containerFiles {
		if there, _ := s.exists(f); there {
			return true
		}
	}
	for _, name := range []string{"container", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST"} {
		if s.env(name) != "" {
			return true
		}
	}
	if b, err := s.read(maxFile, "proc/1/cgroup"); err == nil && containerCgroup(b) {
		return true
	}
	ns, err := os.Readlink(s.path("proc/self/ns/pid"))
	return err == nil && ns != initPIDNamespace
}

// containerCgroup reads lines of "ID:CONTROLLERS:PATH" (cgroups(7)).
func containerCgroup(b []byte) bool {
	found := false
	lines(b, 4096, func(line string) bool {
		f := strings.SplitN(line, ":", 3)
		if len(f) == 3 {
			for _, w := range containerWords {
				found = found || strings.Contains(f[2], w)
			}
		}
		return !found
	})
	return found
}

// netnsKind says what the network namespace is made of, as well as it can be
// told from inside: macvlan, ipvlan, veth, host where a physical interface is
// there, "" when nothing tells.
func netnsKind(s *System, container bool) string {
	self, err := os.Readlink(s.path("proc/self/ns/net"))
	if err == nil && !container {
		if first, err := os.Readlink(s.path("proc/1/ns/net")); err == nil && first == self {
			return "host"
		}
	}
	names, err := s.list("sys/class/net")
	if err != nil {
		return ""
	}
	kind := ""
	for _, name := range names {
		switch k := netdevKind(s, name); {
		case name == "lo" || k == "":
		case k == "host":
			return k
		case kind == "" || kind == "veth":
			kind = k
		}
	}
	return kind
}

// netdevKind reads DEVTYPE of uevent; a veth has none but is linked to an
// interface of another number, and a physical one has a device.
func netdevKind(s *System, name string) string {
	const dir = "sys/class/net"
	b, _ := s.read(maxFile, dir, name, "uevent")
	devtype := ""
	lines(b, 1024, func(line string) bool {
		if v, ok := strings.CutPrefix(line, "DEVTYPE="); ok {
			devtype = clean(v)
		}
		return devtype == ""
	})
	if devtype == "macvlan" || devtype == "ipvlan" {
		return devtype
	}
	if there, _ := s.exists(dir, name, "device"); there {
		return "host"
	}
	index, link := s.text(dir, name, "ifindex"), s.text(dir, name, "iflink")
	if devtype == "" && index != "" && link != "" && index != link {
		return "veth"
	}
	return ""
}
