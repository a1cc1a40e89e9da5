package hostfacts

import (
	"errors"
	"io/fs"
	"sort"
	"strconv"
	"strings"
)

const (
	classIB     = "sys/class/infiniband"
	classUverbs = "sys/class/infiniband_verbs"
	maxDevices  = 256
	maxPorts    = 254 // port numbers are 8 bits, 255 is reserved
	maxGIDs     = 1024
)

// infiniband reads the RDMA devices of the kernel (Documentation/ABI/stable/
// sysfs-class-infiniband). Without the class directory no RDMA module is loaded
// and the list is empty, which is known.
func infiniband(s *System, h *Host, p *part) {
	names, err := s.list(classIB)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.missFile("sysfs_devices", classIB, err)
		return
	}
	names = names[:min(len(names), maxDevices)]
	h.SysfsDevices = []string{}
	h.Driver, h.NetdevOfDevice = map[string]string{}, map[string]*string{}
	h.RDMALink, h.Sysfs = map[string]string{}, map[string]SysfsDevice{}
	h.VirtualFunctions = []string{}
	for _, raw := range names {
		name := clean(raw)
		h.SysfsDevices = append(h.SysfsDevices, name)
		if d := s.linkBase(classIB, raw, "device/driver"); d != "" {
			h.Driver[name] = d
		}
		if there, _ := s.exists(classIB, raw, "device/physfn"); there {
			h.VirtualFunctions = append(h.VirtualFunctions, name)
		}
		dev := sysfsDevice(s, raw)
		h.Sysfs[name] = dev
		if len(dev.Ports) > 0 && dev.Ports[0].State != "" {
			h.RDMALink[name] = dev.Ports[0].State
		}
		h.NetdevOfDevice[name] = netdevOf(s, raw)
	}
	if len(names) > 0 {
		h.SRIOVVF = ptr(len(h.VirtualFunctions) > 0)
	}
	uverbs(s, h, p)
}

// uverbs maps devices to their nodes and reads the ABI of the driver behind each.
func uverbs(s *System, h *Host, p *part) {
	nodes, err := s.list(classUverbs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.missFile("uverbs_of_device", classUverbs, err)
		return
	}
	h.UverbsOfDevice, h.KernelABI = map[string]string{}, map[string]int{}
	for _, node := range nodes {
		dev := s.text(classUverbs, node, "ibdev")
		if dev == "" || !strings.HasPrefix(node, "uverbs") {
			continue // abi_version of the class itself lies beside the nodes
		}
		h.UverbsOfDevice[dev] = clean(node)
		if n, err := strconv.Atoi(s.text(classUverbs, node, "abi_version")); err == nil && n >= 0 {
			h.KernelABI[dev] = n
		}
	}
}

// sysfsDevice reads one device without its GID tables.
func sysfsDevice(s *System, name string) SysfsDevice {
	d := SysfsDevice{Ports: []SysfsPort{}}
	d.NodeGUID = s.text(classIB, name, "node_guid")
	_, kind, _ := strings.Cut(s.text(classIB, name, "node_type"), ": ")
	d.NodeType = strings.ToLower(kind)
	for _, n := range portNumbers(s, name) {
		d.Ports = append(d.Ports, sysfsPort(s, name, n))
	}
	return d
}

// portNumbers lists the ports in the order of their numbers, not of their names.
func portNumbers(s *System, name string) []int {
	names, err := s.list(classIB, name, "ports")
	if err != nil {
		return nil
	}
	there := map[int]bool{}
	for _, n := range names {
		if v, err := strconv.Atoi(n); err == nil && v > 0 && v <= maxPorts {
			there[v] = true
		}
	}
	var list []int
	for n := 1; n <= maxPorts && len(list) < len(there); n++ {
		if there[n] {
			list = append(list, n)
		}
	}
	return list
}

func sysfsPort(s *System, name string, num int) SysfsPort {
	file := func(f string) string { return s.text(classIB, name, "ports", strconv.Itoa(num), f) }
	p := SysfsPort{Num: num, State: portState(file("state")), PhysState: physState(file("phys_state"))}
	p.LinkLayer = strings.ToLower(file("link_layer"))
	if rate, ok := parseRate(file("rate")); ok {
		p.RateGbps = ptr(rate)
	}
	return p
}

// SysfsGIDs reads the GID table of a port: only the slots that are in use, with
// type and netdev. An error means that the table cannot be read.
func SysfsGIDs(s *System, device string, port int) ([]SysfsGID, error) {
	if s.OS != Linux || strings.ContainsAny(device, "/\x00") || device == ".." || device == "." || device == "" {
		return nil, fs.ErrNotExist
	}
	dir := []string{classIB, device, "ports", strconv.Itoa(port)}
	at := func(elem ...string) []string { return append(append([]string{}, dir...), elem...) }
	slots, err := s.list(at("gids")...)
	if err != nil {
		return nil, err
	}
	list := []SysfsGID{}
	linkLayer := s.text(at("link_layer")...)
	for _, slot := range slots[:min(len(slots), maxGIDs)] {
		index, err := strconv.Atoi(slot)
		gid, ok := parseGID(s.text(at("gids", slot)...))
		if err != nil || index < 0 || !ok {
			continue
		}
		list = append(list, SysfsGID{
			Index: index, GID: gid,
			// Both files fail with EINVAL for a slot that is empty or of another namespace.
			Type:   gidType(s.text(at("gid_attrs/types", slot)...), linkLayer),
			Netdev: s.text(at("gid_attrs/ndevs", slot)...),
		})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Index < list[j].Index })
	return list, nil
}

// netdevOf finds the network interface of a device's first port: what its GID
// table names (right also for a bond), else the file parent of software devices
// (rxe, siw), else the PCI function's interface. nil: it has none here.
func netdevOf(s *System, name string) *string {
	found := s.text(classIB, name, "ports/1", "gid_attrs/ndevs/0")
	if found == "" {
		found = s.text(classIB, name, "parent")
	}
	if found == "" {
		found = pciNetdev(s, name)
	}
	if found == "" {
		return nil
	}
	return &found
}

// pciNetdev takes the interface of port 1; dev_port counts from 0.
func pciNetdev(s *System, name string) string {
	names, err := s.list(classIB, name, "device/net")
	if err != nil || len(names) == 0 {
		return ""
	}
	for _, n := range names {
		if s.text(classIB, name, "device/net", n, "dev_port") == "0" {
			return clean(n)
		}
	}
	return clean(names[0])
}
