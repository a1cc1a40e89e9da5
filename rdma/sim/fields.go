package sim

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// field is one field of a C struct that a profile can fill. Offsets are those of
// infiniband/verbs.h on LP64 systems, written down here and not taken from
// package rdma, so that the two check each other.
type field struct {
	name   string
	offset uintptr
	size   uintptr
	names  enum // words that stand for values; nil: numbers only
	kind   fieldKind
}

type fieldKind uint8

const (
	fieldNumber fieldKind = iota
	fieldGUID             // 8 bytes in network order
	fieldText             // a char array
	fieldGID              // 16 bytes in network order
)

type fieldTable []field

// deviceFields is struct ibv_device_attr, 232 bytes.
var deviceFields = fieldTable{
	{name: "fw_ver", offset: 0, size: 64, kind: fieldText},
	{name: "node_guid", offset: 64, size: 8, kind: fieldGUID},
	{name: "sys_image_guid", offset: 72, size: 8, kind: fieldGUID},
	{name: "max_mr_size", offset: 80, size: 8},
	{name: "page_size_cap", offset: 88, size: 8},
	{name: "vendor_id", offset: 96, size: 4},
	{name: "vendor_part_id", offset: 100, size: 4},
	{name: "hw_ver", offset: 104, size: 4},
	{name: "max_qp", offset: 108, size: 4},
	{name: "max_qp_wr", offset: 112, size: 4},
	{name: "device_cap_flags", offset: 116, size: 4},
	{name: "max_sge", offset: 120, size: 4},
	{name: "max_sge_rd", offset: 124, size: 4},
	{name: "max_cq", offset: 128, size: 4},
	{name: "max_cqe", offset: 132, size: 4},
	{name: "max_mr", offset: 136, size: 4},
	{name: "max_pd", offset: 140, size: 4},
	{name: "max_qp_rd_atom", offset: 144, size: 4},
	{name: "max_ee_rd_atom", offset: 148, size: 4},
	{name: "max_res_rd_atom", offset: 152, size: 4},
	{name: "max_qp_init_rd_atom", offset: 156, size: 4},
	{name: "max_ee_init_rd_atom", offset: 160, size: 4},
	{name: "atomic_cap", offset: 164, size: 4, names: atomicCaps},
	{name: "max_ee", offset: 168, size: 4},
	{name: "max_rdd", offset: 172, size: 4},
	{name: "max_mw", offset: 176, size: 4},
	{name: "max_raw_ipv6_qp", offset: 180, size: 4},
	{name: "max_raw_ethy_qp", offset: 184, size: 4},
	{name: "max_mcast_grp", offset: 188, size: 4},
	{name: "max_mcast_qp_attach", offset: 192, size: 4},
	{name: "max_total_mcast_qp_attach", offset: 196, size: 4},
	{name: "max_ah", offset: 200, size: 4},
	{name: "max_fmr", offset: 204, size: 4},
	{name: "max_map_per_fmr", offset: 208, size: 4},
	{name: "max_srq", offset: 212, size: 4},
	{name: "max_srq_wr", offset: 216, size: 4},
	{name: "max_srq_sge", offset: 220, size: 4},
	{name: "max_pkeys", offset: 224, size: 2},
	{name: "local_ca_ack_delay", offset: 226, size: 1},
	{name: "phys_port_cnt", offset: 227, size: 1},
}

// portFields is struct ibv_port_attr as the exported ibv_query_port knows it:
// its first 48 bytes. rdma-core fills the rest elsewhere.
var portFields = fieldTable{
	{name: "state", offset: 0, size: 4, names: portStates},
	{name: "max_mtu", offset: 4, size: 4},
	{name: "active_mtu", offset: 8, size: 4},
	{name: "gid_tbl_len", offset: 12, size: 4},
	{name: "port_cap_flags", offset: 16, size: 4},
	{name: "max_msg_sz", offset: 20, size: 4},
	{name: "bad_pkey_cntr", offset: 24, size: 4},
	{name: "qkey_viol_cntr", offset: 28, size: 4},
	{name: "pkey_tbl_len", offset: 32, size: 2},
	{name: "lid", offset: 34, size: 2},
	{name: "sm_lid", offset: 36, size: 2},
	{name: "lmc", offset: 38, size: 1},
	{name: "max_vl_num", offset: 39, size: 1},
	{name: "sm_sl", offset: 40, size: 1},
	{name: "subnet_timeout", offset: 41, size: 1},
	{name: "init_type_reply", offset: 42, size: 1},
	{name: "active_width", offset: 43, size: 1},
	{name: "active_speed", offset: 44, size: 1},
	{name: "phys_state", offset: 45, size: 1, names: physStates},
	{name: "link_layer", offset: 46, size: 1, names: linkLayers},
	{name: "flags", offset: 47, size: 1},
}

