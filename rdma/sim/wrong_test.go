//go:build (linux || darwin) && (amd64 || arm64)

package sim_test

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"rdmaprobe/rdma"
	"rdmaprobe/rdma/sim"
)

// TestWrongBytes: every second message arrives with another last byte, complete and
// with success, and nobody's own memory changes.
func TestWrongBytes(t *testing.T) {
	for _, tc := range []struct{ name, verb, rule string }{
		{"as it arrives", "ibv_poll_cq", `{"wrong_every": 2}`},
		{"as it arrives, by opcode", "ibv_poll_cq", `{"when": {"opcode": "RECV"}, "wrong_every": 2}`},
		{"in its receive", "ibv_post_recv", `{"wrong_every": 2}`},
		{"on the way out", "ibv_post_send", `{"wrong_every": 2}`},
		{"on the way out, by opcode", "ibv_poll_cq", `{"when": {"opcode": "SEND"}, "wrong_every": 2}`},
	} {
		for _, qpType := range []int32{uc, rc} {
			t.Run(fmt.Sprint(tc.name, qpType), func(t *testing.T) {
				p := install(t, roce().calls1(tc.verb, tc.rule).json())
				e := newEnd(t, "d0", qpType)
				e.toPeer(p)
				for i := range 5 {
					want := fill(e.sendBytes()[:64])
					e.postRecv(1, 64)
					e.postSend(2, 64)
					e.expect([2]int{2, 0}, [2]int{1, 0})
					if !bytes.Equal(e.sendBytes()[:64], want) {
						t.Errorf("message %d changed the sender's memory", i)
					}
					if i%2 == 1 {
						want[63] ^= 0xff
					}
					if !bytes.Equal(e.recvBytes()[:64], want) {
						t.Errorf("message %d: % x, want % x", i, e.recvBytes()[:64], want)
					}
				}
				e.close()
			})
		}
	}
}

// TestWrongWrite: a remote write brings other bytes.
func TestWrongWrite(t *testing.T) {
	p := install(t, roce().calls1("ibv_post_send", `{"when": {"opcode": "RDMA_WRITE"}, "wrong_every": 1}`).json())
	e := newEnd(t, "d0", rc)
	far := e.toPeer(p)
	want := fill(e.sendBytes()[:64])
	want[63] ^= 0xff
	e.write(1, 64, far.Addr, far.RKey)
	e.expect([2]int{1, 0})
	if got := ok[[]byte](t)(ok[*sim.Peer](t)(p.Peer("d0", 1)).Read(0, 64)); !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
}

// TestWrongNothing: a message without bytes has none that could be wrong.
func TestWrongNothing(t *testing.T) {
	p := install(t, roce().calls1("ibv_poll_cq", `{"wrong_every": 1}`).json())
	e := newEnd(t, "d0", uc)
	e.toPeer(p)
	e.postRecv(1, 0)
	e.postSend(2, 0)
	e.expect([2]int{2, 0}, [2]int{1, 0})
}

// TestNumDevices: the number is of the whole list, whichever device's rule sets it.
func TestNumDevices(t *testing.T) {
	const list = `{"profile": 1, "id": "t", "devices": [{"name": "a", "transport": "iwarp"%s}, {"name": "b", "transport": "iwarp"%s}, {"name": "c", "transport": "iwarp"%s}]}`
	says := func(rules string) string { return `, "calls": {"ibv_get_device_list": [` + rules + `]}` }
	for _, tc := range []struct {
		a, b, c string
		want    int32
	}{
		{"", "", "", 3},
		{says(`{"set": {"num_devices": 1000}}`), "", "", 1000},
		{"", says(`{"set": {"num_devices": -1}}`), "", -1},
		{"", "", says(`{"set": {"num_devices": 2}}`), 2},
		{says(`{"stderr": "x"}`), says(`{"set": {"num_devices": 7}}`), says(`{"set": {"num_devices": 8}}`), 7},
		{says(`{"when": {"after": 1}, "set": {"num_devices": 1000}}`), "", "", 3},
	} {
		install(t, fmt.Sprintf(list, tc.a, tc.b, tc.c))
		var n int32
		l := ok[rdma.RDMADeviceList](t)(rdma.IbvGetDeviceList(uintptr(unsafe.Pointer(&n))))
		if n != tc.want {
			t.Errorf("%q %q %q: %d devices, want %d", tc.a, tc.b, tc.c, n, tc.want)
		}
		if err := rdma.IbvFreeDeviceList(l); err != nil {
			t.Error(err)
		}
	}
}
