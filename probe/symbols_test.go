//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"slices"
	"strings"
	"testing"

	"rdmaprobe/rdma"
)

// A library may lack any one of the verbs: that is a fact about the verb, and never
// a crash or a hang of what was asked.
func TestEveryVerbCanBeMissing(t *testing.T) {
	t.Parallel()
	lost := map[string]string{ // the row that says so, where it is not lib.symbols alone
		"ibv_get_device_list": "dev.enumerate", "ibv_open_device": "dev.open", "ibv_close_device": "teardown", "ibv_query_port": "port.query",
		"ibv_query_gid": "gid.usable", "ibv_alloc_pd": "pd.alloc", "ibv_dealloc_pd": "teardown", "ibv_reg_mr": "mr.register", "ibv_dereg_mr": "teardown",
		"ibv_create_cq": "cq.create", "ibv_destroy_cq": "teardown", "ibv_create_qp": "qp.uc.create", "ibv_modify_qp": "qp.uc.init",
		"ibv_destroy_qp": "teardown", "ibv_create_comp_channel": "cq.channel", "ibv_destroy_comp_channel": "teardown",
		"ibv_get_cq_event": "cq.notify", "ibv_ack_cq_events": "cq.notify", "ibv_req_notify_cq": "cq.notify",
		"ibv_poll_cq": "pingpong.uc", "ibv_post_send": "pingpong.uc", "ibv_post_recv": "pingpong.uc",
	}
	for _, verb := range rdma.Verbs() {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			m := newLinux(t)
			m.profile["library"] = object{"missing_symbols": []string{verb}}
			d := m.probe(func(o *Options) {
				o.Devices, o.More, o.Types, o.Iterations = []string{"mlx5_0"}, []string{"events", "pingpong"}, []string{"uc"}, 5
			})
			said := false
			for _, o := range d.Observations {
				if slices.Contains([]Reason{Crash, Timeout, Stuck, Interrupted}, o.Reason) {
					t.Errorf("%s is %s: %s", o.ID, o.Reason, o.Detail)
				}
				said = said || o.ID == lost[verb] && o.Reason == SymbolMissing && strings.Contains(o.Detail, verb)
			}
			if !said && lost[verb] != "" {
				t.Errorf("no row %s says that %s is missing", lost[verb], verb)
			}
			if d.Exit == ExitContained || d.Exit == ExitOwn {
				t.Errorf("exit %d, %+v", d.Exit, d.Findings)
			}
			listed := m.devices(nil)
			if listed.Exit == ExitContained || listed.Exit == ExitOwn {
				t.Errorf("devices: exit %d, %+v", listed.Exit, listed.Findings)
			}
		})
	}
}
