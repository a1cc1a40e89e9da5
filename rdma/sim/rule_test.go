//go:build (darwin || linux) && (amd64 || arm64)

package sim_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// failingVerbs is how each verb is called here, so that a rule can make it fail.
var failingVerbs = map[string]func(e *end) (int, error){
	"ibv_open_device":     func(e *end) (int, error) { return listAndOpen() },
	"ibv_get_device_list": func(*end) (int, error) { _, err := rdma.OpenDeviceList(); return 0, err },
	"ibv_query_device":    func(e *end) (int, error) { return rdma.IbvQueryDeviceAttr(e.ctx, new(rdma.IbvDeviceAttr)) },
	"ibv_query_port":      func(e *end) (int, error) { return rdma.IbvQueryPortAttr(e.ctx, 1, new(rdma.IbvPortAttr)) },
	"ibv_query_gid":       func(e *end) (int, error) { return rdma.IbvQueryGidInto(e.ctx, 1, 0, new(rdma.IbvGID)) },
	"_ibv_query_gid_ex":   func(e *end) (int, error) { return rdma.IbvQueryGidEx(e.ctx, 1, 0, new(rdma.IbvGIDEntry)) },
	"ibv_alloc_pd":        func(e *end) (int, error) { _, err := rdma.IbvAllocPd(e.ctx); return 0, err },
	"ibv_dealloc_pd":      func(e *end) (int, error) { return rdma.IbvDeallocPd(e.pd) },
	"ibv_reg_mr":          func(e *end) (int, error) { _, err := rdma.IbvRegMr(e.pd, e.buf.Addr(), 4096, 1); return 0, err },
	"ibv_dereg_mr":        func(e *end) (int, error) { return rdma.IbvDeregMr(e.mr) },
	"ibv_create_cq":       func(e *end) (int, error) { _, err := rdma.IbvCreateCq(e.ctx, 1, 0, 0, 0); return 0, err },
	"ibv_destroy_cq":      func(e *end) (int, error) { return rdma.IbvDestroyCq(e.cq) },
	"ibv_create_qp":       func(e *end) (int, error) { _, err := rdma.IbvCreateQpAttr(e.pd, e.initAttr()); return 0, err },
	"ibv_modify_qp":       func(e *end) (int, error) { return rdma.IbvModifyQpAttr(e.qp, new(rdma.IbvQPAttr), 1) },
	"ibv_query_qp": func(e *end) (int, error) {
		return rdma.IbvQueryQp(e.qp, new(rdma.IbvQPAttr), 1, new(rdma.IbvQPInitAttr))
	},
	"ibv_destroy_qp":          func(e *end) (int, error) { return rdma.IbvDestroyQp(e.qp) },
	"ibv_create_comp_channel": func(e *end) (int, error) { _, err := rdma.IbvCreateCompChannel(e.ctx); return 0, err },
	"ibv_poll_cq":             func(e *end) (int, error) { return rdma.Ibv_poll_cq(e.cq, 1, new(rdma.IbvWC)) },
	"ibv_req_notify_cq":       func(e *end) (int, error) { return rdma.IbvReqNotifyCq(e.cq, 0) },
	"ibv_post_send":           func(e *end) (int, error) { return rdma.Ibv_post_send(e.qp, e.sendWR(1, 8, 2), new(*rdma.IbvSendWR)) },
	"ibv_post_recv": func(e *end) (int, error) {
		wr := (*rdma.IbvRecvWR)(unsafe.Pointer(&e.work.Bytes()[0]))
		return rdma.Ibv_post_recv(e.qp, wr, new(*rdma.IbvRecvWR))
	},
	"ibv_close_device": func(e *end) (int, error) { return rdma.IbvCloseDevice(e.ctx) },
}

func listAndOpen() (int, error) {
	list, err := rdma.OpenDeviceList()
	if err != nil {
		return 0, err
	}
	defer list.Close()
	_, err = list.Devices()[0].Open()
	return 0, err
}

