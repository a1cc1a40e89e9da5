//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe/pattern"
	"rdmaprobe/rdma"
)

// A network may deliver a message of an unreliable connection twice. The second
// one answers nothing, and the bytes are not wrong; where it takes the receive that
// was for the answer, that is lost.
func TestRepeatedMessages(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.rules(0, "ibv_poll_cq", object{"when": object{"qp_type": "UC"}, "repeat_every": 4})
	m.timeout = 4 * time.Second // a fifth of a second for each message
	name := m.dev(0)["name"].(string)
	d := m.probe(func(o *Options) {
		o.Devices, o.More, o.Types, o.Iterations = []string{name}, []string{"pingpong"}, []string{"uc"}, 10
	})
	o := rowFor(t, d, name, "pingpong.uc")
	n, _ := dataInt(o.Data, "verified")
	lost, _ := dataInt(o.Data, "lost")
	again, _ := dataInt(o.Data, "repeated")
	if o.Level != rdma.CapabilityUnknown || o.Reason != NoCompletion || n < 1 || lost < 1 || n+lost > 10 || again < 1 {
		t.Errorf("%s %q, %s; %v", o.Level, o.Reason, o.Detail, o.Data)
	}
	if !hasFinding(d, "uc_message_loss", name) {
		t.Errorf("findings %+v", d.Findings)
	}
}

// Memory that a receive left as it was is no message that came once more.
func TestNothingArrived(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.rules(0, "ibv_poll_cq", object{"when": object{"qp_type": "UC", "opcode": "RECV", "after": 8}, "deliver": false})
	name := m.dev(0)["name"].(string)
	d := m.probe(func(o *Options) {
		o.Devices, o.More, o.Types, o.Iterations = []string{name}, []string{"pingpong"}, []string{"uc"}, 30
	})
	o := rowFor(t, d, name, "pingpong.uc")
	n, _ := dataInt(o.Data, "verified")
	if o.Level != rdma.CapabilityUnknown || o.Reason != PayloadMismatch || n != 0 { // within the warm-up
		t.Errorf("%s %q, %s; %v", o.Level, o.Reason, o.Detail, o.Data)
	}
	if !hasFinding(d, "payload_mismatch", name) || d.Exit != ExitFinding {
		t.Errorf("exit %d, findings %+v", d.Exit, d.Findings)
	}
	if _, there := o.Data["repeated"]; there {
		t.Errorf("a message came once more? %v", o.Data)
	}
}

// Bytes that nobody sent are found wherever they come from, and what arrived right
// before them does not confirm the path.
func TestWrongBytes(t *testing.T) {
	t.Parallel()
	m := newLinux(t)
	m.rules(0, "ibv_poll_cq", object{"when": object{"opcode": "RECV"}, "wrong_every": 13})
	m.rules(0, "ibv_post_send", object{"when": object{"opcode": "RDMA_WRITE"}, "wrong_every": 1})
	name := m.dev(0)["name"].(string)
	d := m.probe(func(o *Options) {
		o.Devices, o.More, o.Types, o.Iterations = []string{name}, []string{"pingpong", "write"}, []string{"uc"}, 10
	})
	o := rowFor(t, d, name, "pingpong.uc")
	n, _ := dataInt(o.Data, "verified") // ten of warm-up come before
	if o.Level != rdma.CapabilityUnknown || o.Reason != PayloadMismatch || n != 2 || o.Call != "ibv_poll_cq" || !strings.Contains(o.Detail, "message 13 came back with a wrong byte at offset 63") {
		t.Errorf("%s %q, %s; %v", o.Level, o.Reason, o.Detail, o.Data)
	}
	w := rowFor(t, d, name, "op.rdma_write")
	if changed, _ := w.Data["changed"].(bool); w.Level != rdma.CapabilityUnknown || w.Reason != PayloadMismatch || !changed {
		t.Errorf("%s %q, %s; %v", w.Level, w.Reason, w.Detail, w.Data)
	}
	if !hasFinding(d, "payload_mismatch", name) || hasFinding(d, "completion_without_delivery", name) || d.Exit != ExitFinding {
		t.Errorf("exit %d, findings %+v", d.Exit, d.Findings)
	}
	if c := d.Devices[0].Capabilities.SendRecv; c.State != rdma.CapabilityUnknown {
		t.Errorf("send_recv is %s", c.State)
	}
}

func TestEarlier(t *testing.T) {
	s := pattern.NewSender(1, pattern.Asks)
	for _, size := range []int{16, 64, 4096} {
		for _, c := range []struct {
			sent, now uint64
			want      bool
		}{{5, 6, true}, {1, 500, true}, {6, 6, false}, {7, 6, false}, {0, 6, false}} {
			b := make([]byte, size)
			s.Fill(b, c.sent)
			if earlier(s.Key, b, c.now) != c.want {
				t.Errorf("%d bytes of message %d before %d: want %v", size, c.sent, c.now, c.want)
			}
			if b[size-1]++; size > 16 && earlier(s.Key, b, c.now) {
				t.Errorf("%d bytes: a damaged message %d passes for an earlier one", size, c.sent)
			}
		}
		if earlier(s.Key, make([]byte, size), 6) {
			t.Errorf("%d bytes: zeros pass for a message", size)
		}
	}
	if earlier(s.Key, []byte{1, 2, 3}, 6) {
		t.Error("too short to tell")
	}
}
