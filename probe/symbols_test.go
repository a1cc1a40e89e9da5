//go:build (linux || darwin) && (amd64 || arm64)

package probe

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"rdmaprobe/rdma"
)

var update = flag.Bool("update", false, "rewrite docs/symbols.md")

// exported are the functions that are looked up in a library. A Mac's is not known to
// have _ibv_query_gid_ex.
func exported(t *testing.T) []string {
	t.Helper()
	bound := rdma.NewLibrary(rdma.LibraryConfig{}).Symbols()
	symbols := slices.DeleteFunc(rdma.Verbs(), func(verb string) bool {
		_, ok := bound[verb]
		return !ok || verb == "_ibv_query_gid_ex"
	})
	if len(symbols) != 23 {
		t.Fatalf("%d symbols, want 23", len(symbols))
	}
	return symbols
}

// asked are the documents of one machine.
type asked struct{ devices, probe, doctor *Document }

// allOf asks a machine everything that can be asked of its first device.
func allOf(t *testing.T, m *machine) asked {
	t.Helper()
	first := []string{m.dev(0)["name"].(string)}
	doctor, err := Doctor(t.Context(), DoctorOptions{Options: m.options(func(o *Options) { o.Devices = first })})
	return asked{
		devices: m.devices(func(o *Options) { o.Devices = first }),
		probe: m.probe(func(o *Options) {
			o.Devices, o.More, o.Iterations = first, []string{"rc", "ud", "events", "pingpong", "write"}, 5
		}),
		doctor: m.checked(doctor, err),
	}
}

// lacking is a machine without a function.
func lacking(t *testing.T, of func(*testing.T) *machine, verb string) *machine {
	m := of(t)
	m.profile["library"] = object{"missing_symbols": []string{verb}}
	return m
}

// lost lists the ids of which a document says less than that of the whole machine,
// for want of verb, and complains of any that does not name it.
func lost(t *testing.T, whole, d *Document, verb string) []string {
	t.Helper()
	var ids []string
	for _, o := range d.Observations {
		if slices.Contains([]Reason{Crash, Timeout, Stuck, Interrupted}, o.Reason) {
			t.Errorf("%s is %s: %s", o.ID, o.Reason, o.Detail)
		}
		i := slices.IndexFunc(whole.Observations, func(w Observation) bool { return w.ID == o.ID && w.Probe == o.Probe })
		if i < 0 || whole.Observations[i].Level == o.Level {
			continue
		}
		if o.Level != rdma.CapabilityUnknown || !strings.Contains(o.Detail, verb) {
			t.Errorf("%s (%s) is %s (%s) without naming %s: %s", o.ID, o.Probe, o.Level, o.Reason, verb, o.Detail)
		}
		ids = union(ids, []string{o.ID})
	}
	for _, w := range whole.Observations {
		if !slices.ContainsFunc(d.Observations, func(o Observation) bool { return o.ID == w.ID }) {
			ids = union(ids, []string{w.ID})
			if len(d.Devices) > 0 {
				t.Errorf("there is no row %s", w.ID)
			}
		}
	}
	return ids
}

// unlisting are the functions without which no device can be listed by its name.
var unlisting = []string{"ibv_get_device_list", "ibv_get_device_name"}

// A library may lack any one function. That is a fact about what needs it: every row
// is as with the whole library, or unknown with the function's name, and nobody calls
// the machine unfit unless its devices cannot be listed.
func TestEveryFunctionCanBeMissing(t *testing.T) {
	t.Parallel()
	whole := allOf(t, newMac(t))
	var mu sync.Mutex
	rows := map[string]string{}
	t.Run("each", func(t *testing.T) {
		for _, verb := range exported(t) {
			t.Run(verb, func(t *testing.T) {
				t.Parallel()
				got := allOf(t, lacking(t, newMac, verb))
				listed := lost(t, whole.devices, got.devices, verb)
				probed := lost(t, whole.probe, got.probe, verb)
				lost(t, whole.doctor, got.doctor, verb)
				for _, d := range []*Document{got.devices, got.probe, got.doctor} {
					unfit(t, d, verb)
				}
				mu.Lock()
				defer mu.Unlock()
				rows[verb] = fmt.Sprintf("| `%s` | %s | %s | %s |\n", verb,
					cellOf(got.devices, listed), cellOf(got.probe, probed), cellOf(got.doctor, nil)+": "+got.doctor.Verdict.Text)
			})
		}
	})
	if t.Failed() {
		return
	}
	table := missingHead
	for _, verb := range exported(t) {
		table += rows[verb]
	}
	keepTable(t, table)
}