// TestEveryVerbFailsByRule: the second call fails with the errno of the rule, or
// without any, in the way of the verb.
func TestEveryVerbFailsByRule(t *testing.T) {
	for verb, call := range failingVerbs {
		for _, tc := range []struct {
			errno string
			want  int
		}{{"EIO", 5}, {"ENODATA", 61}, {"", 0}} {
			t.Run(verb+"/"+tc.errno, func(t *testing.T) {
				// Making an end takes some calls; the rule holds after those.
				before := 0
				for range 4 {
					install(t, roce().calls1(verb, fmt.Sprintf(`{"when": {"after": %d}, "errno": %q}`, before, tc.errno)).json())
					e, made := tryEnd(t)
					if !made {
						before++
						continue
					}
					_, err := call(e)
					if err == nil {
						t.Fatal("the call worked")
					}
					if !strings.Contains(err.Error(), verb) {
						t.Errorf("error %q does not name %s", err, verb)
					}
					wantErrno(t, err, tc.want)
					return
				}
				t.Fatal("no end could be made")
			})
		}
	}
}

// tryEnd makes an end unless a rule comes in the way.
func tryEnd(t *testing.T) (e *end, made bool) {
	e = &end{t: t, qpType: uc, device: "d0"}
	var err error
	list, err := rdma.OpenDeviceList()
	if err != nil {
		return nil, false
	}
	defer list.Close()
	if e.ctx, err = list.Devices()[0].Open(); err != nil {
		return nil, false
	}
	if e.pd, err = rdma.IbvAllocPd(e.ctx); err != nil {
		return nil, false
	}
	if e.cq, err = rdma.IbvCreateCq(e.ctx, 4, 0, 0, 0); err != nil {
		return nil, false
	}
	if e.qp, err = rdma.IbvCreateQpAttr(e.pd, e.initAttr()); err != nil {
		return nil, false
	}
	e.buf, e.work = ok[*rdma.Buffer](t)(rdma.MapBuffer(2*half)), ok[*rdma.Buffer](t)(rdma.MapBuffer(4096))
	t.Cleanup(func() { e.buf.Unmap(); e.work.Unmap() })
	e.mr, err = rdma.IbvRegMr(e.pd, e.buf.Addr(), 2*half, fullMask)
	return e, err == nil
}

func TestReturnIsPassedOn(t *testing.T) {
	install(t, roce().calls1("ibv_query_port", `{"return": -12}`).json())
	ctx := openDevice(t, "d0")
	if r, err := rdma.IbvQueryPortAttr(ctx, 1, new(rdma.IbvPortAttr)); r != -12 || err == nil {
		t.Errorf("returned %d, %v", r, err)
	}
	install(t, roce().calls1("ibv_poll_cq", `{"return": 5000}`).json())
	e := newEnd(t, "d0", uc)
	if n, err := rdma.Ibv_poll_cq(e.cq, 1, new(rdma.IbvWC)); n == 0 || n == 1 {
		t.Errorf("polling gave %d, %v", n, err)
	}
}

