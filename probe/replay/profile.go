package replay

import "rdmaprobe/probe/hostfacts"

// profile is what of the profile format a recording needs; docs/profiles.md.
type profile struct {
	Version int             `json:"profile"`
	ID      string          `json:"id"`
	About   string          `json:"about"`
	Source  string          `json:"source"`
	Host    *hostfacts.Host `json:"host,omitempty"`
	Library library         `json:"library,omitzero"`
	List    *listing        `json:"device_list,omitempty"`
	Devices []*device       `json:"devices"`
	Peer    *peer           `json:"peer,omitempty"`
	Channel *channel        `json:"control_channel,omitempty"`
}

type library struct {
	Present   *bool    `json:"present,omitempty"`
	LoadError string   `json:"load_error,omitempty"`
	Missing   []string `json:"missing_symbols,omitempty"`
	Extra     []string `json:"extra_symbols,omitempty"`
	Stderr    []string `json:"stderr,omitempty"`
	ID        string   `json:"id,omitempty"`
}

type listing struct {
	Errno string `json:"errno"`
}

type device struct {
	Name      string            `json:"name"`
	NodeGUID  string            `json:"node_guid,omitempty"`
	Transport string            `json:"transport"`
	NodeType  string            `json:"node_type,omitempty"`
	Sysfs     *bool             `json:"sysfs,omitempty"`
	Source    string            `json:"source,omitempty"`
	Attr      map[string]any    `json:"attr,omitempty"`
	Ports     []port            `json:"ports,omitempty"`
	Calls     map[string][]rule `json:"calls,omitempty"`
}

type port struct {
	Num       int            `json:"num"`
	State     string         `json:"state,omitempty"`
	States    []string       `json:"states,omitempty"`
	PhysState string         `json:"phys_state,omitempty"`
	LinkLayer string         `json:"link_layer,omitempty"`
	MaxMTU    int            `json:"max_mtu,omitempty"`
	ActiveMTU int            `json:"active_mtu,omitempty"`
	LID       int            `json:"lid"`
	SMLID     int            `json:"sm_lid"`
	GIDs      []gid          `json:"gids"`
	Attr      map[string]any `json:"attr,omitempty"`
}

type gid struct {
	Index int    `json:"index"`
	GID   string `json:"gid"`
	Type  string `json:"type,omitempty"`
}

// rule is a rule of a verb; its keys are those of the format. "when" is another
// such object.
type rule map[string]any

type peer struct {
	Device    string  `json:"device,omitempty"`
	ActiveMTU int     `json:"active_mtu,omitempty"`
	GIDs      []gid   `json:"gids,omitempty"`
	RKey      *uint32 `json:"rkey,omitempty"`
}

type channel struct {
	Errno     string `json:"errno"`
	ElapsedMS int64  `json:"elapsed_ms,omitempty"`
	Peer      string `json:"peer,omitempty"`
}
