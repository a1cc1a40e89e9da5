//go:build linux

package faulttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

// point is where a fault strikes: a call in the child of a probe, the first of
// its run that makes it.
type point struct {
	word string // of the probe; "list" for the listing, "devices" for a child that reads all
	call string
	when map[string]any // which of such calls
	id   string         // the row that it is for
	args []string       // of the run, the command first
	mend bool           // the probe goes on without the call's success
	host bool           // the row is the listing's, of no device

	everywhere bool // every child makes it about its devices, as its last call
}

// surveyed tells that the run reads all devices in the child that lists them.
func (p point) surveyed() bool { return p.word == surveying }

// surveying is the word in the rows of such a child, and its command.
const surveying = "devices"

func (p point) String() string {
	s := p.word + "/" + p.call
	for _, k := range sortedKeys(p.when) {
		s += fmt.Sprintf(",%s=%v", k, p.when[k])
	}
	return s
}

// class is that of the probe, which decides what may be done to its child.
func (p point) class() probe.Class {
	switch word, _, _ := strings.Cut(p.word, "."); word {
	case "list", "port", "gid", surveying:
		return probe.ClassRead
	case "rtr":
		return probe.ClassTransition
	case "pingpong", "write":
		return probe.ClassData
	}
	return probe.ClassCreate
}

// listing are the calls of the listing, which every child makes first.
var listing = []string{"ibv_get_device_list", "ibv_get_device_name", "ibv_get_device_guid", "ibv_free_device_list"}

// asked is a way to ask for a probe.
type asked struct {
	word string
	args []string
}

// survey asks for a listing that reads the devices too.
var survey = asked{surveying, []string{"devices"}}

// runs are the arguments by which a probe is asked for, with a probe more where
// that does not make the same calls earlier. All that stand before it in the
// table are looked at for what they call.
var runs = []asked{
	{"list", []string{"--only", "mr"}},
	{"port", []string{"--only", "mr"}},
	{"gid", []string{"--only", "mr"}},
	{"mr", []string{"--only", "mr,uc"}},
	{"uc", []string{"--only", "uc,ud"}},
	{"rc", []string{"--only", "rc,ud"}},
	{"ud", []string{"--only", "ud"}},
	{"events", []string{"--only", "events"}},
	{"rtr.uc", []string{"--uc", "--only", "uc,ud", "--allow-rtr"}},
	{"rtr.rc", []string{"--rc", "--only", "rc,ud", "--allow-rtr"}},
	{"pingpong.uc", []string{"--uc", "--only", "pingpong,ud"}},
	{"pingpong.rc", []string{"--rc", "--only", "pingpong,ud"}},
	{"write.uc", []string{"--uc", "--only", "write,ud"}},
	{"write.rc", []string{"--rc", "--only", "write,ud"}},
}

// command is all that asks for it.
func (a asked) command(more ...string) []string {
	if a.word == surveying {
		return a.args
	}
	return slices.Concat([]string{"probe"}, a.args, more)
}

// steps asks the program what a run would do on the faulty device.
func steps(t testing.TB, m *machine, args []string) []probe.Step {
	t.Helper()
	if args[0] == surveying {
		return []probe.Step{{Probe: surveying}} // it has no plan
	}
	dir := t.TempDir()
	cmd := exec.Command(program, append(slices.Clone(args), "--plan", "--json", "--store", "none", "--provider", "sim:"+m.write(t, dir, "plan"))...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("plan: %v\n%s", err, out)
	}
	var p probe.Plan
	if err := json.Unmarshal(out, &p); err != nil || len(p.Devices) != 2 {
		t.Fatalf("plan: %v: %s", err, out)
	}
	return p.Devices[0].Steps
}

// traced tells which calls each probe of a run makes on the faulty device: every
// call writes its name on the child's standard error, the head and tail of which
// stand in the rows.
func traced(t testing.TB, m *machine, args []string) map[string][]string {
	t.Helper()
	rules := map[string]any{}
	for _, verb := range rdma.Verbs() {
		rules[verb] = []any{map[string]any{"stderr": "called " + verb}}
	}
	p := newPlace(t)
	o := p.run(t, append(slices.Clone(args), "--store", p.store(), "--provider", "sim:"+m.write(t, p.dir, "traced", withRules(rules)))...)
	calls := map[string][]string{}
	for _, r := range o.doc.Observations {
		if r.Device != m.bad || r.Child == nil {
			continue
		}
		for line := range strings.Lines(r.Child.Stderr) {
			name, ok := strings.CutPrefix(strings.TrimSpace(line), "called ")
			if ok && slices.Contains(rdma.Verbs(), name) && !slices.Contains(calls[r.Probe], name) && !slices.Contains(listing, name) {
				calls[r.Probe] = append(calls[r.Probe], name)
			}
		}
	}
	return calls
}

// The plan names every call that a probe makes, and no other. A listing that reads
// the devices calls what the probes of class read do.
func TestPlanNamesTheCalls(t *testing.T) {
	t.Parallel()
	for _, m := range machines(t) {
		seen, reads := 0, []string{}
		for _, r := range runs {
			args := r.command("--iters", "3")
			made := traced(t, m, args)
			for _, s := range steps(t, m, args) {
				have, planned := slices.Sorted(slices.Values(made[s.Probe])), slices.Compact(slices.Sorted(slices.Values(s.Calls)))
				if !slices.Equal(have, planned) {
					t.Errorf("%s: %s calls\n\t%v, the plan says\n\t%v", m.name, s.Probe, have, planned)
				}
				if seen++; s.Class == probe.ClassRead.String() {
					reads = append(reads, planned...)
				}
			}
		}
		have, want := slices.Sorted(slices.Values(traced(t, m, survey.command())[surveying])), slices.Compact(slices.Sorted(slices.Values(reads)))
		if !slices.Equal(have, want) {
			t.Errorf("%s: a listing calls\n\t%v, and the probes of class read\n\t%v", m.name, have, want)
		}
		if seen < 40 {
			t.Errorf("only %d steps looked at", seen)
		}
	}
}

