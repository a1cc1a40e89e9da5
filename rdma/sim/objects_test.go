//go:build (darwin || linux) && (amd64 || arm64)

package sim_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"rdmaprobe/fixtures"
	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

func TestQueries(t *testing.T) {
	install(t, roce().with(func(m *machine) {
		m.attr = `"fw_ver": "1.2.3", "max_qp": 7, "max_mr_size": "0xffffffffffff"`
	}).json())
	devices := ok[[]rdma.Device](t)(rdma.Devices())
	if len(devices) != 1 || devices[0].Name != "d0" {
		t.Fatalf("devices %v", devices)
	}
	ctx := openDevice(t, "d0")
	var attr rdma.IbvDeviceAttr
	r, err := rdma.IbvQueryDeviceAttr(ctx, &attr)
	must(t, r, err)
	if attr.MaxQP != 7 || attr.MaxMRSize != 0xffffffffffff || attr.PhysPortCnt != 1 || string(attr.FWVer[:6]) != "1.2.3\x00" {
		t.Errorf("attributes %+v", attr)
	}
	if want := [8]byte{0, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 1}; attr.NodeGUID != want {
		t.Errorf("node GUID %x, want %x", attr.NodeGUID, want)
	}
	var port rdma.IbvPortAttr
	r, err = rdma.IbvQueryPortAttr(ctx, 1, &port)
	must(t, r, err)
	if port.State != 4 || port.ActiveMTU != rdma.IBV_MTU_1024 || port.MaxMTU != rdma.IBV_MTU_4096 || port.LID != 3 || port.LinkLayer != 2 || port.PhysState != 5 || port.GIDTblLen != 1024 {
		t.Errorf("port %+v", port)
	}
	if _, err = rdma.IbvQueryPortAttr(ctx, 2, &port); err == nil {
		t.Error("port 2 answers")
	}
	var gid rdma.IbvGID
	r, err = rdma.IbvQueryGidInto(ctx, 1, 500, &gid)
	must(t, r, err)
	if gid != (rdma.IbvGID{}) {
		t.Errorf("an empty slot holds %x", gid)
	}
	if _, err = rdma.IbvQueryGidInto(ctx, 1, 1024, &gid); err == nil {
		t.Error("a slot beyond the table answers")
	}
	var entry rdma.IbvGIDEntry
	r, err = rdma.IbvQueryGidEx(ctx, 1, 1, &entry)
	must(t, r, err)
	if entry.GIDType != 2 || entry.GIDIndex != 1 || entry.PortNum != 1 || entry.NdevIfindex != 0 || entry.GID[15] != 1 {
		t.Errorf("entry %+v", entry)
	}
	_, err = rdma.IbvQueryGidEx(ctx, 1, 2, &entry)
	wantErrno(t, err, 61)
}

// TestIdentity: a profile says what kind of node a device is, and which build the
// library.
func TestIdentity(t *testing.T) {
	profile := strings.Replace(roce().json(), `"transport"`, `"node_type": "rnic", "transport"`, 1)
	s := install(t, strings.Replace(profile, `"devices"`, `"library": {"id": "0123abcd"}, "devices"`, 1))
	if got := s.Library().ID(); got != "0123abcd" {
		t.Errorf("the library's id is %q", got)
	}
	devices := ok[[]rdma.Device](t)(rdma.Devices())
	if got := rdma.NodeTypeName(rdma.IbvDeviceNodeType(devices[0].Handle)); got != "rnic" {
		t.Errorf("the node type is %s", got)
	}
}

// TestStates: a port goes through its states in one process, and each answer has
// its physical state.
func TestStates(t *testing.T) {
	install(t, strings.Replace(roce().json(), `"state": "active"`, `"states": ["down/polling", "down/link_up", "active"]`, 1))
	ctx := openDevice(t, "d0")
	for i, want := range [][2]int{{1, 2}, {1, 5}, {4, 5}, {4, 5}} {
		var port rdma.IbvPortAttr
		r, err := rdma.IbvQueryPortAttr(ctx, 1, &port)
		must(t, r, err)
		if int(port.State) != want[0] || int(port.PhysState) != want[1] {
			t.Errorf("answer %d is %d/%d, want %v", i, port.State, port.PhysState, want)
		}
	}
}

