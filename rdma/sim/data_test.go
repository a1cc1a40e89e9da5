//go:build (darwin || linux) && (amd64 || arm64)

package sim_test

import (
	"bytes"
	"fmt"
	"testing"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

const (
	uc = rdma.IBV_QPT_UC
	rc = rdma.IBV_QPT_RCExperimental
	ud = 4
)

func TestEcho(t *testing.T) {
	for name, m := range map[string]machine{"roce": roce(), "mac": mac()} {
		for _, qpType := range []int32{uc, rc} {
			for _, size := range []int{1, 64, 4096, 5000, 1 << 18} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, qpType, size), func(t *testing.T) {
					p := install(t, m.json())
					e := newEnd(t, "d0", qpType)
					far := e.toPeer(p)
					want := fill(e.sendBytes()[:size])
					if e.postRecv(7, size) != 0 || e.postSend(8, size) != 0 {
						t.Fatal("posting failed")
					}
					wc := e.expect([2]int{8, 0}, [2]int{7, 0})
					if wc[0].Opcode != rdma.IBV_WC_SEND || wc[1].Opcode != rdma.IBV_WC_RECV || wc[1].ByteLen != uint32(size) || wc[1].QPNum != rdma.Ibv_qp_num(e.qp) {
						t.Errorf("completions %+v", wc)
					}
					if !bytes.Equal(e.recvBytes()[:size], want) {
						t.Error("other bytes came back")
					}
					peer, _ := p.Peer("d0", 1)
					if last, n := peer.Received(); n != 1 || !bytes.Equal(last, want) {
						t.Errorf("the peer has %d messages", n)
					}
					if far.Device != "d0" || far.LID != 3 || far.ActiveMTU.Bytes() != m.mtu {
						t.Errorf("endpoint %+v", far)
					}
					e.close()
				})
			}
		}
	}
}

func TestLoopback(t *testing.T) {
	for _, qpType := range []int32{uc, rc} {
		install(t, roce().json())
		a, b := newEnd(t, "d0", qpType), newEnd(t, "d0", qpType)
		connect(a, b, 7)
		for i := range 20 {
			want := fill(a.sendBytes()[:300])
			b.postRecv(uint64(i), 4096)
			a.postSend(uint64(100+i), 300)
			a.expect([2]int{100 + i, 0})
			if wc := b.expect([2]int{i, 0}); wc[0].ByteLen != 300 || !bytes.Equal(b.recvBytes()[:300], want) {
				t.Fatalf("message %d: %+v", i, wc)
			}
		}
		a.close()
		b.close()
	}
}

// TestUnconnected: what is not connected to the sender gets nothing. RC learns
// of it, UC does not, and on Thunderbolt nothing ever completes.
func TestUnconnected(t *testing.T) {
	dgid := rdma.IbvGID{10: 0xff, 11: 0xff, 12: 192, 13: 0, 14: 2, 15: 1}
	for name, tc := range map[string]struct {
		m      machine
		qpType int32
		want   [][2]int
	}{
		"roce rc": {roce(), rc, [][2]int{{1, rdma.IBV_WC_RETRY_EXC_ERR}}},
		"roce uc": {roce(), uc, [][2]int{{1, 0}}},
		"mac uc":  {mac(), uc, nil},
	} {
		t.Run(name, func(t *testing.T) {
			install(t, tc.m.json())
			a, b := newEnd(t, "d0", tc.qpType), newEnd(t, "d0", tc.qpType)
			b.toInit()
			a.toInit()
			attr, mask := a.rtr(rdma.Ibv_qp_num(b.qp), 1, dgid, 1, 3)
			r, err := rdma.IbvModifyQpAttr(a.qp, attr, mask)
			must(t, r, err)
			a.toRTS(7)
			b.postRecv(9, 64)
			a.postSend(1, 64)
			a.expect(tc.want...)
			b.expect()
		})
	}
}

