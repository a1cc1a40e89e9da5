package probe

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"rdmaprobe/rdma"
)

// guidText prints a GUID as ibv_devinfo does: 0000:5eff:fe00:5301. A zero GUID
// is an absent one.
func guidText(g uint64) string {
	if g == 0 {
		return ""
	}
	return fmt.Sprintf("%04x:%04x:%04x:%04x", g>>48, g>>32&0xffff, g>>16&0xffff, g&0xffff)
}

// hostGUID is a GUID as the attributes hold it, in network order.
func hostGUID(b [8]byte) uint64 { return binary.BigEndian.Uint64(b[:]) }

// guidAlways is guidText for fields that are always there.
func guidAlways(g uint64) string {
	if g == 0 {
		return "0000:0000:0000:0000"
	}
	return guidText(g)
}

// deviceAttr copies struct ibv_device_attr into the document's form.
func deviceAttr(a *rdma.IbvDeviceAttr) *DeviceAttr {
	fw, _, _ := strings.Cut(string(a.FWVer[:]), "\x00")
	return &DeviceAttr{
		FWVer: strings.ToValidUTF8(fw, "\ufffd"), NodeGUID: guidAlways(hostGUID(a.NodeGUID)), SysImageGUID: guidAlways(hostGUID(a.SysImageGUID)),
		MaxMRSize: a.MaxMRSize, PageSizeCap: a.PageSizeCap, VendorID: a.VendorID, VendorPartID: a.VendorPartID, HWVer: a.HWVer,
		MaxQP: a.MaxQP, MaxQPWR: a.MaxQPWR, DeviceCapFlags: a.DeviceCapFlags, MaxSGE: a.MaxSGE, MaxSGERd: a.MaxSGERd,
		MaxCQ: a.MaxCQ, MaxCQE: a.MaxCQE, MaxMR: a.MaxMR, MaxPD: a.MaxPD,
		MaxQPRdAtom: a.MaxQPRdAtom, MaxEERdAtom: a.MaxEERdAtom, MaxResRdAtom: a.MaxResRdAtom,
		MaxQPInitRdAtom: a.MaxQPInitRdAtom, MaxEEInitRdAtom: a.MaxEEInitRdAtom, AtomicCap: rdma.AtomicCapName(a.AtomicCap),
		MaxEE: a.MaxEE, MaxRDD: a.MaxRDD, MaxMW: a.MaxMW, MaxRawIPv6QP: a.MaxRawIPv6QP, MaxRawEthyQP: a.MaxRawEthyQP,
		MaxMcastGrp: a.MaxMcastGrp, MaxMcastQPAttach: a.MaxMcastQPAttach, MaxTotalMcastQPAttach: a.MaxTotalMcastQPAttach,
		MaxAH: a.MaxAH, MaxFMR: a.MaxFMR, MaxMapPerFMR: a.MaxMapPerFMR, MaxSRQ: a.MaxSRQ, MaxSRQWR: a.MaxSRQWR, MaxSRQSGE: a.MaxSRQSGE,
		MaxPKeys: a.MaxPKeys, LocalCAAckDelay: a.LocalCAAckDelay, PhysPortCnt: a.PhysPortCnt,
	}
}

// port copies struct ibv_port_attr into the document's form.
func port(num int, a *rdma.IbvPortAttr) Port {
	lid, smLID := int(a.LID), int(a.SMLID)
	p := Port{
		Num: num, State: rdma.PortStateName(a.State), PhysState: rdma.PhysStateName(a.PhysState), LinkLayer: rdma.LinkLayerName(a.LinkLayer),
		MaxMTU: rdma.MTUBytes(a.MaxMTU), ActiveMTU: rdma.MTUBytes(a.ActiveMTU), LID: &lid, SMLID: &smLID, MaxMsgSz: a.MaxMsgSz,
		Speed: rdma.LinkSpeedGbps(a.ActiveWidth, a.ActiveSpeed), Addressing: "gid",
		Attr: &PortAttr{
			State: a.State, MaxMTU: a.MaxMTU, ActiveMTU: a.ActiveMTU, GIDTblLen: a.GIDTblLen, PortCapFlags: a.PortCapFlags,
			MaxMsgSz: a.MaxMsgSz, BadPKeyCntr: a.BadPKeyCntr, QKeyViolCntr: a.QKeyViolCntr, PKeyTblLen: a.PKeyTblLen, LID: a.LID,
			SMLID: a.SMLID, LMC: a.LMC, MaxVLNum: a.MaxVLNum, SMSL: a.SMSL, SubnetTimeout: a.SubnetTimeout, InitTypeReply: a.InitTypeReply,
			ActiveWidth: a.ActiveWidth, ActiveSpeed: a.ActiveSpeed, PhysState: a.PhysState, LinkLayer: a.LinkLayer, Flags: a.Flags,
			PortCapFlags2: a.PortCapFlags2,
		},
	}
	if a.LinkLayer == rdma.IBV_LINK_LAYER_INFINIBAND {
		p.Addressing = "lid"
	}
	return p
}

// gidClass says what kind of address a GID holds.
func gidClass(a netip.Addr) string {
	switch {
	case a.Is4In6():
		return "ipv4_mapped"
	case a.IsLinkLocalUnicast():
		return "link_local"
	}
	return "global"
}

// gidAddr reads the text of a GID in a document.
func gidAddr(g GID) netip.Addr {
	a, err := netip.ParseAddr(g.GID)
	if err != nil {
		return netip.Addr{}
	}
	return a
}
