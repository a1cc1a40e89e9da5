package probe

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"rdmaprobe/probe/peer"
	"rdmaprobe/rdma"
)

// dataRequest is what transition and data probes need beside the request.
type dataRequest struct {
	Type       qpType `json:"type"`
	Sizes      []int  `json:"sizes,omitempty"` // bytes of a message
	Iterations int    `json:"iterations,omitempty"`
	GIDIndex   int    `json:"gid_index"`             // of this end; -1: addressed by LID
	GID        string `json:"gid,omitempty"`         // what that entry held when it was chosen
	GIDWhy     string `json:"gid_why,omitempty"`     // why it was chosen
	LossNS     int64  `json:"loss_ns,omitempty"`     // a message not back after this is lost
	PeerDevice string `json:"peer_device,omitempty"` // the other end, on this machine
	PeerPort   int    `json:"peer_port,omitempty"`
	PeerGID    int    `json:"peer_gid,omitempty"` // index at that end

	Task      string         `json:"task,omitempty"`       // what the connection is for
	Remote    string         `json:"remote,omitempty"`     // the other end is on another host, and how it is reached
	Server    bool           `json:"server,omitempty"`     // this is the end that answers
	Early     []byte         `json:"early,omitempty"`      // what its parent has read from the connection already
	PathProof map[string]any `json:"path_proof,omitempty"` // that the path to it is open
}

// What a connection is for, in the words of the control protocol.
const (
	taskRTR      = "rtr"
	taskPingpong = "pingpong"
	taskWrite    = "write"
)

// endpoint is what one end must know of a queue pair at the other: what the control
// protocol says of it.
type endpoint peer.Endpoint

// params is how rows tell of the other end.
func (e endpoint) params() map[string]any {
	p := map[string]any{"qp_num": e.QPN, "active_mtu": e.MTU}
	if e.GID != "" {
		p["gid"] = e.GID
	}
	if e.LID != 0 {
		p["lid"] = e.LID
	}
	if e.Device != "" {
		p["device"] = e.Device
	}
	return p
}

// newPSN is a random 24-bit packet sequence number.
func newPSN() uint32 {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint32(b[:]) & 0xffffff
}

// portOf queries the port that a queue pair of a context uses.
func portOf(ctx rdma.RDMAContext, num int) (Port, error) {
	var a rdma.IbvPortAttr
	if _, err := rdma.IbvQueryPortAttr(ctx, uint8(num), &a); err != nil {
		return Port{}, fmt.Errorf("query port %d: %w", num, err)
	}
	return port(num, &a), nil
}

// readGID reads one entry of a GID table again, just before it is used.
func readGID(ctx rdma.RDMAContext, port, index int) (string, error) {
	var raw rdma.IbvGID
	if _, err := rdma.IbvQueryGidInto(ctx, uint8(port), index, &raw); err != nil {
		return "", fmt.Errorf("read GID %d: %w", index, err)
	}
	if raw == (rdma.IbvGID{}) {
		return "", fmt.Errorf("GID table entry %d is empty", index)
	}
	return netip.AddrFrom16(raw).String(), nil
}

// hopLimit of a global route: Thunderbolt links are point to point (TN3205 sets
// 1), RoCE v2 packets may be routed.
func hopLimit(thunderbolt bool) uint8 {
	if thunderbolt {
		return 1
	}
	return 64
}

// rtrAttr is the transition to ready-to-receive towards peer.
func (s *session) rtrAttr(t qpType, num, gidIndex, mtu int, peer endpoint) (*rdma.IbvQPAttr, int, error) {
	attr := &rdma.IbvQPAttr{
		QPState: rdma.IBV_QPS_RTR, PathMTU: rdma.MTUEnum(mtu), DestQPNum: peer.QPN, RQPSN: peer.PSN,
		AHAttr: rdma.IbvAHAttr{DLID: uint16(peer.LID), PortNum: uint8(num)},
	}
	if gidIndex >= 0 {
		if peer.GID == "" {
			return nil, 0, errors.New("the peer has no GID by which this end could address it")
		}
		addr, err := netip.ParseAddr(peer.GID)
		if err != nil {
			return nil, 0, fmt.Errorf("the peer's GID %.60q: %w", peer.GID, err)
		}
		attr.AHAttr.IsGlobal = 1
		attr.AHAttr.GRH = rdma.IbvGlobalRoute{DGID: addr.As16(), SGIDIndex: uint8(gidIndex), HopLimit: hopLimit(s.thunderbolt())}
	}
	mask := rdma.IBV_QP_STATE | rdma.IBV_QP_AV | rdma.IBV_QP_PATH_MTU | rdma.IBV_QP_DEST_QPN | rdma.IBV_QP_RQ_PSN
	if t == qpRC {
		attr.MaxDestRDAtomic, attr.MinRNRTimer = 1, 12
		mask |= rdma.IBV_QP_MAX_DEST_RD_ATOMIC | rdma.IBV_QP_MIN_RNR_TIMER
	}
	return attr, mask, nil
}

// rtsAttr is the transition to ready-to-send. RC's timeout is 4.096 us times
// 2^14, 67 ms, and with seven retries a message fails after about half a second.
func rtsAttr(t qpType, psn uint32) (*rdma.IbvQPAttr, int) {
	attr := &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_RTS, SQPSN: psn}
	mask := rdma.IBV_QP_STATE | rdma.IBV_QP_SQ_PSN
	if t == qpRC {
		attr.Timeout, attr.RetryCnt, attr.RNRetry, attr.MaxRDAtomic = 14, 7, 6, 1
		mask |= rdma.IBV_QP_TIMEOUT | rdma.IBV_QP_RETRY_CNT | rdma.IBV_QP_RNR_RETRY | rdma.IBV_QP_MAX_QP_RD_ATOMIC
	}
	return attr, mask
}
