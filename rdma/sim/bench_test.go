//go:build (darwin || linux) && (amd64 || arm64)

package sim_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// machine is a profile of one device with one port, in pieces.
type machine struct {
	os, transport, layer, state string
	gids, attr, calls, rest     string // rest: further keys of the profile, with a comma in front
	mtu                         int
}

const linuxGIDs = `{"index": 0, "gid": "fe80::200:5eff:fe00:5301", "type": "roce_v2"}, {"index": 1, "gid": "::ffff:192.0.2.1", "type": "roce_v2"}`

// roce is a healthy Linux machine with device d0.
func roce() machine {
	return machine{os: "linux", transport: "infiniband", layer: "ethernet", state: "active", gids: linuxGIDs, mtu: 1024}
}

// mac is a healthy Mac with device d0.
func mac() machine {
	return machine{
		os: "macos", transport: "thunderbolt", layer: "thunderbolt", state: "active", mtu: 4096,
		gids: `{"index": 0, "gid": "fe80::200:5eff:fe00:5301", "type": "none"}, {"index": 1, "gid": "::ffff:192.0.2.1", "type": "none"}`,
	}
}

func (m machine) with(change func(*machine)) machine { change(&m); return m }

func (m machine) calls1(verb, rules string) machine {
	m.calls = fmt.Sprintf(`%q: [%s]`, verb, rules)
	return m
}

func (m machine) json() string {
	return fmt.Sprintf(`{"profile": 1, "id": "t", "host": {"os": %q}, "devices": [{"name": "d0", "node_guid": "0000:5eff:fe00:5301", "transport": %q,
		"attr": {%s}, "ports": [{"num": 1, "state": %q, "link_layer": %q, "max_mtu": 4096, "active_mtu": %d, "lid": 3, "gids": [%s]}], "calls": {%s}}]%s}`,
		m.os, m.transport, m.attr, m.state, m.layer, m.mtu, m.gids, m.calls, m.rest)
}

// install makes a profile the current library.
func install(t testing.TB, profile string) *sim.Provider {
	t.Helper()
	p, err := sim.Parse([]byte(profile), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(p, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	restore := rdma.Use(s.Library())
	t.Cleanup(func() { restore(); s.Close() })
	return s
}

func openDevice(t testing.TB, name string) rdma.RDMAContext {
	t.Helper()
	list, err := rdma.OpenDeviceList()
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	for _, d := range list.Devices() {
		if d.Name == name {
			ctx, err := d.Open()
			if err != nil {
				t.Fatal(err)
			}
			return ctx
		}
	}
	t.Fatalf("no device %s in %v", name, list.Devices())
	return 0
}

// end is one end of a connection: every object, and memory of two pages.
type end struct {
	t      testing.TB
	device string
	ctx    rdma.RDMAContext
	pd     rdma.RDMAPD
	cq     rdma.RDMACQ
	qp     rdma.RDMAQP
	mr     rdma.RDMAMR
	buf    *rdma.Buffer // send at 0, receive at half, work requests in work
	work   *rdma.Buffer
	qpType int32
	psn    uint32
}

const (
	half     = 1 << 20
	fullMask = rdma.IBV_ACCESS_LOCAL_WRITE | rdma.IBV_ACCESS_REMOTE_WRITE | rdma.IBV_ACCESS_REMOTE_READ
)

func must(t testing.TB, rc int, err error) {
	t.Helper()
	if err != nil || rc != 0 {
		t.Fatalf("returned %d, %v", rc, err)
	}
}

// ok returns v and fails the test on an error.
func ok[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// newEnd makes a queue pair in RESET.
func newEnd(t testing.TB, device string, qpType int32) *end {
	t.Helper()
	e := &end{t: t, device: device, qpType: qpType, psn: 0x1234, ctx: openDevice(t, device)}
	e.pd = ok[rdma.RDMAPD](t)(rdma.IbvAllocPd(e.ctx))
	e.cq = ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(e.ctx, 64, 0, 0, 0))
	e.qp = ok[rdma.RDMAQP](t)(rdma.IbvCreateQpAttr(e.pd, e.initAttr()))
	e.buf = ok[*rdma.Buffer](t)(rdma.MapBuffer(2 * half))
	e.work = ok[*rdma.Buffer](t)(rdma.MapBuffer(4096))
	e.mr = ok[rdma.RDMAMR](t)(rdma.IbvRegMr(e.pd, e.buf.Addr(), 2*half, fullMask))
	t.Cleanup(func() { e.buf.Unmap(); e.work.Unmap() })
	return e
}

func (e *end) initAttr() *rdma.IbvQPInitAttr {
	return &rdma.IbvQPInitAttr{SendCQ: e.cq, RecvCQ: e.cq, QPType: e.qpType, Cap: rdma.IbvQPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 1, MaxRecvSGE: 1}}
}

// toInit goes to INIT on port 1.
func (e *end) toInit() {
	e.t.Helper()
	attr := &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_INIT, PortNum: 1, QPAccessFlags: fullMask}
	rc, err := rdma.IbvModifyQpAttr(e.qp, attr, rdma.IBV_QP_STATE|rdma.IBV_QP_PKEY_INDEX|rdma.IBV_QP_PORT|rdma.IBV_QP_ACCESS_FLAGS)
	must(e.t, rc, err)
}