// unfit complains of what calls a machine unfit for want of a function.
func unfit(t *testing.T, d *Document, verb string) {
	t.Helper()
	if d.Exit == ExitContained || d.Exit == ExitOwn {
		t.Errorf("exit %d", d.Exit)
	}
	if slices.Contains(unlisting, verb) {
		return
	}
	if d.Exit != ExitOK {
		t.Errorf("exit %d: %s", d.Exit, d.Error)
	}
	for _, f := range d.Findings {
		if f.Severity == SeverityError {
			t.Errorf("%s: %s", f.Code, f.Message)
		}
	}
	if v := d.Verdict; v != nil && v.Word != VerdictReady && v.Word != VerdictNotKnown {
		t.Errorf("the verdict is %s: %s", v.Word, v.Text)
	}
}

// cellOf is a cell: the exit status, findings, and the rows that are unknown.
func cellOf(d *Document, lost []string) string {
	cell := fmt.Sprintf("exit %d", d.Exit)
	for _, f := range d.Findings {
		if f.Severity != SeverityInfo {
			cell += ", " + f.Severity + " `" + f.Code + "`"
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		cell += "; unknown: " + strings.Join(lost, " ")
	}
	return cell
}

const missingHead = `# A library without a function

Nobody has published which functions Apple's verbs library has. Here a simulated Mac, whole otherwise, lacks each of them in
turn. A row that is not named is as with the whole library; one that is unknown names the function. Only without a function that
lists devices is anything an error. The table is written by a test of ` + "`probe/`" + `, which ` + "`make golden`" + ` runs.

| without | ` + "`devices`" + ` | ` + "`probe --all --pingpong --write`" + ` | ` + "`doctor`" + ` |
|---|---|---|---|
`

// keepTable compares docs/symbols.md with what was seen, or writes it.
func keepTable(t *testing.T, table string) {
	t.Helper()
	const path = "../docs/symbols.md"
	if *update {
		if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != table {
		t.Errorf("%s is not what is seen (%v); make golden rewrites it:\n%s", path, err, table)
	}
}

// Granted capacities are those that the creation wrote back, and the row says so.
func TestWithoutQueryQP(t *testing.T) {
	t.Parallel()
	m := lacking(t, newMac, "ibv_query_qp")
	d := m.probe(func(o *Options) { o.Devices = []string{"rdma_en3"} })
	for _, o := range d.Observations {
		if o.ID != "qp.uc.create" {
			continue
		}
		granted, _ := o.Data["granted"].(map[string]any)
		if o.Level != rdma.CapabilityConfirmed || len(granted) == 0 || !strings.Contains(dataText(o.Data, "not_queried"), "ibv_query_qp") {
			t.Errorf("%s: %v", o.Level, o.Data)
		}
		if o.Data["queried"] != nil || o.Data["query_error"] != nil {
			t.Errorf("what was not queried: %v", o.Data)
		}
		return
	}
	t.Error("no queue pair was tried")
}

// The inline verbs and the other functions of Linux can be missing too, on a machine
// that is no Mac.
func TestEveryInlineVerbCanBeMissing(t *testing.T) {
	t.Parallel()
	for verb, id := range map[string]string{
		"ibv_req_notify_cq": "cq.notify", "ibv_poll_cq": "pingpong.uc", "ibv_post_send": "pingpong.uc", "ibv_post_recv": "pingpong.uc",
		"_ibv_query_gid_ex": "", "ibv_get_cq_event": "cq.notify", "ibv_ack_cq_events": "cq.notify",
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			d := lacking(t, newLinux, verb).probe(func(o *Options) {
				o.Devices, o.More, o.Types, o.Iterations = []string{"mlx5_0"}, []string{"events", "pingpong"}, []string{"uc"}, 5
			})
			said := id == ""
			for _, o := range d.Observations {
				said = said || o.ID == id && o.Reason == SymbolMissing && strings.Contains(o.Detail, verb)
			}
			if !said {
				t.Errorf("no row %s says that %s is missing", id, verb)
			}
			unfit(t, d, verb)
		})
	}
}
