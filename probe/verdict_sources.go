package probe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

// Disagreement is one matter on which sources say different things. None of them
// is taken for the truth here; findings say what follows.
type Disagreement struct {
	About string       `json:"about"`
	Says  []SourceSays `json:"says"`
}

// SourceSays is what one source says.
type SourceSays struct {
	Source string `json:"source"`
	Says   string `json:"says"`
}

// disagree lists the matters on which this document's sources contradict each
// other.
func (j judgement) disagree() []Disagreement {
	var all []Disagreement
	for _, d := range []*Disagreement{j.switchAgainstDevices(), j.lockedMemory()} {
		if d != nil {
			all = append(all, *d)
		}
	}
	return append(all, j.devicesAgainstKernel()...)
}

// switchAgainstDevices sets what a Mac's switch says beside what is there.
func (j judgement) switchAgainstDevices() *Disagreement {
	listed := 0
	for i := range j.d.Devices {
		if j.d.Devices[i].Listed {
			listed++
		}
	}
	_, answered := j.listing()
	enabledForNothing := j.h.RDMACtl == "enabled" && (answered && listed == 0 || j.oldThunderbolt())
	listedForNothing := j.oldThunderbolt() && listed > 0 || j.h.RDMACtl == "disabled" && j.anyActive()
	if !j.mac() || !enabledForNothing && !listedForNothing {
		return nil
	}
	d := &Disagreement{About: "whether RDMA is there"}
	if j.h.RDMACtl != "" {
		d.say("rdma_ctl", printable(j.h.RDMACtl))
	}
	if answered {
		text := "no device"
		if listed > 0 {
			text = count(listed, "device")
		}
		d.say("verbs library", text)
	}
	if t := j.h.Thunderbolt; t != nil && t.Generation > 0 {
		d.say("controllers", fmt.Sprintf("Thunderbolt %d", t.Generation))
	}
	return d
}

// lockedMemory sets the limit of this process beside the one that is configured.
func (j judgement) lockedMemory() *Disagreement {
	live, conf := j.h.MemlockKiB, j.h.LimitsConfMemlock
	if live == nil || *live < 0 || conf != "unlimited" {
		return nil
	}
	d := &Disagreement{About: "locked memory"}
	d.say("this process", fmt.Sprintf("%d KiB", *live))
	d.say("limits.conf", "unlimited: it holds from the next login on")
	return d
}

