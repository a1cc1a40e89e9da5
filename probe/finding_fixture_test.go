package probe

import (
	"time"

	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// scene is a document with its context, as the finding tests change it.
type scene struct {
	d *Document
	c *FindingContext
}

func (s scene) host() *hostfacts.Host { return s.d.Host }

func (s scene) dev(name string) *Device {
	for i := range s.d.Devices {
		if s.d.Devices[i].Name == name {
			return &s.d.Devices[i]
		}
	}
	panic("the scene has no device " + name)
}

func ptrTo[T any](v T) *T { return &v }

// row returns the row of an id, making one when there is none.
func (s scene) row(device, id string) *Observation {
	for i := range s.d.Observations {
		if o := &s.d.Observations[i]; o.Device == device && o.ID == id {
			return o
		}
	}
	s.d.Observations = append(s.d.Observations, Observation{
		Run: s.d.Run.ID, ID: id, Device: device, Level: rdma.CapabilityUnknown, Reason: NotTried,
	})
	return &s.d.Observations[len(s.d.Observations)-1]
}

// confirm makes rows confirmed.
func (s scene) confirm(device string, ids ...string) {
	for _, id := range ids {
		o := s.row(device, id)
		o.Level, o.Reason, o.Return = rdma.CapabilityConfirmed, "", &Return{}
	}
}

// fail makes a row unknown, by reason and, unless it is 0, errno.
func (s scene) fail(device, id string, reason Reason, errno int) *Observation {
	o := s.row(device, id)
	o.Level, o.Reason, o.Value, o.Return = rdma.CapabilityUnknown, reason, nil, nil
	if errno != 0 {
		p := rdma.PlatformLinux
		if s.d.Host.OS == "macos" {
			p = rdma.PlatformDarwin
		}
		o.Errno = &Errno{Number: errno, Name: rdma.ErrnoNameOn(p, errno), Platform: p}
	}
	return o
}

// null makes a row one of a call that returned NULL.
func (s scene) null(device, id, call string, errno int) *Observation {
	o := s.fail(device, id, ProviderError, errno)
	o.Call, o.Return = call, &Return{Pointer: true, Null: true}
	return o
}

// ended makes a row the one in which its child ended.
func (s scene) ended(device, id, call string, outcome Outcome) *Observation {
	reason := map[Outcome]Reason{"crashed": Crash, "timed_out": Timeout, "left": Stuck, "stuck": Stuck}[outcome]
	o := s.fail(device, id, reason, 0)
	o.Call, o.Child, o.Data = call, &Child{Outcome: outcome, PID: 4711}, map[string]any{"calls": uint64(3)}
	return o
}

// refuse makes rows that the guard refused because of an event of an earlier run.
func (s scene) refuse(device, event, call string, ids ...string) *Observation {
	var o *Observation
	for _, id := range ids {
		o = s.fail(device, id, Guarded, 0)
		o.Data = map[string]any{"closed_by": map[string]any{
			"event": event, "call": call, "at": "2026-11-01T08:00:00Z", "run": "earlier", "pid": 4711,
		}}
	}
	return o
}

// state sets a port's state, in the port and in its row.
func (s scene) state(device, state string) {
	s.dev(device).Ports[0].State = state
	s.confirm(device, "port.state")
	s.row(device, "port.state").Value = state
}

// gids sets a port's table and its rows.
func (s scene) gids(device string, gids ...GID) {
	p := &s.dev(device).Ports[0]
	p.GIDs = gids
	mapped := 0
	for i := range p.GIDs {
		p.GIDs[i].Class = gidClass(gidAddr(p.GIDs[i]))
		if p.GIDs[i].Class == "ipv4_mapped" {
			mapped++
		}
	}
	for id, n := range map[string]int{"gid.usable": len(gids), "gid.ipv4_mapped": mapped} {
		o := s.row(device, id)
		o.Port, o.Level, o.Reason, o.Value, o.Data = 1, rdma.CapabilityConfirmed, "", n, nil
		if n == 0 {
			o.Level = rdma.CapabilityObservedZero
		}
	}
	if g, _, ok := chooseGID(p.LinkLayer, p.GIDs, addressesOf(s.d.Host, device)); ok {
		s.row(device, "gid.usable").Data = map[string]any{"index": g.Index}
	}
}

// add puts a healthy ACTIVE device into the scene, with a row for every id that
// a run with all read and create probes has.
func (s scene) add(d Device, gids ...GID) {
	d.Listed = true
	s.d.Devices = append(s.d.Devices, d)
	for _, e := range EvidenceIDs {
		if e.Host {
			continue
		}
		o := s.row(d.Name, e.ID)
		if e.Class <= ClassCreate {
			o.Level, o.Reason = rdma.CapabilityConfirmed, ""
		}
		if e.Ports {
			o.Port = 1
		}
		o.Child = &Child{Outcome: "completed", PID: 100}
	}
	s.state(d.Name, stateActive)
	s.gids(d.Name, gids...)
}

func newScene(h hostfacts.Host) scene {
	s := scene{d: &Document{
		Run: RunInfo{ID: "now", Seq: 7, StartedAt: time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)}, Host: &h,
		Provider: Provider{Kind: Simulated, Library: Library{Loaded: true, Symbols: map[string]bool{}}},
	}, c: &FindingContext{Command: "doctor", PreviousGIDs: map[string]string{}}}
	s.confirm("", "lib.load", "lib.symbols", "dev.enumerate")
	return s
}

