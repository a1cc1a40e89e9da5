package report

import (
	"fmt"
	"strings"
	"time"

	"rdmaprobe/probe"
	"rdmaprobe/probe/hostfacts"
	"rdmaprobe/rdma"
)

// clock is the reader's clock in all tests: two hours east of UTC.
var clock = time.Date(2026, 11, 2, 14, 0, 0, 0, time.FixedZone("", 2*3600))

// ago is a moment before the clock, in UTC as documents have it.
func ago(d time.Duration) time.Time { return clock.Add(-d).UTC() }

// diagnosed gives a document the verdict that doctor would.
func diagnosed(doc func() *probe.Document) func() *probe.Document {
	return func() *probe.Document {
		d := doc()
		d.Verdict = probe.VerdictOf(d)
		return d
	}
}

func ptr[T any](v T) *T { return &v }

// sample is a document with the command that made it.
type sample struct {
	name, command string
	doc           func() *probe.Document
}

var samples = []sample{
	{"mac-devices", "devices", macSix},
	{"mac-probe", "probe", macSix},
	{"mac-doctor", "doctor", diagnosed(macSix)},
	{"rxe-devices", "devices", rxe},
	{"rxe-probe", "probe", rxe},
	{"library-missing", "probe", libraryMissing},
	{"no-device", "devices", noDevice},
	{"nothing-recorded", "report", nothingRecorded},
	{"usage-error", "probe", usageError},
	{"crashed", "probe", crashed},
	{"hosts-report", "report", twoHosts},
	{"infiniband-devices", "devices", infiniband},
	{"infiniband-probe", "probe", infiniband},
	{"hostile", "probe", hostile},
	{"hostile-devices", "devices", hostile},
	{"hostile-doctor", "doctor", diagnosed(hostile)},
}

func base(command ...string) *probe.Document {
	return &probe.Document{
		Schema:        probe.Schema,
		SchemaVersion: probe.SchemaVersion,
		Tool:          probe.Tool{Name: "rdmaprobe", Version: "1.0.0", Go: "go1.26"},
		Run:           probe.RunInfo{ID: "r-7", Seq: 7, Command: command, StartedAt: ago(20 * time.Second), DurationNS: 1_500_000_000},
		Provider: probe.Provider{Kind: probe.Native, Library: probe.Library{
			Asked: "libibverbs.so.1", Path: "/usr/lib/libibverbs.so.1", Loaded: true,
			Symbols: map[string]bool{"ibv_get_device_list": true, "ibv_create_comp_channel": false},
		}},
		Host: &hostfacts.Host{OS: "linux", OSVersion: "12", Kernel: "6.1.0", Arch: "amd64"},
	}
}

// row appends an observation to a document.
func row(d *probe.Document, device string, port int, id string, level rdma.Capability, change ...func(*probe.Observation)) *probe.Observation {
	o := probe.Observation{
		Run: d.Run.ID, Seq: int64(len(d.Observations) + 1), ID: id, Device: device, Port: port, Level: level,
		StartedAt: ptr(ago(10 * time.Second)), DurationNS: 1234,
	}
	for _, c := range change {
		c(&o)
	}
	d.Observations = append(d.Observations, o)
	return &d.Observations[len(d.Observations)-1]
}

func because(r probe.Reason) func(*probe.Observation) {
	return func(o *probe.Observation) { o.Reason = r }
}

func seen(o *probe.Observation) probe.Summary {
	return probe.Summary{
		State: o.Level, Port: o.Port, ObservedAt: o.StartedAt,
		Observation: &probe.ObservationRef{Run: o.Run, Seq: o.Seq, ID: o.ID},
	}
}

// fill gives the capabilities that nobody looked at the state that they have in
// every document.
func fill(d *probe.Document) *probe.Document {
	for _, dev := range d.Devices {
		if dev.Capabilities == nil {
			continue
		}
		for _, c := range columns {
			if s := c.of(dev.Capabilities); s.State == "" {
				s.State = rdma.CapabilityUnknown
			}
		}
	}
	return d
}