// devicesAgainstKernel sets what the library says of each device beside what the
// kernel says of it.
func (j judgement) devicesAgainstKernel() []Disagreement {
	var all []Disagreement
	_, answered := j.listing()
	for i := range j.d.Devices {
		dev := &j.d.Devices[i]
		d := Disagreement{About: "device " + printable(dev.Name)}
		switch {
		case answered && !dev.Listed && inKernel(dev):
			d.say("kernel", "has it")
			d.say("verbs library", "does not list it")
		case dev.Listed && dev.Sysfs != nil && !*dev.Sysfs:
			d.say("kernel", "does not have it")
			d.say("verbs library", "lists it")
		default:
			d = j.stateAgainstKernel(dev)
		}
		if len(d.Says) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// stateAgainstKernel compares the state of a device's ports in sysfs and in the
// library.
func (j judgement) stateAgainstKernel(dev *Device) Disagreement {
	for _, k := range j.h.Sysfs[dev.Name].Ports {
		for n := range dev.Ports {
			p := &dev.Ports[n]
			if s := j.state(dev, p); p.Num == k.Num && s != "" && k.State != "" && s != k.State {
				d := Disagreement{About: fmt.Sprintf("port %d of %s", p.Num, printable(dev.Name))}
				d.say("kernel", printable(k.State))
				d.say("verbs library", printable(s))
				return d
			}
		}
	}
	return Disagreement{}
}

func (d *Disagreement) say(source, text string) {
	d.Says = append(d.Says, SourceSays{source, text})
}

// fine lists what was checked and is as it should be, one phrase a kind. A check
// that was not made is not in it.
func (j judgement) fine() []string {
	var all []string
	add := func(holds bool, text string) {
		if holds {
			all = append(all, text)
		}
	}
	add(j.has("", "lib.load", rdma.CapabilityConfirmed) && j.has("", "lib.symbols", rdma.CapabilityConfirmed), "the verbs library loads and has what is needed")
	add(j.mac() && j.h.RDMACtl == "enabled" && !j.oldThunderbolt(), "rdma_ctl says enabled")
	add(j.mac() && j.h.Thunderbolt != nil && j.h.Thunderbolt.Generation >= 5, "the controllers are Thunderbolt 5")
	add(j.h.MemlockKiB != nil && *j.h.MemlockKiB == -1, "locked memory is unlimited")
	steady := j.on("port.state", func(o *Observation) bool {
		return o.Level == rdma.CapabilityConfirmed && len(dataTexts(o.Data, "samples")) > 1
	})
	add(len(steady) > 0, "the state of "+listed(steady)+" did not change between samples")
	gid := func(o *Observation) bool { return o.Level == rdma.CapabilityConfirmed && j.activeNamed(o.Device) }
	if usable := j.on("gid.usable", gid); len(usable) > 0 {
		all = append(all, "a GID to use: "+listed(usable))
	}
	all = append(all, j.created()...)
	return all
}

// created says what was created, and freed again, on which devices.
func (j judgement) created() []string {
	confirmed := func(o *Observation) bool { return o.Level == rdma.CapabilityConfirmed }
	freed := j.on("teardown", confirmed)
	var devices, texts []string
	things := map[string][]string{}
	for _, made := range []struct{ id, what string }{
		{"mr.register", "memory region"}, {"qp.uc.create", "UC"}, {"qp.rc.create", "RC"}, {"qp.ud.create", "UD"},
	} {
		on := slices.DeleteFunc(j.on(made.id, confirmed), func(n string) bool { return !slices.Contains(freed, n) })
		if len(on) == 0 {
			continue
		}
		if things[listed(on)] == nil {
			devices = append(devices, listed(on))
		}
		things[listed(on)] = append(things[listed(on)], made.what)
	}
	for _, names := range devices {
		texts = append(texts, "created and freed on "+names+": "+sentence(things[names]))
	}
	return texts
}

// on lists the devices on which a row of an id holds, and none of them does not.
func (j judgement) on(id string, holds func(*Observation) bool) []string {
	var names []string
	for i := range j.d.Devices {
		rows := j.of(j.d.Devices[i].Name, id)
		if len(rows) > 0 && !slices.ContainsFunc(rows, func(o *Observation) bool { return !holds(o) }) {
			names = append(names, printable(j.d.Devices[i].Name))
		}
	}
	return names
}

func (j judgement) activeNamed(name string) bool {
	dev := j.device(name)
	return dev != nil && j.activeOf(dev)
}

// maxListed bounds how many names a phrase repeats.
const maxListed = 4

// listed writes names, or their number where they are many.
func listed(names []string) string {
	if len(names) > maxListed {
		return count(len(names), "device")
	}
	return sentence(names)
}

// brief texts of findings: what stands behind a verdict, and what is said of a
// finding that is only worth knowing. SCOPE stands for the finding's scope.
var briefs = map[string]string{
	"running_translated":                    "this rdmaprobe runs translated by Rosetta",
	"verbs_library_missing":                 "the verbs library is missing",
	"rdma_disabled":                         "RDMA is disabled on this Mac",
	"link_speed_below_tb5":                  "the link at SCOPE is slower than Thunderbolt 5",
	"mac_studio_port_en2":                   "this port carries no RDMA on a Mac Studio",
	"port_in_thunderbolt_bridge":            "SCOPE is in a bridge and has no address",
	"address_on_bridge_not_port":            "SCOPE is in a bridge that has its address",
	"gid_no_ipv4_mapped":                    "no IPv4-mapped GID",
	"gid_self_assigned_volatile":            "the GID comes from a self-assigned address and may change",
	"address_manager_resets":                "a launch daemon resets Thunderbolt addresses",
	"route_not_via_thunderbolt":             "the route to the peer leaves by another interface",
	"path_filtered":                         "a VPN or a firewall filters SCOPE",
	"os_builds_differ":                      "the two ends run different OS builds",
	"control_channel_on_rdma_port":          "the side channel uses the RDMA port itself",
	"control_channel_blocked_local_network": "this program may not use the local network",
	"pd_pool_exhausted":                     "the protection domains are used up",
	"peer_not_advertising_rdma":             "the peer offers no RDMA",
	"no_rdma_device":                        "there is no RDMA device",
	"verbs_library_mismatch":                "the verbs library and a provider do not fit together",
	"provider_library_missing":              "the verbs library has no provider for SCOPE",
	"provider_abi_mismatch":                 "the provider of SCOPE does not fit the kernel or the library",
	"device_without_provider":               "no provider exists for it",
	"verbs_interposer":                      "a preloaded library shows a device that the kernel does not have",
	"uverbs_node_missing":                   "the device node of SCOPE is missing",
	"uverbs_permission_denied":              "this user may not open SCOPE",
	"rdma_cm_node_missing":                  "the connection manager's node is missing",
	"memlock_too_low":                       "the limit of locked memory is too low",
	"netdev_without_address":                "its network interface has no address",
	"configured_gid_index_empty":            "the GID index in the environment is empty",
	"ib_port_down_no_sm":                    "down, and no subnet manager was seen",
	"ib_port_init_no_sm":                    "no subnet manager has set the port up",
	"port_unstable":                         "the port's state keeps changing",
	"gid_table_empty":                       "the GID table is empty",
	"gid_stale":                             "GIDs of addresses that are gone",
	"gid_type_mismatch":                     "the two ends speak different versions of RoCE",
	"mtu_mismatch":                          "the two ends' MTUs differ",
	"transport_needs_rdma_cm":               "iWARP: queue pairs are connected by the connection manager only",
	"provider_crashed":                      "the provider crashed",
	"provider_wedged":                       "a provider call does not return",
	"child_unkillable":                      "a process is stuck in the driver",
	"pingpong_timeout":                      "nothing came back from the peer",
	"pd_alloc_failed":                       "no protection domain could be allocated",
	"pd_alloc_failed_port_active":           "no protection domain could be allocated",
	"qp_pool_exhausted":                     "other processes hold all queue pairs",
	"mr_pool_exhausted":                     "other processes hold all memory regions",
	"mr_register_enomem":                    "memory cannot be registered",
	"rtr_path_timeout":                      "the path to the peer could not be resolved",
	"stale_kernel_resources":                "the kernel holds remains of earlier connections",
	"provider_degraded":                     "the provider refuses connections",
	"completion_without_delivery":           "completions without delivery",
	"uc_message_loss":                       "messages get lost",
	"provider_stderr":                       "the library wrote to stderr, kept as evidence",
	"required_capability_not_confirmed":     "a required capability is not confirmed",
	"device_busy":                           "another rdmaprobe holds the device",
	"probe_interrupted":                     "an earlier probe has no outcome",
}

// briefFromMessage are the codes whose own message is the briefest that helps.
var briefFromMessage = []string{"rtr_not_attempted"}

// Brief is what a finding of a document says in a few words; "" when there is
// nothing shorter than its message.
func Brief(d *Document, f Finding) string {
	j := judgement{newFindingView(d, FindingContext{})}
	switch f.Code {
	case "thunderbolt_generation_unsupported":
		if t := j.h.Thunderbolt; t != nil && t.Generation > 0 {
			return fmt.Sprintf("Thunderbolt %d", t.Generation)
		}
		return "its Thunderbolt is too old"
	case "os_too_old":
		return strings.TrimSpace("macOS "+printable(j.h.OSVersion)) + ", RDMA came with 26.2"
	case "port_down":
		return j.portDownBrief(f.Scope)
	}
	return strings.ReplaceAll(briefs[f.Code], "SCOPE", printable(f.Scope))
}

// portDownBrief says why the ports of a device are down, each reason once.
func (j judgement) portDownBrief(device string) string {
	dev := j.device(device)
	if dev == nil {
		return "not ACTIVE"
	}
	reasons := map[string]bool{}
	for i := range dev.Ports {
		p := &dev.Ports[i]
		if s := j.state(dev, p); s != "" && s != stateActive {
			iface := p.Netdev
			if iface == "" {
				iface = j.iface(dev)
			}
			reasons[j.downWhy(dev, s, iface)] = true
		}
	}
	if len(reasons) == 0 {
		return "not ACTIVE"
	}
	return strings.Join(slices.Sorted(maps.Keys(reasons)), "; ")
}