// TestWrongDestinations: each property of a connection that does not hold keeps
// messages out.
func TestWrongDestinations(t *testing.T) {
	other := rdma.IbvGID{10: 0xff, 11: 0xff, 12: 192, 13: 0, 14: 2, 15: 99}
	for name, change := range map[string]func(*rdma.IbvQPAttr, sim.Endpoint, sim.Endpoint){
		"unknown number":        func(a *rdma.IbvQPAttr, _, _ sim.Endpoint) { a.DestQPNum = 0xabcdef },
		"queue pair of UC":      func(a *rdma.IbvQPAttr, _, uc sim.Endpoint) { a.DestQPNum = uc.QPN },
		"address of nobody":     func(a *rdma.IbvQPAttr, _, _ sim.Endpoint) { a.AHAttr.GRH.DGID = other },
		"v1 entry to v2 only":   func(a *rdma.IbvQPAttr, _, _ sim.Endpoint) { a.AHAttr.GRH.SGIDIndex = 5 },
		"packets too large":     func(a *rdma.IbvQPAttr, _, _ sim.Endpoint) { a.PathMTU = rdma.IBV_MTU_4096 },
		"nothing: it must work": func(*rdma.IbvQPAttr, sim.Endpoint, sim.Endpoint) {},
	} {
		t.Run(name, func(t *testing.T) {
			m := roce().with(func(m *machine) {
				m.mtu = 4096
				m.gids += `, {"index": 5, "gid": "::ffff:192.0.2.1", "type": "roce_v1"}`
				m.rest = `, "peer": {"active_mtu": 1024, "gids": [{"index": 0, "gid": "::ffff:192.0.2.7", "type": "roce_v2"}]}`
			})
			p := install(t, m.json())
			peer := ok[*sim.Peer](t)(p.Peer("d0", 1))
			far, farUC := ok[sim.Endpoint](t)(peer.Endpoint(rc)), ok[sim.Endpoint](t)(peer.Endpoint(uc))
			e := newEnd(t, "d0", rc)
			e.toInit()
			attr, mask := e.rtr(far.QPN, far.PSN, rdma.IbvGID(far.GIDs[0].GID), 1, 3)
			change(attr, far, farUC)
			r, err := rdma.IbvModifyQpAttr(e.qp, attr, mask)
			must(t, r, err)
			e.toRTS(7)
			e.postRecv(1, 64)
			e.postSend(2, 64)
			if name == "nothing: it must work" {
				e.expect([2]int{2, 0}, [2]int{1, 0})
				return
			}
			e.expect([2]int{2, rdma.IBV_WC_RETRY_EXC_ERR}, [2]int{1, rdma.IBV_WC_WR_FLUSH_ERR})
		})
	}
}

// TestWrongSequenceNumber: the send arrives, and RC drops the answer.
func TestWrongSequenceNumber(t *testing.T) {
	for _, tc := range []struct {
		qpType int32
		want   [][2]int
	}{{rc, [][2]int{{2, 0}}}, {uc, [][2]int{{2, 0}, {1, 0}}}} {
		p := install(t, roce().json())
		peer := ok[*sim.Peer](t)(p.Peer("d0", 1))
		far := ok[sim.Endpoint](t)(peer.Endpoint(tc.qpType))
		e := newEnd(t, "d0", tc.qpType)
		e.toInit()
		attr, mask := e.rtr(far.QPN, far.PSN+1, gidOf(t, far.GIDs, 1), 1, 3)
		r, err := rdma.IbvModifyQpAttr(e.qp, attr, mask)
		must(t, r, err)
		e.toRTS(7)
		e.postRecv(1, 64)
		e.postSend(2, 64)
		e.expect(tc.want...)
	}
}

func TestSilentPeer(t *testing.T) {
	p := install(t, roce().json())
	e := newEnd(t, "d0", uc)
	e.toPeer(p)
	ok[*sim.Peer](t)(p.Peer("d0", 1)).Echo(false)
	e.postRecv(1, 64)
	e.postSend(2, 64)
	e.expect([2]int{2, 0})
}

