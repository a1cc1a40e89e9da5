package rdma

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"rdmaprobe/rdma/internal/abi"
)

// layoutRow is one struct, or one field of the struct above it. golden is what
// Apple's SDK header and rdma-core's say on LP64. Behind a pthread_mutex_t,
// whose size is the only difference between systems, it counts without the mutex.
type layoutRow struct {
	c      string
	golden uintptr
	behind bool // a mutex lies before it
	actual uintptr
}

var layout = []layoutRow{
	{"union ibv_gid", 16, false, unsafe.Sizeof(IbvGID{})},
	{"struct ibv_global_route", 24, false, unsafe.Sizeof(IbvGlobalRoute{})},
	{"dgid", 0, false, unsafe.Offsetof(IbvGlobalRoute{}.DGID)},
	{"flow_label", 16, false, unsafe.Offsetof(IbvGlobalRoute{}.FlowLabel)},
	{"sgid_index", 20, false, unsafe.Offsetof(IbvGlobalRoute{}.SGIDIndex)},
	{"hop_limit", 21, false, unsafe.Offsetof(IbvGlobalRoute{}.HopLimit)},
	{"traffic_class", 22, false, unsafe.Offsetof(IbvGlobalRoute{}.TrafficClass)},
	{"struct ibv_ah_attr", 32, false, unsafe.Sizeof(IbvAHAttr{})},
	{"grh", 0, false, unsafe.Offsetof(IbvAHAttr{}.GRH)},
	{"dlid", 24, false, unsafe.Offsetof(IbvAHAttr{}.DLID)},
	{"sl", 26, false, unsafe.Offsetof(IbvAHAttr{}.SL)},
	{"src_path_bits", 27, false, unsafe.Offsetof(IbvAHAttr{}.SrcPathBits)},
	{"static_rate", 28, false, unsafe.Offsetof(IbvAHAttr{}.StaticRate)},
	{"is_global", 29, false, unsafe.Offsetof(IbvAHAttr{}.IsGlobal)},
	{"port_num", 30, false, unsafe.Offsetof(IbvAHAttr{}.PortNum)},
	{"struct ibv_port_attr", 52, false, unsafe.Sizeof(IbvPortAttr{})},
	{"state", 0, false, unsafe.Offsetof(IbvPortAttr{}.State)},
	{"max_mtu", 4, false, unsafe.Offsetof(IbvPortAttr{}.MaxMTU)},
	{"active_mtu", 8, false, unsafe.Offsetof(IbvPortAttr{}.ActiveMTU)},
	{"gid_tbl_len", 12, false, unsafe.Offsetof(IbvPortAttr{}.GIDTblLen)},
	{"port_cap_flags", 16, false, unsafe.Offsetof(IbvPortAttr{}.PortCapFlags)},
	{"max_msg_sz", 20, false, unsafe.Offsetof(IbvPortAttr{}.MaxMsgSz)},
	{"bad_pkey_cntr", 24, false, unsafe.Offsetof(IbvPortAttr{}.BadPKeyCntr)},
	{"qkey_viol_cntr", 28, false, unsafe.Offsetof(IbvPortAttr{}.QKeyViolCntr)},
	{"pkey_tbl_len", 32, false, unsafe.Offsetof(IbvPortAttr{}.PKeyTblLen)},
	{"lid", 34, false, unsafe.Offsetof(IbvPortAttr{}.LID)},
	{"sm_lid", 36, false, unsafe.Offsetof(IbvPortAttr{}.SMLID)},
	{"lmc", 38, false, unsafe.Offsetof(IbvPortAttr{}.LMC)},
	{"max_vl_num", 39, false, unsafe.Offsetof(IbvPortAttr{}.MaxVLNum)},
	{"sm_sl", 40, false, unsafe.Offsetof(IbvPortAttr{}.SMSL)},
	{"subnet_timeout", 41, false, unsafe.Offsetof(IbvPortAttr{}.SubnetTimeout)},
	{"init_type_reply", 42, false, unsafe.Offsetof(IbvPortAttr{}.InitTypeReply)},
	{"active_width", 43, false, unsafe.Offsetof(IbvPortAttr{}.ActiveWidth)},
	{"active_speed", 44, false, unsafe.Offsetof(IbvPortAttr{}.ActiveSpeed)},
	{"phys_state", 45, false, unsafe.Offsetof(IbvPortAttr{}.PhysState)},
	{"link_layer", 46, false, unsafe.Offsetof(IbvPortAttr{}.LinkLayer)},
	{"flags", 47, false, unsafe.Offsetof(IbvPortAttr{}.Flags)},
	{"port_cap_flags2", 48, false, unsafe.Offsetof(IbvPortAttr{}.PortCapFlags2)},
	{"struct ibv_device_attr", 232, false, unsafe.Sizeof(IbvDeviceAttr{})},
	{"fw_ver", 0, false, unsafe.Offsetof(IbvDeviceAttr{}.FWVer)},
	{"node_guid", 64, false, unsafe.Offsetof(IbvDeviceAttr{}.NodeGUID)},
	{"sys_image_guid", 72, false, unsafe.Offsetof(IbvDeviceAttr{}.SysImageGUID)},
	{"max_mr_size", 80, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxMRSize)},
	{"page_size_cap", 88, false, unsafe.Offsetof(IbvDeviceAttr{}.PageSizeCap)},
	{"vendor_id", 96, false, unsafe.Offsetof(IbvDeviceAttr{}.VendorID)},
	{"vendor_part_id", 100, false, unsafe.Offsetof(IbvDeviceAttr{}.VendorPartID)},
	{"hw_ver", 104, false, unsafe.Offsetof(IbvDeviceAttr{}.HWVer)},
	{"max_qp", 108, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxQP)},
	{"max_qp_wr", 112, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxQPWR)},
	{"device_cap_flags", 116, false, unsafe.Offsetof(IbvDeviceAttr{}.DeviceCapFlags)},
	{"max_sge", 120, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxSGE)},
	{"max_sge_rd", 124, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxSGERd)},
	{"max_cq", 128, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxCQ)},
	{"max_cqe", 132, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxCQE)},
	{"max_mr", 136, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxMR)},
	{"max_pd", 140, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxPD)},
	{"max_qp_rd_atom", 144, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxQPRdAtom)},
	{"max_ee_rd_atom", 148, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxEERdAtom)},
	{"max_res_rd_atom", 152, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxResRdAtom)},
	{"max_qp_init_rd_atom", 156, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxQPInitRdAtom)},
	{"max_ee_init_rd_atom", 160, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxEEInitRdAtom)},
	{"atomic_cap", 164, false, unsafe.Offsetof(IbvDeviceAttr{}.AtomicCap)},
	{"max_ee", 168, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxEE)},
	{"max_rdd", 172, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxRDD)},
	{"max_mw", 176, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxMW)},
	{"max_raw_ipv6_qp", 180, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxRawIPv6QP)},
	{"max_raw_ethy_qp", 184, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxRawEthyQP)},
	{"max_mcast_grp", 188, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxMcastGrp)},
	{"max_mcast_qp_attach", 192, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxMcastQPAttach)},
	{"max_total_mcast_qp_attach", 196, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxTotalMcastQPAttach)},
	{"max_ah", 200, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxAH)},
	{"max_fmr", 204, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxFMR)},
	{"max_map_per_fmr", 208, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxMapPerFMR)},
	{"max_srq", 212, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxSRQ)},
	{"max_srq_wr", 216, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxSRQWR)},
	{"max_srq_sge", 220, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxSRQSGE)},
	{"max_pkeys", 224, false, unsafe.Offsetof(IbvDeviceAttr{}.MaxPKeys)},
	{"local_ca_ack_delay", 226, false, unsafe.Offsetof(IbvDeviceAttr{}.LocalCAAckDelay)},
	{"phys_port_cnt", 227, false, unsafe.Offsetof(IbvDeviceAttr{}.PhysPortCnt)},
	{"struct ibv_gid_entry", 32, false, unsafe.Sizeof(IbvGIDEntry{})},
	{"gid", 0, false, unsafe.Offsetof(IbvGIDEntry{}.GID)},
	{"gid_index", 16, false, unsafe.Offsetof(IbvGIDEntry{}.GIDIndex)},
	{"port_num", 20, false, unsafe.Offsetof(IbvGIDEntry{}.PortNum)},
	{"gid_type", 24, false, unsafe.Offsetof(IbvGIDEntry{}.GIDType)},
	{"ndev_ifindex", 28, false, unsafe.Offsetof(IbvGIDEntry{}.NdevIfindex)},
	{"struct ibv_qp_cap", 20, false, unsafe.Sizeof(IbvQPCap{})},
	{"max_send_wr", 0, false, unsafe.Offsetof(IbvQPCap{}.MaxSendWR)},
	{"max_recv_wr", 4, false, unsafe.Offsetof(IbvQPCap{}.MaxRecvWR)},
	{"max_send_sge", 8, false, unsafe.Offsetof(IbvQPCap{}.MaxSendSGE)},
	{"max_recv_sge", 12, false, unsafe.Offsetof(IbvQPCap{}.MaxRecvSGE)},
	{"max_inline_data", 16, false, unsafe.Offsetof(IbvQPCap{}.MaxInlineData)},
	{"struct ibv_qp_init_attr", 64, false, unsafe.Sizeof(IbvQPInitAttr{})},
	{"qp_context", 0, false, unsafe.Offsetof(IbvQPInitAttr{}.QPContext)},
	{"send_cq", 8, false, unsafe.Offsetof(IbvQPInitAttr{}.SendCQ)},
	{"recv_cq", 16, false, unsafe.Offsetof(IbvQPInitAttr{}.RecvCQ)},
	{"srq", 24, false, unsafe.Offsetof(IbvQPInitAttr{}.SRQ)},
	{"cap", 32, false, unsafe.Offsetof(IbvQPInitAttr{}.Cap)},
	{"qp_type", 52, false, unsafe.Offsetof(IbvQPInitAttr{}.QPType)},
	{"sq_sig_all", 56, false, unsafe.Offsetof(IbvQPInitAttr{}.SQSigAll)},
	{"struct ibv_qp_attr", 144, false, unsafe.Sizeof(IbvQPAttr{})},
	{"qp_state", 0, false, unsafe.Offsetof(IbvQPAttr{}.QPState)},
	{"cur_qp_state", 4, false, unsafe.Offsetof(IbvQPAttr{}.CurQPState)},
	{"path_mtu", 8, false, unsafe.Offsetof(IbvQPAttr{}.PathMTU)},
	{"path_mig_state", 12, false, unsafe.Offsetof(IbvQPAttr{}.PathMigState)},
	{"qkey", 16, false, unsafe.Offsetof(IbvQPAttr{}.QKey)},
	{"rq_psn", 20, false, unsafe.Offsetof(IbvQPAttr{}.RQPSN)},
	{"sq_psn", 24, false, unsafe.Offsetof(IbvQPAttr{}.SQPSN)},
	{"dest_qp_num", 28, false, unsafe.Offsetof(IbvQPAttr{}.DestQPNum)},
	{"qp_access_flags", 32, false, unsafe.Offsetof(IbvQPAttr{}.QPAccessFlags)},
	{"cap", 36, false, unsafe.Offsetof(IbvQPAttr{}.Cap)},
	{"ah_attr", 56, false, unsafe.Offsetof(IbvQPAttr{}.AHAttr)},
	{"alt_ah_attr", 88, false, unsafe.Offsetof(IbvQPAttr{}.AltAHAttr)},
	{"pkey_index", 120, false, unsafe.Offsetof(IbvQPAttr{}.PKeyIndex)},
	{"alt_pkey_index", 122, false, unsafe.Offsetof(IbvQPAttr{}.AltPKeyIndex)},
	{"en_sqd_async_notify", 124, false, unsafe.Offsetof(IbvQPAttr{}.EnSQDAsyncNotify)},
	{"sq_draining", 125, false, unsafe.Offsetof(IbvQPAttr{}.SQDraining)},
	{"max_rd_atomic", 126, false, unsafe.Offsetof(IbvQPAttr{}.MaxRDAtomic)},
	{"max_dest_rd_atomic", 127, false, unsafe.Offsetof(IbvQPAttr{}.MaxDestRDAtomic)},
	{"min_rnr_timer", 128, false, unsafe.Offsetof(IbvQPAttr{}.MinRNRTimer)},
	{"port_num", 129, false, unsafe.Offsetof(IbvQPAttr{}.PortNum)},
	{"timeout", 130, false, unsafe.Offsetof(IbvQPAttr{}.Timeout)},
	{"retry_cnt", 131, false, unsafe.Offsetof(IbvQPAttr{}.RetryCnt)},
	{"rnr_retry", 132, false, unsafe.Offsetof(IbvQPAttr{}.RNRetry)},
	{"alt_port_num", 133, false, unsafe.Offsetof(IbvQPAttr{}.AltPortNum)},
	{"alt_timeout", 134, false, unsafe.Offsetof(IbvQPAttr{}.AltTimeout)},
	{"struct ibv_sge", 16, false, unsafe.Sizeof(IbvSGE{})},
	{"addr", 0, false, unsafe.Offsetof(IbvSGE{}.Addr)},
	{"length", 8, false, unsafe.Offsetof(IbvSGE{}.Length)},
	{"lkey", 12, false, unsafe.Offsetof(IbvSGE{}.LKey)},
	{"struct ibv_send_wr", 128, false, unsafe.Sizeof(IbvSendWR{})},
	{"wr_id", 0, false, unsafe.Offsetof(IbvSendWR{}.WRID)},
	{"next", 8, false, unsafe.Offsetof(IbvSendWR{}.Next)},
	{"sg_list", 16, false, unsafe.Offsetof(IbvSendWR{}.SGList)},
	{"num_sge", 24, false, unsafe.Offsetof(IbvSendWR{}.NumSGE)},
	{"opcode", 28, false, unsafe.Offsetof(IbvSendWR{}.Opcode)},
	{"send_flags", 32, false, unsafe.Offsetof(IbvSendWR{}.SendFlags)},
	{"imm_data", 36, false, unsafe.Offsetof(IbvSendWR{}.ImmData)},
	{"wr", 40, false, unsafe.Offsetof(IbvSendWR{}.WR)},
	{"qp_type", 72, false, unsafe.Offsetof(IbvSendWR{}.QPType)},
	{"bind_mw", 80, false, unsafe.Offsetof(IbvSendWR{}.BindMW)},
	{"struct ibv_recv_wr", 32, false, unsafe.Sizeof(IbvRecvWR{})},
	{"wr_id", 0, false, unsafe.Offsetof(IbvRecvWR{}.WRID)},
	{"next", 8, false, unsafe.Offsetof(IbvRecvWR{}.Next)},
	{"sg_list", 16, false, unsafe.Offsetof(IbvRecvWR{}.SGList)},
	{"num_sge", 24, false, unsafe.Offsetof(IbvRecvWR{}.NumSGE)},
	{"struct ibv_wc", 48, false, unsafe.Sizeof(IbvWC{})},
	{"wr_id", 0, false, unsafe.Offsetof(IbvWC{}.WRID)},
	{"status", 8, false, unsafe.Offsetof(IbvWC{}.Status)},
	{"opcode", 12, false, unsafe.Offsetof(IbvWC{}.Opcode)},
	{"vendor_err", 16, false, unsafe.Offsetof(IbvWC{}.VendorErr)},
	{"byte_len", 20, false, unsafe.Offsetof(IbvWC{}.ByteLen)},
	{"imm_data", 24, false, unsafe.Offsetof(IbvWC{}.ImmData)},
	{"qp_num", 28, false, unsafe.Offsetof(IbvWC{}.QPNum)},
	{"src_qp", 32, false, unsafe.Offsetof(IbvWC{}.SrcQP)},
	{"wc_flags", 36, false, unsafe.Offsetof(IbvWC{}.WCFlags)},
	{"pkey_index", 40, false, unsafe.Offsetof(IbvWC{}.PKeyIndex)},
	{"slid", 42, false, unsafe.Offsetof(IbvWC{}.SLID)},
	{"sl", 44, false, unsafe.Offsetof(IbvWC{}.SL)},
	{"dlid_path_bits", 45, false, unsafe.Offsetof(IbvWC{}.DLIDPathBits)},
	{"struct ibv_device", 664, false, unsafe.Sizeof(abi.Device{})},
	{"node_type", 16, false, unsafe.Offsetof(abi.Device{}.NodeType)},
	{"transport_type", 20, false, unsafe.Offsetof(abi.Device{}.TransportType)},
	{"name", 24, false, unsafe.Offsetof(abi.Device{}.Name)},
	{"dev_name", 88, false, unsafe.Offsetof(abi.Device{}.DevName)},
	{"dev_path", 152, false, unsafe.Offsetof(abi.Device{}.DevPath)},
	{"ibdev_path", 408, false, unsafe.Offsetof(abi.Device{}.IbdevPath)},
	{"struct ibv_context", 288, true, unsafe.Sizeof(abi.Context{})},
	{"device", 0, false, unsafe.Offsetof(abi.Context{}.Device)},
	{"ops", 8, false, unsafe.Offsetof(abi.Context{}.Ops)},
	{"cmd_fd", 264, false, unsafe.Offsetof(abi.Context{}.CmdFD)},
	{"async_fd", 268, false, unsafe.Offsetof(abi.Context{}.AsyncFD)},
	{"num_comp_vectors", 272, false, unsafe.Offsetof(abi.Context{}.NumCompVectors)},
	{"mutex", 280, false, unsafe.Offsetof(abi.Context{}.Mutex)},
	{"abi_compat", 280, true, unsafe.Offsetof(abi.Context{}.ABICompat)},
	{"struct ibv_pd", 16, false, unsafe.Sizeof(abi.PD{})},
	{"context", 0, false, unsafe.Offsetof(abi.PD{}.Context)},
	{"handle", 8, false, unsafe.Offsetof(abi.PD{}.Handle)},
	{"struct ibv_mr", 48, false, unsafe.Sizeof(abi.MR{})},
	{"context", 0, false, unsafe.Offsetof(abi.MR{}.Context)},
	{"pd", 8, false, unsafe.Offsetof(abi.MR{}.PD)},
	{"addr", 16, false, unsafe.Offsetof(abi.MR{}.Addr)},
	{"length", 24, false, unsafe.Offsetof(abi.MR{}.Length)},
	{"handle", 32, false, unsafe.Offsetof(abi.MR{}.Handle)},
	{"lkey", 36, false, unsafe.Offsetof(abi.MR{}.LKey)},
	{"rkey", 40, false, unsafe.Offsetof(abi.MR{}.RKey)},
	{"struct ibv_comp_channel", 16, false, unsafe.Sizeof(abi.CompChannel{})},
	{"context", 0, false, unsafe.Offsetof(abi.CompChannel{}.Context)},
	{"fd", 8, false, unsafe.Offsetof(abi.CompChannel{}.FD)},
	{"refcnt", 12, false, unsafe.Offsetof(abi.CompChannel{}.Refcnt)},
	{"struct ibv_cq", 88, true, unsafe.Sizeof(abi.CQ{})},
	{"context", 0, false, unsafe.Offsetof(abi.CQ{}.Context)},
	{"channel", 8, false, unsafe.Offsetof(abi.CQ{}.Channel)},
	{"cq_context", 16, false, unsafe.Offsetof(abi.CQ{}.CQContext)},
	{"handle", 24, false, unsafe.Offsetof(abi.CQ{}.Handle)},
	{"cqe", 28, false, unsafe.Offsetof(abi.CQ{}.CQE)},
	{"mutex", 32, false, unsafe.Offsetof(abi.CQ{}.Mutex)},
	{"cond", 32, true, unsafe.Offsetof(abi.CQ{}.Cond)},
	{"comp_events_completed", 80, true, unsafe.Offsetof(abi.CQ{}.CompEventsCompleted)},
	{"async_events_completed", 84, true, unsafe.Offsetof(abi.CQ{}.AsyncEventsCompleted)},
	{"struct ibv_qp", 120, true, unsafe.Sizeof(abi.QP{})},
	{"context", 0, false, unsafe.Offsetof(abi.QP{}.Context)},
	{"qp_context", 8, false, unsafe.Offsetof(abi.QP{}.QPContext)},
	{"pd", 16, false, unsafe.Offsetof(abi.QP{}.PD)},
	{"send_cq", 24, false, unsafe.Offsetof(abi.QP{}.SendCQ)},
	{"recv_cq", 32, false, unsafe.Offsetof(abi.QP{}.RecvCQ)},
	{"srq", 40, false, unsafe.Offsetof(abi.QP{}.SRQ)},
	{"handle", 48, false, unsafe.Offsetof(abi.QP{}.Handle)},
	{"qp_num", 52, false, unsafe.Offsetof(abi.QP{}.Num)},
	{"state", 56, false, unsafe.Offsetof(abi.QP{}.State)},
	{"qp_type", 60, false, unsafe.Offsetof(abi.QP{}.Type)},
	{"mutex", 64, false, unsafe.Offsetof(abi.QP{}.Mutex)},
	{"cond", 64, true, unsafe.Offsetof(abi.QP{}.Cond)},
	{"events_completed", 112, true, unsafe.Offsetof(abi.QP{}.EventsCompleted)},
	{"struct ibv_context_ops", 256, false, unsafe.Sizeof(abi.Context{}.Ops)},
	{"poll_cq", 88, false, abi.OpPollCQ * 8},
	{"req_notify_cq", 96, false, abi.OpReqNotifyCQ * 8},
	{"post_send", 200, false, abi.OpPostSend * 8},
	{"post_recv", 208, false, abi.OpPostRecv * 8},
}