// macSix is a Mac with six Thunderbolt devices of which two have a peer, as
// public reports describe it.
func macSix() *probe.Document {
	d := base("probe", "--rc")
	d.Provider.Kind, d.Provider.Profile = probe.Simulated, "mac-mesh"
	d.Provider.Library = probe.Library{Asked: "/usr/lib/librdma.dylib", Path: "/usr/lib/librdma.dylib", Loaded: true, Symbols: map[string]bool{"ibv_reg_mr": true}}
	d.Host = &hostfacts.Host{OS: "macos", OSVersion: "26.5.1", OSBuild: "25F71", Arch: "arm64", Model: "Mac15,14", RDMACtl: "enabled"}
	for i := 2; i <= 7; i++ {
		d.Devices = append(d.Devices, macDevice(d, i, i < 4))
	}
	d.Findings = []probe.Finding{
		{Code: "gid_self_assigned_volatile", Severity: probe.SeverityInfo, Scope: "rdma_en2", Message: "the mapped GID is from 169.254/16 and may change at any time", Remedy: "give en2 a fixed address", Check: "rdmaprobe devices", Observations: []string{"rdma_en2/gid.ipv4_mapped"}, Facts: []string{"interfaces.en2.addresses"}},
		{Code: "gid_no_ipv4_mapped", Severity: probe.SeverityError, Scope: "rdma_en3", Message: "the port is ACTIVE and its GID table has no IPv4-mapped entry, which RDMA over Thunderbolt needs", Remedy: "give en3 an IPv4 address: networksetup -setmanual 'Thunderbolt 3' 192.0.2.3 255.255.255.0", Undo: "networksetup -setdhcp 'Thunderbolt 3'", Check: "rdmaprobe devices"},
		{Code: "port_down", Severity: probe.SeverityInfo, Scope: "rdma_en4", Message: "the port is down"},
		{Code: "address_manager_resets", Severity: probe.SeverityWarning, Scope: "host", Message: "a launch daemon puts network services back to DHCP"},
	}
	d.NotRead = []probe.NotRead{{Fact: "thunderbolt.links", Source: "system_profiler", Why: "it did not answer within 10 s"}}
	d.Notes = []string{"rdma_en9 was asked for and is not listed"}
	return d
}

