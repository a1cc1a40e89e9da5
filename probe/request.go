package probe

import (
	"encoding/json"
	"os"
	"time"
)

// request is what a child is asked to do: one task on one device, or a listing.
type request struct {
	Task    string          `json:"task"`              // a word of the table, or one of the listing tasks
	Library string          `json:"library,omitempty"` // native: what to load, "" is the system's
	Profile json.RawMessage `json:"profile,omitempty"` // simulated: the machine to play

	Device      string              `json:"device,omitempty"`
	Port        int                 `json:"port,omitempty"`        // the one to work on
	Thunderbolt bool                `json:"thunderbolt,omitempty"` // the parent's judgement of the device
	Expect      map[string]expected `json:"expect,omitempty"`      // by name: the devices that the run has listed

	Devices   []string `json:"devices,omitempty"`    // taskDevices: which, in this order; the child asks where it can
	Addresses []string `json:"addresses,omitempty"`  // of the device's own interface
	GIDIndex  *int     `json:"gid_index,omitempty"`  // taken as given
	MRSize    int      `json:"mr_size,omitempty"`    // bytes
	Failed    []string `json:"failed,omitempty"`     // stages that failed earlier in this run: not called again
	Samples   int      `json:"samples,omitempty"`    // of the port's state
	SampleGap int64    `json:"sample_gap,omitempty"` // ns between two of them

	DeviceAddresses map[string][]string `json:"device_addresses,omitempty"` // taskDevices: Addresses by device

	Data *dataRequest `json:"data,omitempty"` // transition and data probes

	conn *os.File      // inherited by the child: the connection to the other host's end, or what it is answered on
	soft time.Duration // the child's own deadline; 0: that of the run

	which func(*attempt) // in the parent: answers on conn what to read; nil: the child is not to ask
}

// Listing tasks; every other task is a word of the table.
const (
	taskList    = "list"    // library and names, opening nothing
	taskDevices = "devices" // the same, then the attributes, ports and GIDs of the devices that the parent names
)

// Types of the messages that a child sends.
const (
	msgLibrary     = "library"     // Library
	msgListed      = "listed"      // listedDevice, one after the other
	msgCut         = "cut"         // the type of a message that was too long to be sent
	msgDevice      = "device"      // Device, as far as it is known
	msgLap         = "lap"         // a device comes next, or what follows the last: the deadline starts anew
	msgRead        = "read"        // a device's name: the child is done with it
	msgWhich       = "which"       // asks for a request that names the devices to read
	msgCall        = "call"        // callMessage, before a provider call
	msgObservation = "observation" // Observation
	msgChanged     = "changed"     // lostDevice: the device was open, and is another one now
	msgFault       = "fault"       // the simulated provider is about to misbehave
)

// callMessage announces a provider call and the row that it is for. Repeated
// calls of one verb for one row are announced once; the shared page counts them.
type callMessage struct {
	Verb      string         `json:"verb"`
	ID        string         `json:"id"`
	Device    string         `json:"device,omitempty"`
	Port      int            `json:"port,omitempty"`
	Params    map[string]any `json:"params,omitempty"`
	StartedAt time.Time      `json:"started_at"`
}

// listedDevice is what a listing tells of a device without opening it.
type listedDevice struct {
	Name      string `json:"name"`
	NodeGUID  string `json:"node_guid,omitempty"`
	Transport string `json:"transport,omitempty"`
	NodeType  string `json:"node_type,omitempty"`
	Node      string `json:"node,omitempty"` // of the kernel: uverbs0
}