// expected is the golden number on a system with the given mutex size.
func (r layoutRow) expected(mutex uintptr) uintptr {
	if r.behind {
		return r.golden + mutex
	}
	return r.golden
}

func TestLayoutIsGolden(t *testing.T) {
	structName := ""
	for _, r := range layout {
		if strings.Contains(r.c, " ") {
			structName = r.c
		}
		if want := r.expected(abi.MutexSize); r.actual != want {
			t.Errorf("%s: %s is %d, want %d", structName, r.c, r.actual, want)
		}
	}
}

// Sizes as Apple's SDK header has them, which the golden table must reach with
// Darwin's mutex, and as rdma-core's has them on Linux.
func TestLayoutOfOtherSystems(t *testing.T) {
	mutexes := map[string]uintptr{"darwin": 64, "linux/amd64": 40, "linux/arm64": 48}
	want := map[string]map[string]uintptr{
		"struct ibv_context": {"darwin": 352, "linux/amd64": 328, "linux/arm64": 336},
		"struct ibv_cq":      {"darwin": 152, "linux/amd64": 128, "linux/arm64": 136},
		"struct ibv_qp":      {"darwin": 184, "linux/amd64": 160, "linux/arm64": 168},
		"struct ibv_qp_attr": {"darwin": 144, "linux/amd64": 144, "linux/arm64": 144},
	}
	found := 0
	for _, r := range layout {
		for system, size := range want[r.c] {
			found++
			if got := r.expected(mutexes[system]); got != size {
				t.Errorf("%s on %s: %d bytes, want %d", r.c, system, got, size)
			}
		}
	}
	if found != 12 {
		t.Errorf("compared %d sizes, want 12", found)
	}
}