func macDevice(d *probe.Document, n int, active bool) probe.Device {
	dev := probe.Device{
		Name: fmt.Sprintf("rdma_en%d", n), NodeGUID: fmt.Sprintf("0000:5eff:fe00:53%02x", n), Transport: "thunderbolt", Listed: true,
		Attr:         &probe.DeviceAttr{FWVer: "1.0", NodeGUID: fmt.Sprintf("0000:5eff:fe00:53%02x", n), MaxMRSize: 1 << 40, MaxQP: 11, MaxQPWR: 4096, MaxSGE: 1, MaxCQ: 64, MaxCQE: 8192, MaxMR: 100, MaxPD: 11, PhysPortCnt: 1, AtomicCap: "none"},
		Capabilities: &probe.Capabilities{},
	}
	p := probe.Port{
		Num: 1, State: "down", PhysState: "disabled", LinkLayer: "thunderbolt", Addressing: "gid", MaxMTU: 4096, ActiveMTU: 4096,
		LID: ptr(0), SMLID: ptr(0), MaxMsgSz: 1 << 30, Netdev: fmt.Sprintf("en%d", n),
		GIDs: []probe.GID{{Index: 0, GID: fmt.Sprintf("fe80::200:5eff:fe00:53%02x", n), Class: "link_local"}},
	}
	if active {
		p.State, p.PhysState, p.Speed = "active", "link_up", 80
	}
	if n == 2 {
		p.GIDs = append(p.GIDs, probe.GID{Index: 1, GID: "::ffff:169.254.10.1", Class: "ipv4_mapped", Netdev: "en2"})
	}
	dev.Ports = []probe.Port{p}
	row(d, dev.Name, 1, "port.state", rdma.CapabilityConfirmed, func(o *probe.Observation) { o.Value = p.State; o.Call = "ibv_query_port"; o.Return = &probe.Return{} })
	row(d, dev.Name, 1, "gid.usable", rdma.CapabilityConfirmed, func(o *probe.Observation) {
		o.Value, o.Data = len(p.GIDs), map[string]any{"index": len(p.GIDs) - 1}
	})
	c := dev.Capabilities
	if !active {
		for _, s := range []struct {
			id  string
			sum *probe.Summary
		}{{"mr.rkey", &c.RemoteKey}, {"qp.uc.create", &c.QueuePairUC}, {"qp.rc.create", &c.QueuePairRC}, {"pingpong.uc", &c.SendRecv}, {"op.rdma_write", &c.RDMAWrite}} {
			row(d, dev.Name, 0, s.id, rdma.CapabilityUnknown, because(probe.Precondition))
			s.sum.State = rdma.CapabilityUnknown
		}
		c.RDMARead.State = rdma.CapabilityUnknown
		row(d, dev.Name, 1, "op.rdma_read", rdma.CapabilityUnknown, because(probe.NotTried))
		return dev
	}
	c.RemoteKey = seen(row(d, dev.Name, 0, "mr.rkey", rdma.CapabilityObservedZero, func(o *probe.Observation) { o.Value = 0; o.Call = "ibv_reg_mr" }))
	c.QueuePairUC = seen(row(d, dev.Name, 0, "qp.uc.create", rdma.CapabilityConfirmed, func(o *probe.Observation) {
		o.Call, o.Return, o.Child = "ibv_create_qp", &probe.Return{Pointer: true}, &probe.Child{Outcome: probe.Outcome("completed"), PID: 4242, Exit: "exit status 0"}
		o.Probe = "uc"
	}))
	c.QueuePairRC = seen(row(d, dev.Name, 0, "qp.rc.create", rdma.CapabilityRejected, func(o *probe.Observation) {
		o.Call, o.Return, o.Errno = "ibv_create_qp", &probe.Return{Pointer: true, Null: true}, &probe.Errno{Number: 102, Name: "EOPNOTSUPP", Platform: "darwin"}
		o.Probe, o.FailureClass = "rc", "nil_provider_result"
	}))
	c.QueuePairRC.Documented = []probe.DocumentedFact{{Source: "Apple TN3205", Revision: "2026-07-17", Claim: "unsupported"}}
	for _, s := range []struct {
		id  string
		sum *probe.Summary
	}{{"pingpong.uc", &c.SendRecv}, {"op.rdma_write", &c.RDMAWrite}, {"op.rdma_read", &c.RDMARead}} {
		row(d, dev.Name, 1, s.id, rdma.CapabilityUnknown, because(probe.NotTried))
		s.sum.State = rdma.CapabilityUnknown
	}
	return dev
}