// capFields is struct ibv_qp_cap.
var capFields = fieldTable{
	{name: "max_send_wr", offset: 0, size: 4},
	{name: "max_recv_wr", offset: 4, size: 4},
	{name: "max_send_sge", offset: 8, size: 4},
	{name: "max_recv_sge", offset: 12, size: 4},
	{name: "max_inline_data", offset: 16, size: 4},
}

// gidFields is union ibv_gid, and gidEntryFields struct ibv_gid_entry, which begins
// with one.
var (
	gidFields      = fieldTable{{name: "gid", offset: 0, size: 16, kind: fieldGID}}
	gidEntryFields = fieldTable{
		{name: "gid", offset: 0, size: 16, kind: fieldGID},
		{name: "gid_index", offset: 16, size: 4},
		{name: "port_num", offset: 20, size: 4},
		{name: "gid_type", offset: 24, size: 4, names: gidTypes},
		{name: "ndev_ifindex", offset: 28, size: 4},
	}
)

// The numbers that the list and a completion queue report of themselves.
var (
	listFields = fieldTable{{name: "num_devices", offset: 0, size: 4}}
	cqFields   = fieldTable{{name: "cqe", offset: 0, size: 4}}
)

// Sizes of the images that the tables fill.
const (
	deviceAttrSize = 232
	portAttrSize   = 48
)

// fieldValue is a value that a profile gives to a field.
type fieldValue struct {
	field field
	bytes []byte // of the field's size, in the machine's order; all machines we build for are little-endian
}

// put writes the value into the image of its struct.
func (v fieldValue) put(image []byte) {
	copy(image[v.field.offset:v.field.offset+v.field.size], v.bytes)
}

func (t fieldTable) names() string {
	s := make([]string, len(t))
	for i, f := range t {
		s[i] = f.name
	}
	return strings.Join(s, ", ")
}

func (t fieldTable) find(name string) (field, bool) {
	for _, f := range t {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// decode reads the value of a field from JSON.
func (f field) decode(raw []byte) (fieldValue, error) {
	v := fieldValue{field: f, bytes: make([]byte, f.size)}
	switch f.kind {
	case fieldText:
		var s string
		if err := json.Unmarshal(raw, &s); err != nil || uintptr(len(s)) >= f.size {
			return v, fmt.Errorf("must be a text of at most %d bytes, not %s", f.size-1, printable(raw))
		}
		copy(v.bytes, s)
		return v, nil
	case fieldGUID:
		var g GUID
		if err := g.UnmarshalJSON(raw); err != nil {
			return v, err
		}
		copy(v.bytes, g[:])
		return v, nil
	case fieldGID:
		var g RawGID
		if err := g.UnmarshalJSON(raw); err != nil {
			return v, err
		}
		copy(v.bytes, g[:])
		return v, nil
	}
	n, err := f.number(raw)
	if err != nil {
		return v, err
	}
	if !n.fits(f.size) {
		return v, fmt.Errorf("%s does not fit into %d bits", printable(raw), 8*f.size)
	}
	full := binary.LittleEndian.AppendUint64(nil, n.bits)
	copy(v.bytes, full)
	return v, nil
}

// number reads a number, or the word for one.
func (f field) number(raw []byte) (number, error) {
	var n number
	err := n.UnmarshalJSON(raw)
	if err == nil || f.names == nil || raw[0] != '"' {
		return n, err
	}
	var word string
	if err := json.Unmarshal(raw, &word); err != nil {
		return n, errors.New("must be a number or a word")
	}
	value, err := f.names.lookup(word)
	return number{bits: uint64(uint32(value))}, err
}

// set writes n into the field name of image.
func (t fieldTable) set(image []byte, name string, n uint64) {
	f, ok := t.find(name)
	if !ok {
		panic("sim: no field " + name)
	}
	full := binary.LittleEndian.AppendUint64(nil, n)
	copy(image[f.offset:f.offset+f.size], full)
}

// get reads the field name of image as an unsigned number.
func (t fieldTable) get(image []byte, name string) uint64 {
	f, ok := t.find(name)
	if !ok {
		panic("sim: no field " + name)
	}
	var full [8]byte
	copy(full[:], image[f.offset:f.offset+f.size])
	return binary.LittleEndian.Uint64(full[:])
}