// macScene is a healthy Mac: Thunderbolt 5, one cabled port with an address of
// its own, one idle port left in the bridge.
func macScene() scene {
	s := newScene(hostfacts.Host{
		Name: "mac-a", OS: "macos", OSVersion: "26.5.1", OSBuild: "25F80", Arch: "arm64", Model: "Mac16,9", RDMACtl: "enabled",
		Translated: ptrTo(false), EUID: ptrTo(501), MemlockKiB: ptrTo(int64(-1)), AddressManagerDaemon: ptrTo(false),
		Thunderbolt: &hostfacts.Thunderbolt{Generation: 5, Links: []hostfacts.Link{
			{Interface: "en3", SpeedGbps: ptrTo(80.0), Peer: "mac-b", PeerRDMA: ptrTo(true), PeerGeneration: ptrTo(5)},
			{Interface: "en4"},
		}},
		Bridges: map[string][]string{"bridge0": {"en4"}},
		Interfaces: map[string]hostfacts.Interface{
			"en0":     {Up: ptrTo(true), Addresses: []string{"198.51.100.10"}, Prefixes: []string{"198.51.100.0/24"}},
			"en3":     {Up: ptrTo(true), Addresses: []string{"192.0.2.1", "fe80::200:5eff:fe00:5301"}, Prefixes: []string{"192.0.2.0/24"}, Manual: ptrTo(true)},
			"en4":     {Up: ptrTo(true), Addresses: []string{}},
			"bridge0": {Up: ptrTo(true), Addresses: []string{}},
		},
		Routes:       map[string]string{"0.0.0.0/0": "en0", "192.0.2.0/24": "en3", "169.254.0.0/16": "en0"},
		IOClassCount: map[string]int{pdClass: 1}, KernelLog: []string{"AppleThunderboltRDMA: start"},
	})
	s.addMac("rdma_en3", 1)
	return s
}

// addIdle adds the device of the Mac's second port, to which nothing is
// connected.
func (s scene) addIdle() {
	s.addMac("rdma_en4", 2)
	s.state("rdma_en4", "down")
	s.gids("rdma_en4", GID{GID: "fe80::200:5eff:fe00:5303"})
	for _, e := range EvidenceIDs {
		if e.Class >= ClassCreate {
			s.fail("rdma_en4", e.ID, Precondition, 0)
		}
	}
}

// addMac adds a healthy Thunderbolt device with address 192.0.2.n.
func (s scene) addMac(name string, n int) {
	s.add(Device{
		Name: name, Transport: "thunderbolt", Attr: &DeviceAttr{MaxPD: 11, MaxQP: 11, MaxMR: 100},
		Ports: []Port{{Num: 1, LinkLayer: "thunderbolt", Addressing: "gid", ActiveMTU: 4096, LID: ptrTo(0), SMLID: ptrTo(0)}},
	}, GID{Index: 0, GID: "fe80::200:5eff:fe00:5301", Type: "none"}, GID{Index: 1, GID: "::ffff:192.0.2." + string(rune('0'+n)), Type: "none"})
	s.row(name, "qp.rc.create").Level = rdma.CapabilityRejected
	s.fail(name, "qp.rc.init", Precondition, 0)
	s.fail(name, "qp.ud.init", Precondition, 0)
}

