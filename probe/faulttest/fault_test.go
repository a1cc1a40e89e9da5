//go:build linux

package faulttest

import (
	"slices"
	"strings"

	"rdmaprobe/probe"
	"rdmaprobe/probe/guard"
	"rdmaprobe/rdma"
)

// fault is one way in which a call goes wrong: what the simulated provider does,
// and what the program has to make of it.
type fault struct {
	kind string // of the summary
	name string
	rule map[string]any
	want func(m *machine, p point) want
}

// want is what a case has to show. The row is that of the point.
type want struct {
	level   rdma.Capability // "": as on a healthy machine
	reason  probe.Reason
	also    []probe.Reason // reasons that are as right
	outcome guard.Outcome  // of the child
	silent  bool           // the row need not name the call: it succeeded for all that can be known
	same    bool           // all rows are as on a healthy machine
	gone    bool           // the device does not appear
}

// dies is a child that ends in the call.
func dies(*machine, point) want {
	return want{level: rdma.CapabilityUnknown, reason: probe.Crash, outcome: guard.Crashed}
}

// hangs is a child that does not come back from the call: killed, except on
// Thunderbolt where it may hold something.
func hangs(m *machine, p point) want {
	if m.thunderbolt && p.class() >= probe.ClassCreate {
		return want{level: rdma.CapabilityUnknown, reason: probe.Stuck, outcome: guard.Left}
	}
	return want{level: rdma.CapabilityUnknown, reason: probe.Timeout, outcome: guard.TimedOut}
}

// sticks is one that does not even die.
func sticks(m *machine, p point) want {
	w := hangs(m, p)
	if w.outcome == guard.TimedOut {
		w.reason, w.outcome = probe.Stuck, guard.Stuck
	}
	return w
}

// unharmed is what must not change a thing.
func unharmed(*machine, point) want { return want{outcome: guard.Completed, same: true, silent: true} }

// errnos are one name of each class, and how it is to be judged.
var errnos = map[string]probe.Reason{
	"EPERM": probe.Permission, "ENOMEM": probe.Exhausted, "EINVAL": probe.Invalid, "ETIMEDOUT": probe.Unreachable,
	"EIO": probe.ProviderError, "EOPNOTSUPP": probe.ProviderError, "": probe.ProviderError,
}

// voids are calls that cannot fail.
var voids = []string{"ibv_free_device_list", "ibv_get_device_guid", "ibv_ack_cq_events"}

// refused is a call that fails with an errno.
func refused(name string) func(*machine, point) want {
	return func(m *machine, p point) want {
		w := want{level: rdma.CapabilityUnknown, reason: errnos[name], outcome: guard.Completed}
		_, _, connects := strings.Cut(p.word, ".")
		class := classOf(p.id)
		switch {
		case p.mend:
			return want{outcome: guard.Completed, silent: p.call == "_ibv_query_gid_ex"}
		case p.call == "ibv_get_device_name":
			return want{gone: true}
		case p.call == "ibv_poll_cq" && name == "EPERM":
			w.reason = probe.ProviderError // -1 says only that it failed
		case connects && p.call == "ibv_reg_mr":
			w.reason = probe.Precondition
		case name == "EOPNOTSUPP" && class == probe.ClassData && p.when["after"] != nil: // it has worked before
		case name == "EOPNOTSUPP" && class >= probe.ClassCreate:
			w.level, w.reason = rdma.CapabilityRejected, ""
		}
		return w
	}
}

func classOf(id string) probe.Class {
	i := slices.IndexFunc(probe.EvidenceIDs, func(e probe.Evidence) bool { return e.ID == id })
	return probe.EvidenceIDs[i].Class
}

// Faults of every call.
var everywhere = []fault{
	{"dies", "crash", map[string]any{"fault": "crash"}, dies},
	{"dies", "abort", map[string]any{"fault": "abort"}, dies},
	{"dies", "exit", map[string]any{"fault": "exit"}, dies},
	{"hangs", "hang", map[string]any{"fault": "hang"}, hangs},
	{"hangs", "hang_term", map[string]any{"fault": "hang_term"}, hangs},
	{"hangs", "stuck", map[string]any{"fault": "stuck"}, sticks},
	{"grandchild", "grandchild", map[string]any{"fault": "grandchild"}, unharmed},
	{"noise", "forged", map[string]any{"fd3": `{"type":"done","body":null}` + "\n" + `{"n":"","t":"observation","b":{"id":"op.rdma_read","level":"confirmed"}}` + "\n"}, unharmed},
	{"noise", "escapes", map[string]any{"stderr": "\x1b[2J\x1b]0;title\x07\x00\u202e" + "panic: not really"}, unharmed},
}

// Faults of calls that another probe makes too, which has had all of them.
var again = []string{"crash", "hang", "stuck", "errno=EIO", "forged", "grandchild"}

// Faults of calls that a child makes few of: they write a lot.
var floods = []fault{
	{"noise", "stdout", map[string]any{"stdout": strings.Repeat("x", 1<<16), "repeat": 128}, unharmed},
	{"noise", "stderr", map[string]any{"stderr": strings.Repeat("y\n", 1<<14), "repeat": 128}, unharmed},
	{"noise", "fd3", map[string]any{"fd3": strings.Repeat("z", 1<<16), "repeat": 128}, unharmed},
}

// trickles are for the others: every one of them writes a little.
var trickles = []fault{
	{"noise", "trickle", map[string]any{"stdout": strings.Repeat("x", 1<<10), "stderr": strings.Repeat("y\n", 1<<9), "fd3": strings.Repeat("{}\n", 1<<8)}, unharmed},
}

