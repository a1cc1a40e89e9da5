package report

import (
	"slices"
	"strings"
	"testing"

	"rdmaprobe/probe"
	"rdmaprobe/rdma"
)

func TestJudge(t *testing.T) {
	ref := &probe.ObservationRef{Run: "r-7", Seq: 1, ID: "qp.rc.create"}
	attempt := &probe.Attempt{Level: rdma.CapabilityUnknown, Reason: probe.Exhausted}
	enotsup := &probe.Errno{Number: 102, Name: "EOPNOTSUPP", Platform: "darwin"}
	for _, tt := range []struct {
		name string
		sum  probe.Summary
		row  *probe.Observation
		port string
		want string
		tone tone
	}{
		{"confirmed", probe.Summary{State: rdma.CapabilityConfirmed}, nil, "active", "ok", good},
		{"zero", probe.Summary{State: rdma.CapabilityObservedZero}, nil, "active", "0", odd},
		{"rejected, the row is elsewhere", probe.Summary{State: rdma.CapabilityRejected, Observation: ref}, nil, "active", "no", bad},
		{"rejected", probe.Summary{State: rdma.CapabilityRejected, Observation: ref}, &probe.Observation{Level: rdma.CapabilityRejected, Errno: enotsup}, "active", "no EOPNOTSUPP", bad},
		{"rejected without a name", probe.Summary{State: rdma.CapabilityRejected, Observation: ref}, &probe.Observation{Level: rdma.CapabilityRejected, Errno: &probe.Errno{Number: 4711}}, "active", "no 4711", bad},
		{"the errno of another try is not shown", probe.Summary{State: rdma.CapabilityRejected}, &probe.Observation{Level: rdma.CapabilityUnknown, Reason: probe.ProviderError, Errno: enotsup}, "active", "no", bad},
		{"unknown, not tried", probe.Summary{State: rdma.CapabilityUnknown}, &probe.Observation{Level: rdma.CapabilityUnknown, Reason: probe.NotTried}, "active", "?", faint},
		{"unknown, no row", probe.Summary{State: rdma.CapabilityUnknown}, nil, "active", "?", faint},
		{"unknown, its last attempt", probe.Summary{State: rdma.CapabilityUnknown, LastAttempt: attempt}, nil, "active", "? full", faint},
		{"precondition on a port that is down", probe.Summary{State: rdma.CapabilityUnknown}, &probe.Observation{Level: rdma.CapabilityUnknown, Reason: probe.Precondition}, "down", "? port", faint},
		{"precondition on an active port", probe.Summary{State: rdma.CapabilityUnknown}, &probe.Observation{Level: rdma.CapabilityUnknown, Reason: probe.Precondition}, "active", "? pre", faint},
		{"a reason of a later version", probe.Summary{State: rdma.CapabilityUnknown}, &probe.Observation{Level: rdma.CapabilityUnknown, Reason: "cosmic_rays"}, "active", "? cosmic_rays", faint},
		{"a level of a later version", probe.Summary{State: "guessed"}, nil, "active", "?", faint},
		{"no summary, a row", probe.Summary{}, &probe.Observation{Level: rdma.CapabilityConfirmed}, "active", "ok", good},
		{"no summary, no row", probe.Summary{}, nil, "active", "?", faint},
		{"stale", probe.Summary{State: rdma.CapabilityConfirmed, Stale: true}, nil, "active", "ok*", faint},
		{"tried again since", probe.Summary{State: rdma.CapabilityConfirmed, LastAttempt: attempt}, nil, "active", "ok~", good},
		{"against a document", probe.Summary{State: rdma.CapabilityObservedZero, Contradicts: true, Stale: true, LastAttempt: attempt}, nil, "active", "0*!~", faint},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dev := &probe.Device{Name: "a", Listed: true, Ports: []probe.Port{{Num: 1, State: tt.port}}, Capabilities: &probe.Capabilities{QueuePairRC: tt.sum}}
			d := &probe.Document{}
			if tt.row != nil {
				tt.row.Run, tt.row.Seq, tt.row.ID, tt.row.Device = ref.Run, ref.Seq, ref.ID, "a"
				d.Observations = append(d.Observations, *tt.row)
			}
			v := judge(dev, newRows(d), columns[1])
			if got := v.word + v.marks; got != tt.want || v.tone() != tt.tone {
				t.Errorf("%q in tone %d, want %q in %d", got, v.tone(), tt.want, tt.tone)
			}
		})
	}
}

func TestEveryReasonHasAShortWord(t *testing.T) {
	if len(probe.Reasons) == 0 {
		t.Fatal("no reasons")
	}
	seen := map[string]probe.Reason{}
	for _, r := range probe.Reasons {
		s, ok := shortReasons[r]
		if !ok || len(s) > 6 {
			t.Errorf("%s: %q is no short word", r, s)
		}
		if s != "" && shortText[s] == "" {
			t.Errorf("%q is not explained", s)
		}
		if other, twice := seen[s]; twice {
			t.Errorf("%q stands for %s and %s", s, r, other)
		}
		seen[s] = r
	}
}