// linuxScene is a healthy Linux host with one RoCE device.
func linuxScene() scene {
	s := newScene(hostfacts.Host{
		Name: "node-a", OS: "linux", Kernel: "6.8.0-45-generic", Arch: "amd64", EUID: ptrTo(1000), Container: ptrTo(false),
		MemlockKiB: ptrTo(int64(-1)), LimitsConfMemlock: "unlimited",
		DevInfiniband: map[string]string{"uverbs0": "crw-rw-rw-", "rdma_cm": "crw-rw-rw-"}, UverbsAccess: map[string]bool{"uverbs0": true},
		UverbsOfDevice: map[string]string{"mlx5_0": "uverbs0"}, SysfsDevices: []string{"mlx5_0"},
		Modules: []string{"ib_core", "ib_uverbs", "rdma_ucm", "mlx5_ib"}, ModulesAvail: map[string]bool{"rdma_rxe": true},
		Providers: ptrTo(true), ProviderFiles: []string{"libmlx5-rdmav34.so", "librxe-rdmav34.so"}, ProviderEntries: []string{"mlx5", "rxe"}, ProviderABI: "rdmav34",
		Driver: map[string]string{"mlx5_0": "mlx5_core"}, NetdevOfDevice: map[string]*string{"mlx5_0": ptrTo("ens1f0")},
		Interfaces: map[string]hostfacts.Interface{
			"lo":     {Up: ptrTo(true), Addresses: []string{"127.0.0.1"}},
			"ens1f0": {Up: ptrTo(true), Addresses: []string{"192.0.2.1", "fe80::1234:56ff:fe78:9abc"}, Prefixes: []string{"192.0.2.0/24"}},
		},
		Env: map[string]string{},
	})
	s.addRoCE("mlx5_0", 1)
	return s
}

// addRoCE adds a healthy RoCE device with address 192.0.2.n.
func (s scene) addRoCE(name string, n int) {
	mapped := "::ffff:192.0.2." + string(rune('0'+n))
	s.add(Device{
		Name: name, Transport: "infiniband", Driver: s.d.Host.Driver[name], Sysfs: ptrTo(true), Attr: &DeviceAttr{MaxPD: 1024, MaxQP: 1024, MaxMR: 1024},
		Ports: []Port{{Num: 1, LinkLayer: "ethernet", Addressing: "gid", ActiveMTU: 1024, LID: ptrTo(0), SMLID: ptrTo(0)}},
	},
		GID{Index: 0, GID: "fe80::200:5eff:fe00:5301", Type: "roce_v1"}, GID{Index: 1, GID: "fe80::200:5eff:fe00:5301", Type: "roce_v2"},
		GID{Index: 2, GID: mapped, Type: "roce_v1"}, GID{Index: 3, GID: mapped, Type: "roce_v2"})
}

// unlist makes a device one that the kernel has and the library does not list.
func (s scene) unlist(name string) {
	d := s.dev(name)
	d.Listed, d.Ports = false, []Port{}
	rows := s.d.Observations[:0]
	for _, o := range s.d.Observations {
		if o.Device != name {
			rows = append(rows, o)
		}
	}
	s.d.Observations = rows
	o := s.row("", "dev.enumerate")
	o.Level, o.Value = rdma.CapabilityObservedZero, 0
}

// bare takes all devices out of the scene.
func (s scene) bare() {
	s.d.Devices = nil
	rows := s.d.Observations[:0]
	for _, o := range s.d.Observations {
		if o.Device == "" {
			rows = append(rows, o)
		}
	}
	s.d.Observations = rows
	o := s.row("", "dev.enumerate")
	o.Level, o.Value = rdma.CapabilityObservedZero, 0
	s.d.Host.SysfsDevices, s.d.Host.UverbsOfDevice = []string{}, map[string]string{}
}

// infiniband makes the scene's RoCE device an InfiniBand one.
func (s scene) infiniband(name string) {
	p := &s.dev(name).Ports[0]
	p.LinkLayer, p.Addressing, p.SMLID, p.LID = "infiniband", "lid", ptrTo(1), ptrTo(103)
	s.gids(name, GID{GID: "fe80::200:5eff:fe00:5301", Type: "ib"})
}