// often are calls of which a child makes many.
var often = []string{"ibv_query_gid", "_ibv_query_gid_ex", "ibv_poll_cq", "ibv_post_send", "ibv_post_recv"}

// value is a wrong answer of a call that succeeds.
func value(name string, rule map[string]any, w func(*machine, point) want) fault {
	return fault{"value", name, rule, w}
}

func set(field string, v any) map[string]any {
	return map[string]any{"set": map[string]any{field: v}}
}

// same is an answer that is recorded as it is: the row stands.
func stands(*machine, point) want { return want{outcome: guard.Completed, silent: true} }

func unknown(reason probe.Reason, also ...probe.Reason) func(*machine, point) want {
	return func(*machine, point) want {
		return want{level: rdma.CapabilityUnknown, reason: reason, also: also, outcome: guard.Completed}
	}
}

// values are the wrong answers by call.
var values = map[string][]fault{
	"ibv_get_device_list": {
		value("num_devices=-1", set("num_devices", -1), unharmed), value("num_devices=2147483647", set("num_devices", 2147483647), unharmed),
	},
	"ibv_query_device": {
		value("phys_port_cnt=255", set("phys_port_cnt", 255), stands), value("phys_port_cnt=0", set("phys_port_cnt", 0), unknown(probe.Invalid)),
		value("max_qp=-1", set("max_qp", -1), stands), value("page_size_cap=max", set("page_size_cap", "0xffffffffffffffff"), stands),
		value("max_mr_size=junk", set("max_mr_size", "0xdeadbeefdeadbeef"), stands),
	},
	"ibv_query_port": {
		value("gid_tbl_len=2147483647", set("gid_tbl_len", 2147483647), stands), value("gid_tbl_len=-2147483648", set("gid_tbl_len", -2147483648), stands),
		value("gid_tbl_len=-1", set("gid_tbl_len", -1), stands),
		value("gid_tbl_len=0", set("gid_tbl_len", 0), stands),
		value("state=77", set("state", 77), stands), value("active_mtu=99", set("active_mtu", 99), stands), value("active_mtu=-1", set("active_mtu", -1), stands),
		value("link_layer=200", set("link_layer", 200), stands), value("max_msg_sz=max", set("max_msg_sz", 4294967295), stands),
		value("active_width=255", set("active_width", 255), stands), value("phys_state=255", set("phys_state", 255), stands),
	},
	"ibv_create_cq": {value("cqe=0", set("cqe", 0), stands), value("cqe=-1", set("cqe", -1), stands)},
	"ibv_create_qp": {value("max_send_wr=max", set("max_send_wr", 4294967295), stands), value("max_send_wr=0", set("max_send_wr", 0), stands)},
	"ibv_query_qp":  {value("max_recv_wr=max", set("max_recv_wr", 4294967295), stands)},
	"ibv_reg_mr":    {value("rkey=max", map[string]any{"rkey": 4294967295}, stands), value("lkey=max", map[string]any{"lkey": 4294967295}, stands)},
	"ibv_poll_cq": {
		value("return=2147483647", map[string]any{"return": 2147483647}, unknown(probe.Invalid)),
		value("return=-2147483648", map[string]any{"return": -2147483648}, unknown(probe.ProviderError)),
		value("return=5", map[string]any{"return": 5}, unknown(probe.Invalid)),
		value("return=4", map[string]any{"return": 4}, unknown(probe.Invalid, probe.PayloadMismatch)),
		value("return=0", map[string]any{"return": 0}, unknown(probe.NoCompletion)),
		value("wr_id", map[string]any{"wc": map[string]any{"wr_id": "0xdeadbeefdeadbeef"}}, unknown(probe.Invalid)),
		value("duplicate", map[string]any{"wc": map[string]any{"duplicate": true}}, unknown(probe.Invalid)),
		value("wc_status=GENERAL_ERR", map[string]any{"wc_status": "GENERAL_ERR"}, unknown(probe.ProviderError)),
		value("wc_status=REM_ACCESS_ERR", map[string]any{"wc_status": "REM_ACCESS_ERR"}, unknown(probe.ProviderError)),
		value("wc_status=WR_FLUSH_ERR", map[string]any{"wc_status": "WR_FLUSH_ERR"}, unknown(probe.ProviderError)),
		value("wc_status=RETRY_EXC_ERR", map[string]any{"wc_status": "RETRY_EXC_ERR"}, unknown(probe.Unreachable)),
		value("wc_status=77", map[string]any{"wc_status": "unknown(77)"}, unknown(probe.ProviderError)),
	},
	"ibv_post_send": {
		value("deliver=false", map[string]any{"deliver": false}, vanishes),
		value("lose_every=1", map[string]any{"lose_every": 1}, vanishes),
	},
}

// vanishes is a message that is sent and does not arrive: nothing comes back, or
// the target's bytes do not change.
func vanishes(_ *machine, p point) want {
	w := want{level: rdma.CapabilityUnknown, reason: probe.NoCompletion, outcome: guard.Completed, silent: true}
	if strings.HasPrefix(p.word, "write") {
		w.also = []probe.Reason{probe.PayloadMismatch}
	}
	return w
}

// returns are impossible results of calls that return an int; the least and the
// greatest, and one that no errno has.
var returns = []int{-2147483648, 2147483647, 77777, -1}

// plain are the calls that return an errno or -1.
var plain = []string{
	"ibv_close_device", "ibv_query_device", "ibv_query_port", "ibv_query_gid", "ibv_modify_qp", "ibv_post_send", "ibv_post_recv", "ibv_req_notify_cq",
	"ibv_get_cq_event", "ibv_destroy_qp", "ibv_destroy_cq", "ibv_dealloc_pd", "ibv_dereg_mr", "ibv_destroy_comp_channel", "ibv_query_qp",
}
