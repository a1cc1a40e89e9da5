package probe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rdmaprobe/rdma"
)

// listOf are devices of the given names.
func listOf(names []string) []rdma.Device {
	var devices []rdma.Device
	for _, n := range names {
		devices = append(devices, rdma.Device{Name: n})
	}
	return devices
}

// trace is what is in and beside the machine's store.
func trace(store string) string {
	var found []string
	_ = filepath.WalkDir(filepath.Dir(store), func(path string, _ os.DirEntry, _ error) error {
		found = append(found, path)
		return nil
	})
	return strings.Join(found, " ")
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"plain", Options{}, "port gid mr uc"},
		{"--rc --ud --events", Options{More: []string{"rc", "ud", "events"}}, "port gid mr uc rc ud events"},
		{"--only port", Options{Only: []string{"port"}}, "port"},
		{"--only gid", Options{Only: []string{"gid"}}, "port gid"},
		{"--only rc", Options{Only: []string{"rc"}}, "port gid rc"},
		{"--allow-rtr", Options{AllowRTR: true}, "port gid mr uc rtr.uc"},
		{"--allow-rtr --rc", Options{AllowRTR: true, More: []string{"rc"}, Types: []string{"rc"}}, "port gid mr uc rc rtr.uc rtr.rc"},
		{"--pingpong", Options{More: []string{"pingpong"}}, "port gid mr uc pingpong.uc"},
		{"--allow-rtr --pingpong", Options{AllowRTR: true, More: []string{"pingpong"}}, "port gid mr uc pingpong.uc"},
		{"--only pingpong", Options{Only: []string{"pingpong"}}, "port gid uc pingpong.uc"},
		{"--only pingpong --rc", Options{Only: []string{"pingpong"}, More: []string{"rc"}, Types: []string{"rc"}}, "port gid rc pingpong.rc"},
		{"--only mr --write --uc", Options{Only: []string{"mr"}, More: []string{"write", "uc"}, Types: []string{"uc"}}, "port gid mr uc write.uc"},
	} {
		if err := tt.o.check(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got := strings.Join(tt.o.words(), " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// What each set is, by its words: a row that joins one changes this on purpose.
func TestSets(t *testing.T) {
	for w, want := range map[when]string{
		always: "port gid mr uc", inAll: "rc ud events", inDoctor | inDoctorOff: "port gid mr uc rc ud",
		consent: "rc pingpong.uc pingpong.rc write.uc write.rc",
	} {
		if got := strings.Join(wordsWhere(func(r *tableRow) bool { return r.when.has(w) }), " "); got != want {
			t.Errorf("%b: %s, want %s", w, got, want)
		}
	}
	var asks []string
	for _, a := range Asks() {
		asks = append(asks, a.Word)
	}
	if got := strings.Join(asks, " "); got != "mr uc rc ud events pingpong write" {
		t.Errorf("flags %s", got)
	}
}

// A server that may be written into says so.
func TestLendingIsConsent(t *testing.T) {
	o := Options{server: true, lends: true, Kill: true}
	if got := o.gates(); !slices.Equal(got, []string{"write", "kill"}) {
		t.Errorf("gates %v", got)
	}
}

// What --require needs is asked for, and no more.
func TestRequireImplies(t *testing.T) {
	for _, tt := range []struct {
		what, only string
		want       string
		gates      string
	}{
		{"queue_pair_uc", "", "port gid mr uc", ""},
		{"queue_pair_rc", "", "port gid mr uc rc", "rc"},
		{"qp.rc.create", "port", "port gid rc", "rc"},
		{"remote_key", "port", "port gid mr", ""},
		{"send_recv", "", "port gid mr uc pingpong.uc", "pingpong"},
		{"pingpong.rc", "", "port gid mr uc rc pingpong.uc pingpong.rc", "rc pingpong"},
		{"qp.uc.rtr", "", "port gid mr uc rtr.uc", "allow_rtr"},
		{"qp.rc.rts", "", "port gid mr uc rc rtr.uc rtr.rc", "rc allow_rtr"},
		{"rdma_write", "", "port gid mr uc write.uc", "write"},
		{"rdma_read", "", "port gid mr uc", ""},
		{"cq.notify", "", "port gid mr uc events", ""},
		{"pd.alloc", "port", "port gid mr", ""},
		{"cq.create", "port", "port gid uc", ""},
		{"teardown", "port", "port gid mr", ""},
		{"dev.open", "gid", "port gid", ""},
		{"lib.load", "port", "port", ""},
	} {
		o := Options{Require: []string{tt.what}}
		if tt.only != "" {
			o.Only = []string{tt.only}
		}
		if err := o.check(); err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
		if got := strings.Join(o.words(), " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
		if got := strings.Join(o.gates(), " "); got != tt.gates {
			t.Errorf("%s: gates %s, want %s", tt.what, got, tt.gates)
		}
	}
}

// A requirement holds when one probed device confirms it in this run; with -d,
// each.
func TestUnmet(t *testing.T) {
	doc := func(confirmed ...string) *Document {
		d := NewDocument(Tool{}, nil)
		d.Devices = []Device{{Name: "a", Listed: true}, {Name: "b", Listed: true}}
		for _, name := range confirmed {
			d.Observations = append(d.Observations, Observation{Run: d.Run.ID, Device: name, ID: "pingpong.rc", Level: rdma.CapabilityConfirmed})
		}
		return d
	}
	old := doc("a")
	old.Observations[0].Run = "earlier"
	for _, tt := range []struct {
		name  string
		d     *Document
		named []string
		want  []string // devices that lack it; nil: it holds
	}{
		{"one of two", doc("b"), nil, nil},
		{"both named, one confirms", doc("b"), []string{"a", "b"}, []string{"a"}},
		{"both named and confirm", doc("a", "b"), []string{"a", "b"}, nil},
		{"none", doc(), nil, []string{"a", "b"}},
		{"an earlier run's evidence", old, nil, []string{"a", "b"}},
	} {
		got, missing := unmet([]string{"send_recv"}, tt.named, tt.d)["send_recv"]
		if missing != (tt.want != nil) || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if m := unmet([]string{"lib.load"}, nil, doc()); !slices.Equal(m["lib.load"], []string{""}) {
		t.Errorf("lib.load: %v", m)
	}
}
