package probe

import (
	"time"

	"rdmaprobe/probe/hostfacts"
)

// The document's name and version. A new field raises the minor number; a
// changed meaning or a removed field the major one.
const (
	Schema        = "rdmaprobe.report"
	SchemaVersion = "1.0"
)

// Document is what every command prints with --json, also when it fails. Its
// arrays are always there; any other absent field is left out, never null.
type Document struct {
	Schema        string           `json:"schema"`
	SchemaVersion string           `json:"schema_version"`
	Tool          Tool             `json:"tool"`
	Run           RunInfo          `json:"run"`
	Provider      Provider         `json:"provider"`
	Host          *hostfacts.Host  `json:"host,omitempty"`
	Hosts         []hostfacts.Host `json:"hosts,omitempty"` // a report of several hosts, instead of Host
	Devices       []Device         `json:"devices"`
	Observations  []Observation    `json:"observations"`
	Findings      []Finding        `json:"findings"`
	Verdict       *Verdict         `json:"verdict,omitempty"`   // of doctor
	Verify        *Verify          `json:"verify,omitempty"`    // of devices --verify
	Sources       []Source         `json:"sources,omitempty"`   // of a merged report: the files it was made from
	Conflicts     []Conflict       `json:"conflicts,omitempty"` // of a merged report: where they disagree
	NotRead       []NotRead        `json:"not_read,omitempty"`
	Redacted      bool             `json:"redacted,omitempty"` // names and addresses are stand-ins
	Error         string           `json:"error,omitempty"`
	Notes         []string         `json:"notes,omitempty"`
	Exit          int              `json:"exit"`
}

// NotRead names a host fact that could not be read, and why.
type NotRead = hostfacts.NotRead

// Tool is the program that made a document.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// RunInfo describes one run. Runs of one ledger are ordered by Seq, runs of
// different files by StartedAt.
type RunInfo struct {
	ID         string    `json:"id"`
	Seq        int64     `json:"seq"`
	Command    []string  `json:"command"`
	StartedAt  time.Time `json:"started_at"` // UTC
	DurationNS int64     `json:"duration_ns,omitempty"`
	BoundNS    int64     `json:"bound_ns,omitempty"` // the run ends within this, whatever the provider does
	BootID     string    `json:"boot_id,omitempty"`
	Gates      []string  `json:"gates,omitempty"`   // consent given by flag: rc, allow_rtr, pingpong, write, force, kill
	Require    []string  `json:"require,omitempty"` // of --require: capability keys and evidence ids
}

// Provider says whose answers a document holds.
type Provider struct {
	Kind    string  `json:"kind"` // native or simulated
	Profile string  `json:"profile,omitempty"`
	Library Library `json:"library"`
}

// Kinds of provider.
const (
	Native    = "native"
	Simulated = "simulated"
)

// Library is the verbs library as the child saw it.
type Library struct {
	Asked   string          `json:"asked,omitempty"` // what was passed to dlopen
	Path    string          `json:"path,omitempty"`
	ID      string          `json:"id,omitempty"` // build id or UUID
	Loaded  bool            `json:"loaded"`
	Error   string          `json:"error,omitempty"`
	Symbols map[string]bool `json:"symbols"`
}

// Device is one RDMA device: listed by the library, known to the kernel, or both.
type Device struct {
	Host         string        `json:"host,omitempty"` // reports of several hosts only
	Name         string        `json:"name"`
	NodeGUID     string        `json:"node_guid,omitempty"` // 0000:5eff:fe00:5301
	Transport    string        `json:"transport,omitempty"`
	NodeType     string        `json:"node_type,omitempty"`
	Driver       string        `json:"driver,omitempty"`
	Sysfs        *bool         `json:"sysfs,omitempty"` // absent where there is no sysfs
	Listed       bool          `json:"listed"`
	Attr         *DeviceAttr   `json:"attr,omitempty"`
	Ports        []Port        `json:"ports"`
	Capabilities *Capabilities `json:"capabilities,omitempty"`
}