// rxe is a Linux machine with one Soft-RoCE device whose ping-pong was measured.
func rxe() *probe.Document {
	d := base("probe", "--rc", "--pingpong", "--require", "queue_pair_rc,op.rdma_write", "--require=queue_pair_uc")
	d.Run.Require = []string{"queue_pair_rc", "op.rdma_write", "queue_pair_uc"}
	dev := probe.Device{
		Name: "rxe_a", NodeGUID: "0000:5eff:fe00:5310", Transport: "infiniband", NodeType: "ca", Sysfs: ptr(true), Listed: true,
		Attr:         &probe.DeviceAttr{NodeGUID: "0000:5eff:fe00:5310", MaxMRSize: 1<<64 - 1, MaxQP: 1048560, MaxQPWR: 1048576, MaxSGE: 32, MaxCQ: 1048576, MaxCQE: 32767, MaxMR: 524287, MaxPD: 1048576, MaxQPRdAtom: 128, AtomicCap: "hca"},
		Capabilities: &probe.Capabilities{},
	}
	dev.Ports = []probe.Port{{
		Num: 1, State: "active", PhysState: "link_up", LinkLayer: "ethernet", Addressing: "gid", MaxMTU: 4096, ActiveMTU: 1024, LID: ptr(0), SMLID: ptr(0),
		MaxMsgSz: 1 << 23, Speed: 2.5, Netdev: "veth0",
		GIDs: []probe.GID{
			{Index: 0, GID: "fe80::200:5eff:fe00:5310", Type: "roce_v2", Class: "link_local", Netdev: "veth0"},
			{Index: 1, GID: "::ffff:192.0.2.1", Type: "roce_v2", Class: "ipv4_mapped", Netdev: "veth0"},
			{Index: 2, GID: "2001:db8::1", Type: "roce_v2", Class: "global", Netdev: "veth0"},
		},
	}}
	row(d, "", 0, "lib.load", rdma.CapabilityConfirmed)
	row(d, "", 0, "dev.enumerate", rdma.CapabilityConfirmed, func(o *probe.Observation) { o.Value = 1 })
	row(d, "rxe_a", 1, "gid.usable", rdma.CapabilityConfirmed, func(o *probe.Observation) { o.Value, o.Data = 3, map[string]any{"index": 1} })
	c := dev.Capabilities
	c.QueuePairUC = seen(row(d, "rxe_a", 0, "qp.uc.create", rdma.CapabilityConfirmed))
	c.QueuePairRC = seen(row(d, "rxe_a", 0, "qp.rc.create", rdma.CapabilityConfirmed))
	c.RemoteKey = seen(row(d, "rxe_a", 0, "mr.rkey", rdma.CapabilityConfirmed, func(o *probe.Observation) { o.Value = int64(6189) }))
	row(d, "rxe_a", 1, "pingpong.uc", rdma.CapabilityUnknown, because(probe.NotTried))
	c.SendRecv = seen(row(d, "rxe_a", 1, "pingpong.rc", rdma.CapabilityConfirmed, func(o *probe.Observation) {
		o.Params = map[string]any{"gid_index": 1, "path_mtu": 1024, "size": 64, "iterations": 100, "peer": "198.51.100.2"}
		o.Data = map[string]any{
			"count": 100, "verified": 100, "lost": 0, "size": 64, "min_ns": 21000, "mean_ns": 30000, "p50_ns": 28100, "p90_ns": 40200,
			"p99_ns": 88000, "p999_ns": 120400, "max_ns": 131072, "rate_bits_per_s": 33333333.25,
		}
	}))
	c.RDMAWrite.State = rdma.CapabilityUnknown
	row(d, "rxe_a", 1, "op.rdma_write", rdma.CapabilityUnknown, because(probe.Unreachable), func(o *probe.Observation) {
		o.Errno = &probe.Errno{Number: 111, Name: "ECONNREFUSED", Platform: "linux"}
		o.Detail = "the peer's port does not answer"
	})
	c.RDMARead.State = rdma.CapabilityUnknown
	row(d, "rxe_a", 1, "op.rdma_read", rdma.CapabilityUnknown, because(probe.NotTried), func(o *probe.Observation) { o.StartedAt = nil; o.DurationNS = 0 })
	d.Devices = []probe.Device{dev}
	d.Findings = []probe.Finding{{Code: requireCode, Severity: probe.SeverityError, Scope: "rxe_a", Message: "op.rdma_write is required and unknown", Observations: []string{"rxe_a/op.rdma_write"}}}
	d.Exit = 1
	return d
}

func libraryMissing() *probe.Document {
	d := base("probe")
	d.Provider.Library = probe.Library{Asked: "libibverbs.so.1", Error: "libibverbs.so.1: cannot open shared object file: No such file or directory"}
	for _, id := range []string{"lib.load", "lib.symbols", "dev.enumerate"} {
		row(d, "", 0, id, rdma.CapabilityUnknown, because(probe.LibraryMissing))
	}
	d.Findings = []probe.Finding{{Code: "verbs_library_missing", Severity: probe.SeverityError, Scope: "host", Message: "libibverbs.so.1 is not installed", Remedy: "apt install libibverbs1"}}
	d.Exit = 3
	return d
}

func noDevice() *probe.Document {
	d := base("devices")
	row(d, "", 0, "dev.enumerate", rdma.CapabilityObservedZero, func(o *probe.Observation) { o.Value = 0 })
	d.Exit = 3
	return d
}

