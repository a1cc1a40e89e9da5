//go:build (linux || darwin) && (amd64 || arm64)

package cmd

import (
	"fmt"
	"regexp"
)

// mustNot checks what a case forbids; the text says what was done all the same.
var mustNot = map[string]func(*answer) string{
	"advise running rdma_ctl enable again":                      says(`rdma_ctl enable`),
	"say that RDMA is disabled":                                 says(`(?i)rdma is disabled`),
	"suggest sudo rdma_ctl enable from the running system":      says(`sudo rdma_ctl`),
	"report the device as usable because it is listed":          capable("queue_pair_uc", "send_recv"),
	"blame the cable":                                           raises("link_speed_below_tb5"),
	"call ibv_reg_mr or ibv_create_qp with a NULL PD":           calls("ibv_reg_mr", "ibv_create_qp"),
	"record RC or MR as rejected":                               level("rejected", "qp.rc.create", "mr.register", "mr.rkey"),
	"claim UC is rejected":                                      level("rejected", "qp.uc.create", "qp.uc.init", "qp.uc.rtr", "pingpong.uc"),
	"record UC as rejected":                                     level("rejected", "qp.uc.create", "qp.uc.init", "qp.uc.rtr", "pingpong.uc"),
	"record RC as rejected":                                     level("rejected", "qp.rc.create", "qp.rc.init", "qp.rc.rtr", "pingpong.rc"),
	"record RC as rejected because RTR gave EINVAL":             level("rejected", "qp.rc.create", "qp.rc.rtr", "pingpong.rc"),
	"record anything as rejected because of EACCES":             level("rejected"),
	"mark pingpong rejected":                                    level("rejected", "pingpong.uc", "pingpong.rc"),
	"pass an all-zero or uninitialised GID to RTR":              attempted("qp.uc.rtr", "qp.rc.rtr"),
	"attempt RTR without a GID":                                 attempted("qp.uc.rtr", "qp.rc.rtr"),
	"attempt RTR by default":                                    attempted("qp.uc.rtr", "qp.rc.rtr"),
	"attempt RTR more than once":                                repeated("qp.uc.rtr", "qp.rc.rtr"),
	"retry RTR in a loop":                                       repeated("qp.uc.rtr", "qp.rc.rtr"),
	"run the data path when preflight failed":                   attempted("qp.uc.rtr", "qp.rc.rtr", "pingpong.uc", "pingpong.rc"),
	"only report errno 22":                                      says(`errno 22`),
	"derive rdma_write = rejected from rkey 0":                  level("rejected", "op.rdma_write"),
	"print errno 102 with Linux's name for 102 (ENETRESET)":     says(`ENETRESET`),
	"treat ENOMEM at post 63 as a memlock problem":              raises("memlock_too_low"),
	"record mr.rkey as observed_zero when no region exists":     level("observed_zero", "mr.rkey"),
	"name Darwin errno 96 as EPFNOSUPPORT":                      says(`EPFNOSUPPORT`),
	"send SIGKILL to a child that holds a PD as a first resort": outcome("timed_out"),
	"omit rdma_en4 from the listing":                            lacks("rdma_en4"),
	"hide mlx5_2":                                               lacks("mlx5_2"),
	"lose evidence gathered before the crash":                   notConfirmed("port.state", "qp.uc.create"),
	"stop after the first crashed child":                        untried("qp.rc.create"),
	"say that no RDMA hardware or module is present":            raises("no_rdma_device"),
	"suggest eth0 when it does not exist":                       says(`\beth0\b`),
	"call a loaded module success":                              capable("queue_pair_uc", "queue_pair_rc"),
	"report the port ACTIVE from sysfs as usable":               capable("queue_pair_uc", "queue_pair_rc", "send_recv"),
	"fail the whole command":                                    failed,
	"fail verbs probes because rdma_cm is missing":              notConfirmed("port.query", "qp.uc.create"),
	"ignore the GID type":                                       gidOf("roce_v1"),
	"choose the first non-zero GID":                             gidIndex(0),
	"hard-code path MTU":                                        pathMTU(4096),
	"Ethernet advice (cable/IP) for an IB VF":                   says(`(?i)\bcable\b|\bip addr|IPv4`),
	"report one sample as the truth":                            level("confirmed", "port.state"),
	"abort because of the warnings":                             failed,
	"confirm UC ping-pong with missing completions":             level("confirmed", "pingpong.uc"),
	"mix provider stderr into the JSON on stdout":               nothing, // it was read as one document
	"fail because of stderr text":                               failed,
	"store the GID or its index as a stable identity":           nothing, // identities are tested where they are made
	"exit non-zero just because RC is rejected":                 nothing, // the expected status is 0
	"hang":                    nothing, // the test has ended
	"die with the child":      nothing, // there is a document
	"poll without a deadline": nothing, // the test has ended
	"pick index 0 automatically on Thunderbolt":                      nothing, // the index was named here; see the choice's own tests
	"classify by name prefix":                                        nothing, // the devices' names here are no prefix
	"use SIGKILL before a clean self-timeout and SIGTERM were tried": nothing, // see the guard's ladder
}