// DeviceAttr is struct ibv_device_attr under its C names. 64-bit values are
// decimal strings, since JSON readers round numbers above 2^53.
type DeviceAttr struct {
	FWVer                 string `json:"fw_ver,omitempty"`
	NodeGUID              string `json:"node_guid"`
	SysImageGUID          string `json:"sys_image_guid"`
	MaxMRSize             uint64 `json:"max_mr_size,string"`
	PageSizeCap           uint64 `json:"page_size_cap,string"`
	VendorID              uint32 `json:"vendor_id"`
	VendorPartID          uint32 `json:"vendor_part_id"`
	HWVer                 uint32 `json:"hw_ver"`
	MaxQP                 int32  `json:"max_qp"`
	MaxQPWR               int32  `json:"max_qp_wr"`
	DeviceCapFlags        uint32 `json:"device_cap_flags"`
	MaxSGE                int32  `json:"max_sge"`
	MaxSGERd              int32  `json:"max_sge_rd"`
	MaxCQ                 int32  `json:"max_cq"`
	MaxCQE                int32  `json:"max_cqe"`
	MaxMR                 int32  `json:"max_mr"`
	MaxPD                 int32  `json:"max_pd"`
	MaxQPRdAtom           int32  `json:"max_qp_rd_atom"`
	MaxEERdAtom           int32  `json:"max_ee_rd_atom"`
	MaxResRdAtom          int32  `json:"max_res_rd_atom"`
	MaxQPInitRdAtom       int32  `json:"max_qp_init_rd_atom"`
	MaxEEInitRdAtom       int32  `json:"max_ee_init_rd_atom"`
	AtomicCap             string `json:"atomic_cap"` // none, hca, glob
	MaxEE                 int32  `json:"max_ee"`
	MaxRDD                int32  `json:"max_rdd"`
	MaxMW                 int32  `json:"max_mw"`
	MaxRawIPv6QP          int32  `json:"max_raw_ipv6_qp"`
	MaxRawEthyQP          int32  `json:"max_raw_ethy_qp"`
	MaxMcastGrp           int32  `json:"max_mcast_grp"`
	MaxMcastQPAttach      int32  `json:"max_mcast_qp_attach"`
	MaxTotalMcastQPAttach int32  `json:"max_total_mcast_qp_attach"`
	MaxAH                 int32  `json:"max_ah"`
	MaxFMR                int32  `json:"max_fmr"`
	MaxMapPerFMR          int32  `json:"max_map_per_fmr"`
	MaxSRQ                int32  `json:"max_srq"`
	MaxSRQWR              int32  `json:"max_srq_wr"`
	MaxSRQSGE             int32  `json:"max_srq_sge"`
	MaxPKeys              uint16 `json:"max_pkeys"`
	LocalCAAckDelay       uint8  `json:"local_ca_ack_delay"`
	PhysPortCnt           uint8  `json:"phys_port_cnt"`
}

// Port is one port: readable fields first, all numbers as the provider gave
// them in Attr.
type Port struct {
	Num        int       `json:"num"`
	State      string    `json:"state,omitempty"`
	PhysState  string    `json:"phys_state,omitempty"`
	LinkLayer  string    `json:"link_layer,omitempty"`
	Addressing string    `json:"addressing,omitempty"` // lid or gid
	MaxMTU     int       `json:"max_mtu,omitempty"`    // bytes
	ActiveMTU  int       `json:"active_mtu,omitempty"` // bytes
	LID        *int      `json:"lid,omitempty"`
	SMLID      *int      `json:"sm_lid,omitempty"`
	MaxMsgSz   uint32    `json:"max_msg_sz,omitempty"`
	Speed      float64   `json:"speed,omitempty"` // Gb/s, width times lane speed
	Netdev     string    `json:"netdev,omitempty"`
	Attr       *PortAttr `json:"attr,omitempty"`
	GIDs       []GID     `json:"gids"` // non-empty slots only
}

// PortAttr is struct ibv_port_attr under its C names.
type PortAttr struct {
	State         int32  `json:"state"`
	MaxMTU        int32  `json:"max_mtu"`
	ActiveMTU     int32  `json:"active_mtu"`
	GIDTblLen     uint32 `json:"gid_tbl_len"`
	PortCapFlags  uint32 `json:"port_cap_flags"`
	MaxMsgSz      uint32 `json:"max_msg_sz"`
	BadPKeyCntr   uint32 `json:"bad_pkey_cntr"`
	QKeyViolCntr  uint32 `json:"qkey_viol_cntr"`
	PKeyTblLen    uint16 `json:"pkey_tbl_len"`
	LID           uint16 `json:"lid"`
	SMLID         uint16 `json:"sm_lid"`
	LMC           uint8  `json:"lmc"`
	MaxVLNum      uint8  `json:"max_vl_num"`
	SMSL          uint8  `json:"sm_sl"`
	SubnetTimeout uint8  `json:"subnet_timeout"`
	InitTypeReply uint8  `json:"init_type_reply"`
	ActiveWidth   uint8  `json:"active_width"`
	ActiveSpeed   uint8  `json:"active_speed"`
	PhysState     uint8  `json:"phys_state"`
	LinkLayer     uint8  `json:"link_layer"`
	Flags         uint8  `json:"flags"`
	PortCapFlags2 uint16 `json:"port_cap_flags2"`
}

// GID is one non-empty slot of a port's GID table.
type GID struct {
	Index  int    `json:"index"`
	GID    string `json:"gid"`              // RFC 5952; IPv4-mapped ones as ::ffff:192.0.2.1
	Type   string `json:"type,omitempty"`   // ib, roce_v1, roce_v2, none; absent when the library cannot tell
	Class  string `json:"class"`            // link_local, ipv4_mapped, global
	Netdev string `json:"netdev,omitempty"` // the slot's own interface
}

// Finding is a named conclusion from observations and host facts.
type Finding struct {
	Host         string   `json:"host,omitempty"` // reports of several hosts only
	Code         string   `json:"code"`
	Severity     string   `json:"severity"`        // error, warning, info
	Scope        string   `json:"scope"`           // host, a device's name or an interface's
	Ports        []int    `json:"ports,omitempty"` // of the device, where it is not about all of it
	Message      string   `json:"message"`
	Remedy       string   `json:"remedy,omitempty"`
	Undo         string   `json:"undo,omitempty"`
	Check        string   `json:"check,omitempty"` // the command that shows whether it is cured
	Observations []string `json:"observations,omitempty"`
	Facts        []string `json:"facts,omitempty"`
}

// Severities of a finding.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
	SeverityInfo    = "info"
)
