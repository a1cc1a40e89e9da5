package probe

// Commands that show whether something is cured; DEVICE and IFACE stand for the
// finding's scope.
const (
	checkDoctor   = "rdmaprobe doctor"
	checkDevices  = "rdmaprobe devices"
	checkProbe    = "rdmaprobe probe -d DEVICE"
	checkPingpong = "rdmaprobe probe -d DEVICE --pingpong --peer HOST"
)

// findingRules is the catalogue, in the order of its documentation: one row a
// code. What a code means to people is in its page (findingPages). A new finding
// is a row here, a page there, and its pairs of documents in the tests.
var findingRules = []findingRule{
	// Host, macOS.
	{"os_too_old", SeverityError, scopeHost, osTooOld, "sw_vers -productVersion"},
	{"running_translated", SeverityError, scopeHost, runningTranslated, "file $(which rdmaprobe)"},
	{"verbs_library_missing", SeverityError, scopeHost, verbsLibraryMissing, checkDevices},
	{"rdma_disabled", SeverityError, scopeHost, rdmaDisabled, "rdma_ctl status"},
	{"thunderbolt_generation_unsupported", SeverityError, scopeHost, thunderboltGenerationUnsupported, "system_profiler SPThunderboltDataType"},
	{"link_speed_below_tb5", SeverityError, scopeInterface, linkSpeedBelowTB5, "system_profiler SPThunderboltDataType"},
	{"mac_studio_port_en2", SeverityWarning, scopeDevice, macStudioPortEn2, checkDevices},
	{"port_in_thunderbolt_bridge", SeverityError, scopeInterface, portInThunderboltBridge, "ifconfig IFACE, then rdmaprobe devices"},
	{"address_on_bridge_not_port", SeverityError, scopeInterface, addressOnBridgeNotPort, "ifconfig IFACE, then rdmaprobe devices"},
	{"gid_no_ipv4_mapped", SeverityError, scopeDevice, gidNoIPv4Mapped, checkDevices},
	{"gid_only_at_index_0", SeverityWarning, scopeDevice, gidOnlyAtIndex0, checkDevices},
	{"gid_self_assigned_volatile", SeverityInfo, scopeDevice, gidSelfAssignedVolatile, checkDevices},
	{"address_manager_resets", SeverityWarning, scopeHost, addressManagerResets, "launchctl print system/io.exo.networksetup"},
	{"route_not_via_thunderbolt", SeverityError, scopeInterface, routeNotViaThunderbolt, "rdmaprobe doctor --peer HOST"},
	{"path_filtered", SeverityError, scopeInterface, pathFiltered, "rdmaprobe doctor --peer HOST"},
	{"os_builds_differ", SeverityWarning, scopeHost, osBuildsDiffer, "sw_vers -buildVersion, on every machine"},
	{"control_channel_on_rdma_port", SeverityWarning, scopeInterface, controlChannelOnRDMAPort, "rdmaprobe doctor --peer HOST"},
	{"control_channel_blocked_local_network", SeverityError, scopeHost, controlChannelBlockedLocalNetwork, "rdmaprobe doctor --peer HOST"},
	{"pd_pool_exhausted", SeverityError, scopeDevice, pdPoolExhausted, "ioclasscount " + pdClass},
	{"peer_not_advertising_rdma", SeverityError, scopeHost, peerNotAdvertisingRDMA, checkDoctor},

	// Host, Linux.
	{"no_rdma_device", SeverityError, scopeHost, noRDMADevice, checkDevices},
	{"verbs_library_mismatch", SeverityError, scopeHost, verbsLibraryMismatch, checkDevices},
	{"provider_library_missing", SeverityError, scopeDevice, providerLibraryMissing, checkDevices},
	{"provider_abi_mismatch", SeverityError, scopeDevice, providerABIMismatch, checkDevices},
	{"device_without_provider", SeverityWarning, scopeDevice, deviceWithoutProvider, checkDevices},
	{"verbs_interposer", SeverityWarning, scopeDevice, verbsInterposer, "env -u LD_PRELOAD rdmaprobe devices"},
	{"uverbs_node_missing", SeverityError, scopeDevice, uverbsNodeMissing, "ls -l /dev/infiniband"},
	{"uverbs_permission_denied", SeverityError, scopeDevice, uverbsPermissionDenied, "ls -l /dev/infiniband, then rdmaprobe devices"},
	{"rdma_cm_node_missing", SeverityWarning, scopeHost, rdmaCMNodeMissing, "ls -l /dev/infiniband/rdma_cm"},
	{"memlock_too_low", SeverityError, scopeHost, memlockTooLow, "ulimit -l, then rdmaprobe doctor"},
	{"netdev_without_address", SeverityError, scopeDevice, netdevWithoutAddress, checkDevices},
	{"configured_gid_index_empty", SeverityError, scopeDevice, configuredGIDIndexEmpty, checkDevices},
	{"ib_port_down_no_sm", SeverityError, scopeDevice, ibPortDownNoSM, checkDevices},
	{"ib_port_init_no_sm", SeverityError, scopeDevice, ibPortInitNoSM, checkDevices},

	// Device and port.
	{"device_open_failed", SeverityError, scopeDevice, deviceOpenFailed, checkDevices},
	{"port_query_failed", SeverityError, scopeDevice, portQueryFailed, checkDevices},
	{"port_down", SeverityError, scopeDevice, portDown, checkDevices},
	{"port_unstable", SeverityError, scopeDevice, portUnstable, checkDoctor},
	{"gid_table_empty", SeverityError, scopeDevice, gidTableEmpty, checkDevices},
	{"gid_stale", SeverityWarning, scopeDevice, gidStale, checkDevices},
	{"gid_type_mismatch", SeverityError, scopeDevice, gidTypeMismatch, checkPingpong},
	{"mtu_mismatch", SeverityWarning, scopeDevice, mtuMismatch, checkDevices + ", on both machines"},
	{"device_changed", SeverityError, scopeDevice, deviceChanged, checkDevices},
	{"device_vanished", SeverityError, scopeDevice, deviceVanished, checkDevices},
	{"transport_needs_rdma_cm", SeverityInfo, scopeDevice, transportNeedsRDMACM, checkDevices},

	// What a probe ran into.
	{"provider_crashed", SeverityError, scopeDevice, providerCrashed, "rdmaprobe probe --force -d DEVICE"},
	{"provider_wedged", SeverityError, scopeDevice, providerWedged, checkDevices},
	{"child_unkillable", SeverityError, scopeDevice, childUnkillable, checkDevices},
	{"pingpong_timeout", SeverityError, scopeDevice, pingpongTimeout, checkPingpong},
	{"payload_mismatch", SeverityError, scopeDevice, payloadMismatch, checkPingpong},
	{"receiver_did_not_confirm", SeverityError, scopeDevice, receiverDidNotConfirm, checkPingpong},
	{"data_transfer_failed", SeverityError, scopeDevice, dataTransferFailed, checkPingpong},
	{"pd_alloc_failed", SeverityError, scopeDevice, pdAllocFailed, checkProbe},
	{"pd_alloc_failed_port_active", SeverityError, scopeDevice, pdAllocFailedPortActive, checkProbe},
	{"object_create_failed", SeverityError, scopeDevice, objectCreateFailed, checkProbe},
	{"teardown_failed", SeverityWarning, scopeDevice, teardownFailed, checkProbe},
	{"qp_pool_exhausted", SeverityError, scopeDevice, qpPoolExhausted, checkProbe},
	{"mr_pool_exhausted", SeverityError, scopeDevice, mrPoolExhausted, checkProbe},
	{"mr_register_enomem", SeverityError, scopeDevice, mrRegisterENOMEM, checkProbe},
	{"rtr_path_timeout", SeverityError, scopeDevice, rtrPathTimeout, checkPingpong},
	{"gid_index_refused", SeverityError, scopeDevice, gidIndexRefused, checkPingpong},
	{"stale_kernel_resources", SeverityError, scopeDevice, staleKernelResources, checkPingpong + ", after the restart"},
	{"provider_degraded", SeverityError, scopeDevice, providerDegraded, checkPingpong},
	{"rtr_not_attempted", SeverityInfo, scopeDevice, rtrNotAttempted, "rdmaprobe probe --allow-rtr -d DEVICE"},
	{"completion_without_delivery", SeverityWarning, scopeDevice, completionWithoutDelivery, "rdmaprobe probe -d DEVICE --write --peer HOST"},
	{"uc_message_loss", SeverityWarning, scopeDevice, ucMessageLoss, checkPingpong},
	{"provider_stderr", SeverityInfo, scopeDevice, providerStderr, "rdmaprobe report --json"},
	{"left_processes", SeverityWarning, scopeDevice, leftProcesses, "rdmaprobe report --json"},
	{"required_capability_not_confirmed", SeverityError, scopeDevice, requiredCapabilityNotConfirmed, checkProbe},
	{"device_busy", SeverityWarning, scopeDevice, deviceBusy, checkProbe},
	{"probe_interrupted", SeverityWarning, scopeDevice, probeInterrupted, checkProbe},
	{codeLimitMet, SeverityError, scopeDevice, limitMet, checkDevices},
}