// TestConditions: the rule makes creation, registration or a step fail exactly
// where its condition holds.
func TestConditions(t *testing.T) {
	page := ok[*rdma.Buffer](t)(rdma.MapBuffer(1 << 16))
	heap := make([]byte, 1<<16)
	reg := func(addr, n uintptr) func(*end) error {
		return func(e *end) error { _, err := rdma.IbvRegMr(e.pd, addr, n, 1); return err }
	}
	create := func(qpType int32, inline uint32) func(*end) error {
		return func(e *end) error {
			a := e.initAttr()
			a.QPType, a.Cap.MaxInlineData = qpType, inline
			_, err := rdma.IbvCreateQpAttr(e.pd, a)
			return err
		}
	}
	rtr := func(qpType int32, change func(*rdma.IbvQPAttr)) func(*end) error {
		return func(*end) error {
			e := newEnd(t, "d0", qpType)
			e.toInit()
			attr, mask := e.rtr(1, 1, rdma.IbvGID{15: 1}, 1, 3)
			change(attr)
			_, err := rdma.IbvModifyQpAttr(e.qp, attr, mask)
			return err
		}
	}
	for _, tc := range []struct {
		verb, when string
		holds      func(*end) error
		fails      func(*end) error // the condition does not hold
	}{
		{"ibv_create_qp", `"qp_type": "RC"`, create(rc, 0), create(uc, 0)},
		{"ibv_create_qp", `"max_inline_data": 64`, create(uc, 64), create(uc, 0)},
		{"ibv_reg_mr", `"memory": "mmap", "size_over": 5000`, reg(page.Addr(), 8192), reg(page.Addr(), 4096)},
		{"ibv_reg_mr", `"memory": "heap", "size_over": 4096`, reg(uintptr(unsafe.Pointer(&heap[0])), 8192), reg(page.Addr(), 8192)},
		{"ibv_reg_mr", `"memory": "heap"`, reg(page.Addr()+16, 64), reg(page.Addr(), 64)},
		{"ibv_modify_qp", `"to": "RTR"`, rtr(uc, nothing), func(e *end) error { newEnd(t, "d0", uc).toInit(); return nil }},
		{"ibv_modify_qp", `"qp_type": "UC", "to": "RTR", "sgid_index": 0`, rtr(uc, func(a *rdma.IbvQPAttr) { a.AHAttr.GRH.SGIDIndex = 0 }), rtr(uc, nothing)},
		{"ibv_modify_qp", `"path_mtu": 512`, rtr(uc, func(a *rdma.IbvQPAttr) { a.PathMTU = 2 }), rtr(uc, nothing)},
		{"ibv_modify_qp", `"is_global": 1`, rtr(uc, nothing), func(e *end) error { newEnd(t, "d0", uc).toInit(); return nil }},
		{"ibv_modify_qp", `"qp_type": "RC", "to": "RTR"`, rtr(rc, nothing), rtr(uc, nothing)},
	} {
		t.Run(tc.verb+" "+tc.when, func(t *testing.T) {
			install(t, roce().calls1(tc.verb, `{"when": {`+tc.when+`}, "errno": "EUSERS"}`).json())
			e, made := tryEnd(t)
			if !made && tc.verb != "ibv_reg_mr" {
				t.Fatal("no end")
			}
			if err := tc.fails(e); err != nil {
				t.Errorf("the condition does not hold, and the call failed: %v", err)
			}
			wantErrno(t, tc.holds(e), 87)
		})
	}
}

func nothing(*rdma.IbvQPAttr) {}

// TestFirstRuleWins: a rule without effect shields its case.
func TestFirstRuleWins(t *testing.T) {
	install(t, roce().calls1("ibv_create_qp", `{"when": {"qp_type": "UC"}}, {"errno": "EOPNOTSUPP"}, {"errno": "EIO"}`).json())
	e := newEnd(t, "d0", uc)
	a := e.initAttr()
	a.QPType = rc
	_, err := rdma.IbvCreateQpAttr(e.pd, a)
	wantErrno(t, err, 95)
}

// TestAfterCountsFittingWork: work requests of the posts, and only those that
// the other keys fit.
func TestAfterCountsFittingWork(t *testing.T) {
	p := install(t, roce().calls1("ibv_post_send", `{"when": {"opcode": "RDMA_WRITE", "after": 2}, "errno": "ENOMEM"}`).json())
	e := newEnd(t, "d0", uc)
	far := e.toPeer(p)
	for i, want := range []int{0, 0, 12, 12} {
		e.postSend(1, 8)
		if r := e.write(2, 8, far.Addr, far.RKey); r != want {
			t.Errorf("write %d returned %d, want %d", i+1, r, want)
		}
		e.poll()
	}
}

// TestOutstanding: with 63 receives posted the next fails, as reported of a Mac.
func TestOutstanding(t *testing.T) {
	install(t, mac().calls1("ibv_post_recv", `{"when": {"outstanding_over": 63}, "errno": "ENOMEM"}`).json())
	e := newEndWithout(t, "d0")
	e.cq, e.qpType = ok[rdma.RDMACQ](t)(rdma.IbvCreateCq(e.ctx, 256, 0, 0, 0)), uc
	attr := e.initAttr()
	attr.Cap.MaxRecvWR = 128
	e.qp = ok[rdma.RDMAQP](t)(rdma.IbvCreateQpAttr(e.pd, attr))
	e.buf, e.work = ok[*rdma.Buffer](t)(rdma.MapBuffer(2*half)), ok[*rdma.Buffer](t)(rdma.MapBuffer(4096))
	e.mr = ok[rdma.RDMAMR](t)(rdma.IbvRegMr(e.pd, e.buf.Addr(), 2*half, 1))
	e.toInit()
	for i := range 63 {
		if r := e.postRecv(uint64(i), 64); r != 0 {
			t.Fatalf("receive %d returned %d", i, r)
		}
	}
	if r := e.postRecv(63, 64); r != 12 {
		t.Errorf("the 64th receive returned %d", r)
	}
}