func TestTeardownOrder(t *testing.T) {
	install(t, roce().json())
	e := newEnd(t, "d0", uc)
	channel := ok[rdma.RDMACompChannel](t)(rdma.IbvCreateCompChannel(e.ctx))
	cq := ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(e.ctx, 4, 0, channel, 0))
	for name, f := range map[string]func() (int, error){
		"queue of a queue pair":      func() (int, error) { return rdma.IbvDestroyCq(e.cq) },
		"domain with objects":        func() (int, error) { return rdma.IbvDeallocPd(e.pd) },
		"context with objects":       func() (int, error) { return rdma.IbvCloseDevice(e.ctx) },
		"channel of a queue":         func() (int, error) { return rdma.IbvDestroyCompChannel(channel) },
		"domain with a region still": func() (int, error) { return rdma.IbvDeallocPd(e.pd) },
	} {
		if _, err := f(); err == nil {
			t.Fatalf("%s was released", name)
		} else {
			wantErrno(t, err, 16)
		}
	}
	r, err := rdma.IbvDestroyCq(cq)
	must(t, r, err)
	r, err = rdma.IbvDestroyCompChannel(channel)
	must(t, r, err)
	e.close()
	for name, f := range map[string]func() (int, error){
		"queue pair": func() (int, error) { return rdma.IbvDestroyQp(e.qp) },
		"region":     func() (int, error) { return rdma.IbvDeregMr(e.mr) },
		"queue":      func() (int, error) { return rdma.IbvDestroyCq(e.cq) },
		"domain":     func() (int, error) { return rdma.IbvDeallocPd(e.pd) },
		"context":    func() (int, error) { return rdma.IbvCloseDevice(e.ctx) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s was released twice", name)
		}
	}
}

func TestRegions(t *testing.T) {
	install(t, roce().with(func(m *machine) { m.attr = `"max_mr_size": 8192` }).json())
	e := newEndWithout(t, "d0")
	buf := ok[*rdma.Buffer](t)(rdma.MapBuffer(16384))
	for _, tc := range []struct {
		name   string
		length uintptr
		access int
		errno  int // -1: it works
		rkey   bool
	}{
		{"local", 4096, 1, -1, false},
		{"read only", 4096, 0, -1, false},
		{"remote read", 4096, 4, -1, true},
		{"all", 4096, 7, -1, true},
		{"remote write alone", 4096, 2, 22, false},
		{"atomic alone", 4096, 8, 22, false},
		{"nothing", 0, 1, 22, false},
		{"around the end of memory", ^uintptr(0), 1, 22, false},
		{"larger than max_mr_size", 8193, 1, 22, false},
	} {
		mr, err := rdma.IbvRegMr(e.pd, buf.Addr(), tc.length, tc.access)
		if tc.errno < 0 {
			if err != nil || rdma.Ibv_mr_lkey(mr) == 0 || (rdma.Ibv_mr_rkey(mr) != 0) != tc.rkey {
				t.Errorf("%s: lkey %#x rkey %#x, %v", tc.name, rdma.Ibv_mr_lkey(mr), rdma.Ibv_mr_rkey(mr), err)
			}
			continue
		}
		wantErrno(t, err, tc.errno)
	}
}

// newEndWithout has a context and a domain only.
func newEndWithout(t testing.TB, device string) *end {
	e := &end{t: t, device: device, ctx: openDevice(t, device)}
	e.pd = ok[rdma.RDMAPD](t)(rdma.IbvAllocPd(e.ctx))
	return e
}

