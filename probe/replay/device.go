package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// device is a listed device as the document has it.
func (v *deriving) device(d *probe.Device) *device {
	out := &device{Name: d.Name, NodeGUID: d.NodeGUID, Transport: d.Transport, NodeType: d.NodeType}
	if out.Transport == "" {
		out.Transport = "unspecified"
	}
	if d.Sysfs != nil && !*d.Sysfs {
		out.Sysfs = d.Sysfs
	}
	if d.Attr != nil {
		out.Attr = fields(d.Attr)
	}
	for i := range d.Ports {
		if d.Ports[i].Attr != nil {
			out.Ports = append(out.Ports, v.port(d.Name, &d.Ports[i]))
		}
	}
	v.unread(out)
	return out
}

// unread adds the ports that could not be queried and still were used: a queue
// pair went to INIT on one.
func (v *deriving) unread(d *device) {
	for _, o := range v.rows {
		known := slices.ContainsFunc(d.Ports, func(q port) bool { return q.Num == o.Port })
		if o.Device == d.Name && strings.HasSuffix(o.ID, ".init") && o.Level == rdma.CapabilityConfirmed && !known {
			d.Ports = append(d.Ports, port{Num: o.Port, State: "nop", GIDs: []gid{}})
		}
	}
}

// fields are a struct's members by their names in C.
func fields(attr any) map[string]any {
	data, err := json.Marshal(attr)
	var m map[string]any
	if err != nil || json.Unmarshal(data, &m) != nil {
		panic(fmt.Sprintf("replay: %T is no object: %v", attr, err))
	}
	return m
}

// besideAttr are what of a port's attributes has a key of its own, and what the
// exported ibv_query_port does not fill in.
var besideAttr = []string{"state", "phys_state", "lid", "sm_lid", "port_cap_flags2"}

// port is a port with its GID table. Numbers that a key cannot hold stay in attr.
func (v *deriving) port(device string, q *probe.Port) port {
	out := port{
		Num: q.Num, State: q.State, PhysState: q.PhysState, LinkLayer: q.LinkLayer, LID: int(q.Attr.LID), SMLID: int(q.Attr.SMLID),
		GIDs: []gid{}, Attr: fields(q.Attr),
	}
	maps.DeleteFunc(out.Attr, func(name string, _ any) bool { return slices.Contains(besideAttr, name) })
	delete(out.Attr, "link_layer")
	for _, m := range []struct {
		name string
		n    int32
		into *int
	}{{"max_mtu", q.Attr.MaxMTU, &out.MaxMTU}, {"active_mtu", q.Attr.ActiveMTU, &out.ActiveMTU}} {
		if bytes := rdma.MTUBytes(m.n); bytes > 0 {
			*m.into = bytes
			delete(out.Attr, m.name)
		}
	}
	for _, g := range q.GIDs {
		out.GIDs = append(out.GIDs, gid{g.Index, g.GID, g.Type})
	}
	if states := v.states(device, q.Num); len(states) > 0 {
		out.State, out.PhysState, out.States = "", "", states
	}
	return out
}

// states are the port's successive answers in one child, where more than one was
// asked for.
func (v *deriving) states(device string, num int) []string {
	var longest []string
	for _, o := range v.rows {
		if o.ID != "port.state" || o.Device != device || o.Port != num {
			continue
		}
		samples, _ := o.Data["samples"].([]any)
		if len(samples) <= len(longest) {
			continue
		}
		longest = nil
		for _, s := range samples {
			text, _ := s.(string)
			longest = append(longest, text)
		}
	}
	if len(slices.Compact(slices.Clone(longest))) == 1 {
		return nil // it never changed
	}
	return longest
}
