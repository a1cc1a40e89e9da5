package probe

import (
	"strings"
	"testing"

	"rdmaprobe/probe/peer"
)

// spoilt makes a data row one that the provider failed, or that brought wrong bytes.
func (s scene) spoilt(device, id string, reason Reason, detail string) *Observation {
	o := s.exchange(device, id, 100, 39, 3)
	o.Reason, o.Detail, o.Data["lost"], o.Data["size"] = reason, detail, 0, 64
	return o
}

// refused makes a data row one whose post returned errno.
func (s scene) refused(device, id string, reason Reason, errno int) *Observation {
	s.fail(device, id, reason, errno)
	o := s.spoilt(device, id, reason, "ibv_post_send returned a number")
	o.Call, o.Return = "ibv_post_send", &Return{Number: int64(errno)}
	return o
}

var dataCases = []findingCase{
	{"payload_mismatch", "a ping-pong", linuxScene, func(s scene) {
		s.spoilt("mlx5_0", "pingpong.rc", PayloadMismatch, "message 40 came back with a wrong byte at offset 32")
	}, is("payload_mismatch", "error", "mlx5_0")},
	{"payload_mismatch", "both types, one finding", macScene, func(s scene) {
		s.spoilt("rdma_en3", "pingpong.uc", PayloadMismatch, "")
		s.spoilt("rdma_en3", "pingpong.rc", PayloadMismatch, "")
	}, is("payload_mismatch", "error", "rdma_en3")},
	{"payload_mismatch", "a write that brought other bytes", linuxScene, func(s scene) {
		s.fail("mlx5_0", "op.rdma_write", PayloadMismatch, 0).Data = map[string]any{"delivered": false, "changed": true}
	}, is("payload_mismatch", "error", "mlx5_0")},
	{"payload_mismatch", "a write that changed nothing", linuxScene, func(s scene) {
		s.fail("mlx5_0", "op.rdma_write", PayloadMismatch, 0).Data = map[string]any{"delivered": false, "changed": false}
	}, is("completion_without_delivery", "warning", "mlx5_0")},
	{"payload_mismatch", "all came back right", linuxScene, func(s scene) { s.confirm("mlx5_0", "pingpong.rc") }, nil},
	{"receiver_did_not_confirm", "a ping-pong", linuxScene, func(s scene) {
		s.spoilt("mlx5_0", "pingpong.rc", Unproven, "100 of 100 messages were answered here, and the other end did not say what it received")
	}, is("receiver_did_not_confirm", "error", "mlx5_0")},
	{"receiver_did_not_confirm", "a write", macScene, func(s scene) {
		s.fail("rdma_en3", "op.rdma_write", Unproven, 0)
	}, is("receiver_did_not_confirm", "error", "rdma_en3")},
	{"receiver_did_not_confirm", "it did", linuxScene, func(s scene) { s.confirm("mlx5_0", "pingpong.rc") }, nil},
	{"data_transfer_failed", "an impossible answer", linuxScene, func(s scene) {
		s.spoilt("mlx5_0", "pingpong.rc", Invalid, "ibv_poll_cq returned 9 for 4 entries")
	}, is("data_transfer_failed", "error", "mlx5_0")},
	{"data_transfer_failed", "an error status", linuxScene, func(s scene) {
		s.spoilt("mlx5_0", "pingpong.rc", ProviderError, "the receive completed with status LOC_LEN_ERR").Data["wc_status"] = "LOC_LEN_ERR"
	}, is("data_transfer_failed", "error", "mlx5_0")},
	{"data_transfer_failed", "no room", linuxScene, func(s scene) { s.refused("mlx5_0", "pingpong.rc", Exhausted, 12) }, is("data_transfer_failed", "error", "mlx5_0")},
	{"data_transfer_failed", "not allowed", linuxScene, func(s scene) { s.refused("mlx5_0", "op.rdma_write", Permission, 13) }, is("data_transfer_failed", "error", "mlx5_0")},
	{"data_transfer_failed", "a write, and messages arrive", linuxScene, func(s scene) {
		s.confirm("mlx5_0", "pingpong.rc")
		s.refused("mlx5_0", "op.rdma_write", Invalid, 22)
	}, is("data_transfer_failed", "warning", "mlx5_0")},
	{"data_transfer_failed", "no path, by the post's errno", linuxScene, func(s scene) { s.refused("mlx5_0", "pingpong.rc", Unreachable, 113) }, is("data_transfer_failed", "error", "mlx5_0")},
	{"data_transfer_failed", "the port went down", linuxScene, func(s scene) {
		o := s.refused("mlx5_0", "pingpong.rc", Unreachable, 5)
		o.Data["port_state"] = "down"
	}, nil},
	{"data_transfer_failed", "the peer never answered", linuxScene, func(s scene) {
		s.spoilt("mlx5_0", "pingpong.rc", Unreachable, "").Data["wc_status"] = "RETRY_EXC_ERR"
	}, is("pingpong_timeout", "error", "mlx5_0")},
	{"pingpong_timeout", "the other end went away", linuxScene, func(s scene) {
		s.spoilt("mlx5_0", "pingpong.rc", Unreachable, "the other end closed the connection, after 39 of 100 messages")
	}, is("pingpong_timeout", "error", "mlx5_0")},
	{"pingpong_timeout", "a client went away", linuxScene, func(s scene) {
		s.spoilt("mlx5_0", "pingpong.rc", Unreachable, "").Params["role"] = "server"
	}, nil},
	{"pingpong_timeout", "UC: the send never completed, and nothing was lost", linuxScene, func(s scene) {
		s.spoilt("mlx5_0", "pingpong.uc", NoCompletion, "the send did not complete in time")
	}, is("pingpong_timeout", "error", "mlx5_0")},
	{"pingpong_timeout", "UC hangs in one size, and another goes over", linuxScene, func(s scene) {
		hung := *s.ended("mlx5_0", "pingpong.uc", "ibv_poll_cq", "timed_out")
		hung.Data = map[string]any{"phase": "data"}
		s.confirm("mlx5_0", "pingpong.uc")
		s.d.Observations = append(s.d.Observations, hung)
	}, is("pingpong_timeout", "error", "mlx5_0")},
	{"data_transfer_failed", "no child could be run", linuxScene, func(s scene) { s.fail("mlx5_0", "pingpong.rc", Exhausted, 0) }, nil},
	{"data_transfer_failed", "it died in the call", linuxScene, func(s scene) { s.ended("mlx5_0", "pingpong.rc", "ibv_post_send", "crashed") }, is("provider_crashed", "error", "mlx5_0")},
	{"data_transfer_failed", "nobody asked", linuxScene, func(s scene) {}, nil},
}