// TestThunderboltQueuePairs plays both reports: of 11 the eleventh fails, of 3
// the fourth. Objects of other processes count.
func TestThunderboltQueuePairs(t *testing.T) {
	for _, tc := range []struct {
		attr   string
		usable int
	}{
		{`"max_qp": 11`, 10},
		{`"max_qp": 3`, 3},
		{`"max_qp": 11, "live_qp": 4`, 6},
		{`"max_qp": 11, "live_qp": 10`, 0},
		{`"max_qp": 64`, 10},
	} {
		install(t, mac().with(func(m *machine) { m.attr = tc.attr }).json())
		e := newEndWithout(t, "d0")
		e.cq, e.qpType = ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(e.ctx, 64, 0, 0, 0)), uc
		var qps []rdma.RDMAQP
		for range tc.usable {
			qps = append(qps, ok[rdma.RDMAQP](t)(rdma.IbvCreateQpAttr(e.pd, e.initAttr())))
		}
		_, err := rdma.IbvCreateQpAttr(e.pd, e.initAttr())
		wantErrno(t, err, 16)
		if tc.usable == 0 {
			continue
		}
		r, err := rdma.IbvDestroyQp(qps[0])
		must(t, r, err)
		if _, err := rdma.IbvCreateQpAttr(e.pd, e.initAttr()); err != nil {
			t.Errorf("%s: a slot that was freed is not usable: %v", tc.attr, err)
		}
	}
}

// TestThunderboltRegions: the 101st region is a NULL without errno.
func TestThunderboltRegions(t *testing.T) {
	for attr, usable := range map[string]int{"": 100, `"live_mr": 98`: 2, `"max_mr": 4`: 4} {
		install(t, mac().with(func(m *machine) { m.attr = attr }).json())
		e := newEndWithout(t, "d0")
		buf := ok[*rdma.Buffer](t)(rdma.MapBuffer(4096))
		for range usable {
			ok[rdma.RDMAMR](t)(rdma.IbvRegMr(e.pd, buf.Addr(), 4096, 1))
		}
		_, err := rdma.IbvRegMr(e.pd, buf.Addr(), 4096, 1)
		wantErrno(t, err, 0)
		if !errors.Is(err, rdma.ErrNilProviderResult) {
			t.Errorf("error is %v", err)
		}
	}
}

func TestPoolsOfDomainsAndQueues(t *testing.T) {
	for _, tc := range []struct {
		m     machine
		errno int
	}{{mac(), 0}, {roce(), 12}} {
		install(t, tc.m.with(func(m *machine) { m.attr = `"max_pd": 3, "live_pd": 1, "max_cq": 2` }).json())
		ctx := openDevice(t, "d0")
		for range 2 {
			ok[rdma.RDMAPD](t)(rdma.IbvAllocPd(ctx))
			ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(ctx, 1, 0, 0, 0))
		}
		_, err := rdma.IbvAllocPd(ctx)
		wantErrno(t, err, tc.errno)
		_, err = rdma.IbvCreateCq(ctx, 1, 0, 0, 0)
		wantErrno(t, err, tc.errno)
	}
}

// TestPortDown: Thunderbolt gives no object on a port that is not ACTIVE, others
// do.
func TestPortDown(t *testing.T) {
	for _, state := range []string{"nop", "down", "init", "armed", "active_defer", "unknown(77)"} {
		install(t, mac().with(func(m *machine) { m.state = state }).json())
		ctx := openDevice(t, "d0")
		_, err := rdma.IbvAllocPd(ctx)
		wantErrno(t, err, 3)
		_, err = rdma.IbvCreateCq(ctx, 4, 0, 0, 0)
		wantErrno(t, err, 3)
	}
	install(t, roce().with(func(m *machine) { m.state = "down" }).json())
	newEnd(t, "d0", uc).close()
}