func TestSet(t *testing.T) {
	install(t, roce().with(func(m *machine) {
		m.calls = `"ibv_query_device": [{"set": {"phys_port_cnt": 255, "max_qp": -1}}],
			"ibv_query_port": [{"set": {"gid_tbl_len": 2147483648, "state": "active_defer", "link_layer": 77}}],
			"ibv_create_qp": [{"set": {"max_send_wr": 1023}}],
			"ibv_query_qp": [{"set": {"max_recv_wr": "0xffffffff"}}],
			"ibv_create_cq": [{"set": {"cqe": 127}}],
			"ibv_query_gid": [{"when": {"sgid_index": 1, "after": 1}, "set": {"gid": "::ffff:192.0.2.9"}}],
			"_ibv_query_gid_ex": [{"when": {"sgid_index": 0}, "set": {"gid_type": 9, "gid": "2001:db8::9"}}],
			"ibv_get_device_list": [{"set": {"num_devices": 1000}}]`
	}).json())
	var n int32
	list := ok[rdma.RDMADeviceList](t)(rdma.IbvGetDeviceList(uintptr(unsafe.Pointer(&n))))
	if n != 1000 {
		t.Errorf("num_devices is %d", n)
	}
	if err := rdma.IbvFreeDeviceList(list); err != nil {
		t.Fatal(err)
	}
	devices := ok[[]rdma.Device](t)(rdma.Devices())
	if len(devices) != 1 {
		t.Errorf("%d devices in an array that ends after one", len(devices))
	}
	ctx := ok[rdma.RDMAContext](t)(devices[0].Open())
	var device rdma.IbvDeviceAttr
	r, err := rdma.IbvQueryDeviceAttr(ctx, &device)
	must(t, r, err)
	var port rdma.IbvPortAttr
	r, err = rdma.IbvQueryPortAttr(ctx, 1, &port)
	must(t, r, err)
	var entry rdma.IbvGIDEntry
	r, err = rdma.IbvQueryGidEx(ctx, 1, 0, &entry)
	must(t, r, err)
	var first, again, neighbour rdma.IbvGID
	for _, q := range []struct {
		index int
		into  *rdma.IbvGID
	}{{1, &first}, {0, &neighbour}, {1, &again}} {
		r, err := rdma.IbvQueryGidInto(ctx, 1, q.index, q.into)
		must(t, r, err)
	}
	if set := netip.MustParseAddr("::ffff:192.0.2.9").As16(); first == set || neighbour == set || again != set || entry.GID != netip.MustParseAddr("2001:db8::9").As16() {
		t.Errorf("slot 1 is %v, then %v; slot 0 %v; its entry %v", first, again, neighbour, entry.GID)
	}
	if device.PhysPortCnt != 255 || device.MaxQP != -1 || port.GIDTblLen != 1<<31 || port.State != 5 || port.LinkLayer != 77 || entry.GIDType != 9 {
		t.Errorf("device %+v, port %+v, entry %+v", device, port, entry)
	}
	if _, err := rdma.IbvAllocPd(ctx); err != nil {
		t.Error(err)
	}
}

func TestSetCaps(t *testing.T) {
	install(t, roce().with(func(m *machine) {
		m.calls = `"ibv_create_qp": [{"set": {"max_send_wr": 1023}}], "ibv_query_qp": [{"set": {"max_recv_wr": "0xffffffff"}}]`
	}).json())
	e := newEnd(t, "d0", uc)
	granted := e.initAttr()
	ok[rdma.RDMAQP](t)(rdma.IbvCreateQpAttr(e.pd, granted))
	var attr rdma.IbvQPAttr
	var init rdma.IbvQPInitAttr
	r, err := rdma.IbvQueryQp(e.qp, &attr, 1<<19, &init)
	must(t, r, err)
	if granted.Cap.MaxSendWR != 1023 || init.Cap.MaxSendWR != 1023 || init.Cap.MaxRecvWR != 1<<32-1 || attr.Cap != init.Cap {
		t.Errorf("granted %+v, queried %+v", granted.Cap, init.Cap)
	}
}

