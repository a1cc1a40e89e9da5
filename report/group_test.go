package report

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"rdmaprobe/probe"
)

// down is a finding about one of several devices.
func down(code, severity, n string) probe.Finding {
	return probe.Finding{
		Code: code, Severity: severity, Scope: "rdma_en" + n, Message: "the port of rdma_en" + n + " is down",
		Remedy: "plug the cable into en" + n + ", then `ifconfig en" + n + " up`", Check: "rdmaprobe probe -d rdma_en" + n,
	}
}

func TestFindingsThatSayTheSameAreOne(t *testing.T) {
	other := down("x", probe.SeverityError, "5")
	other.Remedy = "buy another machine"
	talks := down("x", probe.SeverityError, "6")
	talks.Message = "it is on fire"
	for _, tt := range []struct {
		name string
		in   []probe.Finding
		want []string // scopes, messages, remedy
	}{
		{"alone", []probe.Finding{down("x", "error", "2")}, []string{"rdma_en2 | the port of rdma_en2 is down | plug the cable into en2, then `ifconfig en2 up`"}},
		{"three", []probe.Finding{down("x", "error", "2"), down("x", "error", "3"), down("x", "error", "4")}, []string{
			"rdma_en2, rdma_en3, rdma_en4 | the port of each of rdma_en2, rdma_en3 and rdma_en4 is down | plug the cable into each of en2, en3 and en4, then `ifconfig IFACE up`",
		}},
		{"another code", []probe.Finding{down("x", "error", "2"), down("y", "error", "3")}, []string{
			"rdma_en2 | the port of rdma_en2 is down | plug the cable into en2, then `ifconfig en2 up`",
			"rdma_en3 | the port of rdma_en3 is down | plug the cable into en3, then `ifconfig en3 up`",
		}},
		{"another severity", []probe.Finding{down("x", "error", "2"), down("x", "warning", "3")}, []string{
			"rdma_en2 | the port of rdma_en2 is down | plug the cable into en2, then `ifconfig en2 up`",
			"rdma_en3 | the port of rdma_en3 is down | plug the cable into en3, then `ifconfig en3 up`",
		}},
		{"another remedy", []probe.Finding{down("x", "error", "2"), other}, []string{
			"rdma_en2 | the port of rdma_en2 is down | plug the cable into en2, then `ifconfig en2 up`",
			"rdma_en5 | the port of rdma_en5 is down | buy another machine",
		}},
		{"another message", []probe.Finding{down("x", "error", "2"), talks}, []string{
			"rdma_en2, rdma_en6 | rdma_en2: the port of rdma_en2 is down / rdma_en6: it is on fire | plug the cable into each of en2 and en6, then `ifconfig IFACE up`",
		}},
		{"en2 is not en22", []probe.Finding{down("x", "error", "2"), down("x", "error", "22")}, []string{
			"rdma_en2, rdma_en22 | the port of each of rdma_en2 and rdma_en22 is down | plug the cable into each of en2 and en22, then `ifconfig IFACE up`",
		}},
		{"the host", []probe.Finding{{Code: "x", Severity: "error", Scope: "host", Message: "this host is lost"}}, []string{"host | this host is lost | "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := base("doctor")
			d.Findings = tt.in
			p := newPrinter(&bytes.Buffer{}, d, Options{Now: clock}, false)
			var got []string
			for _, g := range p.grouped() {
				got = append(got, strings.Join(g.scopes, ", ")+" | "+strings.Join(g.messages, " / ")+" | "+g.Remedy)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q\nwant %q", got, tt.want)
			}
		})
	}
}

// What is of interfaces says so in its commands, which take one of them, while -d takes
// all devices at once.
func TestCommandsOfAGroup(t *testing.T) {
	bridged := func(n string) probe.Finding {
		return probe.Finding{
			Code: "x", Severity: "error", Scope: n, Message: n + " is in a bridge", Remedy: "take it out: `ifconfig bridge0 deletem " + n + "`",
			Undo: "`ifconfig bridge0 addm " + n + "`", Check: "ifconfig " + n + ", then rdmaprobe devices",
		}
	}
	for _, tt := range []struct {
		in                  []probe.Finding
		remedy, undo, check string
	}{
		{[]probe.Finding{bridged("en3"), bridged("en4")}, "take it out: `ifconfig bridge0 deletem IFACE`", "`ifconfig bridge0 addm IFACE`", "ifconfig IFACE, then rdmaprobe devices"},
		{[]probe.Finding{bridged("en3")}, "take it out: `ifconfig bridge0 deletem en3`", "`ifconfig bridge0 addm en3`", "ifconfig en3, then rdmaprobe devices"},
		{
			[]probe.Finding{down("x", "error", "2"), down("x", "error", "3")},
			"plug the cable into each of en2 and en3, then `ifconfig IFACE up`", "", "rdmaprobe probe -d rdma_en2,rdma_en3",
		},
	} {
		d := base("doctor")
		d.Findings = tt.in
		g := newPrinter(&bytes.Buffer{}, d, Options{Now: clock}, false).grouped()[0]
		if g.Remedy != tt.remedy || g.Undo != tt.undo || g.Check != tt.check {
			t.Errorf("%q, %q, %q; want %q, %q, %q", g.Remedy, g.Undo, g.Check, tt.remedy, tt.undo, tt.check)
		}
	}
}

