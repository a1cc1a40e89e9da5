package replay

import (
	"slices"
	"strings"

	"rdmaprobe/probe"
)

// onMessages adds the rules for messages that went wrong without a call failing,
// and tells whether the row was of that kind.
func (v *deriving) onMessages(d *device, o *probe.Observation) (bool, error) {
	write := o.ID == "op.rdma_write"
	if !write && !strings.HasPrefix(o.ID, "pingpong.") {
		return false, nil
	}
	when := conditionOf(o, "ibv_poll_cq")
	status, _ := o.Data["wc_status"].(string)
	lost, _ := number(o.Data["lost"])
	count, _ := number(o.Data["count"])
	switch {
	case status != "":
		when["opcode"] = "SEND"
		if write {
			when["opcode"] = "RDMA_WRITE"
		} else if strings.HasPrefix(o.Detail, "the receive") {
			when["opcode"] = "RECV"
		}
		return true, v.add(d, o, "ibv_poll_cq", when, rule{"wc_status": status})
	case write && o.Reason == probe.PayloadMismatch:
		when["opcode"] = "RDMA_WRITE"
		effect := rule{"deliver": false}
		if changed, _ := o.Data["changed"].(bool); changed {
			effect = rule{"wrong_every": 1}
		}
		return true, v.add(d, o, "ibv_post_send", when, effect)
	case o.Reason == probe.PayloadMismatch:
		when["opcode"] = "RECV"
		return true, v.add(d, o, "ibv_poll_cq", when, rule{"wrong_every": v.arrivedBefore(o) + 1})
	case o.Reason == probe.NoCompletion && lost > 0:
		every := max(1, (count+min(probe.WarmUp, count))/lost)
		return true, v.add(d, o, "ibv_poll_cq", when, rule{"lose_every": every})
	}
	return false, nil
}

// arrivedBefore is how many messages came back right before the wrong one that a
// row tells of, those of the sizes before it included. A row without any ended
// while it warmed up: which of those messages it was makes no difference.
func (v *deriving) arrivedBefore(o *probe.Observation) int64 {
	n := int64(0)
	for i := range v.rows {
		r := &v.rows[i]
		if r.Device != o.Device || r.ID != o.ID {
			continue
		}
		if verified, _ := number(r.Data["verified"]); verified > 0 {
			count, _ := number(r.Data["count"])
			n += min(probe.WarmUp, count) + verified
		}
		if r.Seq == o.Seq {
			break
		}
	}
	return n
}

// channel is a side channel that did not come up.
func (v *deriving) channel(o *probe.Observation) {
	if v.p.Channel == nil && o.Errno != nil {
		v.p.Channel = &channel{Errno: o.Errno.Name, ElapsedMS: o.DurationNS / 1e6}
	}
}

// peers describes the other end where it was not as this one.
func (v *deriving) peers() {
	for i := range v.rows {
		o := &v.rows[i]
		said, _ := o.Params["peer"].(map[string]any)
		if said == nil || v.p.Peer != nil {
			continue
		}
		at := slices.IndexFunc(v.doc.Devices, func(d probe.Device) bool { return d.Name == o.Device })
		if at < 0 {
			continue
		}
		if p := v.peer(o, said, &v.doc.Devices[at]); p != nil {
			v.p.Peer = p
		}
	}
	for i := range v.doc.Observations {
		o := &v.doc.Observations[i]
		if o.ID == "op.rdma_write" && o.Reason == probe.Precondition && strings.Contains(o.Detail, "rkey is 0") {
			if v.p.Peer == nil {
				v.p.Peer = &peer{}
			}
			v.p.Peer.RKey = new(uint32)
		}
	}
}

// peer is what a row says of the other end, nil where it is as this end.
func (v *deriving) peer(o *probe.Observation, said map[string]any, d *probe.Device) *peer {
	at := slices.IndexFunc(d.Ports, func(q probe.Port) bool { return q.Num == o.Port })
	if at < 0 {
		return nil
	}
	q, p, other := &d.Ports[at], &peer{}, false
	if name, _ := said["device"].(string); name != "" && name != d.Name {
		p.Device, other = name, true
	}
	if mtu, _ := number(said["active_mtu"]); mtu > 0 && int(mtu) != q.ActiveMTU {
		p.ActiveMTU, other = int(mtu), true
	}
	own, _ := o.Params["gid"].(string)
	if text, _ := said["gid"].(string); text != "" && text != own {
		p.GIDs, other = []gid{{GID: text, Type: typeOfGID(q, own)}}, true
	}
	if !other {
		return nil
	}
	return p
}

// typeOfGID is the type of the slot that holds an address: two ends that could
// talk have the same.
func typeOfGID(q *probe.Port, text string) string {
	for _, g := range q.GIDs {
		if g.GID == text {
			return g.Type
		}
	}
	return ""
}
