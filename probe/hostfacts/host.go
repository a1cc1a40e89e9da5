package hostfacts

// Host holds what is known of the machine beside its verbs library. The same
// names stand in a profile, in the document and in doctor's output. A fact that
// could not be read is absent: nil, never false or zero.
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

	Bridges    map[string][]string  `json:"bridges,omitempty"` // bridge0: its member interfaces
	Interfaces map[string]Interface `json:"interfaces,omitempty"`
	Routes     map[string]string    `json:"routes,omitempty"` // prefix: interface

	MemlockKiB           *int64 `json:"memlock_kib,omitempty"` // live limit of this process, -1 = unlimited
	LimitsConfMemlock    string `json:"limits_conf_memlock,omitempty"`
	LocalNetworkPrivacy  string `json:"local_network_privacy,omitempty"`
	KernelChanged        *bool  `json:"kernel_changed_since_last_report,omitempty"`
	SecureBoot           *bool  `json:"secure_boot,omitempty"`
	SRIOVVF              *bool  `json:"sriov_vf,omitempty"`
	Netns                string `json:"netns,omitempty"`
	VerbsFamilyVersion   string `json:"rdma_family_version,omitempty"` // macOS debug.rdma.version
	AddressManagerDaemon *bool  `json:"address_manager_daemon,omitempty"`

	DevInfiniband  map[string]string  `json:"dev_infiniband,omitempty"`    // node: mode text as of ls; owner root
	UverbsAccess   map[string]bool    `json:"uverbs_access,omitempty"`     // node: this user may open it read-write, by access(2)
	UverbsOfDevice map[string]string  `json:"uverbs_of_device,omitempty"`  // mlx5_0: uverbs0
	DevCharPresent *bool              `json:"dev_char_present,omitempty"`  // /dev/char exists
	Modules        []string           `json:"modules,omitempty"`           // loaded, of the RDMA family
	ModulesAvail   map[string]bool    `json:"modules_available,omitempty"` // exists for this kernel
	SysfsDevices   []string           `json:"sysfs_devices,omitempty"`     // /sys/class/infiniband
	Providers      *bool              `json:"userspace_providers,omitempty"`
	ProviderFiles  []string           `json:"provider_files,omitempty"`
	ProviderABI    string             `json:"provider_abi_wanted,omitempty"` // the rdmavNN that the installed libibverbs loads
	ABI            map[string]ABI     `json:"abi,omitempty"`
	Driver         map[string]string  `json:"driver,omitempty"`           // mlx5_0: mlx5_core
	NetdevOfDevice map[string]*string `json:"netdev_of_device,omitempty"` // null: it has none
	RDMALink       map[string]string  `json:"rdma_link,omitempty"`        // device: port state by sysfs
	Env            map[string]string  `json:"env,omitempty"`
	RDMAProcesses  []Process          `json:"rdma_processes,omitempty"`
	IOClassCount   map[string]int     `json:"ioclasscount,omitempty"`
	KernelLog      []string           `json:"kernel_log,omitempty"`
	CrashReports   []string           `json:"crash_reports,omitempty"`
}

// Thunderbolt is what the host's controllers and their links report.
type Thunderbolt struct {
	Generation int    `json:"generation,omitempty"` // of the host's controllers, the newest
	Links      []Link `json:"links,omitempty"`
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
	Addresses    []string `json:"addresses"` // null: not read; []: it has none
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
	PID     int    `json:"pid"`
	Command string `json:"command,omitempty"`
	QPs     *int   `json:"qps,omitempty"`
	MRs     *int   `json:"mrs,omitempty"`
	Leaked  bool   `json:"leaked,omitempty"`
}