// claim is a C expression and the number it must have.
type claim struct {
	expr string
	want int64
}

// checkHeader compiles the claims against the system's infiniband/verbs.h. Nothing
// is run, so that the header of a foreign architecture can be asked too.
func checkHeader(t *testing.T, claims []claim) {
	t.Helper()
	cc := compiler(t)
	probe := exec.Command(cc, "-E", "-include", "infiniband/verbs.h", "-x", "c", os.DevNull)
	if out, err := probe.CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("there is no infiniband/verbs.h: %v\n%.300s", err, out))
	}
	var text strings.Builder
	text.WriteString("#include <stddef.h>\n#include <infiniband/verbs.h>\n")
	for _, c := range claims {
		fmt.Fprintf(&text, "_Static_assert((long long)(%s) == %d, \"%s is not %d\");\n", c.expr, c.want, c.expr, c.want)
	}
	source := filepath.Join(t.TempDir(), "claims.c")
	check(t, os.WriteFile(source, []byte(text.String()), 0o600))
	if out, err := exec.Command(cc, "-std=gnu11", "-fsyntax-only", source).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", cc, err, out)
	}
}

func TestLayoutIsTheHeaders(t *testing.T) {
	var claims []claim
	structName := ""
	for _, r := range layout {
		expr := fmt.Sprintf("offsetof(%s, %s)", structName, r.c)
		if strings.Contains(r.c, " ") {
			structName = r.c
			expr = fmt.Sprintf("sizeof(%s)", structName)
		}
		if r.c == "struct ibv_port_attr" { // newer headers append active_speed_ex, for which roomFor leaves space
			expr = "sizeof(struct ibv_port_attr) == 56 ? 52 : " + expr
		}
		claims = append(claims, claim{expr, int64(r.actual)})
	}
	checkHeader(t, claims)
}