// rtr is the step to RTR towards another end, by a GID of this one.
func (e *end) rtr(qpn, psn uint32, dgid rdma.IbvGID, sgid uint8, mtu int32) (*rdma.IbvQPAttr, int) {
	attr := &rdma.IbvQPAttr{
		QPState: rdma.IBV_QPS_RTR, PathMTU: mtu, DestQPNum: qpn, RQPSN: psn, MaxDestRDAtomic: 1, MinRNRTimer: 12,
		AHAttr: rdma.IbvAHAttr{GRH: rdma.IbvGlobalRoute{DGID: dgid, SGIDIndex: sgid, HopLimit: 1}, IsGlobal: 1, PortNum: 1},
	}
	mask := rdma.IBV_QP_STATE | rdma.IBV_QP_AV | rdma.IBV_QP_PATH_MTU | rdma.IBV_QP_DEST_QPN | rdma.IBV_QP_RQ_PSN
	if e.qpType == rdma.IBV_QPT_RCExperimental {
		mask |= rdma.IBV_QP_MAX_DEST_RD_ATOMIC | rdma.IBV_QP_MIN_RNR_TIMER
	}
	return attr, mask
}

// toRTS goes from RTR to RTS.
func (e *end) toRTS(rnrRetry uint8) {
	e.t.Helper()
	attr := &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_RTS, SQPSN: e.psn, Timeout: 14, RetryCnt: 7, RNRetry: rnrRetry, MaxRDAtomic: 1}
	mask := rdma.IBV_QP_STATE | rdma.IBV_QP_SQ_PSN
	if e.qpType == rdma.IBV_QPT_RCExperimental {
		mask |= rdma.IBV_QP_TIMEOUT | rdma.IBV_QP_RETRY_CNT | rdma.IBV_QP_RNR_RETRY | rdma.IBV_QP_MAX_QP_RD_ATOMIC
	}
	rc, err := rdma.IbvModifyQpAttr(e.qp, attr, mask)
	must(e.t, rc, err)
}

// gidOf is an entry of a table.
func gidOf(t testing.TB, slots []sim.GIDSlot, index int) rdma.IbvGID {
	t.Helper()
	for _, s := range slots {
		if s.Index == index {
			return rdma.IbvGID(s.GID)
		}
	}
	t.Fatalf("no GID %d in %v", index, slots)
	return rdma.IbvGID{}
}

// toPeer connects to the simulated other end by GID index 1.
func (e *end) toPeer(p *sim.Provider) sim.Endpoint {
	e.t.Helper()
	peer := ok[*sim.Peer](e.t)(p.Peer(e.device, 1))
	far := ok[sim.Endpoint](e.t)(peer.Endpoint(e.qpType))
	e.toInit()
	attr, mask := e.rtr(far.QPN, far.PSN, gidOf(e.t, far.GIDs, far.GIDs[len(far.GIDs)-1].Index), 1, rdma.IBV_MTU_1024)
	rc, err := rdma.IbvModifyQpAttr(e.qp, attr, mask)
	must(e.t, rc, err)
	e.toRTS(7)
	return far
}

// connect joins two ends of this process by their GIDs at index 1.
func connect(a, b *end, rnrRetry uint8) {
	a.t.Helper()
	for _, x := range [][2]*end{{a, b}, {b, a}} {
		var dgid rdma.IbvGID
		rc, err := rdma.IbvQueryGidInto(x[1].ctx, 1, 1, &dgid)
		must(a.t, rc, err)
		x[0].toInit()
		attr, mask := x[0].rtr(rdma.Ibv_qp_num(x[1].qp), x[1].psn, dgid, 1, rdma.IBV_MTU_1024)
		rc, err = rdma.IbvModifyQpAttr(x[0].qp, attr, mask)
		must(a.t, rc, err)
	}
	a.toRTS(rnrRetry)
	b.toRTS(rnrRetry)
}

func (e *end) sendBytes() []byte { return e.buf.Bytes()[:half] }
func (e *end) recvBytes() []byte { return e.buf.Bytes()[half:] }