func TestCreateQPRefusals(t *testing.T) {
	install(t, roce().with(func(m *machine) { m.attr = `"max_qp_wr": 16, "max_sge": 1` }).json())
	e := newEndWithout(t, "d0")
	e.cq, e.qpType = ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(e.ctx, 64, 0, 0, 0)), uc
	other := openDevice(t, "d0")
	foreign := ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(other, 64, 0, 0, 0))
	for name, change := range map[string]func(*rdma.IbvQPInitAttr){
		"type":               func(a *rdma.IbvQPInitAttr) { a.QPType = 9 },
		"depth":              func(a *rdma.IbvQPInitAttr) { a.Cap.MaxSendWR = 17 },
		"pieces":             func(a *rdma.IbvQPInitAttr) { a.Cap.MaxRecvSGE = 2 },
		"inline":             func(a *rdma.IbvQPInitAttr) { a.Cap.MaxInlineData = 4096 },
		"shared receive":     func(a *rdma.IbvQPInitAttr) { a.SRQ = 8 },
		"queue of elsewhere": func(a *rdma.IbvQPInitAttr) { a.RecvCQ = foreign },
	} {
		attr := e.initAttr()
		change(attr)
		if _, err := rdma.IbvCreateQpAttr(e.pd, attr); err == nil {
			t.Errorf("%s was accepted", name)
		} else {
			wantErrno(t, err, 22)
		}
	}
	for name, args := range map[string][3]int{"no entries": {0, 0, 0}, "too many": {40000, 0, 0}, "vector": {4, 0, 1}} {
		if _, err := rdma.IbvCreateCq(e.ctx, args[0], 0, 0, args[2]); err == nil {
			t.Errorf("a queue with %s was made", name)
		}
	}
}

func TestModifyAddresses(t *testing.T) {
	const enodata, etimedout = 96, 60
	for _, tc := range []struct {
		name   string
		m      machine
		change func(*rdma.IbvQPAttr)
		errno  int
	}{
		{"good", roce(), func(*rdma.IbvQPAttr) {}, 0},
		{"empty slot", roce(), func(a *rdma.IbvQPAttr) { a.AHAttr.GRH.SGIDIndex = 9 }, 61},
		{"empty slot of a Mac", mac(), func(a *rdma.IbvQPAttr) { a.AHAttr.GRH.SGIDIndex = 9 }, enodata},
		{"no route on Ethernet", roce(), func(a *rdma.IbvQPAttr) { a.AHAttr.IsGlobal = 0 }, 22},
		{"no route on Thunderbolt", mac(), func(a *rdma.IbvQPAttr) { a.AHAttr.IsGlobal = 0 }, etimedout},
		{"zero GID", roce(), func(a *rdma.IbvQPAttr) { a.AHAttr.GRH.DGID = rdma.IbvGID{} }, 22},
		{"path MTU above active", roce(), func(a *rdma.IbvQPAttr) { a.PathMTU = rdma.IBV_MTU_4096 }, 22},
		{"no path MTU", roce(), func(a *rdma.IbvQPAttr) { a.PathMTU = 0 }, 22},
		{"no such port", roce(), func(a *rdma.IbvQPAttr) { a.AHAttr.PortNum = 2 }, 22},
		{"number of 25 bits", roce(), func(a *rdma.IbvQPAttr) { a.DestQPNum = 1 << 24 }, 22},
	} {
		t.Run(tc.name, func(t *testing.T) {
			install(t, tc.m.json())
			e := newEnd(t, "d0", uc)
			e.toInit()
			attr, mask := e.rtr(1, 1, rdma.IbvGID{15: 1}, 1, 3)
			tc.change(attr)
			r, err := rdma.IbvModifyQpAttr(e.qp, attr, mask)
			if r != tc.errno {
				t.Errorf("returned %d, %v; want %d", r, err, tc.errno)
			}
		})
	}
}

