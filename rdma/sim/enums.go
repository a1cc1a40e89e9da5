package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// enum is the names of a C enumeration as profiles and documents spell them.
type enum []struct {
	name string
	n    int32
}

var (
	portStates = enum{{"nop", 0}, {"down", 1}, {"init", 2}, {"armed", 3}, {"active", 4}, {"active_defer", 5}}
	physStates = enum{{"sleep", 1}, {"polling", 2}, {"disabled", 3}, {"training", 4}, {"link_up", 5}, {"recovery", 6}, {"phy_test", 7}}
	linkLayers = enum{{"unspecified", 0}, {"infiniband", 1}, {"ethernet", 2}, {"thunderbolt", 100}}
	transports = enum{{"infiniband", 0}, {"iwarp", 1}, {"usnic", 2}, {"usnic_udp", 3}, {"unspecified", 4}, {"thunderbolt", 100}, {"unknown", -1}}
	nodeTypes  = enum{{"ca", 1}, {"switch", 2}, {"router", 3}, {"rnic", 4}, {"usnic", 5}, {"usnic_udp", 6}, {"unspecified", 7}, {"thunderbolt", 100}, {"unknown", -1}}
	atomicCaps = enum{{"none", 0}, {"hca", 1}, {"glob", 2}}
	gidTypes   = enum{{"ib", 0}, {"none", 0}, {"roce_v1", 1}, {"roce_v2", 2}}
	mtus       = enum{{"256", 1}, {"512", 2}, {"1024", 3}, {"2048", 4}, {"4096", 5}}
	qpTypes    = enum{{"RC", qptRC}, {"UC", qptUC}, {"UD", qptUD}}
	qpStates   = enum{{"RESET", qpsReset}, {"INIT", qpsInit}, {"RTR", qpsRTR}, {"RTS", qpsRTS}, {"SQD", qpsSQD}, {"SQE", qpsSQE}, {"ERR", qpsErr}}
	opcodes    = enum{{"RDMA_WRITE", 0}, {"RDMA_WRITE_WITH_IMM", 1}, {"SEND", 2}, {"SEND_WITH_IMM", 3}, {"RDMA_READ", 4}, {"RECV", opRecv}}
	wcStatuses = enum{
		{"SUCCESS", 0},
		{"LOC_LEN_ERR", 1},
		{"LOC_QP_OP_ERR", 2},
		{"LOC_EEC_OP_ERR", 3},
		{"LOC_PROT_ERR", 4},
		{"WR_FLUSH_ERR", 5},
		{"MW_BIND_ERR", 6},
		{"BAD_RESP_ERR", 7},
		{"LOC_ACCESS_ERR", 8},
		{"REM_INV_REQ_ERR", 9},
		{"REM_ACCESS_ERR", 10},
		{"REM_OP_ERR", 11},
		{"RETRY_EXC_ERR", 12},
		{"RNR_RETRY_EXC_ERR", 13},
		{"LOC_RDD_VIOL_ERR", 14},
		{"REM_INV_RD_REQ_ERR", 15},
		{"REM_ABORT_ERR", 16},
		{"INV_EECN_ERR", 17},
		{"INV_EEC_STATE_ERR", 18},
		{"FATAL_ERR", 19},
		{"RESP_TIMEOUT_ERR", 20},
		{"GENERAL_ERR", 21},
	}
	faults   = enum{{"crash", 1}, {"abort", 2}, {"exit", 3}, {"hang", 4}, {"hang_term", 5}, {"stuck", 6}, {"grandchild", 7}}
	memories = enum{{"heap", 0}, {"mmap", 1}}
)

func (e enum) names() string {
	s := make([]string, len(e))
	for i, row := range e {
		s[i] = row.name
	}
	return strings.Join(s, ", ")
}

// name is the first name of n, or unknown(n).
func (e enum) name(n int32) string {
	for _, row := range e {
		if row.n == n {
			return row.name
		}
	}
	return fmt.Sprintf("unknown(%d)", n)
}

// lookup also takes unknown(77), which is how documents keep numbers that have
// no name.
func (e enum) lookup(name string) (int32, error) {
	for _, row := range e {
		if row.name == name {
			return row.n, nil
		}
	}
	if digits, ok := strings.CutPrefix(name, "unknown("); ok {
		if n, err := strconv.ParseInt(strings.TrimSuffix(digits, ")"), 10, 32); err == nil {
			return int32(n), nil
		}
	}
	return 0, fmt.Errorf("unknown value %s; allowed: %s", printable([]byte(strconv.Quote(name))), e.names())
}

// decodeKnown reads a name and takes no unknown(77): for what only the
// simulator knows.
func (e enum) decodeKnown(b []byte, into *int32) error {
	if err := e.decode(b, into); err != nil {
		return err
	}
	if strings.Contains(string(b), "(") {
		return fmt.Errorf("must be one of %s, not %s", e.names(), printable(b))
	}
	return nil
}

// decode reads a name.
func (e enum) decode(b []byte, into *int32) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil || b[0] != '"' {
		return fmt.Errorf("must be one of %s, not %s", e.names(), printable(b))
	}
	n, err := e.lookup(s)
	*into = n
	return err
}

// PortState is enum ibv_port_state; in JSON nop, down, init, armed, active,
// active_defer.
type PortState int32

// UnmarshalJSON reads a name.
func (v *PortState) UnmarshalJSON(b []byte) error { return portStates.decode(b, (*int32)(v)) }