// points are all that there are on a machine.
func points(t testing.TB, m *machine) []point {
	t.Helper()
	var all []point
	for _, r := range []asked{runs[0], survey} {
		for _, call := range listing {
			p := point{word: r.word, call: call, id: "dev.enumerate", args: r.command(), host: true}
			if call == "ibv_free_device_list" {
				p.id, p.everywhere = "teardown", true
			}
			all = append(all, p)
		}
	}
	for _, r := range append(runs[1:], survey) {
		args := r.command("--iters", "5")
		made, earlier := traced(t, m, args), map[string]bool{}
		for _, s := range steps(t, m, args) {
			for _, call := range made[s.Probe] {
				for _, p := range variants(m, s.Probe, call) {
					key := p.call + string(mustJSON(p.when))
					if s.Probe == r.word && !earlier[key] {
						p.args = args
						all = append(all, p)
					}
					earlier[key] = true
				}
			}
			if s.Probe == r.word {
				break
			}
		}
	}
	return all
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b)
}

// variants are the different calls of one verb in a probe, each with its row.
func variants(m *machine, word, call string) []point {
	kind, suffix, connects := strings.Cut(word, ".")
	typ := strings.ToUpper(suffix)
	if !connects {
		typ = strings.ToUpper(word)
	}
	if word == "events" {
		typ = "UC"
	}
	low := strings.ToLower(typ)
	data := map[string]string{"pingpong": "pingpong." + low, "write": "op.rdma_write"}[kind]
	at := func(id string, when map[string]any) point { return point{word: word, call: call, id: id, when: when} }
	of := func(more map[string]any) map[string]any {
		w := map[string]any{"qp_type": typ}
		maps.Copy(w, more)
		return w
	}
	if word == "events" {
		return eventVariants(at, of, call)
	}
	switch call {
	case "ibv_open_device":
		return []point{at("dev.open", nil)}
	case "ibv_query_device":
		p := at("port.query", nil)
		p.mend = true
		return []point{p}
	case "ibv_query_port":
		return []point{at("port.query", nil)}
	case "ibv_query_gid":
		return []point{at("gid.usable", nil)}
	case "_ibv_query_gid_ex":
		p := at("gid.usable", nil)
		p.mend = true
		return []point{p}
	case "ibv_alloc_pd":
		return []point{at("pd.alloc", nil)}
	case "ibv_create_cq":
		return []point{at("cq.create", nil)}
	case "ibv_reg_mr":
		switch {
		case word != "mr":
			return []point{at("qp."+low+".rtr", nil)}
		case m.thunderbolt:
			return []point{at("mr.register", nil), at("mr.register.local", map[string]any{"after": 1})}
		}
		return []point{at("mr.register", nil)}
	case "ibv_create_qp":
		return []point{at("qp."+low+".create", of(nil))}
	case "ibv_query_qp":
		p := at("qp."+low+".create", of(nil))
		p.mend = true
		return []point{p}
	case "ibv_modify_qp":
		points := []point{at("qp."+low+".init", of(map[string]any{"to": "INIT"}))}
		if connects {
			points = append(points, at("qp."+low+".rtr", of(map[string]any{"to": "RTR"})), at("qp."+low+".rts", of(map[string]any{"to": "RTS"})))
		}
		return points
	case "ibv_post_recv", "ibv_post_send", "ibv_poll_cq":
		points := []point{at(data, of(nil))}
		if kind == "pingpong" {
			points = append(points, at(data, of(map[string]any{"after": 4})))
		}
		return points
	case "ibv_destroy_qp":
		return []point{at("teardown", of(nil))}
	}
	return []point{at("teardown", nil)}
}

// eventVariants are those of the probe of completion channels. Its flushed receive
// is a means: where it cannot be made, the notification is all that is seen.
func eventVariants(at func(string, map[string]any) point, of func(map[string]any) map[string]any, call string) []point {
	mend := func(p point) point { p.mend = true; return p }
	switch call {
	case "ibv_create_comp_channel":
		return []point{at("cq.channel", nil)}
	case "ibv_create_cq":
		return []point{at("cq.create", nil)}
	case "ibv_req_notify_cq", "ibv_get_cq_event", "ibv_ack_cq_events":
		return []point{at("cq.notify", nil)}
	case "ibv_alloc_pd", "ibv_reg_mr":
		return []point{mend(at("cq.notify", nil))}
	case "ibv_create_qp", "ibv_post_recv":
		return []point{mend(at("cq.notify", of(nil)))}
	case "ibv_modify_qp":
		return []point{mend(at("cq.notify", of(map[string]any{"to": "INIT"}))), mend(at("cq.notify", of(map[string]any{"to": "ERR"})))}
	case "ibv_destroy_qp":
		return []point{at("teardown", of(nil))}
	}
	if strings.Contains(call, "open_device") {
		return []point{at("dev.open", nil)}
	}
	return []point{at("teardown", nil)}
}
