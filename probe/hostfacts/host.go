package hostfacts

// Host holds what is known of the machine beside its verbs library. The same
// names stand in a profile, in the document and in doctor's output. A fact that
// could not be read is absent: nil, never false or zero. An empty map or list is
// a measurement (there is none) and stays in the document: hence omitzero.
type Host struct {
	Name       string `json:"name,omitempty"`
	OS         string `json:"os,omitempty"` // macos or linux
	OSVersion  string `json:"os_version,omitempty"`
	OSBuild    string `json:"os_build,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
	Arch       string `json:"arch,omitempty"` // amd64 or arm64, of the machine's kernel
	Model      string `json:"model,omitempty"`
	EUID       *int   `json:"euid,omitempty"`
	Container  *bool  `json:"container,omitempty"`
	VM         *bool  `json:"vm,omitempty"`
	Translated *bool  `json:"translated,omitempty"` // this process runs under Rosetta
	UptimeS    *int64 `json:"uptime_s,omitempty"`

	RDMACtl     string       `json:"rdma_ctl,omitempty"` // enabled, disabled or missing
	Thunderbolt *Thunderbolt `json:"thunderbolt,omitempty"`

	HardwarePorts map[string]string `json:"hardware_ports,omitzero"` // macOS: en3: Thunderbolt 2

	Bridges    map[string][]string  `json:"bridges,omitzero"` // bridge0: its member interfaces
	Interfaces map[string]Interface `json:"interfaces,omitzero"`
	Routes     map[string]string    `json:"routes,omitzero"` // prefix: interface

	MemlockKiB           *int64   `json:"memlock_kib,omitempty"` // live limit of this process, -1 = unlimited
	LimitsConfMemlock    string   `json:"limits_conf_memlock,omitempty"`
	LocalNetworkPrivacy  string   `json:"local_network_privacy,omitempty"`
	KernelChanged        *bool    `json:"kernel_changed_since_last_report,omitempty"`
	SecureBoot           *bool    `json:"secure_boot,omitempty"`
	SRIOVVF              *bool    `json:"sriov_vf,omitempty"`        // any RDMA device is a virtual function
	VirtualFunctions     []string `json:"sriov_vf_devices,omitzero"` // which
	Netns                string   `json:"netns,omitempty"`
	VerbsFamilyVersion   string   `json:"rdma_family_version,omitempty"` // macOS debug.rdma.version
	AddressManagerDaemon *bool    `json:"address_manager_daemon,omitempty"`

	DevInfiniband   map[string]string      `json:"dev_infiniband,omitzero"`    // node: mode text as of ls; owner root
	UverbsAccess    map[string]bool        `json:"uverbs_access,omitzero"`     // node: this user may open it read-write, by access(2)
	UverbsOfDevice  map[string]string      `json:"uverbs_of_device,omitzero"`  // mlx5_0: uverbs0
	DevCharPresent  *bool                  `json:"dev_char_present,omitempty"` // /dev/char exists
	Modules         []string               `json:"modules,omitzero"`           // loaded, of the RDMA family
	ModulesAvail    map[string]bool        `json:"modules_available,omitzero"` // exists for this kernel
	SysfsDevices    []string               `json:"sysfs_devices,omitzero"`     // /sys/class/infiniband
	Providers       *bool                  `json:"userspace_providers,omitempty"`
	ProviderFiles   []string               `json:"provider_files,omitzero"`
	ProviderEntries []string               `json:"provider_entries,omitzero"`     // drivers named in libibverbs.d
	ProviderABI     string                 `json:"provider_abi_wanted,omitempty"` // the rdmavNN that the installed libibverbs loads
	ABI             map[string]ABI         `json:"abi,omitzero"`
	KernelABI       map[string]int         `json:"kernel_abi,omitzero"`       // device: abi_version of its uverbs node; the range of ABI is known only from the library's own warning
	Driver          map[string]string      `json:"driver,omitzero"`           // mlx5_0: mlx5_core
	NetdevOfDevice  map[string]*string     `json:"netdev_of_device,omitzero"` // null: it has none
	RDMALink        map[string]string      `json:"rdma_link,omitzero"`        // device: port state by sysfs
	Sysfs           map[string]SysfsDevice `json:"sysfs,omitzero"`            // what /sys/class/infiniband says of each device
	Env             map[string]string      `json:"env,omitzero"`
	RDMAProcesses   []Process              `json:"rdma_processes,omitzero"`
	IOClassCount    map[string]int         `json:"ioclasscount,omitzero"`
	KernelLog       []string               `json:"kernel_log,omitzero"`
	CrashReports    []string               `json:"crash_reports,omitzero"`
}

// Thunderbolt is what the host's controllers and their links report.
type Thunderbolt struct {
	Generation int    `json:"generation,omitempty"` // of the host's controllers, the newest
	Links      []Link `json:"links,omitzero"`
}

// Link is one Thunderbolt port. Without Peer nothing is connected.
type Link struct {
	Interface      string   `json:"interface,omitempty"`
	SpeedGbps      *float64 `json:"speed_gbps,omitempty"` // as trained
	Peer           string   `json:"peer,omitempty"`
	PeerRDMA       *bool    `json:"peer_rdma,omitempty"` // the peer offers service 64087
	PeerGeneration *int     `json:"peer_generation,omitempty"`
	ViaHub         *bool    `json:"via_hub,omitempty"`
	Cable          string   `json:"cable,omitempty"`
	Port           string   `json:"port,omitempty"` // receptacle
}

// Interface is one network interface.
type Interface struct {
	Up           *bool    `json:"up,omitempty"`
	Addresses    []string `json:"addresses"`         // null: not read; []: it has none
	Prefixes     []string `json:"prefixes,omitzero"` // networks that are on the link, 192.0.2.0/24
	SelfAssigned *bool    `json:"self_assigned,omitempty"`
	Manual       *bool    `json:"manual,omitempty"`
}

// ABI is the kernel's verbs ABI for a device and the range of its provider.
type ABI struct {
	Kernel      int `json:"kernel"`
	ProviderMin int `json:"provider_min"`
	ProviderMax int `json:"provider_max"`
}

// Process is a program that holds RDMA objects.
type Process struct {
	PID     int      `json:"pid"`
	Command string   `json:"command,omitempty"`
	QPs     *int     `json:"qps,omitempty"`
	MRs     *int     `json:"mrs,omitempty"`
	Leaked  bool     `json:"leaked,omitempty"` // it is gone, its objects are not
	Devices []string `json:"devices,omitzero"` // where they are known
}

// SysfsDevice is one directory of /sys/class/infiniband.
type SysfsDevice struct {
	NodeGUID string      `json:"node_guid,omitempty"` // 0000:5eff:fe00:5301
	NodeType string      `json:"node_type,omitempty"` // ca, rnic, usnic, ... in lower case
	Ports    []SysfsPort `json:"ports"`
}

// SysfsPort is one port of a SysfsDevice. Its names are those of the document.
type SysfsPort struct {
	Num       int        `json:"num"`
	State     string     `json:"state,omitempty"`
	PhysState string     `json:"phys_state,omitempty"`
	LinkLayer string     `json:"link_layer,omitempty"`
	RateGbps  *float64   `json:"rate_gbps,omitempty"`
	GIDs      []SysfsGID `json:"gids,omitzero"` // absent: not asked for
}

// SysfsGID is one slot of a GID table that is not empty.
type SysfsGID struct {
	Index  int    `json:"index"`
	GID    string `json:"gid"`            // as RFC 5952 writes it
	Type   string `json:"type,omitempty"` // ib, roce_v1 or roce_v2
	Netdev string `json:"netdev,omitempty"`
}
