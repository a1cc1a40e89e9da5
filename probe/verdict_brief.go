package probe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmaprobe/rdma"
)

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
	"gid_only_at_index_0":                   "the only IPv4-mapped GID is at index 0, which is not taken by itself",
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
	"netdev_without_address":                "its interface has no address",
	"configured_gid_index_empty":            "the GID index in the environment is empty",
	"ib_port_down_no_sm":                    "down, and no subnet manager was seen",
	"ib_port_init_no_sm":                    "no subnet manager has set the port up",
	"device_open_failed":                    "it cannot be opened",
	"port_query_failed":                     "its port cannot be read",
	"port_unstable":                         "the port's state keeps changing",
	"gid_table_empty":                       "the GID table is empty",
	"gid_stale":                             "GIDs of addresses that are gone",
	"gid_type_mismatch":                     "the two ends speak different versions of RoCE",
	"mtu_mismatch":                          "the two ends' MTUs differ",
	"device_changed":                        "another device has its name",
	"device_vanished":                       "it is no longer there",
	"transport_needs_rdma_cm":               "iWARP: queue pairs are connected by the connection manager only",
	"provider_crashed":                      "the provider crashed",
	"provider_wedged":                       "a provider call does not return",
	"child_unkillable":                      "a process is stuck in the driver",
	"pingpong_timeout":                      "nothing came back from the peer",
	"payload_mismatch":                      "wrong bytes arrive",
	"receiver_did_not_confirm":              "the other end does not show that messages arrived",
	"data_transfer_failed":                  "the provider fails messages",
	"pd_alloc_failed":                       "no protection domain could be allocated",
	"pd_alloc_failed_port_active":           "no protection domain could be allocated",
	"object_create_failed":                  "what a connection needs cannot be made",
	"teardown_failed":                       "a probe could not give back what it had made",
	"qp_pool_exhausted":                     "other processes hold all queue pairs",
	"mr_pool_exhausted":                     "other processes hold all memory regions",
	"mr_register_enomem":                    "memory cannot be registered",
	"rtr_path_timeout":                      "the path to the peer could not be resolved",
	"gid_index_refused":                     "the GID index that was named cannot be used",
	"stale_kernel_resources":                "the kernel holds remains of earlier connections",
	"provider_degraded":                     "the provider refuses connections",
	"completion_without_delivery":           "completions without delivery",
	"uc_message_loss":                       "messages get lost",
	"provider_stderr":                       "the library wrote to stderr, kept as evidence",
	"left_processes":                        "the library left processes behind",
	"required_capability_not_confirmed":     "a required capability is not confirmed",
	"device_busy":                           "another rdmaprobe holds the device",
	"probe_interrupted":                     "an earlier probe has no outcome",
	codeLimitMet:                            "a limit of rdmaprobe was met, and the rest was left out",
}

// Briefs gives what a finding of a document says in a few words; "" when there is
// nothing shorter than its message.
func Briefs(d *Document) func(Finding) string { return newJudgement(d).brief }

func (j *judgement) brief(f Finding) string {
	switch f.Code {
	case "thunderbolt_generation_unsupported":
		if t := j.h.Thunderbolt; t != nil && t.Generation > 0 {
			return fmt.Sprintf("Thunderbolt %d", t.Generation)
		}
		return "its Thunderbolt is too old"
	case "os_too_old":
		return strings.TrimSpace("macOS "+printable(j.h.OSVersion)) + ", RDMA came with 26.2"
	case "verbs_library_mismatch":
		switch {
		case !j.d.Provider.Library.Loaded && j.d.Provider.Library.Error != "":
			return "the verbs library cannot be loaded"
		case j.has("", "lib.symbols", rdma.CapabilityUnknown):
			return "the verbs library lacks functions"
		}
	case "port_down":
		return j.portDownBrief(f.Scope)
	case "device_open_failed", "port_query_failed", "object_create_failed":
		return briefs[f.Code] + j.refusedBrief(f)
	}
	return strings.ReplaceAll(briefs[f.Code], "SCOPE", printable(f.Scope))
}

// refusedBrief is the call behind a finding about one, with its errno.
func (j *judgement) refusedBrief(f Finding) string {
	for _, o := range j.rows[f.Scope] {
		if slices.Contains(f.Observations, o.Key()) && readRefused(o) {
			return ", " + refusedText(o)
		}
	}
	return ""
}

// portDownBrief says why the ports of a device are down, each reason once.
func (j *judgement) portDownBrief(device string) string {
	dev := j.device(device)
	if dev == nil {
		return "not ACTIVE"
	}
	reasons := map[string]bool{}
	for i := range dev.Ports {
		p := &dev.Ports[i]
		if s := j.state(dev, p); s != "" && s != stateActive {
			reasons[j.downWhy(dev, s, j.ifaceOf(dev, p))] = true
		}
	}
	if len(reasons) == 0 {
		return "not ACTIVE"
	}
	return strings.Join(slices.Sorted(maps.Keys(reasons)), "; ")
}