// A gate opens on the proof of the end that received. One of rdma-core's tools gives
// none, and the finding says so.
func TestRequireNeedsBothEnds(t *testing.T) {
	for handshake, met := range map[string]bool{"": true, remoteOwn: true, remoteStock: false} {
		s := linuxScene()
		s.confirm("mlx5_0", "pingpong.rc")
		o := s.row("mlx5_0", "pingpong.rc")
		o.Run, o.Params = s.d.Run.ID, map[string]any{"handshake": handshake}
		if got := len(unmet([]string{"pingpong.rc"}, []string{"mlx5_0"}, s.d)) == 0; got != met {
			t.Errorf("%q: met %v", handshake, got)
		}
		text, _ := newFindingView(s.d, *s.c).levelOf("mlx5_0", "pingpong.rc")
		if says := strings.Contains(text, "not at the other end"); says == met {
			t.Errorf("%q: %s", handshake, text)
		}
	}
}

// A message that failed for a reason that only the provider can be asked about is
// never passed over: whatever the row says, there is a finding.
func TestEveryFailedMessageHasAFinding(t *testing.T) {
	for _, id := range dataIDs {
		for _, reason := range []Reason{NoCompletion, PayloadMismatch, Invalid, ProviderError} {
			for _, verified := range []int{0, 39} {
				for _, lost := range []int{0, 61} {
					s := linuxScene()
					o := s.spoilt("mlx5_0", id, reason, "")
					o.Data["verified"], o.Data["lost"] = verified, lost
					if id == "op.rdma_write" {
						o.Data = map[string]any{"delivered": false}
					}
					if len(raised(s, "")) == 0 {
						t.Errorf("%s, %s, %d verified, %d lost: nothing is said", id, reason, verified, lost)
					}
					checkFindings(t, s)
				}
			}
		}
	}
}