// postRecv posts a receive of n bytes; it returns the return value.
func (e *end) postRecv(id uint64, n int) int {
	e.t.Helper()
	wr, sge := (*rdma.IbvRecvWR)(unsafe.Pointer(&e.work.Bytes()[0])), (*rdma.IbvSGE)(unsafe.Pointer(&e.work.Bytes()[64]))
	*sge = rdma.IbvSGE{Addr: uint64(e.buf.Addr()) + half, Length: uint32(n), LKey: rdma.Ibv_mr_lkey(e.mr)}
	*wr = rdma.IbvRecvWR{WRID: id, SGList: sge, NumSGE: 1}
	var bad *rdma.IbvRecvWR
	rc, err := rdma.Ibv_post_recv(e.qp, wr, &bad)
	if (rc != 0) != (bad == wr) || (rc != 0) != (err != nil) {
		e.t.Fatalf("post_recv returned %d, %v with bad %v", rc, err, bad)
	}
	return rc
}

// sendWR fills a send of n bytes in mapped memory.
func (e *end) sendWR(id uint64, n int, op int32) *rdma.IbvSendWR {
	wr, sge := (*rdma.IbvSendWR)(unsafe.Pointer(&e.work.Bytes()[1024])), (*rdma.IbvSGE)(unsafe.Pointer(&e.work.Bytes()[2048]))
	*sge = rdma.IbvSGE{Addr: uint64(e.buf.Addr()), Length: uint32(n), LKey: rdma.Ibv_mr_lkey(e.mr)}
	*wr = rdma.IbvSendWR{WRID: id, SGList: sge, NumSGE: 1, Opcode: op, SendFlags: rdma.IBV_SEND_SIGNALED}
	return wr
}

func (e *end) post(wr *rdma.IbvSendWR) int {
	e.t.Helper()
	var bad *rdma.IbvSendWR
	rc, err := rdma.Ibv_post_send(e.qp, wr, &bad)
	if (rc != 0) != (bad == wr) || (rc != 0) != (err != nil) {
		e.t.Fatalf("post_send returned %d, %v with bad %v", rc, err, bad)
	}
	return rc
}

func (e *end) postSend(id uint64, n int) int { return e.post(e.sendWR(id, n, rdma.IBV_WR_SEND)) }

func (e *end) write(id uint64, n int, addr uint64, rkey uint32) int {
	wr := e.sendWR(id, n, rdma.IBV_WR_RDMA_WRITE)
	binary.LittleEndian.PutUint64(wr.WR[0:], addr)
	binary.LittleEndian.PutUint32(wr.WR[8:], rkey)
	return e.post(wr)
}

// poll returns all completions that are there.
func (e *end) poll() []rdma.IbvWC {
	e.t.Helper()
	wc := make([]rdma.IbvWC, 32)
	n, err := rdma.Ibv_poll_cq(e.cq, len(wc), &wc[0])
	if err != nil {
		e.t.Fatalf("poll returned %d, %v", n, err)
	}
	return wc[:n]
}

// expect polls and compares ids and statuses.
func (e *end) expect(want ...[2]int) []rdma.IbvWC {
	e.t.Helper()
	got := e.poll()
	var have [][2]int
	for _, wc := range got {
		have = append(have, [2]int{int(wc.WRID), int(wc.Status)})
	}
	if fmt.Sprint(have) != fmt.Sprint(want) {
		e.t.Fatalf("completions (id, status) are %v, want %v", have, want)
	}
	return got
}

// fill writes a payload that no other has.
func fill(b []byte) []byte {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return bytes.Clone(b)
}

// wantErrno checks the errno and the class of a failure.
func wantErrno(t testing.TB, err error, errno int) {
	t.Helper()
	var pe *rdma.ProviderError
	if !errors.As(err, &pe) {
		t.Fatalf("error is %v, want errno %d", err, errno)
	}
	got := 0
	switch {
	case pe.ErrnoSet:
		got = pe.Errno
	case pe.ReturnSet && pe.Return > 0:
		got = int(pe.Return)
	}
	if got != errno {
		t.Fatalf("errno %d of %v, want %d", got, err, errno)
	}
}

// close tears everything down in order.
func (e *end) close() {
	e.t.Helper()
	for _, f := range []func() (int, error){
		func() (int, error) { return rdma.IbvDestroyQp(e.qp) },
		func() (int, error) { return rdma.IbvDeregMr(e.mr) },
		func() (int, error) { return rdma.IbvDestroyCq(e.cq) },
		func() (int, error) { return rdma.IbvDeallocPd(e.pd) },
		func() (int, error) { return rdma.IbvCloseDevice(e.ctx) },
	} {
		rc, err := f()
		must(e.t, rc, err)
	}
}