func TestLegendExplainsWhatIsShownAndNoMore(t *testing.T) {
	for _, s := range samples {
		d := s.doc()
		for _, host := range groups(d) {
			m := matrixByHost(d, newRows(d))[host]
			text := strings.Join(legend(m), "\n") + "\n"
			words, marks := shown(m)
			for w := range words {
				if !strings.Contains(text, w+" = ") && !strings.Contains(s.name, "hostile") {
					t.Errorf("%s: %q is not explained", s.name, w)
				}
			}
			for _, k := range markText {
				if strings.Contains(marks, k.mark) != strings.Contains(text, "\n"+k.mark+" = ") {
					t.Errorf("%s: mark %q, legend:\n%s", s.name, k.mark, text)
				}
			}
			if strings.Contains(text, "ok = ") != words["ok"] {
				t.Errorf("%s: ok is explained for nothing", s.name)
			}
		}
	}
}

func TestBestPort(t *testing.T) {
	down, active := probe.Port{Num: 1, State: "down"}, probe.Port{Num: 2, State: "active"}
	third := probe.Port{Num: 3, State: "active"}
	for _, tt := range []struct {
		name string
		dev  probe.Device
		want int
	}{
		{"none", probe.Device{}, 0},
		{"the only one", probe.Device{Ports: []probe.Port{down}}, 1},
		{"the active one", probe.Device{Ports: []probe.Port{down, active, third}}, 2},
		{"the one of the evidence", probe.Device{Ports: []probe.Port{down, active, third}, Capabilities: &probe.Capabilities{SendRecv: probe.Summary{Port: 3}}}, 3},
		{"evidence of a port that is gone", probe.Device{Ports: []probe.Port{down, active}, Capabilities: &probe.Capabilities{SendRecv: probe.Summary{Port: 9}}}, 2},
	} {
		got := 0
		if p := bestPort(&tt.dev); p != nil {
			got = p.Num
		}
		if got != tt.want {
			t.Errorf("%s: port %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestRowsNewestStands(t *testing.T) {
	d := &probe.Document{Observations: []probe.Observation{
		{Run: "a", Seq: 1, ID: "pingpong.rc", Device: "x", Port: 1, Level: rdma.CapabilityUnknown, Reason: probe.Timeout},
		{Run: "b", Seq: 1, ID: "pingpong.rc", Device: "x", Port: 1, Level: rdma.CapabilityConfirmed},
		{Run: "b", Seq: 2, ID: "pingpong.rc", Device: "x", Port: 2, Level: rdma.CapabilityUnknown, Reason: probe.NotTried},
		{Run: "b", Seq: 3, ID: "pingpong.rc", Device: "x", Port: 1, Host: "other", Level: rdma.CapabilityUnknown, Reason: probe.Crash},
	}}
	r := newRows(d)
	dev := &probe.Device{Name: "x"}
	if o := r.of(dev, 1, "pingpong.rc"); o == nil || o.Run != "b" || o.Level != rdma.CapabilityConfirmed {
		t.Errorf("port 1: %+v", o)
	}
	if o := r.of(dev, 0, "pingpong.rc"); o == nil || o.Port != 1 {
		t.Errorf("any port: %+v: a row that was not tried replaced one that was", o)
	}
	if o := r.of(&probe.Device{Name: "x", Host: "other"}, 0, "pingpong.rc"); o == nil || o.Reason != probe.Crash {
		t.Errorf("other host: %+v", o)
	}
}

func TestChosenGID(t *testing.T) {
	for _, index := range []any{1, int64(1), float64(1), uint32(1)} {
		d := &probe.Document{Observations: []probe.Observation{{ID: "gid.usable", Device: "x", Port: 1, Data: map[string]any{"index": index}}}}
		if got, ok := newRows(d).chosen(&probe.Device{Name: "x"}, 1); !ok || got != 1 {
			t.Errorf("%T: %d, %v", index, got, ok)
		}
	}
	for _, index := range []any{nil, "1", 1.5, 1e300, true} {
		if n, ok := whole64(index); ok {
			t.Errorf("%v is the number %d", index, n)
		}
	}
}

// An entry is marked where a GID is used at all.
func TestChosenGIDOfALID(t *testing.T) {
	for addressing, want := range map[string]bool{"gid": true, "lid": false} {
		d := &probe.Document{
			Devices:      []probe.Device{{Name: "x", Ports: []probe.Port{{Num: 1, Addressing: addressing, GIDs: []probe.GID{{Index: 1, GID: "fe80::1"}}}}}},
			Observations: []probe.Observation{{ID: "gid.usable", Device: "x", Port: 1, Data: map[string]any{"index": 1}}},
		}
		g := (&printer{d: d, r: newRows(d)}).gidsGrid()
		if got := slices.ContainsFunc(g.rows[0], func(c cell) bool { return c.text == "chosen" }); got != want {
			t.Errorf("addressed by %s: marked %v", addressing, got)
		}
	}
}

func TestOldestEvidenceGivesTheAge(t *testing.T) {
	d := twoHosts()
	m := matrixByHost(d, newRows(d))["node-a"]
	if len(m) != 1 || m[0].oldest == nil || age(clock, *m[0].oldest) != "3d" {
		t.Errorf("%+v", m)
	}
	if m[0].port != "2 active" {
		t.Errorf("port %q", m[0].port)
	}
	if m = matrixByHost(d, newRows(d))["node-c"]; len(m) != 0 {
		t.Errorf("a host that is not there has %d devices", len(m))
	}
}