// TestModifyOrder goes through the steps in wrong orders.
func TestModifyOrder(t *testing.T) {
	install(t, roce().json())
	e := newEnd(t, "d0", uc)
	rtr, rtrMask := e.rtr(1, 1, rdma.IbvGID{15: 1}, 1, 3)
	rts := &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_RTS}
	steps := []struct {
		name string
		attr *rdma.IbvQPAttr
		mask int
		want int
	}{
		{"RESET to RTR", rtr, rtrMask, 22},
		{"RESET to RTS", rts, rdma.IBV_QP_STATE | rdma.IBV_QP_SQ_PSN, 22},
		{"INIT without access", &rdma.IbvQPAttr{QPState: 1, PortNum: 1}, rdma.IBV_QP_STATE | rdma.IBV_QP_PORT | rdma.IBV_QP_PKEY_INDEX, 22},
		{"INIT on port 3", &rdma.IbvQPAttr{QPState: 1, PortNum: 3}, rdma.IBV_QP_STATE | rdma.IBV_QP_PORT | rdma.IBV_QP_PKEY_INDEX | rdma.IBV_QP_ACCESS_FLAGS, 22},
		{"INIT with a key that is not there", &rdma.IbvQPAttr{QPState: 1, PortNum: 1, PKeyIndex: 5}, rdma.IBV_QP_STATE | rdma.IBV_QP_PORT | rdma.IBV_QP_PKEY_INDEX | rdma.IBV_QP_ACCESS_FLAGS, 22},
		{"INIT", &rdma.IbvQPAttr{QPState: 1, PortNum: 1}, rdma.IBV_QP_STATE | rdma.IBV_QP_PORT | rdma.IBV_QP_PKEY_INDEX | rdma.IBV_QP_ACCESS_FLAGS, 0},
		{"INIT to RTS", rts, rdma.IBV_QP_STATE | rdma.IBV_QP_SQ_PSN, 22},
		{"RTR", rtr, rtrMask, 0},
		{"RTR again", rtr, rtrMask, 22},
		{"RTS that is in another state", &rdma.IbvQPAttr{QPState: 3, CurQPState: 1}, rdma.IBV_QP_STATE | rdma.IBV_QP_SQ_PSN | rdma.IBV_QP_CUR_STATE, 22},
		{"RTS", rts, rdma.IBV_QP_STATE | rdma.IBV_QP_SQ_PSN, 0},
		{"ERR", &rdma.IbvQPAttr{QPState: 6}, rdma.IBV_QP_STATE, 0},
		{"ERR to RTS", rts, rdma.IBV_QP_STATE | rdma.IBV_QP_SQ_PSN, 22},
		{"RESET", &rdma.IbvQPAttr{QPState: 0}, rdma.IBV_QP_STATE, 0},
	}
	for _, s := range steps {
		r, err := rdma.IbvModifyQpAttr(e.qp, s.attr, s.mask)
		if r != s.want {
			t.Fatalf("%s returned %d, %v; want %d", s.name, r, err, s.want)
		}
		var attr rdma.IbvQPAttr
		var init rdma.IbvQPInitAttr
		r, err = rdma.IbvQueryQp(e.qp, &attr, rdma.IBV_QP_STATE, &init)
		must(t, r, err)
		if s.want == 0 && attr.QPState != s.attr.QPState {
			t.Errorf("after %s the state is %d", s.name, attr.QPState)
		}
		if init.QPType != uc || init.Cap.MaxSendWR != 16 || init.SendCQ != e.cq {
			t.Errorf("init attributes %+v", init)
		}
	}
}