func nothingRecorded() *probe.Document {
	d := base("report")
	d.Provider.Library = probe.Library{}
	d.Host = nil
	return d
}

func usageError() *probe.Document {
	d := base("probe", "--size", "x")
	d.Provider.Library, d.Host = probe.Library{}, nil
	d.Error, d.Exit = `invalid value "x" for --size: not a number of bytes`, 2
	return d
}

// crashed is a run whose child died in a provider call; the guard refused the
// rest.
func crashed() *probe.Document {
	d := base("probe", "--rc")
	dev := probe.Device{Name: "mlx5_0", Listed: true, Driver: "mlx5_core", Transport: "infiniband", Ports: []probe.Port{{Num: 1, State: "active", LinkLayer: "ethernet"}}, Capabilities: &probe.Capabilities{}}
	row(d, "mlx5_0", 0, "qp.uc.create", rdma.CapabilityUnknown, because(probe.Crash), func(o *probe.Observation) {
		o.Call, o.Detail = "ibv_create_qp", "the child died in ibv_create_qp"
		o.Child = &probe.Child{Outcome: probe.Outcome("crashed"), PID: 4242, Exit: "exit status 2", Stderr: "SIGSEGV: segmentation violation\n"}
	})
	row(d, "mlx5_0", 0, "qp.rc.create", rdma.CapabilityUnknown, because(probe.Guarded))
	row(d, "mlx5_0", 0, "mr.rkey", rdma.CapabilityUnknown, because(probe.SymbolMissing))
	row(d, "mlx5_0", 1, "pingpong.uc", rdma.CapabilityUnknown, because(probe.Timeout))
	row(d, "mlx5_0", 1, "op.rdma_write", rdma.CapabilityUnknown, because(probe.ProviderError))
	d.Devices = []probe.Device{dev, {Name: "usnic_0", Driver: "usnic_verbs", Sysfs: ptr(true)}}
	d.Findings = []probe.Finding{{Code: "provider_crashed", Severity: probe.SeverityError, Scope: "mlx5_0", Message: "the child died in ibv_create_qp, the first call of its kind", Remedy: "update the provider"}}
	d.Exit = 4
	return fill(d)
}

// twoHosts is a report of two hosts, with stale and contradicted evidence.
func twoHosts() *probe.Document {
	d := base("rdmaprobe", "probe", "--rc")
	d.Host = nil
	d.Hosts = []hostfacts.Host{{Name: "node-a", OS: "linux", OSVersion: "12", Arch: "amd64"}, {Name: "node-b", OS: "linux", OSVersion: "13", Arch: "arm64"}}
	for i, h := range d.Hosts {
		dev := probe.Device{Host: h.Name, Name: "mlx5_0", Listed: true, Transport: "infiniband", Capabilities: &probe.Capabilities{}, Ports: []probe.Port{
			{Num: 1, State: "down", LinkLayer: "ethernet"}, {Num: 2, State: "active", LinkLayer: "ethernet", ActiveMTU: 4096, Speed: 100, Netdev: "eth1"},
		}}
		o := row(d, "mlx5_0", 0, "qp.rc.create", rdma.CapabilityConfirmed, func(o *probe.Observation) { o.Host, o.StartedAt = h.Name, ptr(ago(time.Duration(i+1)*72*time.Hour)) })
		dev.Capabilities.QueuePairRC = seen(o)
		dev.Capabilities.QueuePairRC.Stale = i == 1
		dev.Capabilities.QueuePairUC = seen(row(d, "mlx5_0", 0, "qp.uc.create", rdma.CapabilityConfirmed, func(o *probe.Observation) { o.Host, o.StartedAt = h.Name, ptr(ago(3*time.Minute)) }))
		dev.Capabilities.QueuePairUC.LastAttempt = &probe.Attempt{Level: rdma.CapabilityUnknown, Reason: probe.Timeout, At: ago(time.Minute)}
		dev.Capabilities.RemoteKey = probe.Summary{
			State: rdma.CapabilityObservedZero, ObservedAt: ptr(ago(5 * time.Hour)), Contradicts: true,
			Observation: &probe.ObservationRef{Run: "r-3", Seq: 9, ID: "mr.rkey"},
			Documented:  []probe.DocumentedFact{{Source: "vendor manual", Revision: "3", Claim: "supported"}},
		}
		d.Devices = append(d.Devices, dev)
	}
	return fill(d)
}

