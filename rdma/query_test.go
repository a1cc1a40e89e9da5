//go:build (linux || darwin) && (amd64 || arm64)

package rdma

import (
	"bytes"
	"testing"
	"unsafe"
)

// The exported function of rdma-core knows a struct of 48 bytes, the newest
// header one of 56; ours has 52.
func TestQueryPortOfOtherVersions(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	for _, tt := range []struct {
		name  string
		port  uint8
		fill  byte
		flags uint16
	}{
		{"48 bytes", 1, 0x01, 0},
		{"56 bytes", 56, 0xab, 0xabab},
	} {
		guarded := struct {
			attr  IbvPortAttr
			guard [16]byte
		}{attr: IbvPortAttr{PortCapFlags2: 0xffff}}
		_, err := IbvQueryPortAttr(o.context, tt.port, &guarded.attr)
		check(t, err)
		if guarded.attr.LinkLayer != tt.fill || guarded.attr.PortCapFlags2 != tt.flags {
			t.Errorf("%s: link layer %#x, port_cap_flags2 %#x", tt.name, guarded.attr.LinkLayer, guarded.attr.PortCapFlags2)
		}
		if guarded.guard != [16]byte{} {
			t.Errorf("%s: wrote behind the struct", tt.name)
		}
		b := o.buffer.Bytes()[1024:1104]
		clear(b)
		_, err = IbvQueryPort(o.context, tt.port, uintptr(unsafe.Pointer(&b[0])))
		check(t, err)
		if b[51] != byte(tt.flags) || !bytes.Equal(b[52:], make([]byte, 28)) {
			t.Errorf("%s: IbvQueryPort wrote % x", tt.name, b)
		}
	}
	attr := IbvPortAttr{State: 77}
	f.script("ibv_query_port", 19, 0)
	if _, err := IbvQueryPortAttr(o.context, 1, &attr); err == nil || attr.State != 77 {
		t.Errorf("a failed query: %v, state %d", err, attr.State)
	}
}

func TestQueryDevice(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	var attr IbvDeviceAttr
	_, err := IbvQueryDeviceAttr(o.context, &attr)
	check(t, err)
	if attr.NodeGUID != [8]byte{1, 2, 3, 4, 5, 6, 7, 8} || attr.MaxQP != 11 || attr.PhysPortCnt != 2 {
		t.Errorf("attr %+v", attr)
	}
	buf := make([]byte, 241)[1:] // not aligned
	_, err = IbvQueryDeviceBytes(o.context, buf)
	check(t, err)
	if !bytes.Equal(buf[64:72], attr.NodeGUID[:]) || buf[227] != 2 || !bytes.Equal(buf[232:], make([]byte, 8)) {
		t.Errorf("bytes % x", buf[64:])
	}
	raw := o.buffer.Bytes()[1024 : 1024+232]
	_, err = IbvQueryDevice(o.context, uintptr(unsafe.Pointer(&raw[0])))
	check(t, err)
	if !bytes.Equal(raw, buf[:232]) {
		t.Error("IbvQueryDevice and IbvQueryDeviceBytes differ")
	}
}

func TestQueryGID(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	for _, tt := range []struct {
		index int
		want  IbvGID
	}{
		{1, IbvGID{0: 3, 15: 1}},
		{7, IbvGID{}}, // an empty slot reads as success
	} {
		gid := IbvGID{9}
		_, err := IbvQueryGidInto(o.context, 3, tt.index, &gid)
		if err != nil || gid != tt.want {
			t.Errorf("slot %d: %x, %v", tt.index, gid, err)
		}
		raw := at[IbvGID](o, 1024)
		if _, err := IbvQueryGid(o.context, 3, tt.index, uintptr(unsafe.Pointer(raw))); err != nil || *raw != tt.want {
			t.Errorf("slot %d: %x, %v", tt.index, *raw, err)
		}
	}
	var entry IbvGIDEntry
	_, err := IbvQueryGidEx(o.context, 3, 5, &entry)
	if err != nil || entry.GIDIndex != 5 || entry.PortNum != 3 || GIDTypeName(entry.GIDType) != "roce_v2" || entry.NdevIfindex != 9 {
		t.Errorf("entry %+v, %v", entry, err)
	}
}

func TestObjects(t *testing.T) {
	f := newFake(t)
	o := f.open(t, 0)
	if l, r := Ibv_mr_lkey(o.mr), Ibv_mr_rkey(o.mr); l != 0x101 || r != 0x202 {
		t.Errorf("lkey %#x, rkey %#x", l, r)
	}
	local, err := IbvRegMr(o.pd, o.buffer.Addr(), 4096, IBV_ACCESS_LOCAL_WRITE)
	check(t, err)
	if r := Ibv_mr_rkey(local); r != 0 {
		t.Errorf("rkey %#x of a local region", r)
	}
	if n := Ibv_qp_num(o.qp); n != 0x17 {
		t.Errorf("qp_num %#x", n)
	}
	if fd := IbvCompChannelFD(o.channel); fd != 41 {
		t.Errorf("fd %d", fd)
	}
	if ch := IbvCQChannel(o.cq); ch != o.channel {
		t.Errorf("channel %#x, want %#x", ch, o.channel)
	}
	var cq RDMACQ
	var context uintptr
	if _, err := IbvGetCqEvent(o.channel, &cq, &context); err != nil || cq != o.channel || context != 0x77 {
		t.Errorf("event of %#x, context %#x, %v", cq, context, err)
	}
	check(t, IbvAckCqEvents(o.cq, 1))
	init := IbvQPInitAttr{Cap: IbvQPCap{MaxSendWR: 10}}
	qp, err := IbvCreateQpAttr(o.pd, &init)
	if err != nil || init.Cap.MaxSendWR != 11 {
		t.Errorf("granted %d, %v", init.Cap.MaxSendWR, err)
	}
	raw := at[IbvQPInitAttr](o, 1024)
	second, err := IbvCreateQp(o.pd, uintptr(unsafe.Pointer(raw)))
	check(t, err)
	attr := at[IbvQPAttr](o, 2048)
	attr.QPState = IBV_QPS_INIT
	_, err = IbvModifyQp(second, uintptr(unsafe.Pointer(attr)), IBV_QP_STATE)
	check(t, err)
	check(t, IbvModifyQpToErr(qp))
	var got IbvQPAttr
	var gotInit IbvQPInitAttr
	for handle, want := range map[RDMAQP]int32{qp: IBV_QPS_ERR, second: IBV_QPS_INIT} {
		if _, err := IbvQueryQp(handle, &got, IBV_QP_STATE|IBV_QP_CAP, &gotInit); err != nil || got.QPState != want || gotInit.Cap.MaxSendWR != 77 {
			t.Errorf("query: state %d, want %d, granted %d, %v", got.QPState, want, gotInit.Cap.MaxSendWR, err)
		}
	}
	for name, release := range map[string]func() (int, error){
		"qp":      func() (int, error) { return IbvDestroyQp(qp) },
		"mr":      func() (int, error) { return IbvDeregMr(local) },
		"cq":      func() (int, error) { return IbvDestroyCq(o.cq) },
		"channel": func() (int, error) { return IbvDestroyCompChannel(o.channel) },
		"pd":      func() (int, error) { return IbvDeallocPd(o.pd) },
	} {
		if r, err := release(); r != 0 || err != nil {
			t.Errorf("release %s = %d, %v", name, r, err)
		}
	}
}