// What is said of one device stays right of several: verbs, pronouns, and a name that
// follows what it is the name of.
func TestNumberOfAGroup(t *testing.T) {
	about := func(n string) probe.Finding {
		return probe.Finding{
			Code: "x", Severity: "error", Scope: "rdma_en" + n, Message: "en" + n + " is a member and has no address, so its device rdma_en" + n + " gets none",
			Remedy: "give the interface en" + n + " one, and take en" + n + " out of the bridge: `ifconfig bridge0 deletem en" + n + "`",
		}
	}
	for _, tt := range []struct {
		of              []string
		message, remedy string
	}{
		{[]string{"3"}, "en3 is a member and has no address, so its device rdma_en3 gets none",
			"give the interface en3 one, and take en3 out of the bridge: `ifconfig bridge0 deletem en3`"},
		{[]string{"3", "4"}, "each of en3 and en4 is a member and has no address, so its device (rdma_en3, rdma_en4) gets none",
			"give the interface (en3, en4) one, and take each of en3 and en4 out of the bridge: `ifconfig bridge0 deletem IFACE`"},
		{[]string{"3", "4", "5"}, "each of en3, en4 and en5 is a member and has no address, so its device (rdma_en3, rdma_en4, rdma_en5) gets none",
			"give the interface (en3, en4, en5) one, and take each of en3, en4 and en5 out of the bridge: `ifconfig bridge0 deletem IFACE`"},
	} {
		d := base("doctor")
		for _, n := range tt.of {
			d.Findings = append(d.Findings, about(n))
		}
		g := newPrinter(&bytes.Buffer{}, d, Options{Now: clock}, false).grouped()[0]
		if g.messages[0] != tt.message || g.Remedy != tt.remedy {
			t.Errorf("%q, %q\nwant %q, %q", g.messages[0], g.Remedy, tt.message, tt.remedy)
		}
	}
}

// A finding loses no device by being put together, whatever the names are.
func TestGroupsKeepEveryScope(t *testing.T) {
	for _, s := range samples {
		d := s.doc()
		p := newPrinter(&bytes.Buffer{}, d, Options{Now: clock}, false)
		n := 0
		for _, g := range p.grouped() {
			n += len(g.scopes)
		}
		if n != len(d.Findings) {
			t.Errorf("%s: %d scopes of %d findings", s.name, n, len(d.Findings))
		}
	}
}

// The cause comes before its effects, a code that is not known last of its
// severity.
func TestCauseBeforeEffect(t *testing.T) {
	d := base("doctor")
	for _, c := range []string{"of_a_later_version", "gid_no_ipv4_mapped", "port_in_thunderbolt_bridge"} {
		d.Findings = append(d.Findings, probe.Finding{Code: c, Severity: probe.SeverityError})
	}
	var got []string
	for _, f := range worstFirst(d) {
		got = append(got, f.Code)
	}
	if want := []string{"port_in_thunderbolt_bridge", "gid_no_ipv4_mapped", "of_a_later_version"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestChangesAreAFewLines(t *testing.T) {
	d := macSix()
	changes := []probe.Change{
		{Kind: probe.ChangeVerdict, Before: "RDMA is ready on 2 of 6 ports", After: "RDMA is ready on 1 of 6 ports"},
		{Kind: probe.ChangePort, Subject: "rdma_en3 port 1", Before: "active, ready", After: "down, not ready (cabled, yet down)"},
		{Kind: probe.ChangePort, Subject: "rdma_en9 port 1", Before: "active, ready"},
		{Kind: probe.ChangeFindingAdded, Finding: &probe.Finding{Code: "port_down", Severity: probe.SeverityInfo, Scope: "rdma_en4", Message: "the port is down"}},
		{Kind: probe.ChangeFindingAdded, Finding: &d.Findings[1]},
		{Kind: probe.ChangeFindingRemoved, Finding: &d.Findings[3]},
	}
	var b bytes.Buffer
	if err := Changes(&b, d, clock, changes, Options{Now: clock, Command: "doctor"}); err != nil {
		t.Fatal(err)
	}
	golden(t, "changes.txt", b.Bytes())
	hostile := hostile()
	for i := range changes {
		changes[i].Subject, changes[i].Before, changes[i].After = evil, evil, evil
		if changes[i].Finding != nil {
			changes[i].Finding = &hostile.Findings[0]
		}
	}
	f := Format{Name: "changes", Render: func(w2 io.Writer, d *probe.Document, o Options) error {
		return Changes(w2, d, time.Time{}, changes, o)
	}}
	checkSafe(t, f, hostile, Options{})
	checkSafe(t, f, hostile, Options{Color: true})
}
