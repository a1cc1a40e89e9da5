package sim

import "slices"

// liveKeys are the keys of attr that count what other processes hold.
var liveKeys = []string{"live_qp", "live_mr", "live_pd", "live_cq"}

// attrDefaults are the numbers of struct ibv_device_attr by transport.
//
// Thunderbolt: values that public reports agree on (11 queue pairs, 100 regions,
// one SGE, no SRQ, no atomics) and the limits of Apple's TN3205 (4095 work
// requests); page_size_cap is not known and is the page of Apple silicon.
// Others: those of Linux Soft-RoCE (drivers/infiniband/sw/rxe/rxe_param.h).
var (
	thunderboltAttr = map[string]uint64{
		"max_mr_size": 16384000, "page_size_cap": 16384, "max_qp": 11, "max_qp_wr": 4095, "max_sge": 1, "max_sge_rd": 1,
		"max_cq": 11, "max_cqe": 4096, "max_mr": 100, "max_pd": 11, "max_pkeys": 1,
	}
	otherAttr = map[string]uint64{
		"max_mr_size": 1<<64 - 1, "page_size_cap": 0xfffff000, "max_qp": 1048560, "max_qp_wr": 1048576, "max_sge": 32, "max_sge_rd": 32,
		"max_cq": 1048576, "max_cqe": 32767, "max_mr": 524287, "max_pd": 1048576, "max_qp_rd_atom": 128, "max_res_rd_atom": 258048,
		"max_qp_init_rd_atom": 128, "atomic_cap": 1, "max_mcast_grp": 8192, "max_mcast_qp_attach": 56, "max_total_mcast_qp_attach": 458752,
		"max_ah": 32767, "max_mw": 524287, "max_srq": 917503, "max_srq_wr": 32768, "max_srq_sge": 27, "max_pkeys": 64,
		"local_ca_ack_delay": 15,
	}
)

// resolveAttr makes the image of struct ibv_device_attr.
func (d *Device) resolveAttr(n *node) error {
	d.image = make([]byte, deviceAttrSize)
	defaults := otherAttr
	if *d.Transport == transportThunderbolt {
		defaults = thunderboltAttr
	}
	for name, v := range defaults {
		deviceFields.set(d.image, name, v)
	}
	for _, name := range []string{"node_guid", "sys_image_guid"} {
		f, _ := deviceFields.find(name)
		fieldValue{field: f, bytes: d.NodeGUID[:]}.put(d.image)
	}
	deviceFields.set(d.image, "phys_port_cnt", uint64(len(d.Ports)))
	d.live = map[string]int64{}
	for _, key := range liveKeys {
		m := n.member(key)
		if m == nil {
			continue
		}
		var v number
		if err := v.UnmarshalJSON(m.raw); err != nil || v.negative || !v.fits(4) {
			return m.errorf("must be a whole number from 0, not %s", m.describe())
		}
		d.live[key] = int64(v.bits)
	}
	for _, m := range n.fields() {
		if _, ok := deviceFields.find(m.key); !ok && !slices.Contains(liveKeys, m.key) {
			return &ParseError{Line: m.line, Key: m.node.path, Text: "unknown field; allowed: " + deviceFields.names() + ", live_qp, live_mr, live_pd, live_cq"}
		}
	}
	return deviceFields.override(n, d.image, liveKeys...)
}

// resolveAttr makes the image of struct ibv_port_attr. The numbers that a profile
// leaves out are those of a Thunderbolt 5 link in Apple's TN3205 (8X at 10 Gb/s)
// and of Soft-RoCE (1X at 2.5 Gb/s).
func (q *Port) resolveAttr(n *node, transport Transport) error {
	q.image = make([]byte, portAttrSize)
	if q.MaxMTU == 0 {
		q.MaxMTU = 5
	}
	if q.ActiveMTU == 0 {
		q.ActiveMTU = q.MaxMTU
	}
	defaults := map[string]uint64{
		"max_mtu": uint64(q.MaxMTU), "active_mtu": uint64(q.ActiveMTU), "gid_tbl_len": maxGIDIndex + 1, "max_msg_sz": 0x80000000,
		"pkey_tbl_len": 1, "lid": uint64(q.LID), "sm_lid": uint64(q.SMLID), "active_width": 1, "active_speed": 1,
		"link_layer": uint64(uint8(q.LinkLayer)), "max_vl_num": 1,
	}
	if transport == transportThunderbolt {
		defaults["max_msg_sz"], defaults["active_width"], defaults["active_speed"] = 0x1000000, 4, 4
	}
	for name, v := range defaults {
		portFields.set(q.image, name, v)
	}
	if len(q.States) == 0 {
		q.States = []StateStep{{State: *q.State, Phys: q.PhysState}}
	}
	for _, m := range n.fields() {
		if f, ok := portFields.find(m.key); ok && f.offset < 4 || m.key == "phys_state" {
			return m.node.errorf("stands beside attr, as the port's own key")
		}
	}
	return portFields.override(n, q.image)
}

// phys is the physical state of a step: its own, the port's, or what goes with
// the logical state.
func (q *Port) phys(s StateStep) PhysState {
	switch {
	case s.Phys != nil:
		return *s.Phys
	case q.PhysState != nil:
		return *q.PhysState
	case s.State >= 2:
		return physLinkUp
	}
	return physDown
}
