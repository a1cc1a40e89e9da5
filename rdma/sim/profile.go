package sim

import (
	"encoding/json"

	"rdmaprobe/rdma"
)

// Profile is a simulated machine: host facts and a provider. Parse makes it;
// the JSON is described in docs/profiles.md.
type Profile struct {
	Version        int             `json:"profile"` // 1
	ID             string          `json:"id"`      // letters, digits, ".", "_", "-": it names a ledger
	About          string          `json:"about"`
	Source         string          `json:"source"`  // where the machine was reported
	BootID         string          `json:"boot_id"` // "" = every run is a new boot
	Host           json.RawMessage `json:"host"`    // host facts; Parse decodes them into the caller's type
	Library        LibraryFacts    `json:"library"`
	DeviceList     *Listing        `json:"device_list"` // nil: listing works
	Devices        []Device        `json:"devices"`
	Peer           *PeerFacts      `json:"peer"` // nil: the other end is as this one
	ControlChannel *ControlChannel `json:"control_channel"`

	platform rdma.Platform
}

// Platform says whose errno numbers the provider speaks: Darwin's when host.os
// is macos, else Linux's.
func (p *Profile) Platform() rdma.Platform { return p.platform }

// LibraryFacts describes the shared library that the simulator stands for. A
// library that is not present cannot be loaded: that is the caller's to play.
type LibraryFacts struct {
	Present        *bool    `json:"present"`         // nil: yes
	LoadError      string   `json:"load_error"`      // the loader's text
	MissingSymbols []string `json:"missing_symbols"` // verbs; an inline one leaves its ops entry NULL
	ExtraSymbols   []string `json:"extra_symbols"`   // verbs that its kind is not known to have
	Stderr         []string `json:"stderr"`          // lines it prints while it lists devices
	ID             string   `json:"id"`              // its build identity
}

// Loads reports whether the library can be loaded.
func (l LibraryFacts) Loads() bool { return (l.Present == nil || *l.Present) && l.LoadError == "" }

// Listing makes ibv_get_device_list fail.
type Listing struct {
	Errno *string `json:"errno"` // name; "" = NULL with errno left unset

	number int32
}

// Device is one RDMA device of the machine.
type Device struct {
	Name      string                     `json:"name"` // at most 63 bytes; like all text of a provider it may be hostile
	NodeGUID  GUID                       `json:"node_guid"`
	Transport *Transport                 `json:"transport"`
	NodeType  *NodeType                  `json:"node_type"` // nil: what goes with the transport
	Listed    *bool                      `json:"listed"`    // nil: yes
	Sysfs     *bool                      `json:"sysfs"`     // nil: yes; known to the kernel
	Source    string                     `json:"source"`    // where its numbers were reported
	Attr      map[string]json.RawMessage `json:"attr"`      // fields of struct ibv_device_attr, and live_qp, live_mr, live_pd, live_cq
	Ports     []Port                     `json:"ports"`
	Calls     map[string][]rule          `json:"calls"` // rules by verb

	image []byte           // struct ibv_device_attr
	live  map[string]int64 // objects that other processes hold
}

// InSysfs reports whether the kernel knows the device.
func (d *Device) InSysfs() bool { return d.Sysfs == nil || *d.Sysfs }

// IsListed reports whether ibv_get_device_list shows the device.
func (d *Device) IsListed() bool { return d.Listed == nil || *d.Listed }

// Port is one port of a device.
type Port struct {
	Num       int                        `json:"num"` // from 1
	State     *PortState                 `json:"state"`
	States    []StateStep                `json:"states"` // successive answers in one process; the last repeats
	PhysState *PhysState                 `json:"phys_state"`
	LinkLayer LinkLayer                  `json:"link_layer"`
	MaxMTU    MTU                        `json:"max_mtu"`
	ActiveMTU MTU                        `json:"active_mtu"`
	LID       uint16                     `json:"lid"`
	SMLID     uint16                     `json:"sm_lid"`
	GIDs      []GIDSlot                  `json:"gids"`
	Attr      map[string]json.RawMessage `json:"attr"` // further fields of struct ibv_port_attr

	image []byte // struct ibv_port_attr
}

// GIDSlot is a slot of a port's GID table that is not empty.
type GIDSlot struct {
	Index int     `json:"index"`
	GID   RawGID  `json:"gid"`
	Type  GIDType `json:"type"`
}

// PeerFacts describes the other end of every port's wire. What is absent is as
// on this end.
type PeerFacts struct {
	Device    string    `json:"device"`
	ActiveMTU *MTU      `json:"active_mtu"`
	GIDs      []GIDSlot `json:"gids"` // nil: as here; []: it has none
	RKey      *number   `json:"rkey"`
}

// ControlChannel describes the side channel over which two ends exchange their
// addresses. The simulator does not play it; the caller does.
type ControlChannel struct {
	Errno                string `json:"errno"` // name; "" = it works
	ElapsedMS            int64  `json:"elapsed_ms"`
	OtherProgramConnects bool   `json:"other_program_connects"`
	Local                string `json:"local"` // addresses
	Peer                 string `json:"peer"`
	Interface            string `json:"interface"`

	number int
}

// Number is Errno on the profile's platform; 0 when the channel works.
func (c *ControlChannel) Number() int { return c.number }