func TestKeysByRule(t *testing.T) {
	p := install(t, roce().calls1("ibv_reg_mr", `{"lkey": "0x2401", "rkey": "0x2402"}`).json())
	e := newEnd(t, "d0", uc)
	second := ok[rdma.RDMAMR](t)(rdma.IbvRegMr(e.pd, e.buf.Addr(), 64, 1))
	if rdma.Ibv_mr_lkey(e.mr) != 0x2401 || rdma.Ibv_mr_rkey(second) != 0x2402 {
		t.Errorf("keys %#x, %#x", rdma.Ibv_mr_lkey(e.mr), rdma.Ibv_mr_rkey(second))
	}
	e.toPeer(p)
	e.postRecv(1, 4096)
	e.postSend(2, 4096) // beyond the second region, inside the first
	e.expect([2]int{2, 0}, [2]int{1, 0})
}

// TestMessageRules: what rules do to messages on their way.
func TestMessageRules(t *testing.T) {
	const retry, prot = rdma.IBV_WC_RETRY_EXC_ERR, rdma.IBV_WC_LOC_PROT_ERR
	flushed := [2]int{1, rdma.IBV_WC_WR_FLUSH_ERR}
	for _, tc := range []struct {
		name, verb, rule string
		qpType           int32
		want             [][2]int
		same             bool // the right bytes came back
	}{
		{"status of sends", "ibv_poll_cq", `{"wc_status": "RETRY_EXC_ERR"}`, rc, [][2]int{{2, retry}, flushed}, false},
		{"status by GID", "ibv_poll_cq", `{"when": {"sgid_index": 1}, "wc_status": "RETRY_EXC_ERR"}`, rc, [][2]int{{2, retry}, flushed}, false},
		{"status by other GID", "ibv_poll_cq", `{"when": {"sgid_index": 0}, "wc_status": "RETRY_EXC_ERR"}`, rc, [][2]int{{2, 0}, {1, 0}}, true},
		{"status of other type", "ibv_poll_cq", `{"when": {"qp_type": "RC"}, "wc_status": "RETRY_EXC_ERR"}`, uc, [][2]int{{2, 0}, {1, 0}}, true},
		{"status of receives", "ibv_poll_cq", `{"when": {"opcode": "RECV"}, "wc_status": "LOC_PROT_ERR"}`, uc, [][2]int{{2, 0}, {1, prot}}, false},
		{"status without a name", "ibv_poll_cq", `{"when": {"opcode": "RECV"}, "wc_status": "unknown(77)"}`, uc, [][2]int{{2, 0}, {1, 77}}, false},
		{"status at the post", "ibv_post_send", `{"wc_status": "LOC_PROT_ERR"}`, rc, [][2]int{{2, prot}, flushed}, false},
		{"status at the receive", "ibv_post_recv", `{"wc_status": "LOC_PROT_ERR"}`, uc, [][2]int{{2, 0}, {1, prot}}, false},
		{"every first is lost", "ibv_poll_cq", `{"lose_every": 1}`, uc, [][2]int{{2, 0}}, false},
		{"every second is lost", "ibv_poll_cq", `{"lose_every": 2}`, uc, [][2]int{{2, 0}, {1, 0}}, true},
		{"lost on the way out", "ibv_post_send", `{"lose_every": 1}`, rc, [][2]int{{2, 0}}, false},
		{"not delivered out", "ibv_post_send", `{"deliver": false}`, uc, [][2]int{{2, 0}}, false},
		{"not written", "ibv_poll_cq", `{"deliver": false}`, uc, [][2]int{{2, 0}, {1, 0}}, false},
		{"delivered", "ibv_poll_cq", `{"deliver": true}`, uc, [][2]int{{2, 0}, {1, 0}}, true},
		{"stray id", "ibv_poll_cq", `{"wc": {"wr_id": "0xdead"}}`, uc, [][2]int{{0xdead, 0}, {0xdead, 0}}, true},
		{"twice", "ibv_poll_cq", `{"when": {"opcode": "RECV"}, "wc": {"duplicate": true}}`, uc, [][2]int{{2, 0}, {1, 0}, {1, 0}}, true},
		{"after one message", "ibv_poll_cq", `{"when": {"opcode": "RECV", "after": 1}, "wc_status": "LOC_PROT_ERR"}`, uc, [][2]int{{2, 0}, {1, 0}}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := install(t, roce().calls1(tc.verb, tc.rule).json())
			e := newEnd(t, "d0", tc.qpType)
			e.toPeer(p)
			want := fill(e.sendBytes()[:64])
			e.postRecv(1, 64)
			e.postSend(2, 64)
			e.expect(tc.want...)
			if bytes.Equal(e.recvBytes()[:64], want) != tc.same {
				t.Errorf("the payload came back: %v", !tc.same)
			}
			e.close()
		})
	}
}