// Who had both ends on this machine is not sent to another one.
func TestLocalMessagesHaveNoOtherEnd(t *testing.T) {
	far := []string{"other end", "other direction", "another peer", "peer may be gone", "GIDs of one network", "--peer HOST"}
	for name, spoil := range map[string]func(scene) *Observation{
		"wrong bytes":   func(s scene) *Observation { return s.spoilt("mlx5_0", "pingpong.rc", PayloadMismatch, "") },
		"impossible":    func(s scene) *Observation { return s.spoilt("mlx5_0", "pingpong.rc", Invalid, "") },
		"no completion": func(s scene) *Observation { return s.exchange("mlx5_0", "pingpong.rc", 100, 0, 3) },
		"another index": func(s scene) *Observation { return s.exchange("mlx5_0", "pingpong.rc", 100, 0, 0) },
		"a hang": func(s scene) *Observation {
			o := s.ended("mlx5_0", "pingpong.rc", "ibv_post_send", "timed_out")
			o.Data["phase"], o.Params = "data", map[string]any{"gid_index": 3}
			return o
		},
	} {
		for _, mode := range []string{modeLoopback, modeTwoDevices, modeTwoHosts} {
			s := linuxScene()
			spoil(s).Params["mode"] = mode
			findings := Findings(s.d, *s.c)
			if len(findings) != 1 || findings[0].Severity != SeverityError {
				t.Fatalf("%s: %+v", name, findings)
			}
			f := findings[0]
			text, told := f.Remedy+" | "+f.Check, false
			for _, w := range far {
				told = told || strings.Contains(text, w)
			}
			if told != (mode == modeTwoHosts) {
				t.Errorf("%s, %s: %s", name, mode, text)
			}
			checkFindings(t, s)
		}
	}
}

// A tool that does not send back what it got looks like a path that damages it.
func TestWrongBytesNameTheStockTool(t *testing.T) {
	for handshake, want := range map[string]bool{remoteOwn: false, remoteStock: true} {
		s := linuxScene()
		s.spoilt("mlx5_0", "pingpong.rc", PayloadMismatch, "").Params["handshake"] = handshake
		if text := textOf(s, "payload_mismatch"); strings.Contains(text, "`rdmaprobe serve`") != want {
			t.Errorf("%s: %s", handshake, text)
		}
	}
}

// What the other end saw tells on which way a message was damaged.
func TestWhichWay(t *testing.T) {
	for want, r := range map[string]*peer.Results{
		"": nil,
		"; the other end: message 41 arrived with a wrong byte at offset 9": {Received: 41, Verified: 40, Mismatch: "message 41 arrived with a wrong byte at offset 9"},
		"; all 41 messages had arrived intact at the other end":             {Received: 41, Verified: 41},
	} {
		if got := (&pingpong{results: r}).whichWay(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

// A write that leaves its target alone was not delivered; one that brings other
// bytes is worse.
func TestStrayed(t *testing.T) {
	target := make([]byte, 64)
	if what, changed := strayed(target, 0); changed || !strings.Contains(what, "did not change") {
		t.Errorf("untouched: %q, %v", what, changed)
	}
	target[63] = 1
	if what, changed := strayed(target, 7); !changed || !strings.Contains(what, "offset 7") {
		t.Errorf("touched: %q, %v", what, changed)
	}
}