// TestNoReceive: without a posted receive RC waits, RoCE UC loses, Thunderbolt
// holds the message back until there is one.
func TestNoReceive(t *testing.T) {
	for name, tc := range map[string]struct {
		m      machine
		qpType int32
		retry  uint8
		sender [][2]int
		later  bool // the message comes when a receive is posted
	}{
		"rc patient":   {roce(), rc, 7, nil, true},
		"rc impatient": {roce(), rc, 0, [][2]int{{2, rdma.IBV_WC_RNR_RETRY_EXC_ERR}}, false},
		"uc":           {roce(), uc, 7, [][2]int{{2, 0}}, false},
		"thunderbolt":  {mac(), uc, 7, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			install(t, tc.m.json())
			a, b := newEnd(t, "d0", tc.qpType), newEnd(t, "d0", tc.qpType)
			connect(a, b, tc.retry)
			want := fill(a.sendBytes()[:64])
			a.postSend(2, 64)
			a.expect(tc.sender...)
			if b.postRecv(1, 64); !tc.later {
				b.expect()
				return
			}
			a.expect([2]int{2, 0})
			b.expect([2]int{1, 0})
			if !bytes.Equal(b.recvBytes()[:64], want) {
				t.Error("other bytes arrived")
			}
		})
	}
}

// TestWaitingMessagesAreReleased: what waits for a receive goes when either end
// does.
func TestWaitingMessagesAreReleased(t *testing.T) {
	install(t, mac().json())
	a, b := newEnd(t, "d0", uc), newEnd(t, "d0", uc)
	connect(a, b, 7)
	a.postSend(1, 64)
	a.postSend(2, 64)
	if err := rdma.IbvModifyQpToErr(a.qp); err != nil {
		t.Fatal(err)
	}
	a.expect([2]int{1, rdma.IBV_WC_WR_FLUSH_ERR}, [2]int{2, rdma.IBV_WC_WR_FLUSH_ERR})
	b.postRecv(3, 64)
	b.expect()
	a.close()
	b.close()
}

// TestFrames: on Thunderbolt a receive must have as many frames as the message
// (TN3205); elsewhere it must be large enough.
func TestFrames(t *testing.T) {
	for _, tc := range []struct {
		name       string
		m          machine
		send, room int
		status     int
	}{
		{"one frame", mac(), 64, 4096, 0},
		{"four into one", mac(), 16384, 4096, rdma.IBV_WC_LOC_LEN_ERR},
		{"four into eight", mac(), 16384, 32768, rdma.IBV_WC_LOC_LEN_ERR},
		{"four into four", mac(), 16384, 16384, 0},
		{"roce small into large", roce(), 64, 32768, 0},
		{"roce large into small", roce(), 65, 64, rdma.IBV_WC_LOC_LEN_ERR},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := install(t, tc.m.json())
			e := newEnd(t, "d0", uc)
			e.toPeer(p)
			e.postRecv(1, tc.room)
			e.postSend(2, tc.send)
			e.expect([2]int{2, 0}, [2]int{1, tc.status})
		})
	}
}

func TestRemoteWrite(t *testing.T) {
	for name, tc := range map[string]struct {
		qpType  int32
		rkey    func(uint32) uint32
		offset  uint64
		rest    string
		status  int
		arrives bool
	}{
		"rc":            {rc, same, 4096, "", 0, true},
		"uc":            {uc, same, 0, "", 0, true},
		"rkey given":    {rc, same, 0, `, "peer": {"rkey": "0x77"}`, 0, true},
		"rc wrong rkey": {rc, wrong, 0, "", rdma.IBV_WC_REM_ACCESS_ERR, false},
		"uc wrong rkey": {uc, wrong, 0, "", 0, false},
		"rc rkey zero":  {rc, same, 0, `, "peer": {"rkey": 0}`, rdma.IBV_WC_REM_ACCESS_ERR, false},
		"rc outside":    {rc, same, 16<<20 - 63, "", rdma.IBV_WC_REM_ACCESS_ERR, false},
		"rc at the end": {rc, same, 16<<20 - 64, "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := install(t, roce().with(func(m *machine) { m.rest = tc.rest }).json())
			e := newEnd(t, "d0", tc.qpType)
			far := e.toPeer(p)
			want := fill(e.sendBytes()[:64])
			if r := e.write(3, 64, far.Addr+tc.offset, tc.rkey(far.RKey)); r != 0 {
				t.Fatal(r)
			}
			wc := e.expect([2]int{3, tc.status})
			if tc.status == 0 && wc[0].Opcode != rdma.IBV_WC_RDMA_WRITE {
				t.Errorf("opcode %d", wc[0].Opcode)
			}
			peer := ok[*sim.Peer](t)(p.Peer("d0", 1))
			if tc.offset+64 > far.Length {
				return
			}
			got := ok[[]byte](t)(peer.Read(int(tc.offset), 64))
			if bytes.Equal(got, want) != tc.arrives {
				t.Errorf("arrived is %v", !tc.arrives)
			}
		})
	}
}