// TestLossIsRegular: of 100 messages every 33rd is lost, and the sender is told
// nothing.
func TestLossIsRegular(t *testing.T) {
	p := install(t, roce().calls1("ibv_poll_cq", `{"when": {"qp_type": "UC"}, "lose_every": 33}`).json())
	e := newEnd(t, "d0", uc)
	e.toPeer(p)
	var lost []int
	posted := false
	for i := 1; i <= 100; i++ {
		if !posted {
			e.postRecv(uint64(i), 64)
		}
		e.postSend(uint64(i), 64)
		posted = len(e.poll()) == 1
		if posted {
			lost = append(lost, i)
		}
	}
	if fmt.Sprint(lost) != "[33 66 99]" {
		t.Errorf("lost %v", lost)
	}
}

// TestRepeats: every second message comes once more, into the next receive, and
// pushes the one that is meant for it out.
func TestRepeats(t *testing.T) {
	p := install(t, roce().calls1("ibv_poll_cq", `{"when": {"qp_type": "UC"}, "repeat_every": 2}`).json())
	e := newEnd(t, "d0", uc)
	e.toPeer(p)
	var came []uint64
	for i := range uint64(5) {
		want := fill(e.sendBytes()[:64])
		want[0] = byte(i)
		e.sendBytes()[0] = byte(i)
		e.postRecv(2*i+1, 64)
		e.postSend(2*i, 64)
		e.poll()
		came = append(came, uint64(e.recvBytes()[0]))
	}
	if fmt.Sprint(came) != "[0 1 1 3 3]" {
		t.Errorf("messages %v", came)
	}
}

func TestUnlistedDevices(t *testing.T) {
	profile := `{"profile": 1, "id": "t", "devices": [{"name": "a", "transport": "iwarp", "listed": false}, {"name": "b", "transport": "iwarp"}]}`
	install(t, profile)
	devices := ok[[]rdma.Device](t)(rdma.Devices())
	if len(devices) != 1 || devices[0].Name != "b" {
		t.Errorf("listed %v", devices)
	}
	install(t, `{"profile": 1, "id": "t", "devices": []}`)
	if devices, err := rdma.Devices(); err != nil || len(devices) != 0 {
		t.Errorf("an empty list is %v, %v", devices, err)
	}
	install(t, `{"profile": 1, "id": "t", "host": {"os": "macos"}, "devices": [], "device_list": {"errno": "ENOSYS"}}`)
	_, err := rdma.Devices()
	wantErrno(t, err, 78)
	install(t, `{"profile": 1, "id": "t", "devices": [], "device_list": {"errno": ""}}`)
	_, err = rdma.Devices()
	wantErrno(t, err, 0)
}

func TestPeerErrors(t *testing.T) {
	p := install(t, roce().json())
	if _, err := p.Peer("d1", 1); err == nil {
		t.Error("a peer of no device")
	}
	if _, err := p.Peer("d0", 2); err == nil {
		t.Error("a peer of no port")
	}
	peer := ok[*sim.Peer](t)(p.Peer("d0", 1))
	if again := ok[*sim.Peer](t)(p.Peer("d0", 1)); again != peer {
		t.Error("a second peer at one port")
	}
	if _, err := peer.Endpoint(9); err == nil {
		t.Error("an endpoint of no type")
	}
	for _, r := range [][2]int{{-1, 1}, {0, -1}, {16 << 20, 1}, {1, 16 << 20}} {
		if _, err := peer.Read(r[0], r[1]); err == nil {
			t.Errorf("read %v", r)
		}
	}
}

func TestPeerOfProfile(t *testing.T) {
	p := install(t, mac().with(func(m *machine) {
		m.rest = `, "peer": {"device": "rdma_en9", "active_mtu": 2048, "gids": [], "rkey": 7}`
	}).json())
	far := ok[sim.Endpoint](t)(ok[*sim.Peer](t)(p.Peer("d0", 1)).Endpoint(uc))
	if far.Device != "rdma_en9" || far.ActiveMTU.Bytes() != 2048 || len(far.GIDs) != 0 || far.RKey != 7 || far.Length != 16<<20 {
		t.Errorf("endpoint %+v", far)
	}
}