// infiniband is addressed by LID and has no GID to choose.
func infiniband() *probe.Document {
	d := base("devices")
	dev := probe.Device{Name: "mlx4_0", Listed: true, Transport: "infiniband", NodeType: "ca", Driver: "mlx4_core"}
	for n := 1; n <= 2; n++ {
		dev.Ports = append(dev.Ports, probe.Port{
			Num: n, State: []string{"active", "init"}[n-1], LinkLayer: "infiniband", Addressing: "lid", ActiveMTU: 2048, MaxMTU: 4096,
			LID: ptr(6 + n), SMLID: ptr(1), Speed: 56, GIDs: []probe.GID{{Index: 0, GID: "fe80::200:5eff:fe00:5320", Type: "ib", Class: "link_local"}},
		})
	}
	d.Devices = []probe.Device{dev}
	return d
}

// evil is a text that no rendering may let through as it is.
const evil = "\x1b[31mred\x1b]0;title\a\r\n\u202e<script>alert('x')</script>|`--`\u009b2J\x00 @all \u2028\xff{\"a\"} & \"quoted\" \\"

// hostile is a document of which every text comes from an enemy.
func hostile() *probe.Document {
	long := strings.Repeat("A", 10_000)
	d := base("probe", "--require", evil)
	d.Run.Require = []string{evil}
	d.Tool.Version, d.Error = evil, evil
	d.Host = &hostfacts.Host{Name: evil, OS: evil, OSVersion: evil, OSBuild: evil, Arch: evil, Model: long}
	d.Provider.Kind, d.Provider.Profile = probe.Simulated, evil
	d.Provider.Library = probe.Library{Asked: evil, Path: evil, ID: evil, Loaded: true, Symbols: map[string]bool{evil: true}}
	for _, n := range []string{evil, long, evil, "", strings.Repeat("ｗ", 40)} {
		d.Devices = append(d.Devices, probe.Device{
			Name: n, NodeGUID: evil, Transport: evil, Driver: evil, Listed: true, Attr: &probe.DeviceAttr{FWVer: evil, AtomicCap: evil},
			Ports: []probe.Port{{Num: -1, State: evil, PhysState: evil, LinkLayer: evil, Addressing: evil, Netdev: long, Speed: 1e300, GIDs: []probe.GID{{Index: -5, GID: evil, Type: evil, Class: evil, Netdev: evil}}}},
		})
		row(d, n, 1, "qp.rc.create", rdma.CapabilityRejected, func(o *probe.Observation) {
			o.Errno = &probe.Errno{Number: -1, Name: evil, Platform: evil}
			o.Call, o.Detail, o.Probe, o.Value = evil, long, evil, evil
			o.Params, o.Data = map[string]any{evil: evil}, map[string]any{"index": 1e300, "nested": map[string]any{evil: []any{evil}}}
			o.Child = &probe.Child{Outcome: probe.Outcome("crashed"), Exit: evil, Stderr: evil}
		})
		row(d, n, 1, "pingpong.uc", rdma.CapabilityConfirmed, func(o *probe.Observation) {
			o.Data = map[string]any{"min_ns": 1.0, "p50_ns": -3, "max_ns": "x", "count": 1e18}
		})
		row(d, n, 1, evil, rdma.Capability(evil), because(probe.Reason(evil)))
	}
	d.Findings = []probe.Finding{{Code: evil, Severity: evil, Scope: evil, Message: long, Remedy: evil, Undo: evil, Check: evil, Observations: []string{evil}, Facts: []string{evil}}}
	d.NotRead = []probe.NotRead{{Fact: evil, Source: evil, Why: evil}}
	d.Notes = []string{evil, long, ""}
	return d
}