func TestNotification(t *testing.T) {
	p := install(t, roce().json())
	e := newEnd(t, "d0", uc)
	r, err := rdma.IbvDestroyQp(e.qp)
	must(t, r, err)
	channel := ok[rdma.RDMACompChannel](t)(rdma.IbvCreateCompChannel(e.ctx))
	old := e.cq
	e.cq = ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(e.ctx, 8, 0x77, channel, 0))
	e.qp = ok[rdma.RDMAQP](t)(rdma.IbvCreateQpAttr(e.pd, e.initAttr()))
	e.toPeer(p)
	r, err = rdma.IbvReqNotifyCq(e.cq, 0)
	must(t, r, err)
	e.postRecv(1, 64)
	e.postSend(2, 64)
	var cq rdma.RDMACQ
	var cookie uintptr
	r, err = rdma.IbvGetCqEvent(channel, &cq, &cookie)
	must(t, r, err)
	if cq != e.cq || cookie != 0x77 {
		t.Errorf("event of %#x with %#x", cq, cookie)
	}
	e.expect([2]int{2, 0}, [2]int{1, 0})
	r, err = rdma.IbvDestroyQp(e.qp)
	must(t, r, err)
	done := make(chan int)
	go func() { r, _ := rdma.IbvDestroyCq(e.cq); done <- r }()
	// The acknowledgement must find the queue while its destroyer waits.
	sim.WaitForDestroyer(p, e.cq)
	select {
	case r := <-done:
		t.Fatalf("a queue with an event that nobody acknowledged was destroyed: %d", r)
	default:
	}
	if err := rdma.IbvAckCqEvents(e.cq, 1); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r != 0 {
		t.Fatalf("destroying the queue returned %d", r)
	}
	r, err = rdma.IbvDestroyCompChannel(channel)
	must(t, r, err)
	r, err = rdma.IbvDestroyCq(old)
	must(t, r, err)
}

// TestSolicitedOnly: a queue armed for solicited events stays quiet for others.
func TestSolicitedOnly(t *testing.T) {
	install(t, roce().json())
	a, b := newEnd(t, "d0", uc), newEnd(t, "d0", uc)
	r, err := rdma.IbvDestroyQp(b.qp)
	must(t, r, err)
	channel := ok[rdma.RDMACompChannel](t)(rdma.IbvCreateCompChannel(b.ctx))
	b.cq = ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(b.ctx, 8, 1, channel, 0))
	b.qp = ok[rdma.RDMAQP](t)(rdma.IbvCreateQpAttr(b.pd, b.initAttr()))
	connect(a, b, 7)
	r, err = rdma.IbvReqNotifyCq(b.cq, 1)
	must(t, r, err)
	for i, flags := range []int32{2, 2 | 4} {
		b.postRecv(uint64(i), 64)
		wr := a.sendWR(uint64(i), 8, rdma.IBV_WR_SEND)
		wr.SendFlags = flags
		a.post(wr)
	}
	var cq rdma.RDMACQ
	var cookie uintptr
	r, err = rdma.IbvGetCqEvent(channel, &cq, &cookie)
	must(t, r, err)
	if err := rdma.IbvAckCqEvents(cq, 1); err != nil {
		t.Fatal(err)
	}
	if got := b.poll(); len(got) != 2 {
		t.Errorf("%d completions at the event, want both", len(got))
	}
}

func TestOverrun(t *testing.T) {
	p := install(t, roce().json())
	e := newEnd(t, "d0", uc)
	r, err := rdma.IbvDestroyQp(e.qp)
	must(t, r, err)
	e.cq = ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(e.ctx, 2, 0, 0, 0))
	e.qp = ok[rdma.RDMAQP](t)(rdma.IbvCreateQpAttr(e.pd, e.initAttr()))
	e.toPeer(p)
	for i := range 3 {
		e.postSend(uint64(i), 8)
	}
	e.expect([2]int{0, 0}, [2]int{1, 0})
	var wc rdma.IbvWC
	if n, err := rdma.Ibv_poll_cq(e.cq, 1, &wc); n != -1 || err == nil {
		t.Errorf("an overrun queue gave %d, %v", n, err)
	}
}