// PhysState is a port's physical state; in JSON sleep, polling, disabled,
// training, link_up, recovery, phy_test.
type PhysState int32

// UnmarshalJSON reads a name.
func (v *PhysState) UnmarshalJSON(b []byte) error { return physStates.decode(b, (*int32)(v)) }

// LinkLayer is a port's link layer; in JSON unspecified, infiniband, ethernet,
// thunderbolt.
type LinkLayer int32

// UnmarshalJSON reads a name.
func (v *LinkLayer) UnmarshalJSON(b []byte) error { return linkLayers.decode(b, (*int32)(v)) }

// Transport is enum ibv_transport_type with Apple's 100; in JSON infiniband,
// iwarp, usnic, usnic_udp, unspecified, thunderbolt, unknown.
type Transport int32

// UnmarshalJSON reads a name.
func (v *Transport) UnmarshalJSON(b []byte) error { return transports.decode(b, (*int32)(v)) }

// NodeType is enum ibv_node_type with Apple's 100; in JSON ca, switch, router,
// rnic, usnic, usnic_udp, unspecified, thunderbolt, unknown.
type NodeType int32

// UnmarshalJSON reads a name.
func (v *NodeType) UnmarshalJSON(b []byte) error { return nodeTypes.decode(b, (*int32)(v)) }

// GIDType is enum ibv_gid_type; in JSON ib, roce_v1, roce_v2, none.
type GIDType int32

// UnmarshalJSON reads a name.
func (v *GIDType) UnmarshalJSON(b []byte) error { return gidTypes.decode(b, (*int32)(v)) }

// MTU is enum ibv_mtu; in JSON the number of bytes.
type MTU int32

// UnmarshalJSON reads a number of bytes.
func (v *MTU) UnmarshalJSON(b []byte) error {
	n, err := mtus.lookup(string(b))
	if err != nil {
		return fmt.Errorf("must be one of %s, not %s", mtus.names(), printable(b))
	}
	*v = MTU(n)
	return nil
}

// Bytes is the MTU in bytes; 0 for a value that is none.
func (v MTU) Bytes() int {
	if v < 1 || v > 5 {
		return 0
	}
	return 128 << v
}

// StateStep is one answer of a port that changes: STATE or STATE/PHYS_STATE.
type StateStep struct {
	State PortState
	Phys  *PhysState // nil: the one that goes with the state
}

// UnmarshalJSON reads "down" or "down/polling".
func (v *StateStep) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("must be STATE or STATE/PHYS_STATE, not %s", printable(b))
	}
	state, phys, both := strings.Cut(s, "/")
	n, err := portStates.lookup(state)
	if err != nil {
		return err
	}
	v.State = PortState(n)
	if both {
		n, err := physStates.lookup(phys)
		if err != nil {
			return err
		}
		p := PhysState(n)
		v.Phys = &p
	}
	return nil
}

// GUID is a node GUID in network order; in JSON 0000:5eff:fe00:5301.
type GUID [8]byte

var errGUID = errors.New("must be a GUID of four groups, as 0000:5eff:fe00:5301")

// UnmarshalJSON reads four groups of four hexadecimal digits.
func (g *GUID) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errGUID
	}
	groups := strings.Split(s, ":")
	if len(groups) != 4 {
		return errGUID
	}
	for i, group := range groups {
		n, err := strconv.ParseUint(group, 16, 16)
		if err != nil || len(group) != 4 {
			return errGUID
		}
		g[2*i], g[2*i+1] = byte(n>>8), byte(n)
	}
	return nil
}

// RawGID is a GID in network order; in JSON an IPv6 address, as
// fe80::200:5eff:fe00:5301 or ::ffff:192.0.2.1.
type RawGID [16]byte

// UnmarshalJSON reads an IPv6 address without a zone.
func (g *RawGID) UnmarshalJSON(b []byte) error {
	var s string
	err := json.Unmarshal(b, &s)
	if err == nil {
		var a netip.Addr
		if a, err = netip.ParseAddr(s); err == nil && a.Is6() && a.Zone() == "" {
			*g = a.As16()
			return nil
		}
	}
	return fmt.Errorf("must be an IPv6 address, as fe80::200:5eff:fe00:5301 or ::ffff:192.0.2.1, not %s", printable(b))
}

// number is a whole number: 4096, -12, "0x2401" or "16384000". Bits holds it in
// two's complement.
type number struct {
	bits     uint64
	negative bool
}

// UnmarshalJSON reads a JSON number, or a text in decimal or hexadecimal: JSON
// readers round numbers above 2^53.
func (v *number) UnmarshalJSON(b []byte) error {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
	}
	if strings.HasPrefix(s, "-") {
		n, err := strconv.ParseInt(s, 0, 64)
		*v = number{uint64(n), true}
		return numberError(b, err)
	}
	n, err := strconv.ParseUint(s, 0, 64)
	*v = number{n, false}
	return numberError(b, err)
}

func numberError(b []byte, err error) error {
	if err != nil {
		return fmt.Errorf("must be a whole number, or one in text as \"0x2401\", not %s", printable(b))
	}
	return nil
}

// fits says whether the number can be stored in size bytes, signed or not.
func (v number) fits(size uintptr) bool {
	bits := 8 * size
	if v.negative {
		return int64(v.bits) >= -1<<(bits-1)
	}
	return bits == 64 || v.bits < 1<<bits
}