func same(k uint32) uint32  { return k }
func wrong(k uint32) uint32 { return k + 1 }

// TestThunderboltRegionsTakeNoWrite: the rkey is 0 on both ends, and a write
// goes nowhere.
func TestThunderboltRegionsTakeNoWrite(t *testing.T) {
	p := install(t, mac().json())
	e := newEnd(t, "d0", uc)
	far := e.toPeer(p)
	if rdma.Ibv_mr_rkey(e.mr) != 0 || far.RKey != 0 || rdma.Ibv_mr_lkey(e.mr) != 0x101 {
		t.Errorf("rkey %#x, the peer's %#x, lkey %#x", rdma.Ibv_mr_rkey(e.mr), far.RKey, rdma.Ibv_mr_lkey(e.mr))
	}
	fill(e.sendBytes()[:64])
	e.write(1, 64, far.Addr, far.RKey)
	e.expect([2]int{1, 0})
	got := ok[[]byte](t)(ok[*sim.Peer](t)(p.Peer("d0", 1)).Read(0, 64))
	if !bytes.Equal(got, make([]byte, 64)) {
		t.Error("the region was written")
	}
}

func TestRemoteWriteInOneProcess(t *testing.T) {
	for name, tc := range map[string]struct {
		key    func(uint32) uint32
		status int
	}{"right": {same, 0}, "wrong": {wrong, rdma.IBV_WC_REM_ACCESS_ERR}} {
		t.Run(name, func(t *testing.T) {
			install(t, roce().json())
			a, b := newEnd(t, "d0", rc), newEnd(t, "d0", rc)
			connect(a, b, 7)
			want := fill(a.sendBytes()[:64])
			a.write(1, 64, uint64(b.buf.Addr())+half, tc.key(rdma.Ibv_mr_rkey(b.mr)))
			a.expect([2]int{1, tc.status})
			if bytes.Equal(b.recvBytes()[:64], want) != (tc.status == 0) {
				t.Error("delivery and status disagree")
			}
		})
	}
}

// TestLocalKeys: a send or a receive outside the registered memory, or with
// another key, is a protection error.
func TestLocalKeys(t *testing.T) {
	p := install(t, roce().json())
	for name, change := range map[string]func(*rdma.IbvSGE){
		"key":     func(s *rdma.IbvSGE) { s.LKey++ },
		"before":  func(s *rdma.IbvSGE) { s.Addr-- },
		"beyond":  func(s *rdma.IbvSGE) { s.Addr += 2*half - 63 },
		"far out": func(s *rdma.IbvSGE) { s.Addr = 1<<64 - 8 },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnd(t, "d0", uc)
			e.toPeer(p)
			wr := e.sendWR(1, 64, rdma.IBV_WR_SEND)
			change(wr.SGList)
			e.post(wr)
			e.expect([2]int{1, rdma.IBV_WC_LOC_PROT_ERR})
			if r := e.postSend(2, 64); r != 0 {
				t.Fatalf("a broken queue pair flushes, and returned %d", r)
			}
			e.expect([2]int{2, rdma.IBV_WC_WR_FLUSH_ERR})
		})
	}
}