// impliedElsewhere is what no document shows and other tests hold.
var impliedElsewhere = []string{
	"post more receives than the ping-pong needs",
	"hold more than one region at a time",
	"send is_global=0 when link_layer is Ethernet or Thunderbolt with a GID", // the profile fails such a transition
}

func nothing(*answer) string { return "" }

// failed: the document is that of a run that failed.
func failed(a *answer) string {
	if text, ok := a.doc["error"]; ok {
		return fmt.Sprint(text)
	}
	return ""
}

// says: a finding's text matches.
func says(pattern string) func(*answer) string {
	re := regexp.MustCompile(pattern)
	return func(a *answer) string {
		for _, f := range a.findings() {
			for _, k := range []string{"message", "remedy", "undo", "check"} {
				if text, _ := f[k].(string); re.MatchString(text) {
					return fmt.Sprintf("%v says %q", f["code"], text)
				}
			}
		}
		return ""
	}
}

// raises: there is a finding of the code.
func raises(code string) func(*answer) string {
	return func(a *answer) string {
		for _, f := range a.findings() {
			if f["code"] == code {
				return fmt.Sprint(f["message"])
			}
		}
		return ""
	}
}

// rows: a row holds.
func rows(bad func(map[string]any) bool) func(*answer) string {
	return func(a *answer) string {
		for _, o := range a.rows {
			if bad(o) {
				return fmt.Sprint(o)
			}
		}
		return ""
	}
}

// level: a row of ids, or any, has the level.
func level(l string, ids ...string) func(*answer) string {
	return rows(func(o map[string]any) bool { return o["level"] == l && (len(ids) == 0 || is(o, ids)) })
}

func is(o map[string]any, ids []string) bool {
	for _, id := range ids {
		if o["id"] == id {
			return true
		}
	}
	return false
}

// attempted: a call was made for one of the ids.
func attempted(ids ...string) func(*answer) string {
	return rows(func(o map[string]any) bool { return is(o, ids) && o["call"] != nil })
}

// calls: one of the verbs was called.
func calls(verbs ...string) func(*answer) string {
	return rows(func(o map[string]any) bool {
		for _, v := range verbs {
			if o["call"] == v {
				return true
			}
		}
		return false
	})
}

// outcome: a child ended so.
func outcome(want string) func(*answer) string {
	return rows(func(o map[string]any) bool {
		c, _ := o["child"].(map[string]any)
		return c["outcome"] == want
	})
}

// repeated: more than one call was made for one of the ids on a device.
func repeated(ids ...string) func(*answer) string {
	return func(a *answer) string {
		seen := map[string]bool{}
		for _, o := range a.rows {
			key := fmt.Sprint(o["device"], o["id"])
			if !is(o, ids) || o["call"] == nil {
				continue
			}
			if seen[key] {
				return key + " twice"
			}
			seen[key] = true
		}
		return ""
	}
}

// capable: a capability is confirmed.
func capable(keys ...string) func(*answer) string {
	return func(a *answer) string {
		for _, d := range a.doc["devices"].([]any) {
			c, _ := d.(map[string]any)["capabilities"].(map[string]any)
			for _, k := range keys {
				if s, _ := c[k].(map[string]any); s["state"] == "confirmed" {
					return k
				}
			}
		}
		return ""
	}
}

// lacks: the device is not in the document.
func lacks(name string) func(*answer) string {
	return func(a *answer) string {
		for _, d := range a.doc["devices"].([]any) {
			if d.(map[string]any)["name"] == name {
				return ""
			}
		}
		return "there is no " + name
	}
}

// notConfirmed: an id is confirmed nowhere.
func notConfirmed(ids ...string) func(*answer) string {
	return func(a *answer) string {
		for _, id := range ids {
			if level("confirmed", id)(a) == "" {
				return id
			}
		}
		return ""
	}
}

// untried: no call was made for the id.
func untried(id string) func(*answer) string {
	return func(a *answer) string {
		if attempted(id)(a) == "" {
			return id
		}
		return ""
	}
}

// param: a transition or exchange used the parameter's value.
func param(name string, bad func(any) bool) func(*answer) string {
	return rows(func(o map[string]any) bool {
		p, _ := o["params"].(map[string]any)
		v, ok := p[name]
		return ok && bad(v)
	})
}

func gidIndex(n float64) func(*answer) string {
	return param("gid_index", func(v any) bool { return v == n })
}

func pathMTU(n float64) func(*answer) string {
	return param("path_mtu", func(v any) bool { return v == n })
}

// gidOf: the GID that was used is of a type.
func gidOf(kind string) func(*answer) string {
	return func(a *answer) string {
		types := map[float64]any{}
		for _, d := range a.doc["devices"].([]any) {
			for _, p := range d.(map[string]any)["ports"].([]any) {
				for _, g := range p.(map[string]any)["gids"].([]any) {
					slot := g.(map[string]any)
					types[slot["index"].(float64)] = slot["type"]
				}
			}
		}
		return param("gid_index", func(v any) bool { n, ok := v.(float64); return ok && types[n] == kind })(a)
	}
}