func TestSeveralProviders(t *testing.T) {
	first := install(t, roce().json())
	a := newEnd(t, "d0", uc)
	second := ok[*sim.Provider](t)(sim.New(ok[*sim.Profile](t)(sim.Parse([]byte(mac().json()), nil)), sim.Options{}))
	restore := rdma.Use(second.Library())
	b := newEnd(t, "d0", uc)
	if rdma.Ibv_mr_lkey(b.mr) != 0x101 || rdma.Ibv_mr_lkey(a.mr) != 0x101 {
		t.Error("two providers share their counters")
	}
	far := b.toPeer(second)
	b.postRecv(1, 8)
	b.postSend(2, 8)
	b.expect([2]int{2, 0}, [2]int{1, 0})
	second.Close()
	second.Close()
	if _, err := rdma.Devices(); err == nil {
		t.Error("a closed provider lists devices")
	}
	if _, err := second.Peer("d0", 1); err == nil {
		t.Error("a closed provider has a peer")
	}
	if r, _ := rdma.IbvDestroyQp(b.qp); r != 22 {
		t.Errorf("a stale handle gave %d", r)
	}
	restore()
	a.toPeer(first)
	a.postRecv(1, 8)
	a.postSend(2, 8)
	a.expect([2]int{2, 0}, [2]int{1, 0})
	a.close()
	_ = far
}

// TestManyProviders: callbacks are 2000 for a process, and closing gives them
// back.
func TestManyProviders(t *testing.T) {
	profile := ok[*sim.Profile](t)(sim.Parse([]byte(roce().json()), nil))
	for i := range 3000 {
		p, err := sim.New(profile, sim.Options{})
		if err != nil {
			t.Fatalf("provider %d: %v", i, err)
		}
		p.Close()
	}
}

func TestLibrary(t *testing.T) {
	for _, tc := range []struct {
		name, profile string
		missing       []string
		platform      rdma.Platform
	}{
		{"linux", roce().json(), nil, rdma.PlatformLinux},
		{"mac", mac().json(), []string{"_ibv_query_gid_ex"}, rdma.PlatformDarwin},
		{"missing", roce().with(func(m *machine) {
			m.rest = `, "library": {"missing_symbols": ["ibv_query_qp", "ibv_create_comp_channel", "ibv_poll_cq"]}`
		}).json(), []string{"ibv_query_qp", "ibv_create_comp_channel"}, rdma.PlatformLinux},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lib := install(t, tc.profile).Library()
			if lib.Platform() != tc.platform || lib.Path() != "sim:t" {
				t.Errorf("platform %s, path %s", lib.Platform(), lib.Path())
			}
			missing := map[string]bool{}
			for _, name := range tc.missing {
				missing[name] = true
			}
			for name, there := range lib.Symbols() {
				if there == missing[name] {
					t.Errorf("%s is there: %v", name, there)
				}
			}
			ops := ok[map[string]bool](t)(rdma.IbvOps(openDevice(t, "d0")))
			if len(ops) != 4 || ops["ibv_poll_cq"] == (tc.name == "missing") || !ops["ibv_post_send"] {
				t.Errorf("ops %v", ops)
			}
		})
	}
}

// TestEveryProfileLists: each built-in machine can be listed and queried, as far
// as its faults let it.
func TestEveryProfileLists(t *testing.T) {
	infos := fixtures.Profiles()
	if len(infos) == 0 {
		t.Fatal("no profile")
	}
	for _, info := range infos {
		data, _ := fixtures.Profile(info.Name)
		p := install(t, string(data))
		devices := ok[[]rdma.Device](t)(rdma.Devices())
		if len(devices) != len(p.Profile().Devices) {
			t.Errorf("%s lists %d of %d devices", info.Name, len(devices), len(p.Profile().Devices))
		}
		for i, d := range devices {
			ctx := ok[rdma.RDMAContext](t)(d.Open())
			var attr rdma.IbvDeviceAttr
			r, err := rdma.IbvQueryDeviceAttr(ctx, &attr)
			must(t, r, err)
			if guid := ok[uint64](t)(rdma.IbvGetDeviceGUID(d.Handle)); guid != binary.BigEndian.Uint64(attr.NodeGUID[:]) {
				t.Errorf("%s: GUID %x against %x", d.Name, guid, attr.NodeGUID)
			}
			if d.Name != p.Profile().Devices[i].Name {
				t.Errorf("device %d is %s", i, d.Name)
			}
			r, err = rdma.IbvCloseDevice(ctx)
			must(t, r, err)
		}
	}
}