func TestUnsignaledSends(t *testing.T) {
	p := install(t, roce().json())
	e := newEnd(t, "d0", uc)
	e.toPeer(p)
	ok[*sim.Peer](t)(p.Peer("d0", 1)).Echo(false)
	for i := range 15 {
		wr := e.sendWR(uint64(i), 8, rdma.IBV_WR_SEND)
		wr.SendFlags = 0
		if r := e.post(wr); r != 0 {
			t.Fatalf("send %d returned %d", i, r)
		}
	}
	e.expect()
	if e.postSend(15, 8) != 0 {
		t.Fatal("the sixteenth send was refused")
	}
	if r := e.postSend(16, 8); r != 12 {
		t.Fatalf("the seventeenth of 16 returned %d, want ENOMEM", r)
	}
	e.expect([2]int{15, 0})
	if e.postSend(17, 8) != 0 {
		t.Fatal("polling one completion freed none of the slots before it")
	}
}

func TestPostingOutOfOrder(t *testing.T) {
	p := install(t, roce().json())
	e := newEnd(t, "d0", uc)
	if r := e.postRecv(1, 64); r != 22 {
		t.Errorf("a receive in RESET returned %d", r)
	}
	if r := e.postSend(1, 64); r != 22 {
		t.Errorf("a send in RESET returned %d", r)
	}
	e.toInit()
	if r := e.postSend(1, 64); r != 22 {
		t.Errorf("a send in INIT returned %d", r)
	}
	for i := range 16 {
		if r := e.postRecv(uint64(i), 64); r != 0 {
			t.Fatalf("receive %d in INIT returned %d", i, r)
		}
	}
	if r := e.postRecv(16, 64); r != 12 {
		t.Errorf("the seventeenth receive of 16 returned %d", r)
	}
	if err := rdma.IbvModifyQpToErr(e.qp); err != nil {
		t.Fatal(err)
	}
	if got := e.poll(); len(got) != 16 || got[15].Status != rdma.IBV_WC_WR_FLUSH_ERR || got[15].WRID != 15 {
		t.Errorf("flushed %+v", got)
	}
	if r := e.postRecv(17, 64); r != 0 {
		t.Errorf("a receive in ERR returned %d", r)
	}
	e.expect([2]int{17, rdma.IBV_WC_WR_FLUSH_ERR})
	_ = p
}

func TestRefusedRequests(t *testing.T) {
	p := install(t, roce().json())
	e := newEnd(t, "d0", uc)
	e.toPeer(p)
	for name, change := range map[string]func(*rdma.IbvSendWR){
		"too many pieces":  func(w *rdma.IbvSendWR) { w.NumSGE = 2 },
		"negative pieces":  func(w *rdma.IbvSendWR) { w.NumSGE = -1 },
		"pieces without":   func(w *rdma.IbvSendWR) { w.SGList = nil },
		"read":             func(w *rdma.IbvSendWR) { w.Opcode = 4 },
		"inline not asked": func(w *rdma.IbvSendWR) { w.SendFlags |= 8 },
	} {
		wr := e.sendWR(1, 64, rdma.IBV_WR_SEND)
		change(wr)
		if r := e.post(wr); r != 22 {
			t.Errorf("%s returned %d", name, r)
		}
	}
	datagram := newEnd(t, "d0", ud)
	attr := &rdma.IbvQPAttr{QPState: rdma.IBV_QPS_INIT, PortNum: 1, QKey: 1}
	r, err := rdma.IbvModifyQpAttr(datagram.qp, attr, rdma.IBV_QP_STATE|rdma.IBV_QP_PKEY_INDEX|rdma.IBV_QP_PORT|rdma.IBV_QP_QKEY)
	must(t, r, err)
	attr.QPState = rdma.IBV_QPS_RTR
	r, err = rdma.IbvModifyQpAttr(datagram.qp, attr, rdma.IBV_QP_STATE)
	must(t, r, err)
	attr.QPState = rdma.IBV_QPS_RTS
	r, err = rdma.IbvModifyQpAttr(datagram.qp, attr, rdma.IBV_QP_STATE|rdma.IBV_QP_SQ_PSN)
	must(t, r, err)
	if r := datagram.postSend(1, 8); r != 22 {
		t.Errorf("a datagram without an address handle returned %d", r)
	}
}
